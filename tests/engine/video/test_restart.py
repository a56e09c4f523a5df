"""VideoSegmenter: starting afresh at a cut, copies, and segments cut along a mask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reference import clip_frames
from scstream import VideoSegmenter, metrics
from scstream.sampler.genealogy import Kind

Frame = npt.NDArray[np.uint8]
QUICK: dict[str, Any] = {"seed": 0, "max_init_sweeps": 30}


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return [frame[::2, ::2].copy() for frame in clip_frames("crossing", 4)]


def started(frames: list[Frame], count: int = 2) -> VideoSegmenter:
    segmenter = VideoSegmenter(**QUICK)
    for frame in frames[:count]:
        segmenter.segment(frame)
    return segmenter


# --- restarts


def test_a_restart_buries_all_segments_and_gives_new_ids_only(frames: list[Frame]) -> None:
    segmenter = started(frames)
    before, ever = set(segmenter.model_.genealogy_.live_ids), segmenter.model_.genealogy_.n_ids
    segmenter.restart()
    ids = segmenter.segment(frames[2], 7.0)
    assert ids.min() >= ever
    events = segmenter.events_
    assert {e.ids[0] for e in events if e.kind is Kind.DEATH} == before
    assert {e.ids[0] for e in events if e.kind is Kind.BIRTH} == set(segmenter.model_.genealogy_.live_ids)
    assert {e.time for e in events} == {7.0}
    assert all(segmenter.model_.genealogy_.died(id) == 7.0 for id in before)
    assert set(segmenter.statistics_["age"]) == {0}


def test_a_restart_may_change_the_size(frames: list[Frame]) -> None:
    segmenter = started(frames)
    with pytest.raises(ValueError, match="first one's size"):
        segmenter.segment(frames[2][:50])
    segmenter.restart()
    assert segmenter.segment(frames[2][:50]).shape == frames[2][:50].shape[:2]
    assert segmenter.segment(frames[3][:50]).shape == frames[2][:50].shape[:2]


def test_previews_after_a_restart_show_no_id_of_before(frames: list[Frame]) -> None:
    segmenter = started(frames)
    ever = segmenter.model_.genealogy_.n_ids
    segmenter.restart()
    lowest = [int(preview.ids.min()) for preview in segmenter.start(frames[2])]
    assert lowest
    assert min(lowest) >= ever


def test_an_abandoned_restart_leaves_the_segmenter_as_it_was(frames: list[Frame]) -> None:
    segmenter = started(frames)
    ids = segmenter.ids_.copy()
    segmenter.restart()
    previews = segmenter.start(frames[2])
    next(previews)
    previews.close()
    np.testing.assert_array_equal(segmenter.ids_, ids)
    unbroken = started(frames)
    unbroken.restart()
    np.testing.assert_array_equal(segmenter.segment(frames[2]), unbroken.segment(frames[2]))


def test_results_keep_their_colour_space_until_the_next_frame(frames: list[Frame], tmp_path: Path) -> None:
    segmenter, unbroken = started(frames), started(frames)
    expected, html = segmenter.statistics_, segmenter._repr_html_().partition("</pre>")[2]
    for one in (segmenter, unbroken):
        one.restart()
    segmenter.set_params(colour="lab")
    np.testing.assert_array_equal(segmenter.statistics_, expected)
    assert segmenter._repr_html_().partition("</pre>")[2] == html
    segmenter.save(tmp_path / "model.npz")
    loaded = VideoSegmenter.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.statistics_, expected)
    ids = segmenter.segment(frames[2])
    np.testing.assert_array_equal(loaded.segment(frames[2]), ids)
    np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)
    rgb = unbroken.segment(frames[2])
    assert (rgb != ids).any()
    largest = segmenter.statistics_[0]
    seen = frames[2][ids == largest["id"]].mean(axis=0) / 255.0
    assert [largest[name] for name in ("red", "green", "blue")] == pytest.approx(seen, abs=0.05)


def test_a_pending_restart_is_saved(frames: list[Frame], tmp_path: Path) -> None:
    segmenter = started(frames)
    segmenter.restart()
    segmenter.save(tmp_path / "model.npz")
    loaded = VideoSegmenter.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.segment(frames[2]), segmenter.segment(frames[2]))
    assert loaded.events_ == segmenter.events_


# --- copies


def test_a_copy_continues_alike_and_leaves_the_original_alone(frames: list[Frame]) -> None:
    segmenter = started(frames)
    twin = segmenter.copy()
    np.testing.assert_array_equal(twin.ids_, segmenter.ids_)
    for frame in frames[2:]:
        twin.segment(frame)
    for frame in frames[2:]:
        segmenter.segment(frame)
    np.testing.assert_array_equal(twin.ids_, segmenter.ids_)
    np.testing.assert_array_equal(twin.statistics_, segmenter.statistics_)


# --- masks


def disc(shape: tuple[int, ...], radius: float = 0.2) -> npt.NDArray[np.bool_]:
    row, column = np.indices(shape[:2])
    return np.hypot(row / shape[0] - 0.5, column / shape[1] - 0.5) < radius


def test_no_segment_of_the_first_frame_lies_half_in_the_mask(frames: list[Frame]) -> None:
    mask = disc(frames[0].shape)
    free = VideoSegmenter(**QUICK).segment(frames[0])
    segmenter = VideoSegmenter(**QUICK)
    ids = segmenter.segment(frames[0], mask=mask)

    def straddling(ids: npt.NDArray[np.int32]) -> int:
        shares = [mask[ids == id].mean() for id in np.unique(ids)]
        return sum(0.26 < share < 0.74 for share in shares)

    assert straddling(free) > 0
    assert straddling(ids) == 0
    assert set(np.unique(ids)) <= set(segmenter.model_.genealogy_.live_ids)


def test_segments_cut_along_a_mask_have_the_statistics_of_their_pixels(frames: list[Frame]) -> None:
    segmenter = VideoSegmenter(**QUICK)
    ids = segmenter.segment(frames[0], mask=disc(frames[0].shape))
    counts = np.bincount(ids.ravel())
    for row in segmenter.statistics_:
        own = ids == row["id"]
        assert row["pixels"] == counts[row["id"]]
        np.testing.assert_allclose(row["red"], frames[0][own][:, 0].mean() / 255.0, atol=1e-3)
        np.testing.assert_allclose(row["row"], np.nonzero(own)[0].mean() + 0.5, atol=0.01)
    later = segmenter.segment(frames[1])
    assert set(np.unique(later)) <= set(segmenter.model_.genealogy_.live_ids)


def test_every_value_of_a_mask_is_a_thing_of_its_own(frames: list[Frame]) -> None:
    height, width = frames[0].shape[:2]
    mask = np.zeros((height, width), np.uint8)
    mask[20:60, 40:90], mask[20:60, 90:140] = 3, 7
    ids = VideoSegmenter(**QUICK).segment(frames[0], mask=mask)
    for id in np.unique(ids):
        values, counts = np.unique(mask[ids == id], return_counts=True)
        assert counts.max() / counts.sum() > 0.74, (id, values, counts)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_a_tiny_mask_inside_a_big_segment_is_cut_out(frames: list[Frame], size: int) -> None:
    free = VideoSegmenter(smoothing=0.0, **QUICK).segment(frames[0])
    largest = free == np.bincount(free.ravel()).argmax()
    row, column = next(
        place for place in np.argwhere(largest) if largest[place[0] : place[0] + size, place[1] : place[1] + size].all()
    )
    mask = np.zeros(free.shape, np.uint8)
    mask[row : row + size, column : column + size] = 1
    segmenter = VideoSegmenter(**QUICK)
    ids = segmenter.segment(frames[0], mask=mask)
    inside = set(np.unique(ids[mask > 0]))
    np.testing.assert_array_equal(np.isin(ids, list(inside)), mask > 0)
    segmenter.segment(frames[1])


@pytest.mark.parametrize("value", [False, True])
def test_an_empty_or_full_mask_changes_nothing(frames: list[Frame], value: bool) -> None:
    mask = np.full(frames[0].shape[:2], value)
    with_mask = VideoSegmenter(**QUICK).segment(frames[0], mask=mask)
    without = VideoSegmenter(**QUICK).segment(frames[0])
    # A first frame with a mask keeps its specks and borders; nothing else differs.
    assert metrics.pieces(with_mask) > metrics.pieces(without)
    assert (with_mask == without).mean() > 0.8


def test_a_mask_works_on_a_reduced_frame_too(frames: list[Frame]) -> None:
    mask = disc(frames[0].shape)
    ids = VideoSegmenter(scale=0.5, **QUICK).segment(frames[0], mask=mask)
    assert not [id for id in np.unique(ids) if 0.3 < mask[ids == id].mean() < 0.7]


@pytest.mark.parametrize("mask", [np.zeros((3, 3), bool), np.zeros((108, 192), np.float32), "no mask"])
def test_a_wrong_mask_is_refused(frames: list[Frame], mask: Any) -> None:
    with pytest.raises(ValueError, match="mask must be an array of bool or whole numbers with the frame's shape"):
        VideoSegmenter(**QUICK).segment(frames[0], mask=mask)


def test_a_mask_belongs_to_the_first_frame(frames: list[Frame]) -> None:
    with pytest.raises(ValueError, match="first frame only"):
        started(frames).segment(frames[2], mask=disc(frames[2].shape))


# --- another video, and back


def test_a_transferred_segmenter_continues_at_another_time(frames: list[Frame]) -> None:
    segmenter = started(frames)
    transferred = segmenter.transfer(40.0, frames[2].shape[:2])
    np.testing.assert_array_equal(transferred.segment(frames[2]), segmenter.segment(frames[2]))
    np.testing.assert_array_equal(transferred.statistics_["born"], segmenter.statistics_["born"] + 39.0)
    with pytest.raises(ValueError, match="the last batch came at 41, got"):
        transferred.segment(frames[3], 41.0)
    np.testing.assert_array_equal(transferred.segment(frames[3]), segmenter.segment(frames[3]))


def test_a_transferred_segmenter_takes_frames_of_another_size(frames: list[Frame]) -> None:
    segmenter = started(frames)
    live = set(segmenter.model_.genealogy_.live_ids)
    ids = segmenter.transfer(0.0, frames[2][:50].shape[:2]).segment(frames[2][:50])
    assert ids.shape == frames[2][:50].shape[:2]
    assert np.isin(ids, list(live)).mean() > 0.9


def test_a_restored_segmenter_continues_as_the_copy_would(frames: list[Frame]) -> None:
    segmenter = started(frames)
    before = segmenter.copy()
    segmenter.set_params(decay=0.1)
    segmenter.segment(frames[3])
    segmenter.restore(before.copy())
    assert segmenter.parameters == before.parameters
    np.testing.assert_array_equal(segmenter.segment(frames[2]), before.segment(frames[2]))
