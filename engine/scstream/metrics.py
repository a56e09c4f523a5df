"""How well a clustering fits the truth, and how well and how steadily segments cover a video's objects."""

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
    """How many points bear each pair of labels; only pairs that occur are kept.

    Tables of several batches add up to the table of all their points.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_pairs,)
        The labels of each pair.
    counts : ndarray of shape (n_pairs,)
        Points that bear the pair.

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
        """Count the label pairs of two label vectors."""
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
        """Add up tables."""
        parts = [(table.truth, table.predicted, table.counts) for table in tables]
        if not parts:
            raise ValueError("there is no table to add up: give at least one batch")
        truth, predicted, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls._count(truth, predicted, counts)

    def __add__(self, other: Contingency) -> Contingency:
        return Contingency.total([self, other])

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.counts.sum())

    def marginals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Points of each true label, points of each predicted label."""
        return _group_sums(self.truth, self.counts), _group_sums(self.predicted, self.counts)

    def pairs(self) -> tuple[int, int, int, int]:
        """Pairs of points that are together in both, in the truth, in the prediction; all pairs."""
        truth, predicted = self.marginals()
        return _n_pairs(self.counts), _n_pairs(truth), _n_pairs(predicted), self.n * (self.n - 1) // 2

    def ari(self) -> float:
        """Adjusted Rand index."""
        both, truth, predicted, every = self.pairs()
        if both == truth == predicted:
            return 1.0
        chance = truth * predicted / every
        return (both - chance) / ((truth + predicted) / 2 - chance)

    def nmi(self) -> float:
        """Mutual information over the mean of the two entropies."""
        truth, predicted = self.marginals()
        if truth.size == predicted.size == 1:
            return 1.0
        entropies = _entropy(truth) + _entropy(predicted)
        information = entropies - _entropy(self.counts)
        # Independent labels leave a rounding error of either sign.
        return 0.0 if information < 1e-12 * entropies else 2.0 * information / entropies

    def purity(self) -> float:
        """Share of points that bear the commonest true label of their cluster."""
        clusters, cluster = np.unique(self.predicted, return_inverse=True)
        commonest = np.zeros(clusters.size, np.int64)
        np.maximum.at(commonest, cluster, self.counts)
        return float(commonest.sum() / self.n)

    def pairwise_f(self) -> float:
        """F-measure of "these two points belong together", over all pairs of points."""
        both, truth, predicted, _ = self.pairs()
        return 1.0 if truth + predicted == 0 else 2 * both / (truth + predicted)


def ari(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Adjusted Rand index: 1 for the same partition, about 0 for chance.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [7, 7, 3, 3])
    1.0
    """
    return Contingency.of(truth, predicted).ari()


def nmi(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Normalised mutual information, by the arithmetic mean of the entropies."""
    return Contingency.of(truth, predicted).nmi()


def purity(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Share of points that bear the commonest true label of their cluster."""
    return Contingency.of(truth, predicted).purity()


def pairwise_f(truth: ArrayLike, predicted: ArrayLike) -> float:
    """F-measure of "these two points belong together", over all pairs of points."""
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
    """NMI of all batches taken together: high only if a label means the same in every batch.

    Parameters
    ----------
    truths, predictions : iterable of label vectors
        One a batch, read once. On an endless stream add up `Contingency` tables instead.

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
    """F-measure of the masks' outlines, the DAVIS F.

    A boundary pixel counts as found if the other outline passes within `tolerance` times the image's
    diagonal, rounded up to whole pixels.

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
    outline_a, outline_b = np.argwhere(_boundary(a)), np.argwhere(_boundary(b))
    precision = _share_near(outline_a, outline_b, radius)
    recall = _share_near(outline_b, outline_a, radius)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _two_masks(pred: Mask, truth: Mask) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(pred) != 0, np.asarray(truth) != 0
    _check_images("the two masks", a, b)
    return a, b


def _check_images(what: str, a: NDArray[Any], b: NDArray[Any]) -> None:
    if a.ndim != 2 or a.size == 0 or a.shape != b.shape:
        raise ValueError(f"{what} must be images of one size, got shapes {a.shape} and {b.shape}")


def _boundary(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels that differ from their right, lower or lower right neighbour (as the DAVIS code has it)."""
    edge = np.zeros_like(mask)
    edge[:, :-1] |= mask[:, :-1] != mask[:, 1:]
    edge[:-1] |= mask[:-1] != mask[1:]
    edge[:-1, :-1] |= mask[:-1, :-1] != mask[1:, 1:]
    return edge


def _share_near(points: NDArray[np.int64], others: NDArray[np.int64], radius: int) -> float:
    """Share of points with one of `others` within the radius; an empty outline claims nothing false."""
    if not len(points):
        return 1.0
    if not len(others):
        return 0.0
    # Only here, because it takes a while to import.
    from scipy.spatial import KDTree

    distance, _ = KDTree(others).query(points, distance_upper_bound=radius + 0.5)
    return float(np.mean(distance <= radius))


# --- segments of a video against a mask per frame -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Coverage:
    """The ids of one frame, the pixels of each, and how many of those lie in the mask."""

    ids: NDArray[np.int64]
    pixels: NDArray[np.int64]
    inside: NDArray[np.int64]

    def mostly_inside(self) -> frozenset[int]:
        return frozenset(self.ids[2 * self.inside > self.pixels].tolist())

    def jaccard(self, members: Iterable[int]) -> float:
        """J of the union of the members, which needs no pixel any more."""
        chosen = np.isin(self.ids, np.fromiter(members, np.int64))
        union = int(self.inside.sum() + (self.pixels - self.inside)[chosen].sum())
        return int(self.inside[chosen].sum()) / union if union else 1.0


def _coverage(ids: IdMap, mask: Mask) -> _Coverage:
    id_map, inside = np.asarray(ids), np.asarray(mask) != 0
    _check_images("ids and mask", id_map, inside)
    labels, code, pixels = _compact(id_map)
    return _Coverage(labels, pixels, np.bincount(code[inside], minlength=labels.size))


def _compact(ids: IdMap) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ids, ascending; for every pixel the index of its id; the pixels of each id."""
    low, high = int(ids.min()), int(ids.max())
    # A table over the range of ids beats sorting the pixels, unless a stray id makes the range huge.
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
    """J of each frame when every id is given to object or background once per video, by the truth.

    An id is the object's if more than half of its pixels, over all frames, lie in the masks.

    Parameters
    ----------
    ids : iterable of int array of shape (H, W)
        Id maps, one a frame; read once and not kept.
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
    """J of each frame when its ids are given to object or background in that frame alone, by the truth."""
    return np.array([frame.jaccard(frame.mostly_inside()) for frame in _coverages(ids, masks)])


def carried_jaccard(
    ids: Iterable[IdMap], masks: Iterable[Mask], events: Iterable[Iterable[Event]] | None = None
) -> NDArray[np.float64]:
    """J of each frame when the first mask picks the ids and nothing is told afterwards.

    Parameters
    ----------
    ids, masks : as in `oracle_jaccard`
    events : iterable of iterables of Event, or None
        The events of each frame, the first included (its own are past when the ids are picked). The
        object follows them; None carries the bare ids.

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
    """The ids that have more than half of their pixels in the mask.

    Examples
    --------
    >>> sorted(ids_inside(np.array([[4, 4, 4, 7]]), np.array([[1, 1, 0, 0]])))
    [4]
    """
    return _coverage(ids, mask).mostly_inside()


def dominant_id(ids: Iterable[IdMap], masks: Iterable[Mask]) -> NDArray[np.int64]:
    """For each frame the id that covers most of the mask; -1 where the mask is empty."""
    return np.array(
        [frame.ids[frame.inside.argmax()] if frame.inside.any() else -1 for frame in _coverages(ids, masks)],
        np.int64,
    )


# --- steadiness, without a truth ----------------------------------------------------------------------


def label_churn(previous: IdMap, current: IdMap) -> float:
    """Share of pixels whose id changed between two frames.

    Examples
    --------
    >>> label_churn(np.array([[1, 1, 2, 2]]), np.array([[1, 2, 2, 2]]))
    0.25
    """
    a, b = _two_maps(previous, current)
    return float(np.count_nonzero(a != b) / a.size)


def temporal_consistency(ids: Iterable[IdMap]) -> float:
    """How steadily places keep their names, in [0, 1]; 1 for fewer than two frames.

    Between two frames, a segment is kept if the segment that overlaps it most in the next frame bears the
    same id. The score is the share of pixels in kept segments, averaged over all pairs of consecutive
    frames. Unlike `1 - label_churn` it forgives outlines that move; a swap of names, or a segment whose
    larger part goes on under another name, costs its whole area. A single segment scores 1: read it
    next to J, never alone.

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
    # A tie with another id is still a segment that kept its place.
    kept = np.where(same, overlap, -1).max(1) == overlap.max(1)
    return float(pixels[kept].sum() / a.size)


def _two_maps(previous: IdMap, current: IdMap) -> tuple[IdMap, IdMap]:
    a, b = np.asarray(previous), np.asarray(current)
    _check_images("the two id maps", a, b)
    return a, b
