"""Sessions after a kill or a power failure: complete frames are kept, incomplete ones removed."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from helpers.clips import leftovers
from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, recording, volume
from scstream_app.errors import SessionError
from scstream_app.session import Session, resume
from scstream_app.session.storage.statistics import RECORD

pytestmark = pytest.mark.slow

WHOLE = 6


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Session after six frames, with snapshots of frames 0 and 3, while a process is still writing it."""
    folder = tmp_path_factory.mktemp("killed")
    run = recording(folder / "run.scstream", clip(), snapshot_every=3)
    for _ in range(WHOLE):
        next(run)
    shutil.copytree(folder / "run.scstream", folder / "killed.scstream")
    run.close()
    assert Session.open(folder / "killed.scstream").snapshots() == [0, 3]
    return folder / "killed.scstream"


@pytest.fixture
def path(killed: Path, tmp_path: Path) -> Path:
    """Copy that a test may damage."""
    return Path(shutil.copytree(killed, tmp_path / "a.scstream"))


def assert_whole(path: Path, killed: Path, count: int) -> None:
    """Assert that readers and the next writer find the first ``count`` frames, and that the writer removes the rest."""
    expected = volume(Session.open(killed))[:count]
    np.testing.assert_array_equal(volume(Session.open(path)), expected)
    with Session.open(path, writable=True) as session:
        np.testing.assert_array_equal(volume(session), expected)
        rows = sum(record.rows for record in session.records())
    assert zarr.open_array(path / "ids.zarr", mode="r").shape[0] == count
    assert len(list((path / "ids.zarr").glob("*.0.0"))) == count
    assert (path / "statistics.bin").stat().st_size == rows * RECORD.itemsize
    assert len((path / "frames.jsonl").read_bytes().splitlines()) == count
    assert leftovers(path) == []


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_nothing_is_lost_between_frames(path: Path, killed: Path) -> None:
    assert_whole(path, killed, WHOLE)


def test_an_incomplete_line_is_removed(path: Path, killed: Path) -> None:
    log = path / "frames.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    begin = sum(map(len, lines[:-1]))
    for cut in range(begin, begin + len(lines[-1]), 7):
        os.truncate(log, cut)
        assert len(Session.open(path)) == WHOLE - 1
        log.write_bytes(b"".join(lines))
    os.truncate(log, begin + len(lines[-1]) - 1)
    assert_whole(path, killed, WHOLE - 1)


def test_data_without_a_line_is_removed(path: Path, killed: Path) -> None:
    append(path / "statistics.bin", b"x" * 1234)
    (path / "ids.zarr" / f"{WHOLE}.0.0").write_bytes(b"half a chunk")
    (path / "ids.zarr" / ".zarr.json.partial").write_bytes(b"{")
    (path / ".manifest.json.partial").write_bytes(b"{")
    (path / "models" / ".000003.npz.abc.tmp").write_bytes(b"PK")
    assert_whole(path, killed, WHOLE)


@pytest.mark.parametrize("tail", [b"\0" * 500, b"{}\n", b"\n\n\n", b'{"index": 6}\n', b"\xff\xfe{\n", b"[" * 5000])
def test_an_invalid_last_line_is_removed(tail: bytes, path: Path, killed: Path) -> None:
    append(path / "frames.jsonl", tail)
    assert_whole(path, killed, WHOLE)


@pytest.mark.parametrize("data", [b"", b"\0" * 3000])
def test_after_a_power_failure_frames_since_the_snapshot_may_be_torn(data: bytes, path: Path, killed: Path) -> None:
    (path / "ids.zarr" / "4.0.0").write_bytes(data)
    assert_whole(path, killed, 4)


def test_after_a_power_failure_statistics_since_the_snapshot_may_be_missing(path: Path, killed: Path) -> None:
    rows = [record.rows for record in Session.open(killed).records()]
    os.truncate(path / "statistics.bin", (sum(rows[:4]) + 1) * RECORD.itemsize)
    assert_whole(path, killed, 4)


def test_damage_before_a_snapshot_raises(path: Path) -> None:
    """Frames before a snapshot were flushed, so a crash cannot damage them: the session is rejected, not truncated."""
    before = sorted(path.rglob("*"))
    lines = (path / "frames.jsonl").read_bytes().splitlines(keepends=True)
    rows = (path / "statistics.bin").read_bytes()
    (path / "frames.jsonl").write_bytes(b"".join([lines[0], b"{broken\n", *lines[2:]]))
    for writable in (False, True):
        with pytest.raises(SessionError, match="frame 3 is missing"):
            Session.open(path, writable)
    (path / "frames.jsonl").write_bytes(b"".join(lines))
    os.truncate(path / "statistics.bin", RECORD.itemsize)
    for writable in (False, True):
        with pytest.raises(SessionError, match=r"statistics\.bin is too short"):
            Session.open(path, writable)
    (path / "statistics.bin").write_bytes(rows)
    assert sorted(path.rglob("*")) == before
    assert len(Session.open(path)) == WHOLE


def test_a_session_killed_before_its_first_frame_is_empty(path: Path) -> None:
    for name in ("frames.jsonl", "statistics.bin"):
        os.truncate(path / name, 0)
    for snapshot in (path / "models").iterdir():
        snapshot.unlink()
    with Session.open(path, writable=True) as session:
        assert len(session) == 0
        assert session.latest_snapshot() is None
    assert list((path / "ids.zarr").glob("*.0.0")) == []


def test_reading_does_not_remove_incomplete_frames(path: Path) -> None:
    append(path / "frames.jsonl", b'{"index":')
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert len(Session.open(path)) == WHOLE
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


# --- a crash at every single step


class Died(BaseException):
    """Stands for the end of the process."""


def die_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """Simulate a crash at the step-th change of the disk; in the middle of it if it is a write."""
    left = step

    def dying(name: str) -> None:
        real = getattr(os, name)

        def operation(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0 and name == "write":
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            if left <= 0:
                # After a crash no clean-up runs either.
                raise Died
            return real(*arguments, **options)

        patch.setattr(os, name, operation)

    for name in ("write", "replace", "rename", "ftruncate", "unlink", "mkdir", "fsync", "rmdir"):
        dying(name)


def test_a_crash_at_any_step_loses_no_frame(tmp_path: Path) -> None:
    frames = clip(4, cut=2)
    recorded(tmp_path / "whole.scstream", frames, snapshot_every=2)
    expected = volume(Session.open(tmp_path / "whole.scstream"))
    steps = 0
    for step in itertools.count(1):
        folder = tmp_path / str(step)
        done = 0
        with pytest.MonkeyPatch.context() as patch:
            folder.mkdir()
            running = recording(folder / "run.scstream", frames, snapshot_every=2)
            die_at(step, patch)
            try:
                for _ in running:
                    done += 1
            except Died:
                steps += 1
            else:
                break
        if not (folder / "run.scstream").exists():
            assert done == 0
            continue
        # A crashed process holds no lock, but this one does: hence a copy.
        shutil.copytree(folder / "run.scstream", folder / "a.scstream")
        assert len(Session.open(folder / "a.scstream")) >= done
        with Session.open(folder / "a.scstream", writable=True) as session:
            for _ in resume(session, FakeSource(frames), threads=1).run():
                pass
            assert session.manifest.complete
        np.testing.assert_array_equal(volume(Session.open(folder / "a.scstream")), expected)
        assert leftovers(folder / "a.scstream") == []
    assert steps > 40
