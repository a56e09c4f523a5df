"""Soft clustering of one batch: points are shared between clusters, and clusters merge as long as that pays.

Where clusters overlap, p(labels, points), which the sampler works with, charges for every label that could be another.
Here labels are summed out: the *evidence* estimates log p(points), and it decides how many clusters a batch has. The
sampler takes the result as a start or as a proposal; what it samples from does not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream import kernels
from scstream.components.base import Array, Component, Shares
from scstream.sampler.sharing import TableSharing

#: Most numbers in the statistics of single points that are computed together.
_MOST_STATISTICS = 2**24
#: A fit ends when no cluster gains or loses this many points any more.
_SETTLED = 0.1
#: Most rounds of merges.
_ROUNDS = 30


class SoftClustering:
    """Soft clustering of N points of a batch.

    Parameters
    ----------
    component : Component
        With all hyperparameters set.
    X : array or CSR array (N, D)
    weight : array (N,)
        Positive weights. They are scaled down if they sum to more than the effective number of points,
        (sum w)^2 / sum w^2: a point of weight 3 is no proof of a tight group, as three equal points would be.
    log_alpha : float
    """

    def __init__(self, component: Component, X: Any, weight: Array, log_alpha: float) -> None:
        self._X = X
        self.points = component.prepare(X)
        self.weight = weight * min(1.0, float(weight.sum() / np.square(weight).sum()))
        together = component.statistics(self.points, self.weight, np.zeros(len(weight), np.int32), 1)[0]
        # A prior mean far from the data would favour a few large clusters.
        self.component = component.without_location(together)
        self.log_alpha = log_alpha
        self._sharing = self.component.sharing(self.points, self.weight) or TableSharing(
            self.component, self.points, self.weight
        )
        self._shared: tuple[Array, Shares] | None = None

    # --- fit

    def fit(self, S: Array, iterations: int) -> Array:
        """Improve clusters with statistics S (K, P) by expectation maximisation with posterior predictives.

        Clusters that are left with less than one point are dropped.
        """
        for _ in range(iterations):
            before = S[:, 0]
            S = self._sharing.statistics(S)
            counts = S[:, 0]
            settled = np.abs(counts - before).max() < _SETTLED
            if counts.min() < 1.0:
                S = S[counts >= min(1.0, counts.max())]
            if settled:
                break
        return S

    def share(self, S: Array) -> Shares:
        """Share each point between clusters with statistics S (K, P), by their sizes and posterior predictives.

        The last result is kept, and returned again for the same array: no method changes one.
        """
        if self._shared is not None and self._shared[0] is S:
            return self._shared[1]
        self._shared = S, self._sharing.shares(S)
        return self._shared[1]

    # --- number of clusters

    def evidence(self, S: Array) -> float:
        """Estimate of log p(points), up to a constant, for a mixture of clusters with statistics S (K, P).

        The estimate of Cheeseman and Stutz: the log posterior of the shared points' statistics, plus the entropy of
        the labels, which that counts as known. K! orders of the clusters are one partition.
        """
        shares = self.share(S)
        S = shares.statistics
        counts = gammaln(np.maximum(S[:, 0], 1.0)).sum()
        marginal = self.component.log_marginal(S).sum()
        return float(len(S) * self.log_alpha - gammaln(len(S) + 1.0) + counts + marginal) + shares.entropy

    def merge_down(self, S: Array, iterations: int, least_gain: float = 0.0) -> Array:
        """Fit clusters, then merge pairs as long as that raises the evidence by more than ``least_gain`` nats.

        After each round of merges the clusters are fitted again.
        """
        for _ in range(_ROUNDS):
            S = self.fit(S, iterations)
            pairs, gains = self._gainful_pairs(S, least_gain)
            if not len(pairs):
                break
            S = _merged(S, pairs[np.argsort(-gains, kind="stable")])
        return S

    def _gainful_pairs(self, S: Array, least_gain: float) -> tuple[npt.NDArray[np.int64], Array]:
        """Pairs (n, 2) of clusters whose merge raises the evidence by more than ``least_gain``, and by how much.

        The log posterior gains Gamma(n_a + n_b) f / (alpha Gamma(n_a) f_a Gamma(n_b) f_b) with marginal likelihoods f;
        the entropy of the labels loses what is uncertain between the two; one order in K is lost.
        """
        K, component = len(S), self.component
        L = component.log_marginal(S)
        pairs = component.mergeable(S, L, np.ones(K, bool), self.log_alpha)
        if not len(pairs):
            return pairs, np.zeros(0)
        a, b = pairs.min(axis=1), pairs.max(axis=1)
        counts = S[:, 0]
        own = gammaln(np.maximum(counts, 1.0)) + L
        gains = gammaln(np.maximum(counts[a] + counts[b], 1.0)) + component.log_marginal_pairs(S, pairs)
        gains += np.log(K) - self.log_alpha - own[a] - own[b] - self.share(S).lost[a, b]
        gainful = gains > least_gain
        return pairs[gainful], gains[gainful]

    # --- seeds

    def _single(self, points: Any, n: int) -> Array:
        """Statistics (n, P) of each of n prepared points alone."""
        return self.component.statistics(points, np.ones(n), np.arange(n, dtype=np.int32), n)

    def _single_of(self, rows: slice | npt.NDArray[np.intp]) -> Array:
        """Statistics (n, P) of each of some points alone."""
        X = self._X[rows]
        return self._single(self.component.prepare(X), X.shape[0])

    def seed(self, n_pieces: int, rng: np.random.Generator, among: Array | None = None, at_a_time: int = 1) -> Array:
        """Choose seeds far from each other and from clusters with statistics ``among`` (K, P).

        Returns the statistics (at most n_pieces, P) of the points around them. Several seeds ``at_a_time`` take less
        time, but may be near each other.

        As in k-means++, a point becomes the next seed with a probability proportional to its distance from the nearest
        seed or cluster. The distance is what its log predictive loses if its cluster is that one rather than one with
        the point alone. A piece consists of the points that are nearest to its seed.
        """
        N, component = len(self.weight), self.component
        size = max(1, _MOST_STATISTICS // component.n_statistics)
        every = self._single(self.points, N) if N <= size else None
        if every is not None:
            own = component.twin_scores(every)
        else:
            chunks = (slice(first, first + size) for first in range(0, N, size))
            own = np.concatenate([component.twin_scores(self._single_of(chunk)) for chunk in chunks])
        piece = np.zeros(N, np.int32)
        distance, chance = np.full(N, np.inf), self.weight
        if among is not None:
            scores = component.scores(component.predictive(among), np.zeros(len(among)), self.points)
            kernels.join_seeds(scores, own, 0, distance, np.empty(N, np.int32))
            chance = distance * self.weight
        n = 0
        while n < n_pieces and chance.any():
            seeds = draw_indices(chance, min(at_a_time, n_pieces - n), rng)
            single = self._single_of(seeds) if every is None else every[seeds]
            scores = component.scores(component.predictive(single), np.zeros(len(seeds)), self.points)
            kernels.join_seeds(scores, own, n + 1, distance, piece)
            n += len(seeds)
            chance = distance * self.weight
        # Piece 0 are the points that belong to none.
        S = component.statistics(self.points, self.weight, piece, n + 1)[1:]
        return S[S[:, 0] > 0.0]


def draw_indices(chances: Array, size: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw up to ``size`` different indices with probabilities in proportion to chances (N,).

    A single one is that of ``rng.choice(N, p=chances / chances.sum())``, which spends most of its time on checks.
    """
    sums = chances.cumsum()
    sums /= sums[-1]
    # For a few numbers, np.unique takes ten times as long.
    return np.array(sorted({*sums.searchsorted(rng.random(size), side="right").tolist()}))


def _merged(S: Array, pairs: npt.NDArray[np.int64]) -> Array:
    """Merge pairs of clusters with statistics S (K, P), the first pairs first, each cluster at most once."""
    S = S.copy()
    used, gone = np.zeros(len(S), bool), np.zeros(len(S), bool)
    for a, b in pairs:
        if not (used[a] or used[b]):
            S[a] += S[b]
            gone[b] = used[a] = used[b] = True
    return S[~gone]
