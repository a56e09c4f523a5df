"""Gaussian clusters with a normal-inverse-Wishart prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.checks import MAX_VALUE, is_bounded, numeric, scalar
from scstream.components.base import HOPELESS, Array, Component, Labels, LikelyMerges, log_rising
from scstream.components.first_batch import bound_resolution, rounding_variance, scale_priors, weighted_moments
from scstream.components.gaussian_sharing import GaussianSharing
from scstream.components.second_moments import lower_triangle, square_places
from scstream.threads import run_ranges

#: Most points scored at a time by one thread, and least scores: starting a thread for fewer does not pay.
_ROWS = 4096
_SCORES = 2**15
#: Clusters compared with all others at a time by one thread.
_CLUSTERS = 128
#: Additional weights of the prior covariance that are tried, in points for each feature, from small to large.
_WEIGHTS = tuple(4.0**n for n in range(5))


@dataclass(frozen=True, slots=True)
class Whitened:
    """Densities of many clusters in whitened form (see `kernels`): A (M, D, D), b (M, D), c (M,), dof (M,)."""

    A: Array
    b: Array
    c: Array
    dof: Array


class Gaussian(Component):
    """Gaussian with a full covariance; mean and covariance have a normal-inverse-Wishart prior.

    Parameters
    ----------
    kappa : float, default=1.0
        Weight of the prior mean, in points; with ``psi=None`` times the scale of psi, so that means may lie anywhere
        in the first batch.
    m : array (D,), default=None
        Prior mean. None: the first batch's mean.
    nu : float, default=None
        Weight of the prior covariance, in points, more than D - 1. None: D + 3; if ``psi`` is None too, that or
        D + 3 plus 1, 4, 16, 64 or 256 times D, chosen like the scale of ``psi``.
    psi : array (D, D) or float, default=None
        Prior covariance of a cluster (the inverse-Wishart scale is ``nu * psi``). A number stands for that multiple of
        the identity. None: the first batch's variances on the diagonal, times 1, 1/4, 1/16, ...: the scale
        under which the first batch has the highest evidence, an estimate of the log marginal likelihood of all points.
    resolution : array (D,) or float, default=None
        Step between the values that each feature can have, such as 1 for whole numbers; 0: any value is possible. A
        point counts as if it were spread evenly over a step, so that no cluster shrinks to a single value. None: the
        step that the first batch shows, or 0 if ``psi`` is given or if the features with steps have no more than ten
        different combinations of values in it, each of which may be a cluster.

    Notes
    -----
    A row of statistics is (n, sum of x, lower triangle of sum of x x'), with points x relative to ``m``: far from zero,
    sums of squares would lose all digits of a variance. The posterior of a cluster has

        kappa* = kappa + n,  nu* = nu + n,  m* - m = sum x / kappa*
        nu* psi* = nu psi + sum x x' - kappa* (m* - m) (m* - m)'

    and the log marginal likelihood is

        log Gamma_D(nu* / 2) - log Gamma_D(nu / 2) + nu / 2 log|nu psi| - nu* / 2 log|nu* psi*|
        + D / 2 log(kappa / kappa*) - n D / 2 log(pi)

    The predictive is a Student t with nu* - D + 1 degrees of freedom.

    Examples
    --------
    The log marginal likelihood is the sum of one-step log predictives:

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.5]])
    >>> prior = Gaussian(m=np.zeros(2), nu=4.0, psi=1.0).bind(X, np.ones(3))
    >>> everything = np.zeros(3, np.int32)
    >>> total = prior.log_marginal(prior.statistics(prior.prepare(X), np.ones(3), everything, 1))[0]
    >>> S, steps = np.zeros((1, prior.n_statistics)), 0.0
    >>> for x in X[:, None]:
    ...     steps += prior.scores(prior.predictive(S), np.zeros(1), prior.prepare(x))[0, 0]
    ...     S += prior.statistics(prior.prepare(x), np.ones(1), everything[:1], 1)
    >>> bool(np.isclose(total, steps))
    True
    """

    name: ClassVar[str] = "gaussian"

    def __init__(
        self,
        kappa: float = 1.0,
        m: npt.ArrayLike | None = None,
        nu: float | None = None,
        psi: npt.ArrayLike | None = None,
        resolution: npt.ArrayLike | None = None,
    ) -> None:
        self.kappa = kappa
        self.m = m
        self.nu = nu
        self.psi = psi
        self.resolution = resolution

    def bind(self, X: Array, weight: Array) -> Self:
        D, moments = X.shape[1], weighted_moments(X, weight)
        psi = np.diag(moments.variance) if self.psi is None else numeric("psi", self.psi)
        if psi.ndim == 0:
            psi = psi * np.eye(D)
        bound = self.changed(
            kappa=scalar("kappa", self.kappa),
            m=moments.mean if self.m is None else numeric("m", self.m),
            nu=float(D + 3) if self.nu is None else scalar("nu", self.nu),
            psi=psi,
            resolution=bound_resolution(self.resolution, X, weight, self.psi is None),
        )
        bound._check(D)
        return bound

    def candidates(self, X: Array, weight: Array) -> list[Self]:
        bound = self.bind(X, weight)
        return [bound] if self.psi is not None else scale_priors(bound, weighted_moments(X, weight).varies)

    def variations(self, bound: Self) -> list[Self]:
        if self.psi is not None or self.nu is not None:
            return []
        return [bound.changed(nu=float(bound.nu or 0.0) + weight * bound._D) for weight in _WEIGHTS]

    def _check(self, D: int) -> None:
        m, psi, nu = np.asarray(self.m), np.asarray(self.psi), float(self.nu or 0.0)
        if not (np.isfinite(self.kappa) and self.kappa > 0):
            raise ValueError(f"kappa must be a finite number > 0, got {self.kappa!r}")
        if not (np.isfinite(nu) and nu > D - 1):
            raise ValueError(f"nu must be a finite number > D - 1 = {D - 1}, got {self.nu!r}")
        if m.shape != (D,) or not is_bounded(m):
            raise ValueError(f"m must be {D} numbers of at most {MAX_VALUE:g}, one per feature, got {self.m!r}")
        if psi.shape != (D, D) or not np.isfinite(psi).all() or not np.allclose(psi, psi.T, atol=_symmetry_error(psi)):
            raise ValueError(f"psi must be a symmetric {D} x {D} matrix of finite numbers, got {self.psi!r}")
        if np.linalg.eigvalsh(psi).min() <= 0:
            raise ValueError(f"psi must be positive definite, got {self.psi!r}")

    def hyperparameters(self) -> dict[str, Array]:
        return {
            "kappa": np.asarray(self.kappa, np.float64),
            "m": np.asarray(self.m, np.float64),
            "nu": np.asarray(self.nu, np.float64),
            "psi": np.asarray(self.psi, np.float64),
            "resolution": np.asarray(self.resolution, np.float64),
        }

    @cached_property
    def _rounding(self) -> Array | None:
        """Variance (D,) of a point within the steps of its features; None without steps."""
        return rounding_variance(self.resolution)

    @cached_property
    def _prior(self) -> tuple[float, Array | tuple[float, ...], float, Array]:
        """kappa, m relative to the origin, nu and nu * psi, as the kernels take them."""
        nu = float(self.nu or 0.0)
        return float(self.kappa), np.asarray(self.m) - self.origin, nu, nu * np.asarray(self.psi)

    @cached_property
    def origin(self) -> Array:
        """Point (D,) to which statistics are relative: the prior mean.

        Components with different prior means can share statistics if one is assigned the origin of the other.
        """
        return np.asarray(self.m)

    @cached_property
    def _unit(self) -> Array:
        """The prior's scale: features may have different units, and a principal axis is sought in correlations."""
        return np.sqrt(np.diag(np.asarray(self.psi)))

    @property
    def _D(self) -> int:
        return int(np.asarray(self.m).shape[0])

    @property
    def n_statistics(self) -> int:
        D = self._D
        return 1 + D + D * (D + 1) // 2

    def prepare(self, X: Array) -> Array:
        points: Array = np.subtract(X, self.origin, order="C")
        return points

    def statistics(self, points: Array, weight: Array, groups: Labels, n_groups: int) -> Array:
        out = np.zeros((n_groups, self.n_statistics))
        kernels.gaussian_statistics(points, weight, groups, out)
        if self._rounding is not None:
            out[:, square_places(self._D)] += out[:, :1] * self._rounding
        return out

    def sharing(self, points: Array, weight: Array) -> GaussianSharing:
        return GaussianSharing(points, weight, self._prior, self._rounding)

    def log_marginal(self, S: Array) -> Array:
        out = np.empty(len(S))
        kernels.niw_log_marginal(S, *self._prior, out)
        return out

    def twin_scores(self, S: Array) -> Array:
        if self._rounding is not None:
            return super().twin_scores(S)
        # n equal points add n kappa / (n + kappa) (x - m) (x - m)' to nu psi. With q = (x - m)' (nu psi)^-1 (x - m),
        # the determinant grows by 1 + n kappa / (n + kappa) q: no matrix needs to be decomposed for each point.
        kappa, m, nu, _ = self._prior
        prior = self.predictive(np.zeros((1, self.n_statistics)))
        normal = Whitened(prior.A, prior.b, np.zeros(1), np.zeros(1))
        scale = kappa * prior.dof[0] / (kappa + 1.0)
        q = -2.0 / scale * self.scores(normal, np.zeros(1), S[:, 1 : 1 + self._D])[:, 0]
        at_mean = self.statistics(np.array([m]), np.ones(1), np.zeros(1, np.int32), 1)
        rest = 0.5 * (nu + 1.0) * np.log1p(kappa / (kappa + 1.0) * q)
        rest -= 0.5 * (nu + 2.0) * np.log1p(2.0 * kappa / (kappa + 2.0) * q)
        return np.asarray(super().twin_scores(at_mean) + rest)

    def _empty(self, S: Array) -> Whitened:
        M, D = len(S), self._D
        return Whitened(np.zeros((M, D, D)), np.empty((M, D)), np.empty(M), np.zeros(M))

    def draw(self, S: Array, rng: np.random.Generator) -> Whitened:
        out = self._empty(S)
        M, D = out.b.shape
        normal = rng.standard_normal((M, D + D * (D - 1) // 2))
        degrees = float(self.nu or 0.0) + S[:, :1] - np.arange(D - 1, -1, -1)
        chi = np.sqrt(2.0 * rng.standard_gamma(0.5 * degrees))
        kernels.niw_draw(S, *self._prior, normal, chi, out.A, out.b, out.c)
        return out

    def predictive(self, S: Array) -> Whitened:
        out = self._empty(S)
        kernels.niw_predictive(S, *self._prior, out.A, out.b, out.c, out.dof)
        return out

    def scores(self, parameters: Whitened, log_weight: Array, points: Array) -> Array:
        out = np.empty((len(parameters.c), len(points)))
        w, columns, c = parameters, np.ascontiguousarray(points.T), parameters.c + log_weight
        run_ranges(
            len(points),
            min(_ROWS, max(256, _SCORES // len(w.c))),
            lambda first, last: kernels.gaussian_scores(columns, w.A, w.b, c, w.dof, first, last, out),
        )
        return out.T

    def own_scores(self, parameters: Whitened, log_weight: Array, points: Array, labels: Labels) -> Array:
        out = np.empty((2, len(points)))
        w, c = parameters, parameters.c + log_weight
        run_ranges(
            len(points),
            _ROWS,
            lambda first, last: kernels.gaussian_own_scores(points.T, w.A, w.b, c, w.dof, labels, first, last, out),
        )
        return out

    def moments(self, S: Array) -> tuple[Array, Array]:
        """Return the mean (..., D) and covariance (..., D, D) of statistics S (..., P); origin and zero if empty."""
        D = self._D
        n = np.maximum(S[..., :1], 1e-300)
        mean = S[..., 1 : 1 + D] / n
        second = np.empty((*S.shape[:-1], D, D))
        i, j = lower_triangle(D)
        second[..., i, j] = second[..., j, i] = S[..., 1 + D :] / n
        return mean + self.origin, second - mean[..., :, None] * mean[..., None, :]

    def axis(self, S: Array, rng: np.random.Generator, principal: bool) -> Array:
        """Normal (D,) of the cutting plane: the principal axis, or a random one drawn in whitened space."""
        unit = self._unit
        normal = np.zeros(len(unit)) if principal else rng.standard_normal(len(unit))
        axis = np.empty(len(unit))
        kernels.gaussian_axis(S, unit, normal, principal, axis)
        return axis

    def halve(self, S: Array, axis: Array) -> Array:
        """One half of a Gaussian cut by the plane through its mean with normal ``axis``.

        Half the points, mean shifted by sqrt(2 / pi) standard deviations along the axis, covariance reduced by the
        square of that shift: the statistics of the two halves add up to those of the cluster exactly.
        """
        half = np.empty_like(S)
        kernels.gaussian_halve(S, axis, half)
        return half

    def cut(self, S: Array, rows: Array, rng: np.random.Generator, principal: bool) -> Array:
        unit, half = self._unit, np.empty_like(rows)
        normal = np.zeros((len(S), len(unit))) if principal else rng.standard_normal((len(S), len(unit)))
        kernels.gaussian_cut(S, unit, normal, principal, rows, half)
        return half

    @property
    def n_coordinates(self) -> int:
        return self._D

    def translate(self, records: Array, n_records: int, shift: Array) -> None:
        kernels.gaussian_translate(records, n_records, shift)

    def without_location(self, S: Array) -> Self:
        mean, covariance = self.moments(S)
        spread = np.diag(covariance) + np.square(mean - np.asarray(self.m))
        psi = np.diag(np.asarray(self.psi))
        # The prior variance of a cluster's mean is psi / kappa.
        kappa = min(float(self.kappa), float(np.mean(psi / np.maximum(spread, psi))))
        return self.changed(kappa=kappa)

    def summary(self, S: Array) -> dict[str, Array]:
        mean, covariance = self.moments(S)
        return {"mean": mean, "covariance": covariance}

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        return self._bounded_pairs(S, log_marginal, eligible, log_alpha, original=False).pairs

    def likely_merges(
        self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float
    ) -> LikelyMerges:
        return self._bounded_pairs(S, log_marginal, eligible, log_alpha, original=True)

    def _bounded_pairs(
        self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float, original: bool
    ) -> LikelyMerges:
        """The pairs of clusters whose merge a bound does not rule out."""
        K, D = len(S), self._D
        kappa, m, nu, nu_psi = self._prior
        size, own, own_logdet = np.empty((3, K))
        centre, logdet = np.empty((D, K)), np.empty((K, K))
        kernels.niw_merge_terms(S, log_marginal, m, size, own, own_logdet, centre)
        share = log_rising(log_alpha - math.log(2.0), size) if original else size
        run_ranges(
            K,
            _CLUSTERS,
            lambda first, last: kernels.niw_union_logdets(
                S, size, centre, kappa, m, nu, nu_psi, eligible, first, last, logdet
            ),
        )
        found = {}

        def search(first: int, last: int) -> None:
            pairs = np.empty(((last - first) * last, 2), np.int64)
            places = np.empty(len(pairs), np.int64)
            n, total = kernels.niw_mergeable(
                size, own, own_logdet, logdet, HOPELESS + log_alpha, kappa, nu, nu_psi, share,
                log_alpha if original else math.inf, eligible, first, last, pairs, places,
            )  # fmt: skip
            found[first] = LikelyMerges(pairs[:n], places[:n], total)

        run_ranges(K, _CLUSTERS, search)
        return found[0] if len(found) == 1 else _joined([found[first] for first in sorted(found)])


def _joined(parts: list[LikelyMerges]) -> LikelyMerges:
    """The lists of several ranges of clusters as one."""
    before = np.cumsum([0] + [part.total for part in parts])
    places = [part.places + offset for part, offset in zip(parts, before, strict=False)]
    return LikelyMerges(np.concatenate([part.pairs for part in parts]), np.concatenate(places), int(before[-1]))


def _symmetry_error(psi: Array) -> Array:
    """Rounding error (D, D) that entries of a symmetric matrix may have, whatever the units of the features."""
    scale = np.sqrt(np.abs(np.diag(psi)))
    return 1e-8 * np.outer(scale, scale)
