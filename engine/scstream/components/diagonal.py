"""Gaussian clusters with independent dimensions: cheap and robust for many features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from scstream import kernels
from scstream.checks import MAX_VALUE, is_bounded, numeric, scalar
from scstream.components.base import HOPELESS, Array, Component, Labels
from scstream.components.first_batch import bound_resolution, rounding_variance, scale_priors, weighted_moments
from scstream.threads import run_ranges

#: Points scored at a time by one thread.
_ROWS = 4096
#: Clusters compared with all others at a time by one thread.
_CLUSTERS = 128


@dataclass(frozen=True, slots=True)
class Independent:
    """Products of one-dimensional densities: mean, precision (M, D); c, dof (M,), dof 0 for normals."""

    mean: Array
    precision: Array
    c: Array
    dof: Array


class DiagonalGaussian(Component):
    """Gaussian with a diagonal covariance; each dimension has its own normal-inverse-gamma prior.

    Parameters
    ----------
    kappa : float, default=1.0
        Weight of the prior mean, in points; with ``psi=None`` times the scale of psi, so that means may lie anywhere
        in the first batch.
    m : array (D,), default=None
        Prior mean. None: the first batch's mean.
    nu : float, default=3.0
        Weight of the prior variances, in points.
    psi : array (D,) or float, default=None
        Prior variances of a cluster. None: the first batch's variances, scaled as for `Gaussian`.
    resolution : array (D,) or float, default=None
        Step between the values that each feature can have, as for `Gaussian`.

    Notes
    -----
    A row of statistics is (n, sum of x, sum of x^2), with points x relative to ``m``, as in `Gaussian`. The posterior
    of a cluster has, in each dimension,

        kappa* = kappa + n,  nu* = nu + n,  m* - m = sum x / kappa*
        nu* psi* = nu psi + sum x^2 - kappa* (m* - m)^2

    and the log marginal likelihood is the sum over dimensions of

        log Gamma(nu* / 2) - log Gamma(nu / 2) + nu / 2 log(nu psi) - nu* / 2 log(nu* psi*)
        + 1 / 2 log(kappa / kappa*) - n / 2 log(pi)

    The predictive is a product of Student t distributions with nu* degrees of freedom.
    """

    name: ClassVar[str] = "diagonal"

    def __init__(
        self,
        kappa: float = 1.0,
        m: npt.ArrayLike | None = None,
        nu: float = 3.0,
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
        m = moments.mean if self.m is None else numeric("m", self.m)
        psi = moments.variance if self.psi is None else numeric("psi", self.psi)
        if psi.ndim == 0:
            psi = np.full(D, psi)
        kappa, nu = scalar("kappa", self.kappa), scalar("nu", self.nu)
        if kappa <= 0:
            raise ValueError(f"kappa must be > 0, got {self.kappa!r}")
        if nu <= 0:
            raise ValueError(f"nu must be > 0, got {self.nu!r}")
        if m.shape != (D,) or not is_bounded(m):
            raise ValueError(f"m must be {D} numbers of at most {MAX_VALUE:g}, one per feature, got {self.m!r}")
        if psi.shape != (D,) or not np.isfinite(psi).all() or (psi <= 0).any():
            raise ValueError(f"psi must be {D} positive variances, got {self.psi!r}")
        resolution = bound_resolution(self.resolution, X, weight, self.psi is None)
        return self.changed(kappa=kappa, m=m, nu=nu, psi=psi, resolution=resolution)

    def candidates(self, X: Array, weight: Array) -> list[Self]:
        bound = self.bind(X, weight)
        return [bound] if self.psi is not None else scale_priors(bound, weighted_moments(X, weight).varies)

    def hyperparameters(self) -> dict[str, Array]:
        return {name: np.asarray(value, np.float64) for name, value in self.get_params().items()}

    @cached_property
    def _rounding(self) -> Array | None:
        return rounding_variance(self.resolution)

    @cached_property
    def origin(self) -> Array:
        """Point (D,) to which statistics are relative: the prior mean.

        Components with different prior means can share statistics if one is assigned the origin of the other.
        """
        return np.asarray(self.m)

    @property
    def n_statistics(self) -> int:
        return 1 + 2 * int(np.asarray(self.m).shape[0])

    def prepare(self, X: Array) -> Array:
        points: Array = np.subtract(X, self.origin, order="C")
        return points

    def statistics(self, points: Array, weight: Array, groups: Labels, n_groups: int) -> Array:
        out = np.zeros((n_groups, self.n_statistics))
        kernels.diagonal_statistics(points, weight, groups, out)
        if self._rounding is not None:
            out[:, 1 + points.shape[1] :] += out[:, :1] * self._rounding
        return out

    def _posterior(self, S: Array) -> tuple[Array, Array, Array, Array]:
        """kappa* (M, 1), m* relative to the origin (M, D), nu* (M, 1) and nu* psi* (M, D)."""
        m, psi = np.asarray(self.m) - self.origin, np.asarray(self.psi)
        D = len(psi)
        kappa = self.kappa + S[:, :1]
        mean = (self.kappa * m + S[:, 1 : 1 + D]) / kappa
        scatter = self.nu * psi + S[:, 1 + D :] + self.kappa * m**2 - kappa * mean**2
        # Rounding must not make the scatter smaller than the prior's part.
        return kappa, mean, self.nu + S[:, :1], np.maximum(scatter, 1e-9 * self.nu * psi)

    def log_marginal(self, S: Array) -> Array:
        kappa, _, nu, scatter = self._posterior(S)
        D = scatter.shape[1]
        psi = np.asarray(self.psi)
        per_cluster = (
            0.5 * np.log(self.kappa / kappa)
            + gammaln(0.5 * nu)
            - gammaln(0.5 * self.nu)
            - 0.5 * S[:, :1] * np.log(np.pi)
        )
        per_dimension = 0.5 * self.nu * np.log(self.nu * psi) - 0.5 * nu * np.log(scatter)
        out: Array = D * per_cluster[:, 0] + per_dimension.sum(axis=1)
        return out

    def draw(self, S: Array, rng: np.random.Generator) -> Independent:
        kappa, mean, nu, scatter = self._posterior(S)
        precision = 2.0 * rng.standard_gamma(np.broadcast_to(0.5 * nu, scatter.shape)) / scatter
        drawn = mean + rng.standard_normal(mean.shape) / np.sqrt(kappa * precision)
        c = 0.5 * np.log(precision / (2.0 * np.pi)).sum(axis=1)
        return Independent(drawn, precision, c, np.zeros(len(S)))

    def predictive(self, S: Array) -> Independent:
        kappa, mean, nu, scatter = self._posterior(S)
        precision = kappa * nu / ((kappa + 1.0) * scatter)
        normaliser = gammaln(0.5 * (nu + 1.0)) - gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi)
        c = mean.shape[1] * normaliser[:, 0] + 0.5 * np.log(precision).sum(axis=1)
        return Independent(mean, precision, c, nu[:, 0])

    def scores(self, parameters: Independent, log_weight: Array, points: Array) -> Array:
        w = parameters
        out = np.empty((len(w.c), len(points)))
        columns, c = np.ascontiguousarray(points.T), w.c + log_weight
        run_ranges(
            len(points),
            _ROWS,
            lambda first, last: kernels.diagonal_scores(columns, w.mean, w.precision, c, w.dof, first, last, out),
        )
        return out.T

    def own_scores(self, parameters: Independent, log_weight: Array, points: Array, labels: Labels) -> Array:
        w = parameters
        out = np.empty((2, len(points)))

        def score(first: int, last: int) -> None:
            for side in range(2):
                k = 2 * labels[first:last] + side
                q = w.precision[k] * np.square(points[first:last] - w.mean[k])
                dof = w.dof[k][:, None]
                student = 0.5 * (dof + 1.0) * np.log1p(q / np.where(dof > 0, dof, 1.0))
                out[side, first:last] = w.c[k] + log_weight[k] - np.where(dof > 0, student, 0.5 * q).sum(axis=1)

        run_ranges(len(points), _ROWS, score)
        return out

    @property
    def n_coordinates(self) -> int:
        return int(np.asarray(self.m).shape[0])

    def translate(self, records: Array, n_records: int, shift: Array) -> None:
        # With x' = x + shift: sum x'^2 = sum x^2 + 2 shift sum x + n shift^2, and sum x' = sum x + n shift.
        rows, D, shift = records[:n_records, : len(shift)], shift.shape[1], shift[:, None]
        n, first = rows[..., :1], rows[..., 1 : 1 + D]
        rows[..., 1 + D :] += 2.0 * shift * first + n * shift**2
        first += n * shift

    def without_location(self, S: Array) -> Self:
        mean, variance = self._moments(S)
        psi = np.asarray(self.psi)
        spread = variance + np.square(mean - np.asarray(self.m))
        # The prior variance of a cluster's mean is psi / kappa.
        kappa = min(float(self.kappa), float(np.mean(psi / np.maximum(spread, psi))))
        return self.changed(kappa=kappa)

    def summary(self, S: Array) -> dict[str, Array]:
        mean, variance = self._moments(S)
        return {"mean": mean, "variance": variance}

    def _moments(self, S: Array) -> tuple[Array, Array]:
        """Mean and variance (..., D) of statistics S (..., P); origin and zero for empty clusters."""
        D = np.asarray(self.m).shape[0]
        n = np.maximum(S[..., :1], 1e-300)
        mean = S[..., 1 : 1 + D] / n
        return mean + self.origin, np.maximum(S[..., 1 + D :] / n - mean**2, 0.0)

    def axis(self, S: Array, rng: np.random.Generator, principal: bool) -> Array:
        """One dimension as a unit vector (D,): that of largest variance relative to the prior's, or a random one."""
        share = self._moments(S)[1] / np.asarray(self.psi)
        D, total = len(share), share.sum()
        if principal or total <= 0:
            # With the default prior all are 1 in the first batch: rounding errors must not decide.
            chosen = int(np.argmax(share >= (1.0 - 1e-6) * share.max()))
        else:
            chosen = int(rng.choice(D, p=share / total))
        out = np.zeros(D)
        out[chosen] = 1.0
        return out

    def halve(self, S: Array, axis: Array) -> Array:
        """Half of a Gaussian cut at its mean along one dimension (see `Gaussian.halve`)."""
        D = len(axis)
        shift = axis * np.sqrt(2.0 / np.pi * self._moments(S)[1])
        half = 0.5 * S
        half[..., 1 : 1 + D] += half[..., :1] * shift
        half[..., 1 + D :] += S[..., 1 : 1 + D] * shift
        return half

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        K, own = len(S), log_marginal + gammaln(np.maximum(S[:, 0], 1e-3))
        columns, nu = np.ascontiguousarray(S.T), float(self.nu)
        m, nu_psi = np.asarray(self.m) - self.origin, nu * np.asarray(self.psi)
        found = {}

        def search(first: int, last: int) -> None:
            pairs = np.empty(((last - first) * last, 2), np.int64)
            n = kernels.diagonal_mergeable(
                columns, own, float(self.kappa), m, nu, nu_psi, HOPELESS + log_alpha, eligible, first, last, pairs
            )
            found[first] = pairs[:n]

        run_ranges(K, _CLUSTERS, search)
        return np.concatenate([found[first] for first in sorted(found)])
