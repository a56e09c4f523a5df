"""Segments of a video as supervoxels, against a dense ground truth: the measures of the LIBSVX benchmark.

References
----------
.. [1] C. Xu and J. J. Corso. LIBSVX: A Supervoxel Library and Benchmark for Early Video Processing. International
   Journal of Computer Vision 119, 2016.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scstream.metrics.id_maps import IdMap, check_images, compact


@dataclass(frozen=True, slots=True)
class SupervoxelScores:
    """Scores of the segments of a video as supervoxels.

    A region is the voxels (pixels of all frames) of one true label, and the volume of a segment is the number of
    voxels of its id.

    Parameters
    ----------
    ue3d : float
        Undersegmentation error: volume of all segments that touch a region, less the region's, relative to the
        region's; mean over the regions. 0 is best.
    sa3d : float
        Segmentation accuracy: share of a region that is covered by segments with at least half of their volume in it;
        mean over the regions.
    br3d : float
        Boundary recall: share of the truth's boundary voxels that are boundary voxels of the segmentation; 1 if the
        truth has none. A boundary voxel differs from one of its 6 neighbours in space and time.
    ev : float or None
        Explained variation: share of the variance of the colours that remains if each voxel gets the mean colour of
        its segment; 1 if the video has a single colour, None without pictures.
    duration : float
        Mean number of frames in which an id is seen.
    n_ids : int
        Number of ids.
    """

    ue3d: float
    sa3d: float
    br3d: float
    ev: float | None
    duration: float
    n_ids: int


def supervoxel_scores(
    ids: Iterable[IdMap],
    truth: Iterable[IdMap],
    rgb: Iterable[NDArray[Any]] | None = None,
    void: int | None = None,
) -> SupervoxelScores:
    """Score the segments of a video against a dense ground truth, with the measures of LIBSVX.

    Parameters
    ----------
    ids, truth : iterable of int array of shape (H, W)
        Id maps and true labels, one for each frame; read once and not kept.
    rgb : iterable of array of shape (H, W, 3), or None
        Pictures, for the explained variation.
    void : int or None
        True label of unlabelled pixels; LIBSVX has 0. It is no region, and its voxels are no boundary voxels of the
        truth, but they count in the volumes of segments.

    Examples
    --------
    Id 1 is the first region and one pixel of the second, in each of two frames:

    >>> truth = [np.array([[7, 7, 8, 8]])] * 2
    >>> found = supervoxel_scores([np.array([[1, 1, 1, 2]])] * 2, truth)
    >>> found.ue3d, found.sa3d, found.br3d
    (0.75, 0.75, 0.5)
    """
    voxels = Supervoxels(void)
    pairs = zip(ids, truth, strict=True)
    if rgb is None:
        for id_map, labels in pairs:
            voxels.add(id_map, labels)
    else:
        for (id_map, labels), picture in zip(pairs, rgb, strict=True):
            voxels.add(id_map, labels, picture)
    return voxels.scores()


class Supervoxels:
    """Running counts from which the scores of supervoxels are computed; frames are added one after another.

    Parameters
    ----------
    void : int or None
        True label of unlabelled pixels, see `supervoxel_scores`.
    """

    def __init__(self, void: int | None = None) -> None:
        self._void = void
        self._overlap: Counter[tuple[int, int]] = Counter()
        self._frames: Counter[int] = Counter()
        self._boundary = _Boundary(void)
        self._colours: _Colours | None = None

    def add(self, ids: IdMap, truth: IdMap, rgb: NDArray[Any] | None = None) -> None:
        """Add the next frame: with its picture, in all frames, or without."""
        id_map, labels = np.asarray(ids), np.asarray(truth)
        check_images("ids and truth", id_map, labels)
        if self._frames and (rgb is None) != (self._colours is None):
            raise ValueError("give the pictures of all frames, or of none")
        segments, segment, pixels = compact(id_map)
        if rgb is not None:
            self._colours = self._colours or _Colours()
            self._colours.add(segments, segment, pixels, np.asarray(rgb))
        self._boundary.add(id_map, labels)
        self._frames.update(segments.tolist())
        regions, region, _ = compact(labels)
        counts = np.bincount((region * segments.size + segment).ravel())
        for pair in np.flatnonzero(counts).tolist():
            self._overlap[int(regions[pair // segments.size]), int(segments[pair % segments.size])] += int(counts[pair])

    def scores(self) -> SupervoxelScores:
        """Return the scores of all frames so far."""
        volume: Counter[int] = Counter()
        for (_, segment), n in self._overlap.items():
            volume[segment] += n
        size: Counter[int] = Counter()
        touching: Counter[int] = Counter()
        accurate: Counter[int] = Counter()
        for (region, segment), n in self._overlap.items():
            if region != self._void:
                size[region] += n
                touching[region] += volume[segment]
                accurate[region] += n if 2 * n >= volume[segment] else 0
        if not size:
            raise ValueError("the ground truth has no region: all its pixels are void, or there are none")
        return SupervoxelScores(
            ue3d=float(np.mean([(touching[region] - n) / n for region, n in size.items()])),
            sa3d=float(np.mean([accurate[region] / n for region, n in size.items()])),
            br3d=self._boundary.recall(),
            ev=None if self._colours is None else self._colours.explained(),
            duration=self._frames.total() / len(self._frames),
            n_ids=len(self._frames),
        )


class _Boundary:
    """Counts of the truth's boundary voxels, and of those that the segmentation has too.

    Whether a voxel lies on a boundary also depends on the next frame, so the newest frame is kept back.
    """

    def __init__(self, void: int | None) -> None:
        self._void = void
        self._found = self._total = 0
        self._last: tuple[IdMap, IdMap] | None = None
        self._edges: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None

    def add(self, ids: IdMap, truth: IdMap) -> None:
        edges = (_spatial_edges(ids), _spatial_edges(truth))
        if self._last is not None and self._edges is not None:
            check_images("all frames", self._last[0], ids)
            for before, now, earlier, later in zip(self._last, (ids, truth), self._edges, edges, strict=True):
                changed = before != now
                earlier |= changed
                later |= changed
            self._found, self._total = self._with_last()
        # Copied because callers may reuse their buffers.
        self._last, self._edges = (ids.copy(), truth.copy()), edges

    def _with_last(self) -> tuple[int, int]:
        """The two counts, including the frame that is kept back."""
        if self._last is None or self._edges is None:
            return 0, 0
        found, true = self._edges
        wanted = true if self._void is None else true & (self._last[1] != self._void)
        return self._found + int(np.count_nonzero(found & wanted)), self._total + int(np.count_nonzero(wanted))

    def recall(self) -> float:
        found, total = self._with_last()
        return found / total if total else 1.0


def _spatial_edges(labels: IdMap) -> NDArray[np.bool_]:
    """Pixels that differ from the one above, below, left or right of them."""
    edges = np.zeros(labels.shape, bool)
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    edges[:, 1:] |= across
    edges[:, :-1] |= across
    edges[1:] |= down
    edges[:-1] |= down
    return edges


class _Colours:
    """Sums of the colours of each id and of the squares of all colours."""

    def __init__(self) -> None:
        self._sums: dict[int, NDArray[np.float64]] = {}
        self._squares = 0.0

    def add(
        self, segments: NDArray[np.int64], segment: NDArray[np.int64], pixels: NDArray[np.int64], rgb: NDArray[Any]
    ) -> None:
        if rgb.shape != (*segment.shape, 3):
            raise ValueError(f"pictures must have shape {(*segment.shape, 3)}, got {rgb.shape}")
        code, colours = segment.ravel(), rgb.reshape(-1, 3).astype(np.float64)
        sums = [np.bincount(code, colours[:, channel]) for channel in range(3)]
        # The number of pixels is the fourth column.
        for label, row in zip(segments.tolist(), np.column_stack([*sums, pixels]), strict=True):
            self._sums[label] = self._sums[label] + row if label in self._sums else row
        self._squares += float(np.vdot(colours, colours))

    def explained(self) -> float:
        """Variance between the segments' mean colours over the variance of all colours."""
        rows = np.array(list(self._sums.values()))
        total = rows.sum(axis=0)
        about_zero = (total[:3] ** 2).sum() / total[3]
        between = ((rows[:, :3] ** 2).sum(axis=1) / rows[:, 3]).sum() - about_zero
        variation = self._squares - about_zero
        # For a single colour, both differences are rounding errors.
        return float(between / variation) if variation > 1e-12 * self._squares else 1.0
