"""Agreement of two segmentations of a frame: it does not depend on the ids, and its measures are the usual ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from scstream_app.evaluation import frame_agreement
from scstream_app.evaluation.frame_agreement import compare_ids


def blocks(seed: int, count: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, count, (6, 8)).repeat(8, 0).repeat(8, 1).astype(np.int32)


def test_other_ids_are_no_difference() -> None:
    ids = blocks(0)
    renamed = np.random.default_rng(1).permutation(400)[ids].astype(np.int32)
    found = compare_ids(ids, renamed)
    assert not found.differs.any()
    assert (found.ari, found.vi, found.share) == (1.0, pytest.approx(0.0, abs=1e-12), 0.0)
    assert all((ids[renamed == second] == first).all() for second, first in found.matches.items())


def test_measures_are_those_of_the_literature() -> None:
    a, b = blocks(0), np.roll(blocks(0), 3, axis=1)
    found = compare_ids(a, b)
    assert found.ari == pytest.approx(adjusted_rand_score(a.ravel(), b.ravel()))
    joint = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1, return_counts=True)[1] / a.size
    parts = [np.unique(ids, return_counts=True)[1] / ids.size for ids in (a, b)]
    entropy = [-(shares * np.log2(shares)).sum() for shares in (joint, *parts)]
    assert found.vi == pytest.approx(2 * entropy[0] - entropy[1] - entropy[2])


def test_partners_overlap_as_much_as_possible_and_are_not_shared() -> None:
    # 5 overlaps most with 1, but 1 has to be the partner of 6, which overlaps with nothing else.
    first = np.array([[1] * 6 + [2] * 5 + [1] * 4], np.int32)
    second = np.array([[5] * 11 + [6] * 4], np.int32)
    found = compare_ids(first, second)
    assert found.matches == {5: 2, 6: 1}
    assert found.share == pytest.approx(6 / 15)


def test_pixels_without_a_segment_are_compared_too() -> None:
    found = compare_ids(np.array([[-1, -1, 0, 0]], np.int32), np.array([[-1, 3, 3, 3]], np.int32))
    assert found.differs.tolist() == [[False, True, False, False]]


def test_maps_of_two_sizes_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="one shape"):
        compare_ids(blocks(0), blocks(0)[:-1])


def test_many_segments_are_matched_nearly_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = blocks(2, 40), np.roll(blocks(2, 40), 3, axis=1)
    best = compare_ids(a, b)
    monkeypatch.setattr(frame_agreement, "_MOST_MATCHED", 10)
    greedy = compare_ids(a, b)
    assert len(set(greedy.matches.values())) == len(greedy.matches)
    assert best.share <= greedy.share <= best.share + 0.1
    assert (greedy.ari, greedy.vi) == (best.ari, best.vi)
