"""Resuming an interrupted session gives the result of an uninterrupted run."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.clips import busy, encode, write_images
from helpers.fake_source import FakeSource, Picture, readers_alive
from helpers.session_clips import QUICK, clip, recorded, recording, volume
from scstream_app.errors import PipelineError, SessionError, SourceError
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.session import FrameRecord, Session, resume, write_run
from scstream_app.sources import DamagedFrame, ImageSequence, Source, open_source

COUNT = 12


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Session:
    path = tmp_path_factory.mktemp("unbroken") / "whole.scstream"
    recorded(path, clip(COUNT))
    return Session.open(path)


def interrupted(path: Path, frames: int, items: list[Any] | None = None, **options: Any) -> Path:
    """Session as a killed process leaves it after ``frames`` frames."""
    running = recording(path.with_name("run.scstream"), items or clip(COUNT), **options)
    for _ in range(frames):
        next(running)
    shutil.copytree(path.with_name("run.scstream"), path)
    running.close()
    return path


def assert_same(session: Session, whole: Session) -> None:
    assert session.frames.tolist() == whole.frames.tolist()
    np.testing.assert_array_equal(volume(session), volume(whole))
    for one, other in zip(session.results(), whole.results(), strict=True):
        assert (one.cut, one.events, one.log_posterior) == (other.cut, other.events, other.log_posterior)
        np.testing.assert_array_equal(one.statistics, other.statistics)


def test_only_records_with_edits_are_read_to_check_the_snapshot(
    unbroken: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = interrupted(tmp_path / "a.scstream", 10, snapshot_every=2)
    parsed: list[int] = []
    parse = FrameRecord.parse

    def counting(line: bytes) -> FrameRecord:
        parsed.append(parse(line).index)
        return parse(line)

    with Session.open(path, writable=True) as session:
        monkeypatch.setattr(FrameRecord, "parse", counting)
        frame = session.latest_snapshot()
        resume(session, FakeSource(clip(COUNT)), threads=1)
        assert set(parsed) == {frame}


# The cut is at frame 7: before it, at it, after it; snapshots of every frame, of some, and of the first only.
@pytest.mark.parametrize("after", [1, 2, 6, 7, 8, 12])
@pytest.mark.parametrize("every", [1, 4, 50])
def test_resuming_gives_the_result_of_an_uninterrupted_run(
    after: int, every: int, unbroken: Session, tmp_path: Path
) -> None:
    path = interrupted(tmp_path / "a.scstream", after, snapshot_every=every)
    source = FakeSource(clip(COUNT))
    with Session.open(path, writable=True) as session:
        going_on = resume(session, source, threads=1)
        written = (path / "frames.jsonl").read_bytes()
        repeated: list[int] = []
        snapshot = session.latest_snapshot()
        assert snapshot is not None
        assert going_on.repeated == after - 1 - snapshot
        new = [r.index for r in going_on.run(on_repeated=repeated.append)]
        assert repeated == list(range(snapshot + 1, after))
        assert new == list(range(after, COUNT))
        assert (path / "frames.jsonl").read_bytes().startswith(written)
        assert session.manifest.complete
        assert session.latest_snapshot() == COUNT - 1
        assert going_on.segmenter.threads == 1
    assert_same(Session.open(path), unbroken)
    assert readers_alive() == []


def test_without_a_snapshot_it_starts_again(unbroken: Session, tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 3)
    shutil.rmtree(path / "models")
    (path / "models").mkdir()
    with Session.open(path, writable=True) as session:
        assert resume(session, FakeSource(clip(COUNT))).repeated == 3
        assert [r.index for r in resume(session, FakeSource(clip(COUNT))).run()] == list(range(3, COUNT))
    assert_same(Session.open(path), unbroken)


@pytest.mark.parametrize("snapshots", [True, False])
def test_a_session_from_before_smoothing_and_steadiness_goes_on_without(snapshots: bool, tmp_path: Path) -> None:
    bare = replace(QUICK, smoothing=0.0, steadiness=0.0)
    recorded(tmp_path / "whole.scstream", clip(COUNT), bare)
    path = interrupted(tmp_path / "a.scstream", 4, settings=bare)
    if not snapshots:
        shutil.rmtree(path / "models")
        (path / "models").mkdir()
    manifest = json.loads((path / "manifest.json").read_text())
    assert (manifest["settings"].pop("smoothing"), manifest["settings"].pop("steadiness")) == (0.0, 0.0)
    (path / "manifest.json").write_text(json.dumps(manifest))
    with Session.open(path, writable=True) as session:
        assert session.manifest.settings.portable() == bare.portable()
        assert [r.index for r in resume(session, FakeSource(clip(COUNT))).run()] == list(range(4, COUNT))
    assert_same(Session.open(path), Session.open(tmp_path / "whole.scstream"))


@pytest.mark.parametrize("snapshots", [True, False])
def test_masks_are_used_again(snapshots: bool, tmp_path: Path) -> None:
    masks = np.zeros((48, 64), np.uint8)
    masks[:30, :20] = 1
    recorded(tmp_path / "whole.scstream", clip(COUNT), masks=masks)
    path = interrupted(tmp_path / "a.scstream", 2, masks=masks)
    if not snapshots:
        shutil.rmtree(path / "models")
        (path / "models").mkdir()
    with Session.open(path, writable=True) as session:
        assert len(list(resume(session, FakeSource(clip(COUNT))).run())) == COUNT - 2
    assert_same(Session.open(path), Session.open(tmp_path / "whole.scstream"))


def test_a_session_without_frames_starts_at_its_start(tmp_path: Path) -> None:
    items = clip(COUNT)
    recorded(tmp_path / "whole.scstream", items, start=2, stop=9)
    Session.create(tmp_path / "a.scstream", FakeSource(items), QUICK, start=2, stop=9).close()
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        assert [r.index for r in resume(session, FakeSource(items)).run()] == list(range(2, 9))
    assert_same(Session.open(tmp_path / "a.scstream"), Session.open(tmp_path / "whole.scstream"))


def test_it_can_be_interrupted_again_and_again(unbroken: Session, tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 2, snapshot_every=5)
    rounds = 0
    while not Session.open(path).manifest.complete:
        rounds += 1
        with Session.open(path, writable=True) as session:
            going_on = resume(session, FakeSource(clip(COUNT))).run()
            next(going_on, None)
            going_on.close()
    assert rounds > 3
    assert_same(Session.open(path), unbroken)


def test_a_complete_session_has_nothing_to_resume(unbroken: Session, tmp_path: Path) -> None:
    path = Path(shutil.copytree(unbroken.path, tmp_path / "a.scstream"))
    with Session.open(path, writable=True) as session:
        assert list(resume(session, FakeSource(clip(COUNT))).run()) == []


def test_damaged_frames_and_changes_of_size_are_repeated(tmp_path: Path) -> None:
    items: list[Picture | Exception] = list(clip(10, cut=None))
    items[3] = DamagedFrame("bad", 3)
    items[5:8] = [item.repeat(2, 0).repeat(2, 1) for item in items[5:8] if isinstance(item, np.ndarray)]
    recorded(tmp_path / "whole.scstream", items)  # type: ignore[arg-type]
    for after in (3, 4, 5, 7):
        path = interrupted(tmp_path / f"{after}.scstream", after, items, snapshot_every=3)
        shutil.rmtree(tmp_path / "run.scstream")
        with Session.open(path, writable=True) as session:
            for _ in resume(session, FakeSource(items)).run():
                pass
        assert_same(Session.open(path), Session.open(tmp_path / "whole.scstream"))


# --- cancellation and failures


def test_a_cancelled_run_keeps_its_frames_and_can_be_resumed(unbroken: Session, tmp_path: Path) -> None:
    source, segmenter, cancel = FakeSource(clip(COUNT)), QUICK.segmenter(), threading.Event()
    path = tmp_path / "a.scstream"
    with Session.create(path, source, QUICK) as session:
        for result in write_run(session, segment_frames(source, segmenter, cancel=cancel), segmenter, cancel):
            if result.index == 4:
                cancel.set()
        assert not session.manifest.complete
        assert session.snapshots() == [0, 4]
    with Session.open(path, writable=True) as session:
        assert [r.index for r in resume(session, source).run()] == list(range(5, COUNT))
    assert_same(Session.open(path), unbroken)


def test_cancelling_while_frames_are_repeated_loses_nothing(unbroken: Session, tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 6)
    cancel = threading.Event()
    with Session.open(path, writable=True) as session:
        repeated: list[int] = []

        def stop(index: int) -> None:
            repeated.append(index)
            cancel.set()

        assert list(resume(session, FakeSource(clip(COUNT))).run(cancel=cancel, on_repeated=stop)) == []
        assert repeated == [1]
        assert session.latest_snapshot() == 0
        assert not session.manifest.complete
    with Session.open(path, writable=True) as session:
        assert len(list(resume(session, FakeSource(clip(COUNT))).run())) == COUNT - 6
    assert_same(Session.open(path), unbroken)


def test_a_run_cancelled_at_a_cut_can_be_resumed(unbroken: Session, tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 5)
    cancel = threading.Event()

    def stop(notice: Notice) -> None:
        cancel.set()

    with Session.open(path, writable=True) as session:
        assert [r.index for r in resume(session, FakeSource(clip(COUNT))).run(cancel=cancel, on_notice=stop)] == [5, 6]
        assert session.snapshots() == [0, 4, 6]
    with Session.open(path, writable=True) as session:
        assert len(list(resume(session, FakeSource(clip(COUNT))).run())) == COUNT - 7
    assert_same(Session.open(path), unbroken)


def test_a_session_can_be_resumed_after_the_source_failed(unbroken: Session, tmp_path: Path) -> None:
    frames = clip(COUNT)
    items: list[Any] = [*frames[:5], SourceError("Cannot read 'clip': unplugged."), *frames[6:]]
    path = tmp_path / "a.scstream"
    with pytest.raises(PipelineError, match="unplugged"):
        recorded(path, items)
    assert not Session.open(path).manifest.complete
    with Session.open(path, writable=True) as session:
        assert len(list(resume(session, FakeSource(frames)).run())) == COUNT - 5
    assert_same(Session.open(path), unbroken)


# --- another source


def test_another_size_is_refused(tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 2)
    other = [frame[:40] for frame in clip(COUNT)]
    with Session.open(path, writable=True) as session, pytest.raises(SessionError, match=r"64 x 40.*are 64 x 48\.$"):
        resume(session, FakeSource(other))


@pytest.mark.parametrize("other", [[255 - frame for frame in clip(COUNT)], [DamagedFrame("bad", 0)]])
def test_another_first_frame_is_refused(other: list[Any], tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 2)
    with (
        Session.open(path, writable=True) as session,
        pytest.raises(SessionError, match="frame 0 is a different picture"),
    ):
        resume(session, FakeSource(other))


def test_another_clip_that_begins_alike_is_refused(tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 6, snapshot_every=3)
    other = [clip(COUNT)[0], *(255 - frame for frame in clip(COUNT)[1:])]
    with Session.open(path, writable=True) as session:
        before = (path / "frames.jsonl").read_bytes()
        for frames in (other, other[:2]):
            with pytest.raises(SessionError, match=r"^Cannot use 'clip' for .* its frame 3 is a different picture"):
                resume(session, FakeSource(frames))
        assert (path / "frames.jsonl").read_bytes() == before


def test_a_session_of_an_earlier_version_checks_the_first_frame_only(unbroken: Session, tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 6, snapshot_every=3)
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["last_frame"]
    (path / "manifest.json").write_text(json.dumps(manifest))
    other = clip(COUNT)
    # Frame 3 is the frame of the snapshot and is not segmented again.
    other[3] = 255 - other[3]
    with Session.open(path, writable=True) as session:
        for _ in resume(session, FakeSource(other), threads=1).run():
            pass
    assert_same(Session.open(path), unbroken)


def test_a_later_frame_that_differs_is_reported(tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 6)
    other = clip(COUNT)
    other[4] = np.ascontiguousarray(other[4][::-1])
    with Session.open(path, writable=True) as session:
        before = (path / "frames.jsonl").read_bytes()
        with pytest.raises(SessionError, match=r"Cannot resume .*frame 4 has a different result than before.*\?$"):
            list(resume(session, FakeSource(other)).run())
        assert (path / "frames.jsonl").read_bytes() == before
        assert session.snapshots() == [0]


def test_a_source_that_became_shorter_is_reported(tmp_path: Path) -> None:
    path = interrupted(tmp_path / "a.scstream", 6)
    with (
        Session.open(path, writable=True) as session,
        pytest.raises(SessionError, match="frame 4 has a different result"),
    ):
        list(resume(session, FakeSource(clip(COUNT)[:4])).run())


def test_a_live_run_cannot_be_resumed(tmp_path: Path) -> None:
    source, segmenter = FakeSource(clip(3, cut=None), live=True), QUICK.segmenter()
    with Session.create(tmp_path / "a.scstream", source, QUICK) as session:
        assert len(list(write_run(session, segment_frames(source, segmenter), segmenter))) == 3
        with pytest.raises(SessionError, match="live"):
            resume(session, source)


# --- sources that disappear during a run


@pytest.mark.parametrize("threads", [0, -1, True, 1.5])
def test_an_invalid_number_of_threads_raises(threads: Any, unbroken: Session, tmp_path: Path) -> None:
    with Session.open(_interrupted(tmp_path, 5), writable=True) as session:
        with pytest.raises(SessionError, match="threads must be a whole number >= 1, got"):
            resume(session, FakeSource(clip()), threads)
        for _ in resume(session, FakeSource(clip()), 2).run():
            pass
        assert session.manifest.complete
        np.testing.assert_array_equal(volume(session), volume(unbroken))


def _interrupted(folder: Path, after: int) -> Path:
    path = folder / "s.scstream"
    running = recording(path, clip())
    for _, result in running:
        if result.index + 1 == after:
            break
    running.close()
    return path


def _recorded(session: Session, source: Source, index: int, accident: Callable[[], object]) -> None:
    """Record the source; after frame ``index`` something happens to it."""
    segmenter = session.manifest.settings.segmenter()
    for result in write_run(session, segment_frames(source, segmenter), segmenter):
        if result.index == index:
            accident()


def test_a_session_can_be_resumed_after_its_images_were_moved(tmp_path: Path) -> None:
    folder = write_images(tmp_path / "f", clip(24, None))
    path, away = tmp_path / "s.scstream", tmp_path / "away"
    with open_source(str(folder)) as source, Session.create(path, source, QUICK) as session:
        with pytest.raises(PipelineError, match="been moved"):
            _recorded(session, source, 5, lambda: folder.rename(away))
        assert 6 <= len(session) < 24
        assert not session.manifest.complete
    away.rename(folder)
    with open_source(str(folder)) as source, Session.open(path, writable=True) as session:
        for _ in resume(session, source, 1).run():
            pass
        assert session.manifest.complete
        assert session.frames.tolist() == list(range(24))


def test_a_source_closed_during_the_run_does_not_complete_the_session(tmp_path: Path) -> None:
    source = ImageSequence(write_images(tmp_path / "f", clip(24, None)))
    with Session.create(tmp_path / "s.scstream", source, QUICK) as session:
        with pytest.raises(PipelineError, match=r"ended at frame \d+ of 24"):
            _recorded(session, source, 3, source.close)
        assert not session.manifest.complete


#: For clips that only serve as damaged files: a tenth of the time.
COARSE = replace(QUICK, scale=0.25)


def test_a_video_truncated_before_the_run_completes(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", busy(60), options={"g": "10"}, muxing={"movflags": "faststart"})
    os.truncate(path, path.stat().st_size // 2)
    with open_source(str(path)) as source, Session.create(tmp_path / "s.scstream", source, COARSE) as session:
        segmenter = COARSE.segmenter()
        for _ in write_run(session, segment_frames(source, segmenter), segmenter):
            pass
        assert 0 < len(session) < 50
        assert session.manifest.complete


def test_a_video_truncated_during_the_run_does_not_complete(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", busy(60), options={"g": "10"}, muxing={"movflags": "faststart"})
    with open_source(str(path)) as source, Session.create(tmp_path / "s.scstream", source, COARSE) as session:
        with pytest.raises(PipelineError, match="the file was changed"):
            _recorded(session, source, 3, lambda: os.truncate(path, path.stat().st_size // 2))
        assert len(session) >= 4
        assert not session.manifest.complete
