"""What Gaussian components take from the first batch of a stream, where the user has not set it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scstream.checks import MAX_VALUE, is_bounded, numeric
from scstream.components.base import Array

#: Shares of the first batch's variances that are tried as a cluster's prior variances, from large to small.
SCALES = tuple(0.25**n for n in range(16))
#: Points whose moments are computed at a time: as many as `sampler.points.CHUNK`, so that chunks have their own sums.
_MOMENT_ROWS = 2**14
#: Prior variance if no feature varies in the first batch.
_UNKNOWN_VARIANCE = 1e-6
#: Most rows in which steps between values are looked for.
_STEP_ROWS = 2**14
#: If the features with steps show fewer different points, each of these is a group of its own.
_FEWEST_ROWS = 11


def scale_priors(bound: Any, varies: npt.NDArray[np.bool_]) -> list[Any]:
    """Return a bound Gaussian component with its prior variances times each of the `SCALES`.

    The prior of the means stays as wide as it is: a tight cluster far from the prior mean would otherwise seem wide.
    Where the first batch does not vary, every smaller variance has a higher evidence: there it stays as well.
    """
    found = []
    for scale in SCALES:
        factor = np.where(varies, scale, 1.0)
        psi = np.asarray(bound.psi) * (np.diag(factor) if np.ndim(bound.psi) == 2 else factor)
        found.append(bound.changed(kappa=scale * float(bound.kappa), psi=psi))
    return found


def bound_resolution(given: npt.ArrayLike | None, X: Any, weight: Any, is_default_prior: bool) -> Array:
    """Return the hyperparameter ``resolution`` (D,) of a component for the rows X (N, D) of a first batch.

    Without a given one, steps between values are found in the batch, but not for a prior that the user has set: it
    says already how narrow clusters are.
    """
    D = X.shape[1]
    if given is not None:
        resolution = np.asarray(numeric("resolution", given), np.float64)
        resolution = np.full(D, resolution) if resolution.ndim == 0 else resolution
    else:
        resolution = value_steps(X, weight) if is_default_prior else np.zeros(D)
    if resolution.shape != (D,) or not is_bounded(resolution) or (resolution < 0).any():
        raise ValueError(f"resolution must be {D} numbers from 0 to {MAX_VALUE:g}, one per feature, got {given!r}")
    return resolution


def rounding_variance(resolution: npt.ArrayLike | None) -> Array | None:
    """Return the variance (D,) of a value that is spread evenly over a step; None if no feature has steps."""
    variance: Array = np.square(np.asarray(0.0 if resolution is None else resolution, np.float64)) / 12.0
    return variance if variance.any() else None


def value_steps(X: Any, weight: Any) -> Array:
    """Return the step (D,) between the values of each column, such as 1 for whole numbers; 0 if values rarely repeat.

    Rows count as equally often seen, whatever their weights. There are no steps if the columns that have some show ten
    different points or fewer: codes, each of which may well be a group of its own.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(0.0, 5.0, 1000)
    >>> value_steps(np.column_stack([x, x.round(), x.round(1), x > 0.0]), np.ones(1000)).round(6).tolist()
    [0.0, 1.0, 0.1, 1.0]
    """
    rng = np.random.default_rng(0)
    if hasattr(X, "sample"):
        rows = X.sample(_STEP_ROWS, rng)[0]
    else:
        chosen = np.flatnonzero(weight)
        rows = X[np.sort(rng.choice(chosen, _STEP_ROWS, replace=False)) if len(chosen) > _STEP_ROWS else chosen]
    rows = np.asarray(rows, np.float64)
    steps = np.array([_step(column) for column in rows.T])
    return steps if len(np.unique(rows[:, steps > 0.0], axis=0)) >= _FEWEST_ROWS else np.zeros_like(steps)


def _step(column: Array) -> float:
    """The usual step between values that repeat; 0 if too few do."""
    values, counts = np.unique(column, return_counts=True)
    repeated = values[counts > 1]
    if len(repeated) < 2 or len(values) > len(column) / 2:
        return 0.0
    return float(np.median(np.diff(repeated)))


class Moments(NamedTuple):
    """Mean and variance (D,) of each column, and whether it varies at all."""

    mean: Array
    variance: Array
    varies: npt.NDArray[np.bool_]


def weighted_moments(X: Array, weight: Array) -> Moments:
    """Return the moments of each column, accurate at any distance from zero.

    A column whose deviations are rounding errors is constant and gets a variance that is usable as a prior: the
    geometric mean of the others. As long as the column stays constant, it does not matter which.
    """
    # Rows that are not in this process compute their means where they are.
    mean_of = X.mean_of if hasattr(X, "mean_of") else partial(_mean_of, X, weight)
    rough = mean_of(_values)
    # Far from zero the first mean is off by its rounding.
    rest = mean_of(_values, rough)
    mean = rough + rest
    variance = mean_of(_squares, rough, rest)
    rounding = np.square(2.0 * np.finfo(np.float64).eps * mean)
    constant = variance <= rounding
    if constant.all():
        return Moments(mean, np.maximum(_UNKNOWN_VARIANCE, rounding), ~constant)
    typical = np.exp(np.log(variance[~constant]).mean())
    return Moments(mean, np.where(constant, np.maximum(typical, rounding), variance), ~constant)


def _values(x: Array, *origins: Array) -> Array:
    """x minus the origins, one after the other."""
    return reduce(np.subtract, origins, x)


def _squares(x: Array, *origins: Array) -> Array:
    return np.square(_values(x, *origins))


def _mean_of(X: Array, weight: Array, term: Callable[..., Array], *origins: Array) -> Array:
    """Weighted mean (D,) of term(x, *origins) over the rows x of X (N, D)."""
    total = weight.sum()
    w = weight / total if total > 0 else np.full(len(weight), 1.0 / len(weight))
    return sum(sum_rows(X, w, term, *origins), np.zeros(X.shape[1]))


def sum_rows(X: Array, weight: Array, term: Callable[..., Array], *origins: Array) -> list[Array]:
    """Weighted sums (D,) of term(x, *origins) over every `_MOMENT_ROWS` rows x of X (N, D)."""
    parts = (slice(first, first + _MOMENT_ROWS) for first in range(0, len(X), _MOMENT_ROWS))
    return [weight[rows] @ term(X[rows], *origins) for rows in parts]
