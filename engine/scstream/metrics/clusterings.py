"""Scores of clusterings against true labels: ARI, NMI, purity and pairwise F, also of many batches together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Contingency:
    """Contingency table: number of points with each pair of true and predicted label; only pairs that occur are kept.

    The sum of the tables of several batches is the table of all their points.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_pairs,)
        The labels of each pair.
    counts : ndarray of shape (n_pairs,)
        Number of points with the pair.

    Examples
    --------
    >>> table = Contingency.of([0, 0, 1], [5, 5, 7]) + Contingency.of([1, 1], [7, 5])
    >>> table.counts.tolist(), table.n
    ([2, 1, 2], 5)
    """

    truth: NDArray[Any]
    predicted: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, truth: ArrayLike, predicted: ArrayLike) -> Self:
        """Return the table of two label vectors."""
        a, b = np.asarray(truth), np.asarray(predicted)
        if a.ndim != 1 or a.shape != b.shape:
            raise ValueError(f"labels must be two vectors of one length, got shapes {a.shape} and {b.shape}")
        if a.size == 0:
            raise ValueError("labels must not be empty: there is nothing to compare")
        return cls._count(a, b, np.ones(a.size, np.int64))

    @classmethod
    def _count(cls, truth: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.int64]) -> Self:
        rows, row = np.unique(truth, return_inverse=True)
        columns, column = np.unique(predicted, return_inverse=True)
        pairs, pair = np.unique(row * np.int64(columns.size) + column, return_inverse=True)
        # Float sums of whole numbers are exact up to 2**53 points.
        counts = np.bincount(pair, weights).astype(np.int64)
        return cls(rows[pairs // columns.size], columns[pairs % columns.size], counts)

    @classmethod
    def total(cls, tables: Iterable[Contingency]) -> Self:
        """Return the sum of several tables."""
        parts = [(table.truth, table.predicted, table.counts) for table in tables]
        if not parts:
            raise ValueError("there are no tables to sum: give at least one batch")
        truth, predicted, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls._count(truth, predicted, counts)

    def __add__(self, other: Contingency) -> Contingency:
        return Contingency.total([self, other])

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.counts.sum())

    def marginals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of points of each true label, and of each predicted label."""
        return _group_sums(self.truth, self.counts), _group_sums(self.predicted, self.counts)

    def pairs(self) -> tuple[int, int, int, int]:
        """Return numbers of pairs of points with equal labels in both, in the truth, in the prediction; all pairs."""
        truth, predicted = self.marginals()
        return _n_pairs(self.counts), _n_pairs(truth), _n_pairs(predicted), self.n * (self.n - 1) // 2

    def ari(self) -> float:
        """Return the adjusted Rand index."""
        both, truth, predicted, every = self.pairs()
        if both == truth == predicted:
            return 1.0
        chance = truth * predicted / every
        return (both - chance) / ((truth + predicted) / 2 - chance)

    def nmi(self) -> float:
        """Return the mutual information over the mean of the two entropies."""
        truth, predicted = self.marginals()
        if truth.size == predicted.size == 1:
            return 1.0
        entropies = _entropy(truth) + _entropy(predicted)
        information = entropies - _entropy(self.counts)
        # For independent labels the difference is a rounding error of either sign.
        return 0.0 if information < 1e-12 * entropies else 2.0 * information / entropies

    def purity(self) -> float:
        """Return the share of points with the most frequent true label of their cluster."""
        clusters, cluster = np.unique(self.predicted, return_inverse=True)
        most_frequent = np.zeros(clusters.size, np.int64)
        np.maximum.at(most_frequent, cluster, self.counts)
        return float(most_frequent.sum() / self.n)

    def pairwise_f(self) -> float:
        """Return the F-measure of the decision "same cluster", over all pairs of points."""
        both, truth, predicted, _ = self.pairs()
        return 1.0 if truth + predicted == 0 else 2 * both / (truth + predicted)


def ari(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Adjusted Rand index: 1 for equal partitions, about 0 for random ones.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [7, 7, 3, 3])
    1.0
    """
    return Contingency.of(truth, predicted).ari()


def nmi(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Mutual information, normalised by the arithmetic mean of the entropies."""
    return Contingency.of(truth, predicted).nmi()


def purity(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Share of points with the most frequent true label of their cluster."""
    return Contingency.of(truth, predicted).purity()


def pairwise_f(truth: ArrayLike, predicted: ArrayLike) -> float:
    """F-measure of the decision "same cluster", over all pairs of points."""
    return Contingency.of(truth, predicted).pairwise_f()


def clustering_scores(truth: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """ARI, NMI, purity and pairwise F from one table.

    Examples
    --------
    >>> clustering_scores([0, 0, 1, 1], [0, 0, 0, 0])
    {'ari': 0.0, 'nmi': 0.0, 'purity': 0.5, 'pairwise_f': 0.5}
    """
    table = Contingency.of(truth, predicted)
    return {
        "ari": table.ari(),
        "nmi": table.nmi(),
        "purity": table.purity(),
        "pairwise_f": table.pairwise_f(),
    }


def full_nmi(truths: Iterable[ArrayLike], predictions: Iterable[ArrayLike]) -> float:
    """NMI of all batches together: high only if a label has the same meaning in every batch.

    Parameters
    ----------
    truths, predictions : iterable of label vectors
        One for each batch, read once. For an endless stream add `Contingency` tables instead.

    Examples
    --------
    >>> full_nmi([[0, 1], [0, 1]], [[4, 5], [4, 5]]), full_nmi([[0, 1], [0, 1]], [[4, 5], [5, 4]])
    (1.0, 0.0)
    """
    batches = zip(truths, predictions, strict=True)
    return Contingency.total(Contingency.of(truth, predicted) for truth, predicted in batches).nmi()


def _group_sums(labels: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    _, group = np.unique(labels, return_inverse=True)
    return np.bincount(group, counts).astype(np.int64)


def _n_pairs(counts: NDArray[np.int64]) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _entropy(counts: NDArray[np.int64]) -> float:
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())
