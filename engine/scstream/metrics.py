"""Metrics of clusterings, of masks, and of video segmentations, with and without a ground truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scstream.sampler.genealogy import Event, follow

IdMap: TypeAlias = NDArray[np.integer[Any]]
Mask: TypeAlias = NDArray[Any]

# --- clusterings --------------------------------------------------------------------------------------


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


# --- one mask -----------------------------------------------------------------------------------------


def jaccard(pred: Mask, truth: Mask) -> float:
    """Intersection over union of two masks, the DAVIS J; 1 if both are empty.

    Examples
    --------
    >>> jaccard(np.array([[1, 1, 0]]), np.array([[0, 1, 1]]))
    0.3333333333333333
    """
    a, b = _two_masks(pred, truth)
    union = np.count_nonzero(a | b)
    return float(np.count_nonzero(a & b) / union) if union else 1.0


def boundary_f(pred: Mask, truth: Mask, tolerance: float = 0.008) -> float:
    """F-measure of the masks' boundaries, the DAVIS F.

    A boundary pixel matches if the other boundary passes within `tolerance` times the image's diagonal, rounded up to
    whole pixels.

    Examples
    --------
    >>> square = np.zeros((40, 40), bool)
    >>> square[10:20, 10:20] = True
    >>> boundary_f(np.roll(square, 1, axis=1), square), boundary_f(np.roll(square, 20, axis=1), square)
    (1.0, 0.0)
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be > 0, got {tolerance}")
    a, b = _two_masks(pred, truth)
    radius = math.ceil(tolerance * math.hypot(*a.shape))
    boundary_a, boundary_b = np.argwhere(_boundary(a)), np.argwhere(_boundary(b))
    precision = _share_near(boundary_a, boundary_b, radius)
    recall = _share_near(boundary_b, boundary_a, radius)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _two_masks(pred: Mask, truth: Mask) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(pred) != 0, np.asarray(truth) != 0
    _check_images("the two masks", a, b)
    return a, b


def _check_images(what: str, a: NDArray[Any], b: NDArray[Any]) -> None:
    if a.ndim != 2 or a.size == 0 or a.shape != b.shape:
        raise ValueError(f"{what} must be images of one size, got shapes {a.shape} and {b.shape}")


def _boundary(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels that differ from their right, lower or lower right neighbour, as in the DAVIS code."""
    edge = np.zeros_like(mask)
    edge[:, :-1] |= mask[:, :-1] != mask[:, 1:]
    edge[:-1] |= mask[:-1] != mask[1:]
    edge[:-1, :-1] |= mask[:-1, :-1] != mask[1:, 1:]
    return edge


def _share_near(points: NDArray[np.int64], others: NDArray[np.int64], radius: int) -> float:
    """Share of points with one of `others` within the radius; 1 if there are no points."""
    if not len(points):
        return 1.0
    if not len(others):
        return 0.0
    # Imported on first use because it is slow to import.
    from scipy.spatial import KDTree

    distance, _ = KDTree(others).query(points, distance_upper_bound=radius + 0.5)
    return float(np.mean(distance <= radius))


# --- segments of a video against a mask per frame -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Coverage:
    """Ids of one frame, number of pixels of each, and number of those inside the mask."""

    ids: NDArray[np.int64]
    pixels: NDArray[np.int64]
    inside: NDArray[np.int64]

    def mostly_inside(self) -> frozenset[int]:
        return frozenset(self.ids[2 * self.inside > self.pixels].tolist())

    def jaccard(self, members: Iterable[int]) -> float:
        """J of the union of the members' segments, from the counts alone."""
        chosen = np.isin(self.ids, np.fromiter(members, np.int64))
        union = int(self.inside.sum() + (self.pixels - self.inside)[chosen].sum())
        return int(self.inside[chosen].sum()) / union if union else 1.0


def _coverage(ids: IdMap, mask: Mask) -> _Coverage:
    id_map, inside = np.asarray(ids), np.asarray(mask) != 0
    _check_images("ids and mask", id_map, inside)
    labels, code, pixels = _compact(id_map)
    return _Coverage(labels, pixels, np.bincount(code[inside], minlength=labels.size))


def _compact(ids: IdMap) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct ids, ascending; index of each pixel's id among them; number of pixels of each id."""
    low, high = int(ids.min()), int(ids.max())
    # A table over the range of ids is faster than sorting the pixels, unless an outlier makes the range huge.
    if high - low > 8 * ids.size:
        labels, code, counts = np.unique(ids, return_inverse=True, return_counts=True)
        return labels.astype(np.int64), code.reshape(ids.shape), counts
    offset = np.subtract(ids, low, dtype=np.int64)
    pixels = np.bincount(offset.ravel())
    present = pixels > 0
    index = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, index.take(offset), pixels[present]


def _coverages(ids: Iterable[IdMap], masks: Iterable[Mask]) -> Iterator[_Coverage]:
    return (_coverage(id_map, mask) for id_map, mask in zip(ids, masks, strict=True))


def oracle_jaccard(ids: Iterable[IdMap], masks: Iterable[Mask]) -> NDArray[np.float64]:
    """J of each frame if the truth assigns every id to object or background, once for the whole video.

    An id belongs to the object if more than half of its pixels, over all frames, are inside the masks.

    Parameters
    ----------
    ids : iterable of int array of shape (H, W)
        Id maps, one for each frame; read once and not kept.
    masks : iterable of array of shape (H, W)
        Nonzero on the object.
    """
    frames = list(_coverages(ids, masks))
    if not frames:
        return np.empty(0)
    labels, code = np.unique(np.concatenate([frame.ids for frame in frames]), return_inverse=True)
    pixels = np.bincount(code, np.concatenate([frame.pixels for frame in frames]))
    inside = np.bincount(code, np.concatenate([frame.inside for frame in frames]))
    members = labels[2 * inside > pixels].tolist()
    return np.array([frame.jaccard(members) for frame in frames])


def oracle_jaccard_per_frame(ids: Iterable[IdMap], masks: Iterable[Mask]) -> NDArray[np.float64]:
    """J of each frame if the truth assigns its ids to object or background, in every frame anew."""
    return np.array([frame.jaccard(frame.mostly_inside()) for frame in _coverages(ids, masks)])


def carried_jaccard(
    ids: Iterable[IdMap], masks: Iterable[Mask], events: Iterable[Iterable[Event]] | None = None
) -> NDArray[np.float64]:
    """J of each frame if the first mask selects the ids and no later mask is used.

    Parameters
    ----------
    ids, masks : as in `oracle_jaccard`
    events : iterable of iterables of Event, or None
        Events of each frame, including the first, whose own are ignored. The set of ids is updated by them, see
        `follow`; None: it stays as it is.

    Examples
    --------
    >>> ids = [np.array([[1, 1, 0, 0]]), np.array([[1, 2, 0, 0]])]
    >>> mask = np.array([[1, 1, 0, 0]])
    >>> split = Event("split", 1.0, 1, (1, 2), 3.0, (1.0, 1.0))
    >>> carried_jaccard(ids, [mask, mask]), carried_jaccard(ids, [mask, mask], [[], [split]])
    (array([1. , 0.5]), array([1., 1.]))
    """
    coverages = _coverages(ids, masks)
    if events is None:
        steps: Iterator[tuple[_Coverage, Iterable[Event]]] = ((frame, ()) for frame in coverages)
    else:
        steps = zip(coverages, events, strict=True)
    scores: list[float] = []
    members: frozenset[int] = frozenset()
    for frame, happened in steps:
        members = follow(members, happened) if scores else frame.mostly_inside()
        scores.append(frame.jaccard(members))
    return np.array(scores)


def ids_inside(ids: IdMap, mask: Mask) -> frozenset[int]:
    """Ids with more than half of their pixels inside the mask.

    Examples
    --------
    >>> sorted(ids_inside(np.array([[4, 4, 4, 7]]), np.array([[1, 1, 0, 0]])))
    [4]
    """
    return _coverage(ids, mask).mostly_inside()


def dominant_id(ids: Iterable[IdMap], masks: Iterable[Mask]) -> NDArray[np.int64]:
    """Id with most pixels inside the mask, for each frame; -1 if the mask is empty."""
    return np.array(
        [frame.ids[frame.inside.argmax()] if frame.inside.any() else -1 for frame in _coverages(ids, masks)],
        np.int64,
    )


# --- temporal consistency, without a truth ------------------------------------------------------------


def label_churn(previous: IdMap, current: IdMap) -> float:
    """Share of pixels whose id differs between two frames.

    Examples
    --------
    >>> label_churn(np.array([[1, 1, 2, 2]]), np.array([[1, 2, 2, 2]]))
    0.25
    """
    a, b = _two_maps(previous, current)
    return float(np.count_nonzero(a != b) / a.size)


def temporal_consistency(ids: Iterable[IdMap]) -> float:
    """Temporal consistency of ids, in [0, 1]; 1 for fewer than two frames.

    Between two frames, a segment is kept if the segment that overlaps it most in the next frame has the same id. The
    score is the share of pixels in kept segments, averaged over all pairs of consecutive frames. Unlike
    `1 - label_churn` it does not penalise boundaries that move, while a segment whose larger part gets another id
    counts with its whole area. A single segment scores 1, so use it together with J.

    Examples
    --------
    >>> moved = [np.array([[1, 1, 1, 2]]), np.array([[1, 1, 2, 2]])]
    >>> renamed = [np.array([[1, 1, 1, 2]]), np.array([[3, 3, 3, 2]])]
    >>> temporal_consistency(moved), temporal_consistency(renamed)
    (1.0, 0.25)
    """
    shares = []
    previous: IdMap | None = None
    for current in ids:
        if previous is not None:
            shares.append(_kept_share(previous, current))
        previous = current
    return float(np.mean(shares)) if shares else 1.0


def _kept_share(previous: IdMap, current: IdMap) -> float:
    a, b = _two_maps(previous, current)
    labels_a, code_a, pixels = _compact(a)
    labels_b, code_b, _ = _compact(b)
    overlap = np.bincount((code_a * labels_b.size + code_b).ravel(), minlength=labels_a.size * labels_b.size).reshape(
        labels_a.size, labels_b.size
    )
    same = labels_a[:, None] == labels_b[None, :]
    # In a tie with another id the segment counts as kept.
    kept = np.where(same, overlap, -1).max(1) == overlap.max(1)
    return float(pixels[kept].sum() / a.size)


def _two_maps(previous: IdMap, current: IdMap) -> tuple[IdMap, IdMap]:
    a, b = np.asarray(previous), np.asarray(current)
    _check_images("the two id maps", a, b)
    return a, b
