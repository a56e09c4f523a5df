"""Recordings of live sources: pictures and ids stay in step on slow disks, full disks and kills."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Queue
from threading import Event
from time import sleep

import numpy as np
import pytest

from helpers import killed_recording
from helpers.export_scenes import birth, result, split, story
from helpers.paths import ROOT
from scstream_app import headless
from scstream_app.errors import SessionError
from scstream_app.export import ExportOptions
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.replay_buffer import ReplayBuffer
from scstream_app.session import (
    PICTURES,
    FrameRecord,
    LiveRecorder,
    MarkedObject,
    Names,
    RecordingResult,
    Session,
    SourceFacts,
    live_recorder,
    repair_recording,
    resume,
)
from scstream_app.session.run_summary import RunSummary
from scstream_app.session.storage import pictures
from scstream_app.settings import Settings
from scstream_app.sources import VideoFile, open_source

pytestmark = pytest.mark.slow

SHAPE = (24, 32)
FACTS = SourceFacts("camera:0", "Fake Cam", SHAPE[1], SHAPE[0], 30.0, None, True)
LONG = 60.0

Begin = Callable[[Path], LiveRecorder]


@pytest.fixture
def ends() -> Queue[RecordingResult]:
    return Queue()


@pytest.fixture
def begin(ends: Queue[RecordingResult]) -> Iterator[Begin]:
    """Starts recordings, and checks at the end that they have ended."""
    begun: list[LiveRecorder] = []

    def begin_(path: Path) -> LiveRecorder:
        begun.append(LiveRecorder(path, FACTS, Settings(), ends.put))
        return begun[-1]

    yield begin_
    for each in begun:
        each.stop()
        assert each.join(LONG)


def recorded(begin: Begin, ends: Queue[RecordingResult], path: Path, results: list[FrameResult]) -> RecordingResult:
    recording = begin(path)
    for each in results:
        recording.put(each)
    recording.stop()
    return ends.get(timeout=LONG)


def drain(recording: LiveRecorder) -> None:
    """Wait until the recorder has taken all frames from its queue."""
    while recording.waiting:
        sleep(0.001)


def unfinish(path: Path) -> None:
    """Mark the recording as incomplete, as after a crash."""
    manifest = path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete": true', '"complete": false'))


def live_story() -> list[FrameResult]:
    """Five frames of a source that started earlier."""
    results = story(SHAPE, first=700)
    return [replace(results[0], events=()), *results[1:]]


# --- content of a recording


def test_ids_and_pictures_are_recorded_unchanged(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    results = live_story()
    path = tmp_path / "a.scstream"
    assert recorded(begin, ends, path, results) == RecordingResult(path, 5, 0)
    with Session.open(path) as session, open_source(session.source_address) as source:
        assert session.manifest.complete
        assert session.frames.tolist() == [0, 1, 2, 3, 4]
        for kept, given in zip(session.results(source=source), results, strict=True):
            np.testing.assert_array_equal(kept.picture, given.picture)
            np.testing.assert_array_equal(kept.ids, given.ids)
            assert kept.time == pytest.approx(given.time - results[0].time)
        assert source.count() == 5


def test_the_source_is_found_after_the_session_was_moved(
    begin: Begin, ends: Queue[RecordingResult], tmp_path: Path
) -> None:
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, live_story())
    target = tmp_path / "elsewhere" / "b.scstream"
    target.parent.mkdir()
    shutil.move(path, target)
    with Session.open(target) as session:
        assert session.recorded
        assert session.source_address == str(target / PICTURES)
        facts = session.manifest.source
        assert (facts.name, facts.live, facts.length) == ("Fake Cam", False, 5)
        found = headless.export(session, tmp_path / "out", ExportOptions(("mp4", "ids")))
        list(found)
    assert (tmp_path / "out" / "overlay.mp4").exists()


def test_all_segments_of_the_first_frame_are_born_there(
    begin: Begin, ends: Queue[RecordingResult], tmp_path: Path
) -> None:
    results = live_story()
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, results)
    summary = RunSummary()
    with Session.open(path) as session:
        summary.extend(session.records())
    assert {id: life.born for id, life in summary.lives.items()} == {0: 0, 1: 0, 2: 0, 3: 2}
    assert [frame for frame, _ in summary.events] == [2, 4]


def test_marks_are_recorded(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recording = begin(path)
    for each in live_story():
        recording.put(each)
    marked = MarkedObject.made("ball", (1, 2, 3), 1, frozenset({1}))
    recording.set_marks(Names({1: "ball"}), [marked])
    recording.stop()
    ends.get(timeout=LONG)
    with Session.open(path) as session:
        assert session.objects == (marked,)
        assert session.names.names == {1: "ball"}
        assert dict(session.members([marked]))[2] == ({1, 3},)


def test_positions_of_the_sources_frames(begin: Begin, tmp_path: Path) -> None:
    recording = begin(tmp_path / "a.scstream")
    assert recording.position_of(3) == (0, None)
    for each in story(SHAPE, first=10, gap=2):
        recording.put(each)
    assert recording.position_of(3) == (0, 10)
    assert recording.position_of(14) == (2, 14)
    assert recording.position_of(15) == (3, 16)
    assert recording.position_of(19) == (5, None)


# --- slow disks


def test_a_slow_disk_drops_frames_from_pictures_and_ids(
    begin: Begin, ends: Queue[RecordingResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_recorder, "_MOST_WAITING", 2)
    gate = Event()
    create = Session.create
    monkeypatch.setattr(Session, "create", lambda *a, **k: (gate.wait(LONG), create(*a, **k))[1])
    results = live_story()
    ids = results[-1].ids
    edit = Edit("lock", (0,))
    results[3] = replace(results[3], edits=(edit,), cut=True)
    recording = begin(tmp_path / "a.scstream")
    for each in results:
        recording.put(each)
    assert (recording.frames, recording.dropped) == (2, 3)
    gate.set()
    drain(recording)
    recording.put(result(800, ids, [birth(800, 9)]))
    recording.stop()
    assert ends.get(timeout=LONG) == RecordingResult(tmp_path / "a.scstream", 3, 3)
    with Session.open(tmp_path / "a.scstream") as session, open_source(session.source_address) as source:
        last = list(session.results(source=source))[-1]
        assert source.count() == 3
    # The next frame carries the events of the dropped frames 2 to 4.
    assert [event.kind for event in last.events] == ["split", "merge", "birth"]
    assert last.events[0] == split(2, 1, 3)
    assert (last.cut, last.edits) == (True, (edit,))


# --- failures


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Raise the error of a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_ends_the_recording_and_keeps_its_frames(
    begin: Begin, ends: Queue[RecordingResult], tmp_path: Path
) -> None:
    path = tmp_path / "a.scstream"
    rng = np.random.default_rng(0)
    ids = live_story()[0].ids
    noise = [result(n, ids, rgb=rng.integers(0, 256, (*SHAPE, 3), np.uint8)) for n in range(40)]
    with files_no_larger_than(30_000):
        end = recorded(begin, ends, path, noise)
    assert 3 < end.frames < 40
    assert "pictures.mkv: File too large" in end.failure
    with Session.open(path, writable=True) as session:
        repair_recording(session)
        assert session.manifest.complete
        assert len(session) == end.frames
        with open_source(session.source_address) as source:
            for kept, given in zip(session.results(source=source), noise, strict=False):
                np.testing.assert_array_equal(kept.picture, given.picture)


def test_a_path_that_cannot_be_written_is_reported(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    end = recorded(begin, ends, tmp_path / "file" / "a.scstream", live_story())
    assert end.frames == 0
    assert "Cannot create" in end.failure


def test_a_missing_encoder_is_reported(
    begin: Begin, ends: Queue[RecordingResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "ENCODER", "libmissing")
    end = recorded(begin, ends, tmp_path / "a.scstream", live_story())
    assert end.frames == 0
    assert "this build of FFmpeg has no encoder 'libmissing'" in end.failure


def test_a_recording_without_frames_is_deleted(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    assert recorded(begin, ends, tmp_path / "a.scstream", []) == RecordingResult(tmp_path / "a.scstream", 0, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
@pytest.mark.parametrize("frames", [1, 7, 30])
def test_a_killed_recording_opens_with_all_complete_frames(frames: int, tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    search = os.pathsep.join(map(str, (ROOT / "engine", ROOT, ROOT / "tests", *sys.path)))
    process = subprocess.Popen(
        [sys.executable, killed_recording.__file__, str(path)], env={**os.environ, "PYTHONPATH": search}
    )
    try:
        lines = path / "frames.jsonl"
        while not (lines.exists() and lines.read_bytes().count(b"\n") >= frames):
            assert process.poll() is None
            sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with Session.open(path, writable=True) as session:
        assert not session.manifest.complete
        repair_recording(session)
        assert session.manifest.complete
        assert len(session) >= frames
        with open_source(session.source_address) as source:
            for kept in session.results(source=source):
                given = killed_recording.frame(kept.index)
                np.testing.assert_array_equal(kept.picture, given.picture)
                np.testing.assert_array_equal(kept.ids, given.ids)


def test_truncating_removes_later_snapshots(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    segmenter = Settings(max_init_sweeps=5, threads=1).segmenter()
    results = [result(n, live_story()[0].ids) for n in range(60)]
    segmenter.segment(results[0].picture, 0.0)
    recording = begin(tmp_path / "a.scstream")
    for each in results:
        recording.put(each, segmenter)
        drain(recording)
    recording.stop()
    ends.get(timeout=LONG)
    with Session.open(tmp_path / "a.scstream", writable=True) as session:
        assert session.snapshots() == [0, 50]
        session.truncate(40)
        assert session.latest_snapshot() == 0
    with Session.open(tmp_path / "a.scstream") as session:
        assert len(session) == 40


def test_frames_without_a_picture_are_removed(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, live_story())
    unfinish(path)
    movie = path / PICTURES
    movie.write_bytes(movie.read_bytes()[: 3 * movie.stat().st_size // 5])
    with Session.open(path, writable=True) as session:
        repair_recording(session)
        assert 0 < len(session) < 5
        with open_source(session.source_address) as source:
            assert source.count() == len(session)
    with Session.open(path) as session:
        assert session.manifest.complete
        assert session.manifest.source.length == len(session)


def test_ids_stay_if_the_movie_is_missing(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, live_story())
    unfinish(path)
    (path / PICTURES).rename(tmp_path / PICTURES)
    with Session.open(path, writable=True) as session:
        repair_recording(session)
        assert len(session) == 5
        assert not session.manifest.complete


@pytest.mark.parametrize("count", [None, 0])
def test_ids_stay_if_the_movie_cannot_be_counted(
    count: int | None, begin: Begin, ends: Queue[RecordingResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, live_story())
    unfinish(path)
    monkeypatch.setattr(VideoFile, "count", lambda source: count)
    with Session.open(path, writable=True) as session:
        repair_recording(session)
        assert len(session) == 5
        assert not session.manifest.complete
    monkeypatch.undo()
    with Session.open(path, writable=True) as session:
        repair_recording(session)
        assert session.manifest.complete
        assert len(session) == 5


def test_a_recording_is_not_resumed(begin: Begin, ends: Queue[RecordingResult], tmp_path: Path) -> None:
    path = tmp_path / "a.scstream"
    recorded(begin, ends, path, live_story())
    with Session.open(path, writable=True) as session, open_source(session.source_address) as source:
        with pytest.raises(SessionError, match="it is a recording, which ends where it was stopped"):
            resume(session, source)


# --- replay buffer


def test_recent_frames_are_bounded_in_number_and_bytes() -> None:
    results = [result(n, live_story()[0].ids) for n in range(30)]
    by_number = ReplayBuffer(frames=10)
    by_bytes = ReplayBuffer(bytes=5 * results[0].nbytes)
    for each in results:
        by_number.add(each)
        by_bytes.add(each)
    assert (len(by_number), len(by_bytes)) == (10, 5)
    assert [by_number.at(index).index for index in (0, 24, 99)] == [20, 24, 29]  # type: ignore[union-attr]
    by_bytes.clear()
    assert by_bytes.at(3) is None


def test_a_frame_taken_from_the_buffer_does_not_change() -> None:
    """The buffer reuses its memory for later frames."""
    recent, results = ReplayBuffer(frames=2), live_story()
    recent.add(results[0])
    looked_at = recent.at(results[0].index)
    for each in results[1:]:
        recent.add(each)
    assert looked_at is not None
    np.testing.assert_array_equal(looked_at.picture, results[0].picture)
    np.testing.assert_array_equal(looked_at.ids, results[0].ids)
    for each in results[-2:]:
        kept = recent.at(each.index)
        assert kept is not None
        assert kept.index == each.index
        np.testing.assert_array_equal(kept.picture, each.picture)
        np.testing.assert_array_equal(kept.ids, each.ids)


def test_recent_frames_are_of_one_size() -> None:
    recent = ReplayBuffer(frames=5)
    for index, shape in enumerate([(4, 6), (4, 6), (8, 6), (8, 6)]):
        recent.add(result(index, np.full(shape, index, np.int32)))
    assert len(recent) == 2
    assert [recent.at(index).index for index in (0, 3)] == [2, 3]  # type: ignore[union-attr]


def test_one_frame_is_kept_however_large() -> None:
    recent = ReplayBuffer(bytes=1)
    for each in live_story():
        recent.add(each)
    assert len(recent) == 1


def test_forgetting_keeps_the_birth_of_living_segments() -> None:
    results = story(SHAPE)
    summary = RunSummary()
    for each in results:
        summary.add(FrameRecord.of(each, (0, 0), (0, len(each.statistics), 0)))
    summary.forget_before(3)
    assert list(summary.frames) == [3, 4]
    assert len(summary.column("segments")) == 2
    assert [frame for frame, _ in summary.events] == [4]
    assert {id: life.born for id, life in summary.lives.items()} == {0: 0, 1: 0, 2: 0, 3: 2}
    summary.forget_before(5)
    assert sorted(summary.lives) == [0, 1, 3]
