"""Plain numpy twins of the engine: textbook formulas first, then the whole sampler; readable before fast.

Nothing here imports the engine. Points are rows (N, D) in float64, weights (N,); formulas are written from the
definition of the model, so that an error in the engine's algebra is not repeated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from helpers.paths import SAMPLES

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


# --- random numbers -------------------------------------------------------------------------------------------


def hash_bits(key: int, index: int) -> int:
    """The counter-based random number of 32 bits, in whole numbers of any size, masked."""
    mask = 0xFFFFFFFF
    h = (index * 0x9E3779B1 + key) & mask
    h ^= h >> 16
    h = (h * 0x21F0AAAD) & mask
    h ^= h >> 15
    h = (h * 0xD35A2D97) & mask
    return h ^ (h >> 15)


def hash_uniform(key: int, index: int) -> float:
    """The counter-based uniform in (0, 1)."""
    return ((hash_bits(key, index) >> 9) + 0.5) / 2.0**23


def pixel_noise(values: npt.NDArray[np.float32], key: int, height: int, width: int, K: int) -> Array:
    """Noise (height * width, K) that perturbs the scores of pixels under K clusters, looked up one by one."""
    n_rows = len(values) // 16 - 16
    across = -(-width // 16)
    stretch = max(16 * across, 2048)
    out = np.empty((height, width, K))
    for y in range(height):
        for x in range(width):
            tile = y // 16 * across + x // 16
            start = (hash_bits(key, -1) + y // 16 * stretch + hash_bits(key, tile) % stretch) % n_rows
            for k in range(K):
                out[y, x, k] = values[16 * ((start + 16 * k) % n_rows + y % 16) + x % 16]
    return out.reshape(-1, K)


# --- Gaussian with a normal-inverse-Wishart prior -------------------------------------------------------------


@dataclass(frozen=True)
class Niw:
    """Normal-inverse-Wishart prior; the inverse-Wishart scale is nu * psi."""

    kappa: float
    m: Array
    nu: float
    psi: Array

    @property
    def D(self) -> int:
        return len(self.m)

    @cached_property
    def log_normaliser(self) -> float:
        """Log of the density's integral, up to what depends on D alone."""
        return (
            sum(math.lgamma(0.5 * (self.nu - i)) for i in range(self.D))
            - 0.5 * self.nu * float(np.linalg.slogdet(self.nu * self.psi)[1])
            - 0.5 * self.D * math.log(self.kappa)
        )

    def posterior(self, X: Array, w: Array) -> Niw:
        """The prior after points X of weights w, by the usual deviations from the mean."""
        n = float(w.sum())
        if n == 0.0:
            return self
        mean = w @ X / n
        deviation = X - mean
        scatter = (w[:, None] * deviation).T @ deviation
        away = mean - self.m
        kappa = self.kappa + n
        scale = self.nu * self.psi + scatter + self.kappa * n / kappa * np.outer(away, away)
        nu = self.nu + n
        return Niw(kappa, (self.kappa * self.m + n * mean) / kappa, nu, scale / nu)

    def log_marginal(self, X: Array, w: Array) -> float:
        """Log marginal likelihood of the points (Murphy 2007, equation 266)."""
        after, n, D = self.posterior(X, w), float(w.sum()), self.D
        return float(
            -0.5 * n * D * math.log(math.pi)
            + special.multigammaln(0.5 * after.nu, D)
            - special.multigammaln(0.5 * self.nu, D)
            + 0.5 * self.nu * np.linalg.slogdet(self.nu * self.psi)[1]
            - 0.5 * after.nu * np.linalg.slogdet(after.nu * after.psi)[1]
            + 0.5 * D * math.log(self.kappa / after.kappa)
        )

    def log_predictive(self, x: Array) -> float:
        """Log density of one more point under this prior: a Student t."""
        dof = self.nu - self.D + 1.0
        shape = (self.kappa + 1.0) / (self.kappa * dof) * self.nu * self.psi
        return float(stats.multivariate_t(self.m, shape, dof).logpdf(x))


def draw_inverse_wishart(dof: float, scale: Array, rng: np.random.Generator) -> Array:
    """A covariance whose inverse is L A A' L' (Bartlett 1933): L L' = scale^-1, A's diagonal has chi variates."""
    D = len(scale)
    A = np.tril(rng.standard_normal((D, D)), -1) + np.diag(np.sqrt(rng.chisquare(dof - np.arange(D))))
    root = np.linalg.cholesky(np.linalg.inv(scale)) @ A
    return np.linalg.inv(root @ root.T)


def _distance(X: Array, mean: Array, shape: Array) -> Array:
    """Squared Mahalanobis distance of each point."""
    away = X - mean
    return np.einsum("nd,nd->n", away @ np.linalg.inv(shape), away)


def log_normal(X: Array, mean: Array, covariance: Array) -> Array:
    """Log density of points under a normal distribution."""
    return -0.5 * (_distance(X, mean, covariance) + np.linalg.slogdet(2.0 * math.pi * covariance)[1])


def log_student(X: Array, mean: Array, shape: Array, dof: float) -> Array:
    """Log density of points under a Student t."""
    D = len(mean)
    normaliser = (
        special.gammaln(0.5 * (dof + D))
        - special.gammaln(0.5 * dof)
        - 0.5 * np.linalg.slogdet(dof * math.pi * shape)[1]
    )
    return normaliser - 0.5 * (dof + D) * np.log1p(_distance(X, mean, shape) / dof)


# --- Gaussian with independent dimensions ---------------------------------------------------------------------


def diagonal_log_marginal(X: Array, w: Array, kappa: float, m: Array, nu: float, psi: Array) -> float:
    """Log marginal likelihood: each dimension is a one-dimensional normal-inverse-Wishart."""
    return sum(
        Niw(kappa, m[d : d + 1], nu, psi[d : d + 1, None]).log_marginal(X[:, d : d + 1], w) for d in range(len(m))
    )


# --- multinomial with a Dirichlet prior -----------------------------------------------------------------------


def dirichlet_log_marginal(X: Array, w: Array, concentration: Array) -> float:
    """Log marginal likelihood of weighted count vectors, without multinomial coefficients."""
    total = w @ X
    return float(
        special.gammaln(concentration.sum())
        - special.gammaln(concentration.sum() + total.sum())
        + (special.gammaln(concentration + total) - special.gammaln(concentration)).sum()
    )


# --- scores and labels ----------------------------------------------------------------------------------------


def whitened_score(x: Array, A: Array, b: Array, c: float, dof: float) -> float:
    """c - q/2, or c - (dof + D)/2 log(1 + q/dof), for q = |A x + b|^2."""
    y = np.tril(A) @ x + b
    q = float(y @ y)
    return c - 0.5 * q if dof == 0 else c - 0.5 * (dof + len(x)) * math.log1p(q / dof)


def gaussian_row(X: Array, w: Array) -> Array:
    """Count, sum, lower triangle of the second moments, as one row."""
    D = X.shape[1]
    second = (w[:, None] * X).T @ X
    return np.concatenate([[w.sum()], w @ X, second[np.tril_indices(D)]])


def share(scores: Array, nats: float) -> Array:
    """Shares (N, K) in proportion to exp(score) of the four best, if more than exp(-nats) of the largest."""
    below = scores - scores.max(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-scores, axis=1), axis=1)
    parts = np.where((below > -nats) & (rank < 4), np.exp(below), 0.0)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def entropy(shares: Array) -> Array:
    """Entropy (N,) of labels with the probabilities shares (N, K)."""
    return -special.xlogy(shares, shares).sum(axis=1)


def sample_by_uniform(scores: Array, u: float) -> int:
    """Invert the cumulative sum of exp(scores) at u in (0, 1)."""
    p = np.exp(scores - scores.max())
    return int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right"))


# --- pictures -------------------------------------------------------------------------------------------------


def rgb_pixels(frame: npt.NDArray[np.uint8]) -> Array:
    """Pixels (H * W, 5) = row / H, column / W, red - blue, magenta - green, lightness, from their definition."""
    height, width = frame.shape[:2]
    row, column = np.mgrid[:height, :width]
    r, g, b = np.moveaxis(frame / 255.0, 2, 0)
    planes = [
        (row + 0.5) / height,
        (column + 0.5) / width,
        (r - b) / math.sqrt(2.0),
        (r - 2.0 * g + b) / math.sqrt(6.0),
        (r + g + b) / math.sqrt(3.0),
    ]
    return np.stack([plane.ravel() for plane in planes], axis=1)


def lab(frame: npt.NDArray[np.uint8]) -> Array:
    """CIE L, a, b (H * W, 3) of an sRGB frame under D65, from the standard's formulas."""
    value = frame.reshape(-1, 3) / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
    t = linear @ to_xyz.T / to_xyz.sum(axis=1)
    f = np.where(t > (6.0 / 29.0) ** 3, np.cbrt(t), t / (3.0 * (6.0 / 29.0) ** 2) + 4.0 / 29.0)
    return np.stack([116.0 * f[:, 1] - 16.0, 500.0 * (f[:, 0] - f[:, 1]), 200.0 * (f[:, 1] - f[:, 2])], axis=1)


def block_means(frame: npt.NDArray[np.uint8], rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Reduce a frame to rows x columns, each pixel the rounded mean of its block."""
    height, width = frame.shape[:2]
    out = np.empty((rows, columns, 3), np.uint8)
    for i in range(rows):
        for j in range(columns):
            block = frame[
                i * height // rows : max((i + 1) * height // rows, i * height // rows + 1),
                j * width // columns : max((j + 1) * width // columns, j * width // columns + 1),
            ]
            out[i, j] = np.floor(block.mean(axis=(0, 1)) + 0.5)
    return out


def borders(ids: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Pixels with a neighbour (left, right, above or below) of another id."""
    out = np.zeros(ids.shape, bool)
    across, down = ids[:, 1:] != ids[:, :-1], ids[1:] != ids[:-1]
    out[:, 1:] |= across
    out[:, :-1] |= across
    out[1:] |= down
    out[:-1] |= down
    return out


def clip_frames(name: str, n: int, step: int = 1) -> list[npt.NDArray[np.uint8]]:
    """The first n frames of a sample clip (every ``step``-th), RGB."""
    import av

    with av.open(str(SAMPLES / f"{name}.mp4")) as container:
        frames: Iterator[npt.NDArray[np.uint8]] = (
            frame.to_ndarray(format="rgb24")
            for index, frame in enumerate(container.decode(video=0))
            if index % step == 0
        )
        return [frame for frame, _ in zip(frames, range(n), strict=False)]


# --- the sampler, for Gaussian clusters -----------------------------------------------------------------------


@dataclass
class Part:
    """Weighted statistics: count, sum (D,) and sum of x x' (D, D)."""

    n: float
    x: Array
    xx: Array

    @classmethod
    def of(cls, X: Array, w: Array) -> Part:
        return cls(float(w.sum()), w @ X, (w[:, None] * X).T @ X)

    def __add__(self, other: Part) -> Part:
        return Part(self.n + other.n, self.x + other.x, self.xx + other.xx)

    def __sub__(self, other: Part) -> Part:
        return Part(self.n - other.n, self.x - other.x, self.xx - other.xx)

    def __rmul__(self, weight: float) -> Part:
        return Part(weight * self.n, weight * self.x, weight * self.xx)

    def moved(self, way: Array) -> Part:
        """The same points, all moved by (D,)."""
        if self.n == 0.0:
            return self
        mean = self.x / self.n
        spread = self.xx - self.n * np.outer(mean, mean)
        return Part(self.n, self.x + self.n * way, spread + self.n * np.outer(mean + way, mean + way))

    def posterior(self, prior: Niw) -> Niw:
        kappa, nu = prior.kappa + self.n, prior.nu + self.n
        m = (prior.kappa * prior.m + self.x) / kappa
        scale = prior.nu * prior.psi + self.xx + prior.kappa * np.outer(prior.m, prior.m) - kappa * np.outer(m, m)
        return Niw(kappa, m, nu, scale / nu)

    def log_marginal(self, prior: Niw) -> float:
        after = self.posterior(prior)
        return after.log_normaliser - prior.log_normaliser - 0.5 * self.n * prior.D * math.log(math.pi)

    def covariance(self) -> Array:
        mean = self.x / self.n
        return self.xx / self.n - np.outer(mean, mean)

    def half(self, axis: Array) -> Part:
        """Half of a Gaussian cut through its mean: the mean moves by sqrt(2/pi) deviations, spread shrinks."""
        if self.n == 0.0:
            return 0.5 * self
        mean, covariance = self.x / self.n, self.covariance()
        variance = float(axis @ covariance @ axis)
        shift = covariance @ axis * math.sqrt(2.0 / math.pi / variance) if variance > 0 else np.zeros(len(axis))
        n = 0.5 * self.n
        within = covariance - np.outer(shift, shift)
        return Part(n, n * (mean + shift), n * (within + np.outer(mean + shift, mean + shift)))


@dataclass
class TwinCluster:
    """A cluster of the twin: two sub-clusters with a record per past batch and one for the batch at hand."""

    id: int
    past: list[tuple[float, Part, Part]]
    now: tuple[Part, Part]
    age: int = 0
    rest: int = 0
    moved: bool = False


@dataclass(frozen=True)
class TwinEvent:
    kind: str
    ids: tuple[int, ...]
    log_hastings: float = math.nan


@dataclass
class Twin:
    """The sampler that starts from one cluster: Gaussian clusters, the exponential window, points weighing 1."""

    prior: Niw
    alpha: float
    decay: float
    rng: np.random.Generator
    sweeps: int = 1
    burn_in: int = 5
    max_init_sweeps: int = 200
    split_last: bool = True
    patience: int | None = 10
    first_patience: int = 5
    merge_kind: str = "paper"
    follow: str = "nothing"
    epsilon: float = 1e-8
    time: float = 0.0
    next_id: int = 0
    clusters: list[TwinCluster] = field(default_factory=list)
    labels: list[tuple[TwinCluster, int]] = field(default_factory=list)
    events: list[TwinEvent] = field(default_factory=list)
    final_log_posterior: float = math.nan

    # --- batches

    def fit(self, X: Array, time: float) -> Ints:
        """Take in the next batch and return the id of every point."""
        self.events = []
        if not self.clusters:
            self._first(X, time)
        else:
            self._later(X, time)
        self.final_log_posterior = self.log_posterior()
        for cluster in self.clusters:
            cluster.past.append((time, *cluster.now))
        return np.array([cluster.id for cluster, _ in self.labels])

    def _first(self, X: Array, time: float) -> None:
        self.time = time
        whole = Part.of(X, np.ones(len(X)))
        root = TwinCluster(self._new_id(), [], (whole, 0.0 * whole))
        self.clusters = [root]
        self._start_halves(root, principal=True)
        patience, self.patience = self.patience, self.first_patience
        trace: list[tuple[int, float]] = []
        for n in range(self.max_init_sweeps):
            self.sweep(X, sampling=n % 2 == 0)
            trace.append((len(self.clusters), self.log_posterior()))
            if plateau(trace):
                break
        self.patience = patience
        self.sweep(X, sampling=False, splitting=self.split_last)

    def _later(self, X: Array, time: float) -> None:
        self.time = time
        nothing = 0.0 * Part.of(X, np.ones(len(X)))
        for cluster in self.clusters:
            cluster.past = [record for record in cluster.past if self.weight(record[0]) > self.epsilon]
            cluster.now = (nothing, nothing)
        for _ in range(self.sweeps):
            self.sweep(X, sampling=True)
        self.sweep(X, sampling=False, splitting=self.split_last)

    # --- statistics

    def weight(self, time: float) -> float:
        return 2.0 ** (-self.decay * (self.time - time))

    def side(self, cluster: TwinCluster, j: int) -> Part:
        """Time-weighted statistics of sub-cluster j, the batch at hand included."""
        total = cluster.now[j]
        for record in cluster.past:
            total = total + self.weight(record[0]) * record[1 + j]
        return total

    def _followed(self, cluster: TwinCluster) -> list[tuple[float, Part, Part]]:
        """The records moved to where the batch at hand has the cluster or each side, by few points not all the way."""
        sides = [(cluster.now[j], self.side(cluster, j) - cluster.now[j]) for j in range(2)]
        if self.follow == "clusters":
            sides = 2 * [(sides[0][0] + sides[1][0], sides[0][1] + sides[1][1])]
        n_batches = sum(self.weight(record[0]) for record in cluster.past)
        ways = [
            (now.x / now.n - past.x / past.n) * now.n / (now.n + 20.0)
            if past.n > 0 and now.n >= max(0.1 * past.n / n_batches, 1e-300)
            else 0.0 * now.x
            for now, past in sides
        ]
        return [(time, one.moved(ways[0]), two.moved(ways[1])) for time, one, two in cluster.past]

    def total(self, cluster: TwinCluster) -> Part:
        return self.side(cluster, 0) + self.side(cluster, 1)

    def log_posterior(self) -> float:
        parts = [self.total(cluster) for cluster in self.clusters]
        return sum(
            math.log(self.alpha) + math.lgamma(max(part.n, 1.0)) + part.log_marginal(self.prior) for part in parts
        )

    # --- one sweep

    def sweep(self, X: Array, sampling: bool, splitting: bool = True) -> None:
        """Draw or fix weights and parameters, label, recount, then the moves."""
        scores = self._scores([self.total(c) for c in self.clusters], X, 0.0, sampling)
        chosen = self._choose(scores, sampling)
        sides = np.zeros(len(X), int)
        for k, cluster in enumerate(self.clusters):
            mine = chosen == k
            parts = [self.side(cluster, j) for j in range(2)]
            sides[mine] = self._choose(self._scores(parts, X[mine], 0.5 * self.alpha, sampling), sampling)
        for k, cluster in enumerate(self.clusters):
            halves = [X[(chosen == k) & (sides == j)] for j in range(2)]
            cluster.now = (Part.of(halves[0], np.ones(len(halves[0]))), Part.of(halves[1], np.ones(len(halves[1]))))
            cluster.moved = False
        self.labels = [(self.clusters[k], int(j)) for k, j in zip(chosen, sides, strict=True)]
        if splitting:
            self.split()
        self.merge()
        self.bury()
        for cluster in self.clusters:
            if self.follow != "nothing":
                cluster.past = self._followed(cluster)
            cluster.age += 1
            cluster.rest += 1

    def _scores(self, parts: Sequence[Part], X: Array, pseudocount: float, sampling: bool) -> Array:
        """log weight + log density (N, M): drawn, or at the mode with the posterior predictive."""
        columns = []
        for part in parts:
            after = part.posterior(self.prior)
            if sampling:
                log_weight = math.log(max(self.rng.gamma(max(part.n + pseudocount, 1e-3)), 1e-300))
                covariance = draw_inverse_wishart(after.nu, after.nu * after.psi, self.rng)
                mean = self.rng.multivariate_normal(after.m, covariance / after.kappa, method="cholesky")
                columns.append(log_weight + log_normal(X, mean, covariance))
            else:
                log_weight = math.log(max(part.n + pseudocount, 1e-300))
                dof = after.nu - after.D + 1.0
                shape = (after.kappa + 1.0) / (after.kappa * dof) * after.nu * after.psi
                columns.append(log_weight + log_student(X, after.m, shape, dof))
        return np.stack(columns, axis=1)

    def _choose(self, scores: Array, sampling: bool) -> Ints:
        if not sampling:
            return np.argmax(scores, axis=1)
        # The Gumbel trick: adding such noise and taking the best draws in proportion to exp(score).
        return np.argmax(scores + self.rng.gumbel(size=scores.shape), axis=1)

    # --- moves

    def split_ratio(self, one: Part, two: Part) -> float:
        """Log Hastings ratio of splitting one + two into one and two."""
        whole = one + two
        return (
            math.log(self.alpha)
            + math.lgamma(one.n)
            + one.log_marginal(self.prior)
            + math.lgamma(two.n)
            + two.log_marginal(self.prior)
            - math.lgamma(whole.n)
            - whole.log_marginal(self.prior)
        )

    def merge_ratio(self, one: Part, two: Part) -> float:
        ratio = -self.split_ratio(one, two)
        if self.merge_kind == "original":
            # How likely two sub-clusters with a Dirichlet(alpha/2, alpha/2) prior would have these sizes.
            a = 0.5 * self.alpha
            ratio += special.betaln(a + one.n, a + two.n) - special.betaln(a, a)
        return float(ratio)

    def split(self) -> None:
        for cluster in list(self.clusters):
            one, two = self.side(cluster, 0), self.side(cluster, 1)
            if cluster.rest < self.burn_in:
                continue
            if min(one.n, two.n) < 1.0:
                if one.n + two.n >= 2.0:
                    self._start_halves(cluster, principal=False)
            elif cluster.age >= self.burn_in:
                ratio = self.split_ratio(one, two)
                if math.log(self.rng.random()) < ratio:
                    self._divide(cluster, 0 if one.n >= two.n else 1, ratio)
                elif self.patience is not None and cluster.rest >= self.burn_in + self.patience:
                    self._start_halves(cluster, principal=False)

    def _divide(self, cluster: TwinCluster, large: int, ratio: float) -> None:
        """The larger half keeps the id, the other becomes a cluster of its own."""
        zero = 0.0 * cluster.now[0]
        child = TwinCluster(
            self._new_id(), [(t, s[1 - large], zero) for t, *s in cluster.past], (cluster.now[1 - large], zero)
        )
        cluster.past = [(t, s[large], zero) for t, *s in cluster.past]
        cluster.now = (cluster.now[large], zero)
        self.labels = [
            (child, 0) if owner is cluster and side != large else (owner, side) for owner, side in self.labels
        ]
        for part in (cluster, child):
            part.age, part.moved = 0, True
            self._start_halves(part, principal=True)
        self.clusters.append(child)
        self.events.append(TwinEvent("split", (cluster.id, child.id), ratio))

    def _start_halves(self, cluster: TwinCluster, principal: bool) -> None:
        """Cut the cluster through its mean, in every record alike, across its principal or a random axis."""
        unit = np.sqrt(np.diag(self.prior.psi))
        covariance = self.total(cluster).covariance() / np.outer(unit, unit)
        values, vectors = np.linalg.eigh(covariance)
        if principal:
            axis = vectors[:, -1] / unit
        else:
            # Rounding errors dominate where there is almost no variance.
            known = values > 1e-6 * values[-1]
            axis = vectors[:, known] @ (self.rng.normal(size=known.sum()) / np.sqrt(values[known])) / unit

        def cut(one: Part, two: Part) -> tuple[Part, Part]:
            half = (one + two).half(axis)
            return half, one + two - half

        cluster.past = [(t, *cut(one, two)) for t, one, two in cluster.past]
        cluster.now = cut(*cluster.now)
        cluster.rest = 0

    def merge(self) -> None:
        """Every pair of settled clusters is proposed, the likeliest first; each takes part in one move at most."""
        settled = [c for c in self.clusters if c.age >= self.burn_in and not c.moved and self.total(c).n >= 1.0]
        accepted = []
        for i, a in enumerate(settled):
            for b in settled[:i]:
                ratio = self.merge_ratio(self.total(a), self.total(b))
                if math.log(self.rng.random()) < ratio:
                    accepted.append((ratio, a, b))
        for ratio, a, b in sorted(accepted, key=lambda move: -move[0]):
            if not (a.moved or b.moved):
                large, small = (a, b) if self.total(a).n >= self.total(b).n else (b, a)
                self._unite(large, small, ratio)

    def _unite(self, large: TwinCluster, small: TwinCluster, ratio: float) -> None:
        """The larger cluster takes the smaller one in; both become its sub-clusters."""
        large.past = [
            (t, one + two, three + four) for (t, one, two), (_, three, four) in zip(large.past, small.past, strict=True)
        ]
        large.now = (large.now[0] + large.now[1], small.now[0] + small.now[1])
        large.age = large.rest = 0
        large.moved = small.moved = True
        self.labels = [(large, 1) if owner is small else (owner, side) for owner, side in self.labels]
        self.clusters.remove(small)
        self.events.append(TwinEvent("merge", (large.id, small.id), ratio))

    def bury(self) -> None:
        owners = {id(owner) for owner, _ in self.labels}
        for cluster in list(self.clusters):
            if self.total(cluster).n < 1.0 and id(cluster) not in owners:
                self.clusters.remove(cluster)
                self.events.append(TwinEvent("death", (cluster.id,)))

    def _new_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1


def plateau(trace: Sequence[tuple[int, float]], window: int = 60) -> bool:
    """K unchanged, and the log posterior no longer rising by more than it wavers, over a window of sweeps."""
    if len(trace) < 2 * window:
        return False
    recent, before = trace[-window:], trace[-2 * window : -window]
    values = np.array([value for _, value in recent])
    gain = values.mean() - np.mean([value for _, value in before])
    counts = [K for K, _ in recent]
    return bool(max(counts) - min(counts) <= 0.02 * counts[-1] and gain <= values.std() + 1e-9)


def weighted_history(
    times: Sequence[float], records: Sequence[Array], now: float, kernel: Callable[[float], float], epsilon: float
) -> Array:
    """Brute-force time-weighted sum of the records whose weight still exceeds epsilon."""
    total = np.zeros_like(records[0])
    for time, record in zip(times, records, strict=True):
        weight = kernel(now - time)
        if weight > epsilon:
            total = total + weight * record
    return total
