"""VideoSegmenter: frames after a gap in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reference import clip_frames
from scstream import NotSegmentedError, Preview, VideoSegmenter
from scstream.sampler.genealogy import Kind

Frame = npt.NDArray[np.uint8]
QUICK: dict[str, Any] = {"seed": 0, "max_init_sweeps": 30}


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return [frame[::2, ::2].copy() for frame in clip_frames("crossing", 4)]


@pytest.fixture
def segmenter(frames: list[Frame]) -> VideoSegmenter:
    segmenter = VideoSegmenter(**QUICK)
    for frame in frames[:2]:
        segmenter.segment(frame)
    return segmenter


def test_a_frame_after_a_long_gap_is_segmented_like_a_first_one(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    restarted = segmenter.copy()
    before, ever = set(segmenter.model_.genealogy_.live_ids), segmenter.model_.genealogy_.n_ids
    assert segmenter.has_faded(1001.0)
    ids = segmenter.segment(frames[2], 1001.0)
    assert ids.min() >= ever
    assert {e.ids[0] for e in segmenter.events_ if e.kind is Kind.DEATH} == before
    born = {e.ids[0] for e in segmenter.events_ if e.kind is Kind.BIRTH}
    assert born == set(segmenter.model_.genealogy_.live_ids)
    assert set(np.unique(ids).tolist()) <= born
    assert {e.time for e in segmenter.events_} == {1001.0}
    restarted.restart()
    np.testing.assert_array_equal(ids, restarted.segment(frames[2], 1001.0))
    np.testing.assert_array_equal(segmenter.segment(frames[3]), restarted.segment(frames[3]))


def test_the_genealogy_continues_over_a_gap(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    before = set(segmenter.model_.genealogy_.live_ids)
    segmenter.segment(frames[2], 1001.0)
    genealogy = segmenter.model_.genealogy_
    assert {genealogy.died(id) for id in before} == {1001.0}
    assert {genealogy.born(id) for id in genealogy.live_ids} == {1001.0}
    assert set(segmenter.statistics_["age"]) == {0}


@pytest.mark.parametrize(("decay", "gap"), [(2.9, 2.0), (0.1, 30.0), (0.0, 1e6)])
def test_segments_outlive_a_gap_that_leaves_enough_of_them(frames: list[Frame], decay: float, gap: float) -> None:
    segmenter = VideoSegmenter(decay=decay, **QUICK)
    first = segmenter.segment(frames[0], 0.0)
    assert not segmenter.has_faded(gap)
    ids = segmenter.segment(frames[1], gap)
    assert (ids == first).mean() > 0.5


def test_a_frame_that_follows_directly_is_never_a_first_one(frames: list[Frame]) -> None:
    segmenter = VideoSegmenter(decay=100.0, **QUICK)
    segmenter.segment(frames[0])
    assert not segmenter.has_faded(1.0)
    assert segmenter.has_faded(1.5)


def test_previews_are_shown_after_a_gap(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    ever = segmenter.model_.genealogy_.n_ids
    previews: list[Preview] = []
    segmenter.segment(frames[2], 1001.0, on_preview=previews.append)
    assert previews
    assert min(int(preview.ids.min()) for preview in previews) >= ever


def test_an_error_while_showing_a_preview_after_a_gap_changes_nothing(
    segmenter: VideoSegmenter, frames: list[Frame]
) -> None:
    def fail(preview: Preview) -> None:
        raise RuntimeError("no screen")

    unbroken = segmenter.copy()
    with pytest.raises(RuntimeError, match="no screen"):
        segmenter.segment(frames[2], 1001.0, on_preview=fail)
    np.testing.assert_array_equal(segmenter.ids_, unbroken.ids_)
    np.testing.assert_array_equal(segmenter.segment(frames[2]), unbroken.segment(frames[2]))


def test_a_mask_is_refused_after_a_gap_too(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    with pytest.raises(ValueError, match="first frame only"):
        segmenter.segment(frames[2], 1001.0, mask=np.ones(frames[2].shape[:2], bool))


def test_frames_after_a_gap_have_the_size_of_those_before(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    with pytest.raises(ValueError, match="first one's size"):
        segmenter.segment(frames[2][:50], 1001.0)


def test_nothing_can_have_faded_before_the_first_frame() -> None:
    with pytest.raises(NotSegmentedError):
        VideoSegmenter().has_faded(3.0)
