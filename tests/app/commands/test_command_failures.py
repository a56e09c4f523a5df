"""Failures of the command: sources, folders, formats, closed streams, too few file descriptors."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.clips import leftovers, locked_folder, moving_square, read_video, write_images, write_video
from helpers.command_line import environment, ids_in, segment
from scstream_app.commands import segment as segment_command
from scstream_app.export.encodings import png
from scstream_app.session import Session


def bad_source(kind, folder):
    path = folder / "bad"
    match kind:
        case "empty file":
            path.write_bytes(b"")
        case "no video":
            path.write_bytes(b"plain text " * 100)
        case "truncated":
            write_video(folder / "whole.mp4", moving_square(20))
            path.write_bytes((folder / "whole.mp4").read_bytes()[:600])
        case "empty folder":
            path.mkdir()
        case "damaged image":
            (write_images(path, moving_square(1)) / "00000.png").write_bytes(b"no image")
    return path


@pytest.mark.parametrize("kind", ["missing", "empty file", "no video", "truncated", "empty folder", "damaged image"])
def test_bad_source_is_one_clear_line(tmp_path, capsys, kind):
    source = bad_source(kind, tmp_path)
    assert segment(source, tmp_path / "out") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("scstream: Cannot ")
    assert source.name in captured.err
    assert not (tmp_path / "out").exists()


def test_debug_adds_the_traceback(tmp_path, capsys):
    assert segment(tmp_path / "nowhere", tmp_path / "out", "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_folder_that_cannot_be_made(clip, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert segment(clip, tmp_path / "file" / "out", "--quiet") == 1
    assert capsys.readouterr().err.startswith(f"scstream: Cannot create '{tmp_path / 'file' / 'out'}")


def test_read_only_folder(clip, tmp_path, capsys):
    folder = locked_folder(tmp_path / "locked")
    assert segment(clip, folder, "--quiet") == 1
    error = capsys.readouterr().err
    assert error.startswith(f"scstream: Cannot create '{folder}")
    assert error.count("\n") == 1
    assert "Permission denied" in error


def test_start_after_the_end(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--frames", "50:", "--quiet") == 1
    assert "ends before frame 50" in capsys.readouterr().err
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_damage_in_the_middle_is_left_out_and_said(tmp_path, capsys):
    folder = write_images(tmp_path / "in", moving_square(6))
    (folder / "00004.png").write_bytes(b"no image")
    assert segment(folder, tmp_path / "out", "--json") == 0
    captured = capsys.readouterr()
    assert "Frame 4 is damaged" in captured.err
    (notice,) = json.loads(captured.out)["notices"]
    assert (notice["kind"], notice["frame"]) == ("damaged", 4)
    assert list(ids_in(tmp_path / "out")) == [f"{n:05d}.png" for n in (0, 1, 2, 3, 5)]
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 5
    assert not leftovers(tmp_path)


def test_unexpected_failure_is_one_line_too(clip, tmp_path, capsys, monkeypatch):
    def explode(*_):
        raise ZeroDivisionError("an unforeseen case")

    monkeypatch.setattr(segment_command, "report_run", explode)
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "ZeroDivisionError: an unforeseen case" in error
    assert "--debug" in error


def test_a_format_that_fails_is_reported_and_the_others_are_complete(clip, tmp_path, capsys, monkeypatch):
    encode, count = png.greys, iter(range(100))

    def full(picture):
        if next(count) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return encode(picture)

    monkeypatch.setattr(png, "greys", full)
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "No space left on device" in error
    assert len(ids_in(tmp_path / "out")) == 3
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 6
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert len(session) == 6
        assert session.manifest.complete
    assert not leftovers(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize("kind", ["full", "closed pipe"])
def test_a_closed_standard_error_does_not_stop_the_run(clip, tmp_path, kind):
    command = [sys.executable, "-m", "scstream_app", "segment", str(clip), "--out", str(tmp_path / "out")]
    if kind == "full":
        with open("/dev/full", "w") as deaf:
            code = subprocess.run(command, env=environment(), stderr=deaf, stdout=subprocess.DEVNULL).returncode
    else:
        read, write = os.pipe()
        os.close(read)
        code = subprocess.run(command, env=environment(), stderr=write, stdout=subprocess.DEVNULL).returncode
        os.close(write)
    assert code == 0
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert session.manifest.complete


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_too_few_file_descriptors_to_load_a_command_are_reported():
    code = (
        "import resource, sys; from scstream_app.cli import main; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); sys.exit(main(['segment', 'a.mp4', '--out', 'out']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"scstream: The program cannot be loaded: .*Too many open files.*\n", done.stderr)
