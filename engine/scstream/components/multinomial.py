"""Multinomial clusters with a Dirichlet prior, for dense or sparse counts such as bags of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import gammaln

from scstream import kernels
from scstream.checks import numeric
from scstream.components.base import HOPELESS, Array, Component, Labels
from scstream.threads import run_ranges, threads_available

#: Least points, and pairs of clusters, scored at a time by one thread.
_ROWS = 250
_PAIRS = 1000
#: Clusters compared with all others at a time by one thread.
_CLUSTERS = 32
#: Pieces of work for each thread, if there is enough: they take different times.
_PIECES = 4
#: Whole counts below _LEVELS are looked up in a table with one row per outcome, unless it has more than _TABLE entries.
_LEVELS = 32
_TABLE = 2**22
#: Largest share by which outcomes are over-represented in a half.
_MOST_EXCESS = 0.5
#: Smallest shape whose Gamma draws never underflow a float64.
_SAFE = 1.0


@dataclass(frozen=True, slots=True)
class Counts:
    """A batch of N count vectors in CSR format, and its distinct (column, count) pairs and totals.

    A Dirichlet-multinomial score is a sum over the non-zero counts, and each term depends on the pair (column, count)
    alone. The terms are computed once for each distinct pair and cluster, then looked up: ``entry`` is the index of
    each non-zero's pair.
    """

    indptr: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    value: Array
    total: Array
    entry: npt.NDArray[np.int64]
    pair_column: npt.NDArray[np.int64]
    pair_value: Array
    total_entry: npt.NDArray[np.int64]
    distinct_total: Array

    def __len__(self) -> int:
        return len(self.total)


@dataclass(frozen=True, slots=True)
class LogProbabilities:
    """Drawn parameters: log theta (M, D)."""

    log_theta: Array


@dataclass(frozen=True, slots=True)
class Concentrations:
    """Posterior Dirichlet parameters (M, D), for the predictive."""

    d: Array


class Multinomial(Component):
    """Multinomial whose probabilities have a Dirichlet prior. Multinomial coefficients cancel and are omitted.

    Parameters
    ----------
    concentration : float or array (D,), default=1.0
        Dirichlet parameter of each outcome.

    Notes
    -----
    A row of statistics is (n, sum of the counts s). With concentration d, the posterior is Dirichlet(d + s) and the log
    marginal likelihood, where totals are sums over outcomes,

        log Gamma(total d) - log Gamma(total d + total s) + sum over outcomes of (log Gamma(d + s) - log Gamma(d))
    """

    name: ClassVar[str] = "multinomial"
    sparse: ClassVar[bool] = True
    positive_only: ClassVar[bool] = True

    def __init__(self, concentration: npt.ArrayLike = 1.0) -> None:
        self.concentration = concentration

    def bind(self, X: Any, weight: Array) -> Self:
        D = X.shape[1]
        d = numeric("concentration", self.concentration)
        if d.ndim == 0:
            d = np.full(D, d)
        if d.shape != (D,) or not np.isfinite(d).all() or (d <= 0).any():
            raise ValueError(f"concentration must be a positive number or {D} of them, got {self.concentration!r}")
        return type(self)(d)

    def hyperparameters(self) -> dict[str, Array]:
        return {"concentration": np.asarray(self.concentration, np.float64)}

    @property
    def n_statistics(self) -> int:
        return 1 + int(np.asarray(self.concentration).shape[0])

    def prepare(self, X: Any) -> Counts:
        indptr, column, value = _rows(X)
        if (value < 0).any():
            raise ValueError(f"Negative values in data: counts must not be negative, got {value.min():g}")
        entry, example = _distinct_pairs(column, value, X.shape[1])
        total = np.add.reduceat(np.append(value, 0.0), np.minimum(indptr[:-1], len(value))) * (np.diff(indptr) > 0)
        distinct_total, total_entry = np.unique(total, return_inverse=True)
        return Counts(indptr, column, value, total, entry, column[example], value[example], total_entry, distinct_total)

    def statistics(self, points: Counts, weight: Array, groups: Labels, n_groups: int) -> Array:
        out = np.zeros((n_groups, self.n_statistics))
        kernels.count_statistics(points.indptr, points.column, points.value, weight, groups, out)
        return out

    def log_marginal(self, S: Array) -> Array:
        return self._log_marginal(S, np.arange(len(S)), np.full(len(S), -1))

    def log_marginal_pairs(self, S: Array, pairs: npt.NDArray[np.int64]) -> Array:
        return self._log_marginal(S, np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))

    def _log_marginal(self, S: Array, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> Array:
        out = np.empty(len(first))
        prior = np.asarray(self.concentration)
        run_ranges(
            len(first),
            _PAIRS,
            lambda a, b: kernels.dirichlet_log_marginal(S, prior, first[a:b], second[a:b], out[a:b]),
        )
        return out

    def mergeable(self, S: Array, log_marginal: Array, eligible: npt.NDArray[np.bool_], log_alpha: float) -> Any:
        K, prior = len(S), np.asarray(self.concentration)
        counts = np.empty((2, K, len(prior)), np.float32)
        total, share, own = np.empty((3, K))
        kernels.dirichlet_shares(S, log_marginal, prior, counts, total, share, own)
        found = {}

        def search(first: int, last: int) -> None:
            pairs = np.empty(((last - first) * K, 2), np.int64)
            n = kernels.dirichlet_mergeable(
                S[:, 0], counts, total, share, own, prior.sum(), HOPELESS + log_alpha, eligible, first, last, pairs
            )
            found[first] = pairs[:n]

        run_ranges(K, _CLUSTERS, search)
        return np.concatenate([found[first] for first in sorted(found)])

    def draw(self, S: Array, rng: np.random.Generator) -> LogProbabilities:
        d = np.asarray(self.concentration) + S[:, 1:]
        if d.min() >= _SAFE:
            gamma = rng.standard_gamma(d)
            return LogProbabilities(np.log(gamma) - np.log(gamma.sum(axis=1, keepdims=True)))
        # Gamma(d) = Gamma(d + 1) * u ** (1 / d), in logarithms because it would underflow.
        log_gamma = np.log(rng.standard_gamma(d + 1.0)) + np.log1p(-rng.random(d.shape)) / d
        top = log_gamma.max(axis=1, keepdims=True)
        return LogProbabilities(log_gamma - top - np.log(np.exp(log_gamma - top).sum(axis=1, keepdims=True)))

    def predictive(self, S: Array) -> Concentrations:
        return Concentrations(np.asarray(self.concentration) + S[:, 1:])

    def scores(self, parameters: LogProbabilities | Concentrations, log_weight: Array, points: Counts) -> Array:
        out = np.empty((len(points), len(log_weight)))
        if isinstance(parameters, LogProbabilities):
            table = np.ascontiguousarray(parameters.log_theta.T)
            entry, scale, per_total = points.column, points.value, table[:0]
        else:
            table = np.empty((len(points.pair_value), len(log_weight)))
            by_outcome = np.ascontiguousarray(parameters.d.T)
            column, value = points.pair_column, points.pair_value
            run_ranges(
                len(value),
                _piece(len(value)),
                lambda first, last: kernels.rising_table(by_outcome, column, value, first, last, table),
            )
            sums = parameters.d.sum(axis=1)
            per_total = gammaln(sums + points.distinct_total[:, None]) - gammaln(sums)
            entry, scale = points.entry, np.ones_like(points.value)
        run_ranges(
            len(points),
            _piece(len(points)),
            lambda first, last: kernels.table_scores(
                points.indptr, entry, scale, table, log_weight, per_total, points.total_entry, first, last, out
            ),
        )
        return out

    def own_scores(
        self,
        parameters: LogProbabilities | Concentrations,
        log_weight: Array,
        points: Counts,
        labels: Labels,
    ) -> Array:
        out = np.empty((2, len(points)))
        if isinstance(parameters, LogProbabilities):
            log_theta = parameters.log_theta
            kernels.table_own_scores(points.indptr, points.column, points.value, log_theta, log_weight, labels, out)
        else:
            d, sums = parameters.d, parameters.d.sum(axis=1)
            run_ranges(
                len(points),
                _piece(len(points)),
                lambda first, last: kernels.rising_own_scores(
                    points.indptr,
                    points.column,
                    points.value,
                    points.total,
                    d,
                    sums,
                    log_weight,
                    labels,
                    first,
                    last,
                    out,
                ),
            )
        return out

    def summary(self, S: Array) -> dict[str, Array]:
        d = np.asarray(self.concentration) + S[1:]
        return {"probabilities": d / d.sum()}

    def axis(self, S: Array, rng: np.random.Generator, principal: bool) -> Array:
        """A random sign for each outcome (D,), half of them positive: the sums hold no covariances to choose by."""
        D = len(S) - 1
        signs = np.ones(D)
        signs[(D + 1) // 2 :] = -1.0
        rng.shuffle(signs)
        return signs

    def cut(self, S: Array, rows: Array, rng: np.random.Generator, principal: bool) -> Array:
        axes = np.array([self.axis(whole, rng, principal) for whole in S])
        return self.halve(rows, axes)

    def halve(self, S: Array, axis: Array) -> Array:
        """Half of a cluster of equal points, those in which the outcomes of positive sign are the more frequent.

        Of points of t counts each, their number exceeds its mean by sqrt(2 t / pi) / 2 in this half. Halves further
        apart would look like two clusters.
        """
        half = 0.5 * S
        excess = np.sqrt(2.0 / np.pi * S[..., :1] / np.maximum(S[..., 1:].sum(axis=-1, keepdims=True), 1e-300))
        half[..., 1:] *= 1.0 + np.minimum(excess, _MOST_EXCESS) * axis
        return half


def _piece(n: int) -> int:
    """Size of the pieces of ``n`` rows that threads take."""
    return max(_ROWS, -(-n // (_PIECES * threads_available())))


def _rows(X: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
    """Row pointers, columns and values of the non-zero entries of a dense or sparse X."""
    sparse: Any = X
    if sp.issparse(X):
        csr = sp.csr_array(sparse).copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
        return csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data.astype(np.float64)
    n = kernels.count_nonzeros(X)
    indptr, column, value = np.zeros(len(X) + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1)
    kernels.sparse_rows(X, indptr, column, value)
    return indptr, column[:n], value[:n]


def _distinct_pairs(
    column: npt.NDArray[np.int64], value: Array, D: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Index of each non-zero's distinct (column, value) pair, and index of one example of each pair."""
    levels = min(_LEVELS, _TABLE // D)
    table = np.full(D * levels, -1, np.int32)
    entry, example = np.empty(len(value), np.int64), np.empty(len(value), np.int64)
    n = kernels.code_pairs(column, value, levels, table, entry, example)
    rest = np.flatnonzero(entry < 0)
    if not len(rest):
        return entry, example[:n]
    _, value_code = np.unique(value[rest], return_inverse=True)
    codes = value_code * np.int64(D) + column[rest]
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    entry[rest] = n + code
    return entry, np.concatenate([example[:n], rest[first]])
