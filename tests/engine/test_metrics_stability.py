"""Stability of ids over time, on hand-made maps and against pixel-by-pixel computations."""

from __future__ import annotations

import numpy as np
import pytest

from scstream.metrics import label_churn, temporal_consistency


def rows(*frames: list[int]) -> list[np.ndarray]:
    return [np.array([frame], np.int32) for frame in frames]


def test_label_churn_counts_pixels() -> None:
    before, after = rows([3, 3, 3, 3, 8, 8, 8, 8], [3, 3, 4, 4, 8, 8, 8, 8])
    assert label_churn(before, after) == 2 / 8
    assert label_churn(before, before) == 0.0
    with pytest.raises(ValueError, match="images of one size"):
        label_churn(before, after[:, :4])


def test_temporal_consistency_tells_motion_from_renaming() -> None:
    still = rows([1, 1, 1, 1, 2, 2, 2, 2])
    moved = rows([1, 1, 1, 2, 2, 2, 2, 2])
    swapped = rows([2, 2, 2, 2, 1, 1, 1, 1])
    split_off = rows([1, 1, 1, 3, 2, 2, 2, 2])
    assert temporal_consistency(still + moved + still) == 1.0
    assert temporal_consistency(still + swapped) == 0.0
    assert temporal_consistency(still + split_off) == 1.0
    assert temporal_consistency(still + still + swapped) == 0.5
    assert temporal_consistency(iter(still)) == temporal_consistency([]) == 1.0


def test_temporal_consistency_takes_ids_far_apart() -> None:
    ids = [np.array([[0, 2_000_000_000]], np.int32)] * 2
    assert temporal_consistency(ids) == 1.0
