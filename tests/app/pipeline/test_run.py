"""segment_frames: results, overlap of decoding and segmentation, errors, cancellation, scene cuts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource, Picture, readers_alive
from helpers.paths import SAMPLES
from scstream import Preview, VideoSegmenter
from scstream.pixels.statistics import STATISTICS
from scstream_app.errors import PipelineError, SourceError, StudioError
from scstream_app.pipeline import readahead, scene_cuts
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.readahead import AHEAD
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.render.image_types import resized
from scstream_app.settings import Settings
from scstream_app.sources import CameraStalled, DamagedFrame, Frame, open_source

QUICK = Settings(max_init_sweeps=20, threads=1)


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Any:
    yield
    assert readers_alive() == []


class FakeSegmenter:
    """Segmenter that counts its calls; the ids are the number of restarts."""

    def __init__(self, on_segment: Callable[[int], None] | None = None) -> None:
        self.on_segment, self.restarts, self.times = on_segment, 0, list[float]()
        self.events_: list[Any] = []
        self.statistics_ = np.zeros(0, STATISTICS)
        self.log_posterior_ = -1.0

    def segment(self, frame: Picture, time: float, on_preview: Any = None, mask: Any = None) -> npt.NDArray[np.int32]:
        self.times.append(time)
        if self.on_segment is not None:
            self.on_segment(int(time))
        return np.full(frame.shape[:2], self.restarts, np.int32)

    def has_faded(self, time: float) -> bool:
        return False

    def restart(self) -> None:
        self.restarts += 1

    def copy(self) -> FakeSegmenter:
        other = FakeSegmenter(self.on_segment)
        other.restarts = self.restarts
        return other


def two_scenes(each: int = 4) -> list[Picture]:
    """Frames of a moving square, then as many of a different scene."""
    frames = moving_square(2 * each)
    return frames[:each] + [np.ascontiguousarray(255 - frame[:, ::-1]) for frame in frames[each:]]


def alike(one: FrameResult, other: FrameResult) -> bool:
    return (
        (one.index, one.time, one.cut, one.events) == (other.index, other.time, other.cut, other.events)
        and one.log_posterior == other.log_posterior
        and np.array_equal(one.ids, other.ids)
        and np.array_equal(one.picture, other.picture)
        and np.array_equal(one.statistics, other.statistics)
    )


# --- results


def test_results_are_those_of_the_engine_frame_by_frame() -> None:
    frames = moving_square(6)
    segmenter, plain = QUICK.segmenter(), QUICK.segmenter()
    results = list(segment_frames(FakeSource(frames), segmenter, start=1, stop=5))
    assert [r.index for r in results] == [1, 2, 3, 4]
    for result in results:
        ids = plain.segment(frames[result.index], float(result.index))
        np.testing.assert_array_equal(result.ids, ids)
        np.testing.assert_array_equal(result.picture, frames[result.index])
        np.testing.assert_array_equal(result.statistics, plain.statistics_)
        assert result.log_posterior == plain.log_posterior_
        assert result.events == tuple(plain.events_)
        assert result.time == result.index / 25.0
        assert result.milliseconds.keys() == {"decode", "wait", "engine"}
        assert all(value >= 0.0 for value in result.milliseconds.values())
        assert not result.cut
    assert {event.time for event in results[0].events} == {1.0}


def test_an_empty_range_yields_nothing() -> None:
    assert list(segment_frames(FakeSource(moving_square(3)), QUICK.segmenter(), start=3)) == []
    assert list(segment_frames(FakeSource(moving_square(3)), QUICK.segmenter(), start=1, stop=1)) == []


def test_masks_cut_the_first_frame_only() -> None:
    frames = moving_square(3)
    masks = np.zeros((48, 64), np.uint8)
    masks[:30, :20] = 1
    results = list(segment_frames(FakeSource(frames), QUICK.segmenter(), masks=masks))
    plain = QUICK.segmenter()
    for result in results:
        first = result is results[0]
        ids = plain.segment(result.picture, float(result.index), mask=masks if first else None)
        np.testing.assert_array_equal(result.ids, ids)


# --- stages


def test_the_next_frame_is_decoded_while_the_engine_works() -> None:
    read = [threading.Event() for _ in range(4)]
    source = FakeSource(moving_square(4), on_read=lambda index: read[index].set())
    # Without overlap frame n + 1 would never be read while frame n is being segmented.
    segmenter = FakeSegmenter(lambda index: assert_set(read[min(index + 1, 3)]))
    assert len(list(segment_frames(source, segmenter, scene_cuts=False))) == 4
    assert source.readers == {"scstream-reader"}


def assert_set(event: threading.Event) -> None:
    assert event.wait(60.0)


def test_only_two_frames_are_decoded_ahead() -> None:
    source = FakeSource(moving_square(12))
    for done, _ in enumerate(segment_frames(source, FakeSegmenter(), scene_cuts=False), 1):
        assert source.reads <= done + AHEAD


@pytest.mark.parametrize("after", [1, 3])
def test_leaving_early_stops_the_reader(after: int) -> None:
    source = FakeSource(moving_square(12))
    results = segment_frames(source, FakeSegmenter(), scene_cuts=False)
    for _ in range(after):
        next(results)
    results.close()
    assert readers_alive() == []
    assert source.reads <= after + AHEAD


def test_waiting_for_a_live_source_does_not_count_as_decoding() -> None:
    source = FakeSource(moving_square(2), live=True)
    results = list(segment_frames(source, FakeSegmenter()))
    assert [result.milliseconds.keys() for result in results] == [{"wait", "engine"}] * 2


def test_a_live_source_is_read_when_the_engine_is_ready() -> None:
    source = FakeSource(moving_square(5), live=True)
    for done, result in enumerate(segment_frames(source, FakeSegmenter()), 1):
        assert source.reads == done
        assert result.index == done - 1


# --- errors


def test_an_engine_failure_names_its_frame() -> None:
    def fail(index: int) -> None:
        if index == 2:
            raise FloatingPointError("singular covariance")

    with pytest.raises(PipelineError, match=r"frame 2: singular covariance\.") as caught:
        list(segment_frames(FakeSource(moving_square(9)), FakeSegmenter(fail), scene_cuts=False))
    assert caught.value.frame == 2
    assert isinstance(caught.value.__cause__, FloatingPointError)


@pytest.mark.parametrize("error", [SourceError("Cannot read 'clip': torn off."), OSError(5, "Input/output error")])
def test_a_source_failure_comes_after_the_frames_before_it(error: Exception) -> None:
    frames = moving_square(5)
    results = segment_frames(FakeSource([*frames[:3], error, frames[4]]), FakeSegmenter())
    assert [next(results).index for _ in range(3)] == [0, 1, 2]
    with pytest.raises(PipelineError) as caught:
        next(results)
    assert caught.value.frame == 3
    assert caught.value.__cause__ is error
    assert isinstance(caught.value, StudioError)


def test_damaged_frames_are_skipped_and_reported() -> None:
    frames = moving_square(6)
    items = [DamagedFrame("no picture.", 0), frames[1], frames[2], DamagedFrame("bad data", 3), frames[4], frames[5]]
    notices: list[Notice] = []
    results = list(segment_frames(FakeSource(items), QUICK.segmenter(), on_notice=notices.append))
    assert [r.index for r in results] == [1, 2, 4, 5]
    assert [(n.kind, n.frame) for n in notices] == [("damaged", 0), ("damaged", 3)]
    assert notices[1].text == "Frame 3 is damaged and was skipped: bad data."


@pytest.mark.parametrize(("damaged", "restarts"), [(1, False), (20, True)])
def test_the_model_restarts_after_a_long_run_of_damaged_frames_only(damaged: int, restarts: bool) -> None:
    frames = moving_square(4)
    items = [*frames[:2], *(DamagedFrame("bad", 2 + n) for n in range(damaged)), *frames[2:]]
    notices: list[Notice] = []
    results = list(segment_frames(FakeSource(items), QUICK.segmenter(), on_notice=notices.append))
    after = 2 + damaged
    assert [r.index for r in results] == [0, 1, after, after + 1]
    assert [r.index for r in results if r.cut] == [after] * restarts
    assert [(n.kind, n.frame) for n in notices if n.kind != "damaged"] == [("gap", after)] * restarts
    assert (len(np.intersect1d(results[1].ids, results[2].ids)) == 0) == restarts


def test_a_run_that_continues_after_damaged_frames_is_that_without_a_break() -> None:
    frames = moving_square(4)
    items = [*frames[:2], *(DamagedFrame("bad", 2 + n) for n in range(20)), *frames[2:]]
    unbroken = list(segment_frames(FakeSource(items), QUICK.segmenter()))
    segmenter = QUICK.segmenter()
    before = list(segment_frames(FakeSource(items), segmenter, stop=2))
    after = list(segment_frames(FakeSource(items), segmenter, start=2, previous=before[-1]))
    assert len(before) + len(after) == len(unbroken)
    assert all(alike(*pair) for pair in zip(before + after, unbroken, strict=True))


def test_a_source_without_any_whole_frame_is_an_error() -> None:
    items = [DamagedFrame("bad", index) for index in range(3)]
    with pytest.raises(PipelineError, match="none of its 3 frames"):
        list(segment_frames(FakeSource(items), QUICK.segmenter()))


def test_a_source_stuck_at_a_damaged_frame_is_an_error() -> None:
    frames = moving_square(3)
    items = [frames[0], DamagedFrame("bad", 1), DamagedFrame("bad", 1), frames[2]]
    with pytest.raises(PipelineError, match="bad"):
        list(segment_frames(FakeSource(items), FakeSegmenter()))


def test_a_camera_that_stalls_is_waited_for() -> None:
    frames = moving_square(3)
    notices: list[Notice] = []
    source = FakeSource([frames[0], CameraStalled("No new frame for 2 s."), frames[2]], live=True)
    assert len(list(segment_frames(source, FakeSegmenter(), on_notice=notices.append))) == 2
    assert [(n.kind, n.text) for n in notices] == [
        ("stalled", "No new frame for 2 s."),
        ("back", "'clip' delivers pictures again."),
    ]


def test_a_camera_that_stays_stalled_is_reported_once() -> None:
    frames = moving_square(9)
    stalled = CameraStalled("No new frame for 2 s.")
    notices: list[Notice] = []
    source = FakeSource([frames[0], *[stalled] * 5, frames[6], stalled, frames[8]], live=True)
    assert len(list(segment_frames(source, FakeSegmenter(), on_notice=notices.append))) == 3
    assert [(n.kind, n.frame) for n in notices] == [("stalled", 1), ("back", 6), ("stalled", 7), ("back", 8)]


# --- cancellation


def test_cancelling_ends_the_run_between_frames() -> None:
    cancel, source = threading.Event(), FakeSource(moving_square(12))
    seen = []
    for result in segment_frames(source, FakeSegmenter(), cancel=cancel, scene_cuts=False):
        seen.append(result.index)
        if result.index == 2:
            cancel.set()
    assert seen == [0, 1, 2]
    assert list(segment_frames(source, FakeSegmenter(), cancel=cancel)) == []


def test_cancelling_within_the_first_frame_leaves_the_segmenter_unchanged() -> None:
    frames, cancel = moving_square(2), threading.Event()
    segmenter = QUICK.segmenter()
    previews: list[Preview] = []

    def stop_at_once(preview: Preview) -> None:
        previews.append(preview)
        cancel.set()

    assert list(segment_frames(FakeSource(frames), segmenter, cancel=cancel, on_preview=stop_at_once)) == []
    assert len(previews) == 1
    np.testing.assert_array_equal(segmenter.segment(frames[0]), QUICK.segmenter().segment(frames[0]))


def test_cancelling_interrupts_a_wait_for_the_source() -> None:
    cancel = threading.Event()

    def hang(index: int) -> None:
        if index == 1:
            cancel.set()

    source = FakeSource(moving_square(3), live=True, on_read=hang)
    assert len(list(segment_frames(source, FakeSegmenter(), cancel=cancel))) == 1


class HeldUp(FakeSource):
    """Source that blocks at frame ``at`` until it is interrupted."""

    def __init__(self, items: list[Picture], at: int, live: bool) -> None:
        super().__init__(items, live)
        self.at, self.waiting, self.woken = at, threading.Event(), threading.Event()

    def read(self) -> Frame | None:
        if self.next < self.at:
            return super().read()
        self.waiting.set()
        assert self.woken.wait(60.0)
        return None

    def interrupt(self) -> None:
        self.woken.set()


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("at", [0, 1])
def test_cancelling_interrupts_a_read(at: int, live: bool) -> None:
    source, cancel = HeldUp(moving_square(3), at, live), threading.Event()

    def stop() -> None:
        assert source.waiting.wait(60.0)
        cancel.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    # The reader of a file is ahead: the frame before may not have been segmented yet.
    assert len(list(segment_frames(source, FakeSegmenter(), cancel=cancel))) in {at, at if live else 0}
    assert source.woken.is_set()
    stopper.join()


def test_cancelling_interrupts_reading_the_previous_frame() -> None:
    frames, cancel = moving_square(4), threading.Event()
    *_, last = segment_frames(FakeSource(frames), FakeSegmenter(), stop=3)
    source = HeldUp(frames, 0, live=False)
    stopper = threading.Thread(target=lambda: (source.waiting.wait(20.0), cancel.set()))
    stopper.start()
    assert list(segment_frames(source, FakeSegmenter(), start=3, previous=last, cancel=cancel)) == []
    assert source.woken.is_set()
    stopper.join()


def test_a_read_that_cannot_be_interrupted_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readahead, "_STOP_TIMEOUT", 0.1)
    end, cancel = threading.Event(), threading.Event()

    def hang(index: int) -> None:
        if index == 1:
            cancel.set()
            assert end.wait(60.0)

    assert (
        len(list(segment_frames(FakeSource(moving_square(3), live=True, on_read=hang), FakeSegmenter(), cancel=cancel)))
        == 1
    )
    assert len(readers_alive()) == 1
    end.set()
    for thread in threading.enumerate():
        if thread.name == "scstream-reader":
            thread.join(60.0)


# --- changes of size


def test_frames_of_another_size_are_resized_and_restart_the_model() -> None:
    frames = moving_square(6)
    large = [frame.repeat(2, 0).repeat(2, 1) for frame in frames]
    notices: list[Notice] = []
    items = [*frames[:2], *large[2:4], *frames[4:]]
    results = list(segment_frames(FakeSource(items), QUICK.segmenter(), on_notice=notices.append))
    assert [r.ids.shape for r in results] == [r.picture.shape[:2] for r in results] == [(48, 64)] * 6
    assert [r.index for r in results if r.cut] == [2, 4]
    assert [(n.kind, n.frame) for n in notices] == [("size", 2), ("size", 4)]
    assert "128 x 96" in notices[0].text
    assert not set(results[1].ids.ravel()) & set(results[2].ids.ravel())


def test_a_resumed_run_does_not_restart_again_after_a_change_of_size() -> None:
    frames = moving_square(6)
    items = [*frames[:2], *(frame.repeat(2, 0).repeat(2, 1) for frame in frames[2:])]
    whole = list(segment_frames(FakeSource(items), QUICK.segmenter()))
    segmenter = QUICK.segmenter()
    *_, last = segment_frames(FakeSource(items), segmenter, stop=4)
    rest = list(segment_frames(FakeSource(items), segmenter, start=4, previous=last))
    assert [alike(one, other) for one, other in zip(whole[4:], rest, strict=True)] == [True, True]


def test_resizing_keeps_colours() -> None:
    picture = np.full((48, 64, 3), (200, 100, 50), np.uint8)
    for size in ((24, 32), (96, 100), (1, 1)):
        np.testing.assert_array_equal(resized(picture, size), np.full((*size, 3), (200, 100, 50), np.uint8))
    assert resized(picture, (48, 64)) is picture


# --- scene cuts


def test_a_new_scene_restarts_the_model() -> None:
    notices: list[Notice] = []
    segmenter = QUICK.segmenter()
    results = list(segment_frames(FakeSource(two_scenes()), segmenter, on_notice=notices.append))
    assert [r.index for r in results if r.cut] == [4]
    assert [(n.kind, n.frame) for n in notices] == [("cut", 4)]
    assert not set(results[3].ids.ravel()) & set(results[4].ids.ravel())
    kinds = [str(event.kind) for event in results[4].events]
    assert kinds.count("death") == len(np.unique(results[3].ids))
    np.testing.assert_array_equal(segmenter.ids_, results[-1].ids)


def test_cut_detection_can_be_disabled() -> None:
    results = list(segment_frames(FakeSource(two_scenes()), QUICK.segmenter(), scene_cuts=False))
    assert not any(r.cut for r in results)


@pytest.mark.parametrize("at", [1, 3, 4, 5])
@pytest.mark.parametrize("with_picture", [True, False])
def test_a_resumed_run_makes_the_same_decisions(at: int, with_picture: bool) -> None:
    frames = two_scenes()
    whole = list(segment_frames(FakeSource(frames), QUICK.segmenter()))
    segmenter = QUICK.segmenter()
    *_, last = segment_frames(FakeSource(frames), segmenter, stop=at)
    if not with_picture:
        last = FrameResult(last.index, last.time, None, last.ids, last.events, last.statistics)
    rest = list(segment_frames(FakeSource(frames), segmenter, start=at, previous=last))
    assert all(alike(one, other) for one, other in zip(whole[at:], rest, strict=True))


def test_a_cut_that_was_cancelled_is_found_again() -> None:
    frames, cancel = two_scenes(), threading.Event()
    whole = list(segment_frames(FakeSource(frames), QUICK.segmenter()))
    segmenter = QUICK.segmenter()

    def stop_at_the_cut(notice: Notice) -> None:
        cancel.set()

    results = list(segment_frames(FakeSource(frames), segmenter, cancel=cancel, on_notice=stop_at_the_cut))
    assert len(results) == 4
    rest = list(segment_frames(FakeSource(frames), segmenter, start=4, previous=results[-1]))
    assert all(alike(one, other) for one, other in zip(whole[4:], rest, strict=True))


def test_a_cut_that_was_cancelled_leaves_the_segmenter_unchanged() -> None:
    frames, cancel = two_scenes(), threading.Event()
    segmenter, plain = QUICK.segmenter(), QUICK.segmenter()
    notices: list[Notice] = []

    def stop_at_the_cut(preview: Preview) -> None:
        if notices:
            cancel.set()

    results = list(
        segment_frames(
            FakeSource(frames), segmenter, cancel=cancel, on_notice=notices.append, on_preview=stop_at_the_cut
        )
    )
    assert len(results) == 4
    assert [n.kind for n in notices] == ["cut"]
    for index in range(4):
        plain.segment(frames[index], float(index))
    # No restart is pending: the old scene continues unchanged.
    np.testing.assert_array_equal(segmenter.segment(frames[3], 4.0), plain.segment(frames[3], 4.0))


def brighter(frame: Picture, gain: float) -> Picture:
    return np.clip(np.rint(frame * gain), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("gain", "cut"), [(1.15, False), (0.85, False), (1.6, True), (0.5, True)])
def test_a_change_of_light_is_a_cut_only_if_the_segments_cannot_follow(gain: float, cut: bool) -> None:
    with open_source(str(SAMPLES / "kite_surf.mp4")) as source:
        frames = [frame.rgb for frame in source.frames(0, 6)]
    frames[4:] = [brighter(frame, gain) for frame in frames[4:]]
    colours = [scene_cuts.histogram(frame) for frame in frames]
    assert scene_cuts.distance(*colours[3:5]) > scene_cuts.CANDIDATE
    settings = Settings(scale=0.5, detail=0.1, max_init_sweeps=60)
    results = list(segment_frames(FakeSource(frames), settings.segmenter()))
    assert [r.index for r in results if r.cut] == [4] * cut
    if not cut:
        # The attempt used a copy: the segmenter is unchanged.
        plain = settings.segmenter()
        for index, frame in enumerate(frames):
            np.testing.assert_array_equal(plain.segment(frame, float(index)), results[index].ids)


def test_flashes_and_fades_still_give_results() -> None:
    frames = moving_square(12)
    white, black = np.full_like(frames[0], 255), np.zeros_like(frames[0])
    fade = [(frame * share).astype(np.uint8) for frame, share in zip(frames[4:8], (0.6, 0.3, 0.1, 0.0), strict=True)]
    items = [*frames[:2], white, frames[2], black, black, frames[3], *fade, black, white, *frames[8:]]
    results = list(segment_frames(FakeSource(items), QUICK.segmenter()))
    assert len(results) == len(items)
    assert len(np.unique(results[-1].ids)) > 1


def test_a_loaded_segmenter_can_continue(tmp_path: Any) -> None:
    frames = two_scenes()
    whole = list(segment_frames(FakeSource(frames), QUICK.segmenter()))
    segmenter = QUICK.segmenter()
    *_, last = segment_frames(FakeSource(frames), segmenter, stop=3)
    segmenter.save(tmp_path / "model.npz")
    loaded = VideoSegmenter.load(tmp_path / "model.npz")
    rest = list(segment_frames(FakeSource(frames), loaded, start=3, previous=last))
    assert all(alike(one, other) for one, other in zip(whole[3:], rest, strict=True))


# --- sources that end early


def test_a_source_that_ends_clearly_before_its_length_raises() -> None:
    source = FakeSource(moving_square(4))
    source.length = 40
    results: list[int] = []
    with pytest.raises(PipelineError, match="it ended at frame 4 of 40") as caught:
        results.extend(result.index for result in segment_frames(source, QUICK.segmenter()))
    assert (results, caught.value.frame) == ([0, 1, 2, 3], 4)


@pytest.mark.parametrize(("length", "stop"), [(5, None), (12, None), (40, 4), (40, 6), (None, None)])
def test_a_length_that_is_about_right_is_accepted(length: int | None, stop: int | None) -> None:
    source = FakeSource(moving_square(4))
    source.length = length
    assert len(list(segment_frames(source, QUICK.segmenter(), stop=stop))) == 4


def test_damaged_frames_at_the_end_count_as_read() -> None:
    frames = [*moving_square(2), *(DamagedFrame("hit", index) for index in range(2, 30))]
    assert len(list(segment_frames(FakeSource(frames), QUICK.segmenter()))) == 2
