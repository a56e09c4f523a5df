"""Segments of a video against the mask of an object: oracle J, carried J, and the id on the object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scstream.metrics.id_maps import IdMap, Mask, check_images, compact
from scstream.sampler.genealogy import Event, follow


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
    check_images("ids and mask", id_map, inside)
    labels, code, pixels = compact(id_map)
    return _Coverage(labels, pixels, np.bincount(code[inside], minlength=labels.size))


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
