"""How far two segmentations of one frame agree, whatever ids they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream.metrics import Contingency
from scstream_app.render.image_types import IdMap

# The best matching of more segments takes too long; pairs are then chosen by their overlap, one after another.
_MOST_MATCHED = 600


@dataclass(frozen=True, slots=True)
class FrameAgreement:
    """Agreement of two segmentations of a frame.

    Parameters
    ----------
    matches : mapping of int to int
        Segments of the second segmentation, each with its partner in the first one. No two have the same partner, and
        the overlap of all pairs is as large as possible (nearly so if there are many hundred segments).
    differs : array (H, W) of bool
        Pixels whose two segments are not partners.
    ari : float
        Adjusted Rand index: 1 for equal segmentations, about 0 for unrelated ones.
    vi : float
        Variation of information in bits: 0 for equal segmentations.
    """

    matches: Mapping[int, int]
    differs: npt.NDArray[np.bool_]
    ari: float
    vi: float

    @property
    def share(self) -> float:
        """Share of the pixels that differ."""
        return float(self.differs.mean())


def compare_ids(first: IdMap, second: IdMap) -> FrameAgreement:
    """Compare two id maps of the same frame.

    Examples
    --------
    >>> found = compare_ids(np.array([[1, 1, 2, 2]]), np.array([[7, 7, 7, 5]]))
    >>> found.differs.tolist(), found.matches[7], found.matches[5]
    ([[False, False, True, False]], 1, 2)
    """
    if first.shape != second.shape:
        raise ValueError(f"id maps must have one shape, got {first.shape} and {second.shape}")
    (ids_a, a), (ids_b, b) = _numbered(first), _numbered(second)
    pairs, overlaps = np.unique(a * ids_b.size + b, return_counts=True)
    rows, columns = pairs // ids_b.size, pairs % ids_b.size
    chosen = _matching(rows, columns, overlaps, (ids_a.size, ids_b.size))
    partner = np.full(ids_a.size, -1)
    partner[rows[chosen]] = columns[chosen]
    table = Contingency(ids_a[rows], ids_b[columns], overlaps)
    return FrameAgreement(
        dict(zip(ids_b[columns[chosen]].tolist(), ids_a[rows[chosen]].tolist(), strict=True)),
        (partner[a] != b).reshape(first.shape),
        table.ari(),
        variation_of_information(table),
    )


def _matching(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], overlaps: npt.NDArray[np.int64], shape: tuple[int, int]
) -> npt.NDArray[np.intp]:
    """Places of the pairs (row, column) that are chosen as partners: each row and each column at most once."""
    if max(shape) > _MOST_MATCHED:
        return _greedy_matching(rows, columns, overlaps, shape)
    dense = np.zeros(shape, np.int64)
    dense[rows, columns] = overlaps
    best = np.zeros(shape, np.bool_)
    # Importing it takes 0.4 s, for which the start of the window need not wait.
    from scipy.optimize import linear_sum_assignment

    best[linear_sum_assignment(dense, maximize=True)] = True
    return np.flatnonzero(best[rows, columns])


def _greedy_matching(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], overlaps: npt.NDArray[np.int64], shape: tuple[int, int]
) -> npt.NDArray[np.intp]:
    """Choose pairs by descending overlap."""
    free_row, free_column = [True] * shape[0], [True] * shape[1]
    chosen = []
    for place in np.argsort(-overlaps, kind="stable").tolist():
        row, column = rows[place], columns[place]
        if free_row[row] and free_column[column]:
            free_row[row] = free_column[column] = False
            chosen.append(place)
    return np.array(chosen, np.intp)


def variation_of_information(table: Contingency) -> float:
    """Information in bits that two clusterings do not share.

    >>> variation_of_information(Contingency.of([0, 0, 1, 1], [0, 1, 0, 1]))
    2.0
    """
    first, second = table.marginals()
    return max(2.0 * _entropy(table.counts) - _entropy(first) - _entropy(second), 0.0)


def _numbered(ids: IdMap) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Ids that occur, ascending, and the place of each pixel's id among them; faster than `np.unique`."""
    lowest = int(ids.min())
    shifted = ids.ravel().astype(np.int64) - lowest
    occurs = np.bincount(shifted) > 0
    return np.flatnonzero(occurs) + lowest, (np.cumsum(occurs) - 1)[shifted]


def _entropy(counts: npt.NDArray[np.int64]) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
