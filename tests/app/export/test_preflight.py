"""Whether files can be written is known before the first frame."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from helpers.clips import moving_square, write_images
from scstream_app import cli
from scstream_app.errors import ExportError
from scstream_app.export import ExportOptions, Job, check_space, check_writable

ALL = ("ids", "overlay", "csv", "mp4", "gif", "npz", "zarr", "tiff", "coco", "davis")


def job(*formats: str) -> Job:
    return Job(64, 48, 25.0, ExportOptions(formats))


def test_nothing_stays_behind(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "out", job(*ALL))
    assert list(tmp_path.iterdir()) == []


def test_earlier_files_stay(tmp_path: Path) -> None:
    (tmp_path / "ids").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "ids" / "00000.png").write_bytes(b"earlier")
    (tmp_path / "overlay.mp4").write_bytes(b"earlier")
    check_writable(tmp_path, job(*ALL))
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "empty", "ids", str(Path("ids", "00000.png")), "overlay.mp4",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "folder"), [("ids", False), ("overlay.mp4", True), ("segments.csv", True)])
def test_something_in_the_way_ends_the_command_before_the_first_frame(
    name: str, folder: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        pytest.fail("the first frame was segmented")

    monkeypatch.setattr("scstream_app.headless.segment_job.segment_frames", unreachable)
    clip, out = write_images(tmp_path / "clip", moving_square(1)), tmp_path / "out"
    out.mkdir()
    if folder:
        (out / name).mkdir()
    else:
        (out / name).write_text("in the way")
    assert cli.main(["segment", str(clip), "-o", str(out), "--formats", "ids,mp4,csv"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"scstream: Cannot write '{out / name}'")
    assert error.count("\n") == 1
    assert [path.name for path in out.iterdir()] == [name]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ExportError, match=r"^Cannot write '.*': No space left on device\.$"):
        check_space(tmp_path)
    assert list(tmp_path.iterdir()) == []
