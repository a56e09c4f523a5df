"""Stability of ids over time, measured without a ground truth."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scstream.metrics.id_maps import IdMap, compact, two_maps


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
    shares = []
    previous: IdMap | None = None
    for current in ids:
        if previous is not None:
            shares.append(_kept_share(previous, current))
        previous = current
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
