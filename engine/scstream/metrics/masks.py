"""Scores of one mask against another: the J (overlap) and F (contour) of DAVIS, and their decay."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scstream.metrics.id_maps import Mask, check_images


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


def decay(values: ArrayLike) -> float:
    """Loss of a score over the frames of a video, the DAVIS decay: mean of the first quarter minus that of the last.

    The quarters are those of the DAVIS code: neighbours share a frame, so each is a little longer than a quarter. Its
    limits are stored in 8 bits there, so for videos of more than 256 frames that code gives other values. Frames
    whose value is nan are left out.

    Examples
    --------
    >>> decay([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    0.5
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"values must be a vector with a value for each frame, got shape {scores.shape}")
    limits = (np.round(np.linspace(1, scores.size, 5) + 1e-10) - 1).astype(np.int64)
    first, last = scores[: limits[1] + 1], scores[limits[3] :]
    return _mean_of_known(first) - _mean_of_known(last)


def _mean_of_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def _two_masks(pred: Mask, truth: Mask) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(pred) != 0, np.asarray(truth) != 0
    check_images("the two masks", a, b)
    return a, b


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
