"""The command with images, TIFF stacks, standard input and frames on standard output."""

import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys

import cv2
import numpy as np
import pytest
import tifffile

from helpers.clips import encode, moving_square, read_video, write_images, write_video
from helpers.paths import ROOT
from scstream_app import cli
from scstream_app.session import Session

QUICK = ("--quiet", "--formats", "ids", "--max-init-sweeps", "20")


def segment(*words):
    return cli.main(["segment", *map(str, words), *QUICK])


def ids_of(folder):
    return [cv2.imread(str(path), cv2.IMREAD_UNCHANGED) for path in sorted((folder / "ids").glob("*.png"))]


def replace_stdout(monkeypatch, buffer):
    """Make a binary buffer the standard output; called in the test, because pytest sets its own after the fixtures."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer))
    return buffer


@pytest.fixture
def feed(monkeypatch):
    """Function that makes bytes the standard input."""
    saved = os.dup(0)

    def put(path):
        with open(path, "rb") as file:
            os.dup2(file.fileno(), 0)

    yield put
    os.dup2(saved, 0)
    os.close(saved)


# --- images


def test_several_paths_are_a_list_of_images(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(3))
    assert segment(*sorted(folder.iterdir()), "--out", tmp_path / "a", "--rate", 12) == 0
    assert segment(folder / "%05d.png", "--out", tmp_path / "b") == 0
    np.testing.assert_array_equal(ids_of(tmp_path / "a"), ids_of(tmp_path / "b"))
    assert Session.open(tmp_path / "a" / "f.scstream").manifest.source.rate == 12.0
    assert (tmp_path / "b" / "f.scstream").is_dir()


def test_a_stack_is_segmented_exported_and_resumed_with_one_range(tmp_path, monkeypatch):
    deep = np.stack(moving_square(4))[..., 0].astype(np.uint16) * 4 + 100
    tifffile.imwrite(tmp_path / "a.tif", deep, photometric="minisblack")
    assert segment(tmp_path / "a.tif", "--out", tmp_path / "o", "--range", "100:1120", "--frames", ":2") == 0
    session = Session.open(tmp_path / "o" / "a.scstream", writable=True)
    assert session.manifest.source.reading == "#range=100:1120"
    with session:
        session.set_range(0, 4)
    moved = (tmp_path / "a.tif").rename(tmp_path / "b.tif")
    assert cli.main(["resume", str(session.path), "--source", str(moved), "--quiet"]) == 0
    moved.rename(tmp_path / "a.tif")
    assert (
        cli.main(["export", str(session.path), "--formats", "boundaries", "--out", str(tmp_path / "e"), "--quiet"]) == 0
    )
    assert segment(tmp_path / "a.tif", "--out", tmp_path / "whole", "--range", "100:1120") == 0
    np.testing.assert_array_equal(ids_of(tmp_path / "o"), ids_of(tmp_path / "whole"))
    assert len(list((tmp_path / "e" / "boundaries").iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--range", "9:3"), "The range must be auto, full, or LOW:HIGH"),
        (("--rate", "0"), "The rate must be above 0"),
        (("--plane", "-1"), "The plane must be a whole number from 0"),
        (("--raw", "64x48"), "--raw describes video from standard input"),
        (("--to-stdout", "nothing"), "--to-stdout must be one of ids, original"),
        (("--to-stdout", "mask"), "needs an object"),
        (("--to-stdout", "ids", "--json"), "cannot both write to standard output"),
    ],
)
def test_wrong_options_are_wrong_usage(tmp_path, capsys, options, text):
    folder = write_images(tmp_path / "f", moving_square(1))
    assert segment(folder, "--out", tmp_path / "o", *options) == 2
    assert text in re.sub(r"[│\s]+", " ", capsys.readouterr().err)
    assert not (tmp_path / "o").exists()


def test_notices_about_images_name_the_options_of_the_command(tmp_path, capsys):
    stack = np.random.default_rng(3).integers(0, 4000, (2, 3, 24, 32)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", stack, imagej=True, metadata={"axes": "TZYX"})
    options = ["--formats", "", "--max-init-sweeps", "5", "--json"]
    assert cli.main(["segment", str(tmp_path / "a.tif"), "--out", str(tmp_path / "out"), *options]) == 0
    out, err = capsys.readouterr()
    (notice,) = [notice for notice in json.loads(out)["notices"] if notice["kind"] == "source"]
    assert notice["text"].endswith("To change this, use --plane NUMBER and --range LOW:HIGH.")
    assert notice["text"] in err


def test_the_window_takes_several_images(tmp_path, monkeypatch):
    folder = write_images(tmp_path / "f", moving_square(2))
    seen = []
    monkeypatch.setattr("scstream_app.ui.qt.dialogs.display.has_display", lambda: True)
    monkeypatch.setattr("scstream_app.ui.window.startup.app.run", lambda address: seen.append(address) or 0)
    paths = [str(path) for path in sorted(folder.iterdir())]
    assert cli.main(paths) == 0
    assert seen == ["\n".join(paths)]


# --- standard input and output


def test_frames_go_through(tmp_path, feed, monkeypatch):
    output = replace_stdout(monkeypatch, io.BytesIO())
    path = encode(tmp_path / "a.mkv", moving_square(3), container="matroska")
    feed(path)
    assert segment("-", "--out", tmp_path / "o", "--to-stdout", "ids") == 0
    written = np.frombuffer(output.getvalue(), "<u2").reshape(3, 48, 64)
    np.testing.assert_array_equal(written, ids_of(tmp_path / "o"))
    assert segment(path, "--out", tmp_path / "file") == 0
    np.testing.assert_array_equal(ids_of(tmp_path / "o"), ids_of(tmp_path / "file"))


def test_a_view_on_standard_output_has_its_layout_on_standard_error(tmp_path, monkeypatch, capfd):
    output = replace_stdout(monkeypatch, io.BytesIO())
    path = write_video(tmp_path / "a.mp4", moving_square(2))
    assert (
        cli.main(["segment", str(path), "--out", str(tmp_path / "o"), "--formats", "ids", "--to-stdout", "overlay"])
        == 0
    )
    assert len(output.getvalue()) == 2 * 48 * 64 * 3
    messages = capfd.readouterr().err
    assert "Frames on standard output: -f rawvideo -pix_fmt rgb24 -s 64x48 -r 25" in messages
    assert "2 frames of 64 x 48" in messages


def test_raw_video_on_standard_input(tmp_path, feed):
    (tmp_path / "raw").write_bytes(b"".join(frame.tobytes() for frame in moving_square(2)))
    feed(tmp_path / "raw")
    assert segment("-", "--raw", "64x48@10:rgb24", "--out", tmp_path / "o") == 0
    facts = Session.open(tmp_path / "o" / "stdin.scstream").manifest.source
    assert (facts.address, facts.rate, facts.live) == ("stdin:", 10.0, True)


def test_standard_input_has_no_second_pass(tmp_path, feed, capsys):
    (tmp_path / "raw").write_bytes(moving_square(1)[0].tobytes())
    feed(tmp_path / "raw")
    assert segment("-", "--raw", "64x48", "--out", tmp_path / "o") == 0
    session = str(tmp_path / "o" / "stdin.scstream")
    feed(tmp_path / "raw")
    assert segment("-", "--raw", "64x48", "--out", tmp_path / "o") == 1
    assert "exists. Replace it with --overwrite, or choose another --out." in capsys.readouterr().err
    feed(os.devnull)
    assert cli.main(["resume", session, "--quiet"]) == 1
    assert "it came from standard input, and its pictures were not kept" in capsys.readouterr().err
    assert cli.main(["export", session, "--formats", "overlay", "--out", str(tmp_path / "e"), "--quiet"]) == 1
    assert "Cannot write overlay: 'stdin' came from standard input" in capsys.readouterr().err
    assert cli.main(["export", session, "--formats", "npz", "--out", str(tmp_path / "e"), "--quiet"]) == 0


@pytest.mark.parametrize("content", [b"", b"garbage " * 400])
def test_useless_standard_input_leaves_nothing_behind(tmp_path, feed, capsys, content):
    (tmp_path / "in").write_bytes(content)
    feed(tmp_path / "in")
    assert segment("-", "--out", tmp_path / "o") == 1
    assert capsys.readouterr().err.startswith("scstream: Cannot read standard input: ")
    assert not (tmp_path / "o").exists()


def test_a_reader_that_ends_leaves_the_session_and_no_message(tmp_path, monkeypatch, capfd):
    class Gone(io.BytesIO):
        def write(self, data):
            if self.tell() + len(data) > 2 * 48 * 64 * 3:
                raise BrokenPipeError(errno.EPIPE, "Broken pipe")
            return super().write(data)

    replace_stdout(monkeypatch, Gone())
    path = write_video(tmp_path / "a.mp4", moving_square(4))
    assert segment(path, "--out", tmp_path / "o", "--to-stdout", "original") == 141
    assert capfd.readouterr().err == ""
    session = Session.open(tmp_path / "o" / "a.scstream")
    assert len(session) == 3
    assert not session.manifest.complete


# --- FFmpeg


def pipe_lines():
    section = (ROOT / "README.md").read_text().partition("### In an FFmpeg pipe")[2].partition("\n#")[0]
    return [line.strip().replace("\\\n", "") for line in re.findall(r"(?:^    .*\\\n)*^    .+$", section, re.MULTILINE)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="FFmpeg is not installed")
@pytest.mark.parametrize("number", range(3))
def test_the_pipes_of_the_readme(tmp_path, number):
    line = pipe_lines()[number]
    (tmp_path / "sample_videos").symlink_to(ROOT / "sample_videos")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "scstream"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scstream_app "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": path}
    command = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("*/stdin.scstream")
    assert len(Session.open(path)) == 25
    for made in tmp_path.glob("*.mkv"):
        assert len(read_video(made)) == 25


def test_the_readme_has_pipes():
    assert len(pipe_lines()) == 3
    folders = [re.search(r"scstream segment - .*--out (\S+)", line)[1] for line in pipe_lines()]
    # One line after the other must work: a second session of standard input in the same folder is refused.
    assert len(set(folders)) == 3
