"""Sessions after a power failure or a kill in a gap: resuming gives the ids of an unbroken run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, recording, volume
from scstream_app.errors import SessionError
from scstream_app.session import Session, resume
from scstream_app.session.storage import snapshots, statistics
from scstream_app.session.storage.statistics import RECORD
from scstream_app.sources import DamagedFrame

COUNT, CUT_AT = 8, 6


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The whole run, and a copy of it after six frames, with snapshots of frames 0 and 3."""
    folder = tmp_path_factory.mktemp("runs")
    running = recording(folder / "run.scstream", clip(COUNT, cut=None), snapshot_every=3)
    for _ in range(CUT_AT):
        next(running)
    shutil.copytree(folder / "run.scstream", folder / "cut.scstream")
    for _ in running:
        pass
    return folder / "run.scstream", folder / "cut.scstream"


@pytest.fixture
def path(runs: tuple[Path, Path], tmp_path: Path) -> Path:
    """Copy of the interrupted session that a test may damage."""
    return Path(shutil.copytree(runs[1], tmp_path / "a.scstream"))


def zero_from(file: Path, begin: int) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:begin] + bytes(len(data) - begin))


def rows_before(path: Path, frame: int) -> int:
    return sum(record.rows for record in Session.open(path).records(0, frame))


def lines_before(path: Path, frame: int) -> int:
    return sum(map(len, (path / "frames.jsonl").read_bytes().splitlines(keepends=True)[:frame]))


def zero_statistics(frame: int) -> Callable[[Path], None]:
    return lambda path: zero_from(path / "statistics.bin", rows_before(path, frame) * RECORD.itemsize)


def zero_lines(frame: int) -> Callable[[Path], None]:
    return lambda path: zero_from(path / "frames.jsonl", lines_before(path, frame) + 40)


def zero_ids(frame: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        for index in range(frame, CUT_AT):
            zero_from(path / "ids.zarr" / f"{index}.0.0", 0)

    return damage


def zero_snapshot(path: Path) -> None:
    zero_from(path / "models" / "000003.npz", 100)


def zero_all_snapshots(path: Path) -> None:
    for file in (path / "models").iterdir():
        zero_from(file, 0)


def zero_page_of_lines(path: Path) -> None:
    """The page after frame 4's line begins is lost, but the end of the file was flushed."""
    file, begin = path / "frames.jsonl", lines_before(path, 4) + 10
    data = file.read_bytes()
    file.write_bytes(data[:begin] + bytes(60) + data[begin + 60 :])


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        pytest.param(zero_statistics(4), 4, id="statistics"),
        pytest.param(zero_statistics(2), 2, id="statistics before the snapshot"),
        pytest.param(zero_lines(4), 4, id="lines"),
        pytest.param(zero_page_of_lines, 4, id="a page of lines"),
        pytest.param(zero_lines(2), 2, id="lines before the snapshot"),
        pytest.param(zero_ids(5), 5, id="ids"),
        pytest.param(zero_ids(2), 2, id="ids before the snapshot"),
        pytest.param(zero_snapshot, CUT_AT, id="snapshot"),
        pytest.param(zero_all_snapshots, CUT_AT, id="all snapshots"),
    ],
)
def test_a_zeroed_tail_is_segmented_again(
    damage: Callable[[Path], None], left: int, path: Path, runs: tuple[Path, Path]
) -> None:
    damage(path)
    whole = volume(Session.open(runs[0]))
    np.testing.assert_array_equal(volume(Session.open(path)), whole[:left])
    with Session.open(path, writable=True) as session:
        for _ in resume(session, FakeSource(clip(COUNT, cut=None)), threads=1).run():
            pass
    again = Session.open(path)
    assert again.manifest.complete
    np.testing.assert_array_equal(volume(again), whole)
    assert len(list(again.results())) == COUNT
    for frame in again.snapshots():
        if frame not in (0, 3):
            again.load_snapshot(frame)


def test_other_damage_before_a_snapshot_is_not_cut_off(path: Path) -> None:
    """Only zeros are what a power failure leaves: frames that something else has changed are kept for a repair."""
    file = path / "statistics.bin"
    begin = rows_before(path, 3) * RECORD.itemsize
    file.write_bytes(file.read_bytes()[:begin] + b"x" * RECORD.itemsize + file.read_bytes()[begin + RECORD.itemsize :])
    assert len(Session.open(path)) == CUT_AT
    with pytest.raises(SessionError, match=r"Cannot read frame 3 .* a checksum does not match"):
        Session.open(path).statistics(3)


def test_a_snapshot_without_permission_is_not_called_damaged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = path / "models" / "000003.npz"
    before = model.read_bytes()

    def refuse(file: Path, *mode: str) -> object:
        assert file == model
        raise PermissionError(13, "Permission denied", str(file))

    with Session.open(path, writable=True) as session:
        # Not by mode bits, which do not stop the superuser.
        monkeypatch.setattr(snapshots, "open", refuse, raising=False)
        with pytest.raises(SessionError) as caught:
            resume(session, FakeSource(clip(COUNT, cut=None)), threads=1)
    assert str(caught.value).endswith("models/000003.npz cannot be read: Permission denied.")
    assert model.read_bytes() == before


@pytest.mark.parametrize("damaged", [400, 2000])
def test_a_kill_after_many_damaged_frames_leaves_a_session_that_resumes(
    damaged: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = clip(4, cut=None)
    items = [*frames[:2], *(DamagedFrame("bad data", 2 + n) for n in range(damaged)), *frames[2:]]
    real, killed = statistics.pack, tmp_path / "killed.scstream"
    seen = 0

    def pack(*arguments: object) -> bytes:
        nonlocal seen
        seen += 1
        # The third frame's ids are written, but not its line.
        if seen == 3:
            shutil.copytree(tmp_path / "whole.scstream", killed)
        return real(*arguments)

    monkeypatch.setattr(statistics, "pack", pack)
    recorded(tmp_path / "whole.scstream", items)
    assert Session.open(killed).frames.tolist() == [0, 1]
    with Session.open(killed, writable=True) as session:
        for _ in resume(session, FakeSource(items), threads=1).run():
            pass
    whole = Session.open(tmp_path / "whole.scstream")
    again = Session.open(killed)
    assert again.frames.tolist() == whole.frames.tolist() == [0, 1, 2 + damaged, 3 + damaged]
    np.testing.assert_array_equal(volume(again), volume(whole))
