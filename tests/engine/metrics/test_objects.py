"""Scores of segments against the mask of an object, on hand-made and random maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scstream.metrics import (
    carried_jaccard,
    dominant_id,
    jaccard,
    oracle_jaccard,
    oracle_jaccard_per_frame,
)
from scstream.sampler.genealogy import Event, Kind

MASK = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])


def rows(*frames: list[int]) -> list[np.ndarray]:
    return [np.array([frame], np.int32) for frame in frames]


def move(kind: Kind, frame: int, first: int, second: int) -> Event:
    return Event(kind, float(frame), frame, (first, second), 1.0, (2.0, 1.0))


# Id 3 is the object and 8 the background; 3 loses 4 to a split; 4 loses 5; 4 is absorbed by the background.
STORY = rows(
    [3, 3, 3, 3, 8, 8, 8, 8],
    [3, 3, 4, 4, 8, 8, 8, 8],
    [3, 3, 4, 5, 8, 8, 8, 8],
    [3, 3, 8, 5, 8, 8, 8, 8],
)
STORY_EVENTS = [
    [],
    [move(Kind.SPLIT, 1, 3, 4)],
    [move(Kind.SPLIT, 2, 4, 5)],
    [move(Kind.MERGE, 3, 8, 4)],
]


def test_carrying_along_a_split_and_merge_story() -> None:
    masks = [MASK] * 4
    np.testing.assert_allclose(carried_jaccard(STORY, masks), [1, 2 / 4, 2 / 4, 2 / 4])
    np.testing.assert_allclose(carried_jaccard(STORY, masks, STORY_EVENTS), [1, 1, 1, 3 / 4])


def test_carrying_picks_ids_that_lie_mostly_inside_and_ignores_the_first_frames_events() -> None:
    ids = rows([1, 1, 2, 2, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2, 3, 3])
    mask = np.array([[1, 1, 1, 1, 0, 0, 0, 0]])
    # Half of id 2 is not most of it.
    np.testing.assert_allclose(carried_jaccard(ids, [mask, mask]), [0.5, 0.5])
    past = [[move(Kind.SPLIT, 0, 1, 3)], []]
    np.testing.assert_allclose(carried_jaccard(ids, [mask, mask], past), [0.5, 0.5])


def test_carrying_a_frame_without_object_scores_one() -> None:
    nothing = np.zeros_like(MASK)
    ids = rows([1] * 8, [1] * 8)
    np.testing.assert_allclose(carried_jaccard(ids, [nothing, nothing]), [1, 1])
    np.testing.assert_allclose(carried_jaccard(ids, [nothing, MASK]), [1, 0])


def test_oracle_decides_once_per_video() -> None:
    # Id 1 leaks in frame 1, yet 7 of its 12 pixels are the object's: it stays with the object.
    ids = rows([1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 1, 1, 1, 1])
    other = np.array([[1, 1, 1, 0, 0, 0, 0, 0]])
    np.testing.assert_allclose(oracle_jaccard(ids, [MASK, other]), [1, 3 / 8])
    np.testing.assert_allclose(oracle_jaccard_per_frame(ids, [MASK, other]), [1, 0])


def test_oracle_reads_generators_and_counts_frames() -> None:
    assert oracle_jaccard((frame for frame in STORY), (MASK for _ in STORY)).shape == (4,)
    assert oracle_jaccard([], []).shape == oracle_jaccard_per_frame([], []).shape == (0,)
    with pytest.raises(ValueError, match="shorter"):
        oracle_jaccard(STORY, [MASK] * 3)
    with pytest.raises(ValueError, match="images of one size"):
        oracle_jaccard(STORY, [MASK[:, :4]] * 4)


@pytest.mark.parametrize("spread", [1, 1000, 10**6])
def test_scores_from_tables_equal_scores_from_pixels(spread: int) -> None:
    rng = np.random.default_rng(spread)
    small = rng.integers(0, 12, (5, 6, 8)).repeat(4, axis=1).repeat(4, axis=2)
    ids = (small * spread).astype(np.int32)
    masks = (small < 5) ^ (rng.random(small.shape) < 0.3)
    inside = np.array([masks[small == k].mean() for k in range(12)])
    members = np.flatnonzero(inside > 0.5)
    assert members.tolist() == [0, 1, 2, 3, 4]
    expected = [jaccard(np.isin(frame, members), mask) for frame, mask in zip(small, masks, strict=True)]
    np.testing.assert_allclose(oracle_jaccard(ids, masks), expected)
    best = [np.bincount(frame[mask]).argmax() for frame, mask in zip(small, masks, strict=True)]
    np.testing.assert_array_equal(dominant_id(ids, masks), np.array(best) * spread)


def test_dominant_id_of_an_empty_mask_is_none() -> None:
    ids = rows([5, 5, 7, 7, 7, 7, 7, 7])
    assert dominant_id(ids * 2, [MASK * 0, np.array([[1, 1, 1, 0, 0, 0, 0, 0]])]).tolist() == [-1, 5]


def test_oracle_on_a_real_clip(shared_data: Path) -> None:
    cv2 = pytest.importorskip("cv2")
    folder = shared_data / "davis2016" / "Annotations" / "480p" / "bear"
    masks = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in sorted(folder.iterdir())[:3]]
    y, x = np.mgrid[: masks[0].shape[0], : masks[0].shape[1]]
    grid = (y // 8 * 1000 + x // 8).astype(np.int32)
    scores = oracle_jaccard_per_frame([grid] * 3, masks)
    # Squares of 8 pixels follow a bear closely; the same squares, chosen once, a little less so.
    assert np.all((scores > 0.9) & (scores < 1.0))
    assert np.all(oracle_jaccard([grid] * 3, masks) <= scores)
