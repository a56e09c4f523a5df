"""Stability of ids over time, measured without a ground truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scstream.metrics.id_maps import IdMap, compact, two_maps

Flow: TypeAlias = NDArray[np.floating[Any]]

#: Pixels where forward and backward flow disagree by this distance or more are not followed.
_LARGEST_DISAGREEMENT = 1.0

# --- from frame to frame ------------------------------------------------------------------------------


def label_churn(previous: IdMap, current: IdMap) -> float:
    """Share of pixels whose id differs between two frames.

    Examples
    --------
    >>> label_churn(np.array([[1, 1, 2, 2]]), np.array([[1, 2, 2, 2]]))
    0.25
    """
    a, b = two_maps(previous, current)
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
    shares = [_kept_share(previous, current) for previous, current in pairwise(ids)]
    return float(np.mean(shares)) if shares else 1.0


def _kept_share(previous: IdMap, current: IdMap) -> float:
    a, b = two_maps(previous, current)
    labels_a, code_a, pixels = compact(a)
    labels_b, code_b, _ = compact(b)
    overlap = np.bincount((code_a * labels_b.size + code_b).ravel(), minlength=labels_a.size * labels_b.size).reshape(
        labels_a.size, labels_b.size
    )
    same = labels_a[:, None] == labels_b[None, :]
    # In a tie with another id the segment counts as kept.
    kept = np.where(same, overlap, -1).max(1) == overlap.max(1)
    return float(pixels[kept].sum() / a.size)


# --- along the motion ---------------------------------------------------------------------------------


def kept_along_flow(ids: Iterable[IdMap], flows: Iterable[tuple[Flow, Flow]]) -> float:
    """Share of pixels that have the same id where the optical flow takes them, in [0, 1].

    A pixel is followed if the forward flow and the backward flow at its target cancel to less than one pixel, and the
    target lies inside the frame. Targets are rounded to the nearest pixel. The score is the mean over all pairs of
    consecutive frames with at least one such pixel; nan if there is none.

    Parameters
    ----------
    ids : iterable of int array of shape (H, W)
        Id maps, one for each frame; read once and not kept.
    flows : iterable of pairs of float array of shape (H, W, 2)
        For each frame but the last, the forward flow to the next frame and the backward flow from the next frame to
        this one. A flow is (dx, dy) in pixels, the order of OpenCV: the first number is along the columns.

    Examples
    --------
    The picture moves right by one pixel, and the second of the two pixels of id 1 gets id 3:

    >>> ids = [np.array([[1, 1, 2, 2]]), np.array([[4, 1, 3, 2]])]
    >>> right = np.zeros((1, 4, 2), np.float32)
    >>> right[..., 0] = 1.0
    >>> kept_along_flow(ids, [(right, -right)])
    0.6666666666666666
    """
    shares = []
    for (before, after), (forward, backward) in zip(pairwise(ids), flows, strict=True):
        a, b = two_maps(before, after)
        rows, columns, target_rows, target_columns = _followed(a.shape, forward, backward)
        if rows.size:
            shares.append(np.mean(a[rows, columns] == b[target_rows, target_columns]))
    return float(np.mean(shares)) if shares else float("nan")


def _followed(shape: tuple[int, ...], forward: Flow, backward: Flow) -> tuple[NDArray[np.intp], ...]:
    """Rows and columns of the pixels that can be followed, then those of their targets."""
    there, back = np.asarray(forward), np.asarray(backward)
    if there.shape != (*shape, 2) or back.shape != (*shape, 2):
        raise ValueError(f"flows must have shape {(*shape, 2)}, got {there.shape} and {back.shape}")
    y = np.rint(np.arange(shape[0])[:, None] + there[..., 1])
    x = np.rint(np.arange(shape[1])[None, :] + there[..., 0])
    # Before the conversion to integers, because flows may be nan.
    rows, columns = np.nonzero((y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1]))
    target_rows, target_columns = y[rows, columns].astype(np.intp), x[rows, columns].astype(np.intp)
    difference = there[rows, columns] + back[target_rows, target_columns]
    agree = np.hypot(difference[:, 0], difference[:, 1]) < _LARGEST_DISAGREEMENT
    return rows[agree], columns[agree], target_rows[agree], target_columns[agree]


# --- lives of ids -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lives:
    """In how many frames each id of a video is seen.

    Parameters
    ----------
    ids : ndarray of shape (n_ids,)
        The ids, ascending.
    frames : ndarray of shape (n_ids,)
        Number of frames in which each is seen.
    n_frames : int
        Number of frames of the video.
    """

    ids: NDArray[np.int64]
    frames: NDArray[np.int64]
    n_frames: int

    @property
    def n_ids(self) -> int:
        """Number of ids."""
        return self.ids.size

    @property
    def duration(self) -> float:
        """Mean number of frames in which an id is seen."""
        return float(self.frames.mean())

    @property
    def mean(self) -> float:
        """Mean share of the frames in which an id is seen."""
        return self.duration / self.n_frames

    def short_lived(self, share: float = 0.1) -> float:
        """Share of ids that are seen in less than `share` of the frames."""
        return float(np.mean(self.frames / self.n_frames < share))


def lives(ids: Iterable[IdMap]) -> Lives:
    """Count in how many frames each id is seen.

    Parameters
    ----------
    ids : iterable of int array of shape (H, W)
        Id maps, one for each frame; read once and not kept.

    Examples
    --------
    >>> found = lives([np.array([[1, 1, 2]]), np.array([[1, 1, 1]]), np.array([[1, 5, 1]])])
    >>> found.ids.tolist(), found.frames.tolist()
    ([1, 2, 5], [3, 1, 1])
    >>> found.mean, found.short_lived(0.5)
    (0.5555555555555556, 0.6666666666666666)
    """
    n_frames = 0
    frames: Counter[int] = Counter()
    for id_map in ids:
        n_frames += 1
        frames.update(compact(np.asarray(id_map))[0].tolist())
    if not frames:
        raise ValueError("there are no id maps: give at least one frame")
    labels = sorted(frames)
    return Lives(np.array(labels, np.int64), np.array([frames[label] for label in labels], np.int64), n_frames)
