"""VideoSegmenter: segments merged, split and locked by hand, and parameters changed, between two frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reference import clip_frames
from scstream import VideoSegmenter
from scstream.sampler.genealogy import Kind, follow

Frame = npt.NDArray[np.uint8]
QUICK: dict[str, Any] = {"seed": 0, "max_init_sweeps": 30}


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return [frame[::2, ::2].copy() for frame in clip_frames("crossing", 12)]


@pytest.fixture
def segmenter(frames: list[Frame]) -> VideoSegmenter:
    segmenter = VideoSegmenter(**QUICK)
    for frame in frames[:2]:
        segmenter.segment(frame)
    return segmenter


def largest(segmenter: VideoSegmenter, n: int) -> list[int]:
    return [int(id) for id in segmenter.model_.ids_[:n]]


def test_merged_segments_go_on_under_the_largest_ones_id(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    ids, shown = largest(segmenter, 3), segmenter.ids_.copy()
    assert segmenter.merge(ids[::-1]) == ids[0]
    np.testing.assert_array_equal(segmenter.ids_, shown)
    later = segmenter.segment(frames[2])
    assert not np.isin(later, ids[1:]).any()
    area = np.isin(shown, ids)
    assert (later[area] == ids[0]).mean() > 0.5
    merges = [event for event in segmenter.events_ if event.kind is Kind.MERGE][:2]
    assert {event.ids[1] for event in merges} == set(ids[1:])
    assert all(np.isfinite(event.log_hastings) for event in merges)
    assert segmenter.model_.genealogy_.survivor(ids[2]) == ids[0]


def test_a_split_segment_gets_a_child(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    id = largest(segmenter, 1)[0]
    area = segmenter.ids_ == id
    child = segmenter.split(id)
    assert segmenter.model_.genealogy_.parent(child) == id
    later = segmenter.segment(frames[2])
    event = segmenter.events_[0]
    assert (event.kind, event.ids) == (Kind.SPLIT, (id, child))
    assert {id, child} <= set(np.unique(later[area]).tolist())
    assert follow({id}, segmenter.events_) >= {id, child}


def test_split_mask_is_what_a_split_makes(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    id = largest(segmenter, 1)[0]
    before, shown = segmenter.copy(), segmenter.ids_
    second = segmenter.split_mask(id)
    own = shown == id
    assert second.shape == own.shape
    assert not second[~own].any()
    assert 0.0 < second[own].mean() < 1.0
    # Looking changes nothing.
    np.testing.assert_array_equal(segmenter.copy().segment(frames[2]), before.segment(frames[2]))
    child = segmenter.split(id)
    later = segmenter.segment(frames[1])
    stayed = own & np.isin(later, [id, child])
    assert stayed.sum() > 0.8 * own.sum()
    assert (later[stayed] == np.where(second, child, id)[stayed]).mean() > 0.9


def test_split_mask_has_the_size_of_the_frame(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    segmenter.set_params(scale=0.5)
    segmenter.segment(frames[2])
    id = largest(segmenter, 1)[0]
    second, own = segmenter.split_mask(id), segmenter.ids_ == id
    assert second.shape == frames[2].shape[:2]
    assert not second[~own].any()
    assert second.any()


def test_a_segment_with_an_empty_subcluster_has_no_split_mask() -> None:
    frame = np.zeros((20, 30, 3), np.uint8)
    frame[7, 11] = 255
    segmenter = VideoSegmenter(seed=0, max_init_sweeps=1)
    ids = segmenter.segment(frame, mask=frame[..., 0])
    id = int(ids[7, 11])
    assert (ids == id).sum() == 1
    assert not segmenter.split_mask(id).any()
    with pytest.raises(ValueError, match="sub-clusters is empty"):
        segmenter.split(id)
    with pytest.raises(KeyError, match="segment 9999 is not alive"):
        segmenter.split_mask(9999)


def test_locked_segments_are_left_alone(frames: list[Frame]) -> None:
    """Without steadiness, so that splits are announced at once."""
    segmenter = VideoSegmenter(burn_in=0, smoothing=0.0, steadiness=0.0, **QUICK)
    for frame in frames[:2]:
        segmenter.segment(frame)
    everything = frozenset(segmenter.model_.genealogy_.live_ids)
    free = segmenter.copy()
    segmenter.locked_ = everything
    moved: set[int] = set()
    free_moves = 0
    for frame in frames[2:]:
        segmenter.segment(frame)
        free.segment(frame)
        moves = (Kind.SPLIT, Kind.MERGE)
        moved |= {id for event in segmenter.events_ if event.kind in moves for id in event.ids}
        free_moves += sum(event.kind in moves for event in free.events_)
    assert free_moves > 0
    assert not moved & everything


def test_several_moves_before_one_frame(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    a, b, c, d = largest(segmenter, 4)
    segmenter.merge([a, b])
    child = segmenter.split(c)
    segmenter.merge([child, d])
    segmenter.segment(frames[2])
    kinds = [event.kind for event in segmenter.events_[:3]]
    assert kinds == [Kind.MERGE, Kind.SPLIT, Kind.MERGE]
    live = set(segmenter.model_.genealogy_.live_ids)
    assert set(np.unique(segmenter.ids_).tolist()) <= live


def test_what_was_done_by_hand_is_saved(segmenter: VideoSegmenter, frames: list[Frame], tmp_path: Path) -> None:
    a, b, c = largest(segmenter, 3)
    segmenter.merge([a, b])
    segmenter.locked_ = {c}
    segmenter.set_params(decay=1.5, sweeps=2)
    segmenter.save(tmp_path / "model.npz")
    loaded = VideoSegmenter.load(tmp_path / "model.npz")
    assert loaded.locked_ == {c}
    for frame in frames[2:5]:
        np.testing.assert_array_equal(loaded.segment(frame), segmenter.segment(frame))
        assert loaded.events_ == segmenter.events_


def test_moves_before_a_restart_are_not_forgotten(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    a, b = largest(segmenter, 2)
    segmenter.merge([a, b])
    segmenter.restart()
    segmenter.segment(frames[2])
    assert (segmenter.events_[0].kind, segmenter.events_[0].ids) == (Kind.MERGE, (a, b))


def test_parameters_change_from_the_next_frame_on(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    unchanged = segmenter.copy()
    segmenter.set_params(decay=0.05)
    segmenter.segment(frames[2])
    unchanged.segment(frames[2])
    weight = [model.model_.clusters_[0].count for model in (segmenter, unchanged)]
    assert weight[0] > 1.5 * weight[1]


@pytest.mark.parametrize("wrong", [{"alpha": -1.0}, {"kernel": "fast"}, {"sweeps": 1.5}, {"nonsense": 1}])
def test_a_wrong_change_changes_nothing(segmenter: VideoSegmenter, wrong: dict[str, Any]) -> None:
    before = segmenter.parameters
    with pytest.raises((ValueError, TypeError)):
        segmenter.set_params(decay=1.0, **wrong)
    assert segmenter.parameters == before


@pytest.mark.parametrize(("scale", "alike"), [(0.5, 0.9), (0.3, 0.8)])
def test_segments_keep_their_ids_at_another_scale(frames: list[Frame], scale: float, alike: float) -> None:
    segmenter = VideoSegmenter(detail=0.05, **QUICK)
    for frame in frames[:2]:
        segmenter.segment(frame)
    unchanged = segmenter.copy()
    segmenter.set_params(scale=scale)
    counts = [sum(cluster.count for cluster in model.model_.clusters_) for model in (segmenter, unchanged)]
    assert counts[0] == pytest.approx(counts[1] * scale**2, rel=0.05)
    smaller, full = segmenter.segment(frames[2]), unchanged.segment(frames[2])
    assert smaller.shape == full.shape
    assert (smaller == full).mean() > alike
    segmenter.set_params(scale=1.0)
    assert (segmenter.segment(frames[3]) == unchanged.segment(frames[3])).mean() > alike


def test_statistics_of_the_last_frame_stay_at_another_scale(
    segmenter: VideoSegmenter, frames: list[Frame], tmp_path: Path
) -> None:
    before = segmenter.statistics_
    segmenter.set_params(scale=0.5)
    after = segmenter.statistics_
    np.testing.assert_array_equal(after["id"], before["id"])
    np.testing.assert_array_equal(after["pixels"], before["pixels"])
    # One with less than a pixel at the new scale is described by its history.
    large = before["pixels"] >= 4
    np.testing.assert_allclose(after["covariance"][large], before["covariance"][large], rtol=1e-3, atol=1e-3)
    # So do those of a file that is written before the next frame.
    segmenter.save(tmp_path / "model.npz")
    loaded = VideoSegmenter.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.statistics_, after)
    np.testing.assert_array_equal(loaded.segment(frames[2]), segmenter.segment(frames[2]))


def test_the_number_of_segments_stays_at_another_scale(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    before = segmenter.model_.n_clusters_
    segmenter.set_params(scale=0.5)
    for frame in frames[2:8]:
        segmenter.segment(frame)
    assert 0.8 * before < segmenter.model_.n_clusters_ < 1.2 * before


def test_a_scale_and_back_is_no_change(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    unchanged, before = segmenter.copy(), segmenter.ids_
    segmenter.set_params(scale=0.5)
    np.testing.assert_array_equal(segmenter.ids_, before)
    segmenter.set_params(scale=1.0)
    np.testing.assert_array_equal(segmenter.segment(frames[2]), unchanged.segment(frames[2]))


def test_colour_and_detail_change_at_a_restart_only(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    for change in ({"colour": "lab"}, {"detail": 2.0}):
        with pytest.raises(ValueError, match="at a restart only"):
            segmenter.set_params(**change)
    segmenter.restart()
    segmenter.set_params(colour="lab", scale=0.5)
    assert segmenter.segment(frames[2]).shape == frames[2].shape[:2]


def test_what_cannot_be_done_is_said_and_changes_nothing(segmenter: VideoSegmenter, frames: list[Frame]) -> None:
    a, before = largest(segmenter, 1)[0], segmenter.copy()
    with pytest.raises(KeyError, match="segment 9999 is not alive"):
        segmenter.split(9999)
    with pytest.raises(KeyError, match="segment 9999 is not alive"):
        segmenter.merge([a, 9999])
    with pytest.raises(ValueError, match="at least two segments"):
        segmenter.merge([a, a])
    with pytest.raises(ValueError, match="at least two segments"):
        segmenter.merge([])
    np.testing.assert_array_equal(segmenter.segment(frames[2]), before.segment(frames[2]))
    assert segmenter.events_ == before.events_
