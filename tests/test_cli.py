"""The command does what it says, through the same door as a person's shell."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clips import leftovers, locked_folder, moving_square, read_video, write_images, write_video
from scstream import VideoSegmenter
from scstream_app import cli, headless
from scstream_app.sources import open_source

ROOT = Path(__file__).resolve().parents[1]
REPORT = {
    "frames", "width", "height", "ms_per_frame_median", "ms_per_frame_p95", "ms_engine_median", "fps",
    "segments_last", "segments_ever", "init_seconds", "seed", "threads",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _ready(monkeypatch):
    """The engine is warm in tests: nothing is gained by warming it up for each."""
    monkeypatch.setattr(cli, "warm_up", lambda on_progress: None)


@pytest.fixture
def clip(tmp_path):
    return write_video(tmp_path / "clip.mp4", moving_square(6))


def segment(source, out, *options):
    return cli.main(["segment", str(source), "--out", str(out), *options])


def ids_in(out):
    """Ids by file name; -1 for none."""
    maps = {}
    for path in sorted((out / "ids").glob("*.png")):
        with Image.open(path) as image:
            maps[path.name] = np.asarray(image).astype(int) - 1
    return maps


# --- segment


def test_segment_writes_what_the_library_finds(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--seed", "3") == 0
    written = ids_in(tmp_path / "out")
    assert list(written) == [f"{n:05d}.png" for n in range(6)]
    segmenter = VideoSegmenter(seed=3)
    for frame, ids in zip(open_source(str(clip)).frames(), written.values(), strict=True):
        np.testing.assert_array_equal(ids, segmenter.segment(frame.rgb))
    assert not leftovers(tmp_path)
    assert "6 frames of 64 x 48" in capsys.readouterr().out


def test_movies_show_the_segments(clip, tmp_path):
    segment(clip, tmp_path / "out", "--quiet")
    frames = np.stack([frame.rgb for frame in open_source(str(clip)).frames()]).astype(int)
    mean, overlay = read_video(tmp_path / "out" / "mean.mp4"), read_video(tmp_path / "out" / "overlay.mp4")
    assert mean.shape == overlay.shape == frames.shape
    assert np.abs(mean - frames).mean() < 12
    last = ids_in(tmp_path / "out")["00005.png"]
    largest = last == np.bincount(last.ravel()).argmax()
    assert mean[5][largest].std(axis=0).max() < frames[5].reshape(-1, 3).std(axis=0).max() / 2


def test_json_is_all_there_is_on_standard_output(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--json", "--threads", "2", "--seed", "5") == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) >= REPORT
    assert (report["frames"], report["width"], report["height"]) == (6, 64, 48)
    assert (report["seed"], report["threads"]) == (5, 2)
    assert 0 < report["ms_engine_median"] <= report["ms_per_frame_median"] <= report["ms_per_frame_p95"]
    last = ids_in(tmp_path / "out")["00005.png"]
    assert len(np.unique(last)) <= report["segments_last"] <= report["segments_ever"]


def test_one_frame_has_no_rate(tmp_path, capsys):
    folder = write_images(tmp_path / "one", moving_square(1))
    assert segment(folder, tmp_path / "out", "--json", "--quiet") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["frames"] == 1
    assert report["fps"] is None
    assert report["init_seconds"] > 0
    assert segment(folder, tmp_path / "out") == 0


def test_quiet_says_nothing(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_ids_do_not_depend_on_threads(clip, tmp_path):
    for threads in ("1", "2", "5"):
        assert segment(clip, tmp_path / threads, "--threads", threads, "--quiet") == 0
    for name in ids_in(tmp_path / "1"):
        one = (tmp_path / "1" / "ids" / name).read_bytes()
        assert one == (tmp_path / "2" / "ids" / name).read_bytes() == (tmp_path / "5" / "ids" / name).read_bytes()


def test_part_of_a_folder_of_images(tmp_path):
    folder = write_images(tmp_path / "frames", moving_square(12), "{}.png")
    assert segment(folder, tmp_path / "out", "--frames", "9:11", "--quiet") == 0
    assert list(ids_in(tmp_path / "out")) == ["00009.png", "00010.png"]
    assert len(read_video(tmp_path / "out" / "mean.mp4")) == 2


def test_images_of_an_earlier_run_are_mentioned(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out") == 0
    assert "Note" not in capsys.readouterr().err
    assert segment(clip, tmp_path / "out", "--frames", ":2") == 0
    assert "holds 6 images already" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--scale", "0.5"], ["--colour", "lab"], ["--sweeps", "0", "--decay", "0.5"]])
def test_options_reach_the_engine(clip, tmp_path, options):
    assert segment(clip, tmp_path / "out", "--quiet", *options) == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {(48, 64)}


@pytest.mark.parametrize("shape", [(47, 63), (16, 16), (5, 3)])
def test_odd_and_tiny_frames(tmp_path, shape):
    frames = [np.ascontiguousarray(frame[: shape[0], : shape[1]]) for frame in moving_square(3)]
    assert segment(write_images(tmp_path / "in", frames), tmp_path / "out", "--quiet") == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {shape}


# --- wrong usage


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "-1"], r"alpha must be > 0, got -1\.0"),
        (["--scale", "0"], r"scale must be > 0 and at most 1, got 0\.0"),
        (["--sweeps", "-2"], r"sweeps must be a whole number .*, got -2"),
        (["--threads", "0"], r"threads must be a whole number .*, got 0"),
        (["--seed", "-1"], r"seed must be a whole number .*, got -1"),
        (["--decay", "nan"], "decay must be a finite number, got nan"),
        (["--colour", "cmyk"], "cmyk"),
        (["--frames", "5:5"], "B must be greater than A; got '5:5'"),
        (["--frames", "first"], "got 'first'"),
        (["--frames", "-3:"], "got '-3:'"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage(clip, tmp_path, capsys, options, message):
    assert segment(clip, tmp_path / "out", *options) == 2
    captured = capsys.readouterr()
    assert re.search(message, " ".join(captured.err.replace("│", " ").split()))
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


def test_out_must_be_given(clip):
    assert cli.main(["segment", str(clip)]) == 2


def test_help_is_no_error(capsys):
    assert cli.main(["--help"]) == 0
    assert "segment" in capsys.readouterr().out


# --- failures


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
    assert str(source) in captured.err
    assert not (tmp_path / "out").exists()


def test_debug_adds_the_traceback(tmp_path, capsys):
    assert segment(tmp_path / "nowhere", tmp_path / "out", "--debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_folder_that_cannot_be_made(clip, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert segment(clip, tmp_path / "file" / "out", "--quiet") == 1
    assert capsys.readouterr().err.startswith(f"scstream: Cannot write '{tmp_path / 'file' / 'out'}")


def test_read_only_folder(clip, tmp_path, capsys):
    folder = locked_folder(tmp_path / "locked")
    assert segment(clip, folder, "--quiet") == 1
    error = capsys.readouterr().err
    assert error.startswith(f"scstream: Cannot write '{folder}")
    assert error.count("\n") == 1
    assert "Permission denied" in error


def test_start_after_the_end(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--frames", "50:", "--quiet") == 1
    assert "ends before frame 50" in capsys.readouterr().err
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_damage_in_the_middle_keeps_what_was_done(tmp_path, capsys):
    folder = write_images(tmp_path / "in", moving_square(6))
    (folder / "00004.png").write_bytes(b"no image")
    assert segment(folder, tmp_path / "out", "--quiet") == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert len(ids_in(tmp_path / "out")) == 4
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 4
    assert not leftovers(tmp_path)


def test_unexpected_failure_is_one_line_too(clip, tmp_path, capsys, monkeypatch):
    def explode(*_):
        raise ZeroDivisionError("what nobody thought of")

    monkeypatch.setattr(headless.render, "overlay", explode)
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "ZeroDivisionError: what nobody thought of" in error
    assert "--debug" in error


# --- interruption


def test_interruption_keeps_whole_frames(clip, tmp_path, capsys, monkeypatch):
    draw, count = headless.render.overlay, iter(range(100))

    def interrupted(rgb, ids):
        if next(count) == 3:
            raise KeyboardInterrupt
        return draw(rgb, ids)

    monkeypatch.setattr(headless.render, "overlay", interrupted)
    assert segment(clip, tmp_path / "out", "--quiet") == 130
    assert capsys.readouterr().err == "Interrupted. What was finished is kept.\n"
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 3
    assert not leftovers(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_control_c(tmp_path):
    sample = str(ROOT / "sample_videos" / "kite_surf.mp4")
    command = [sys.executable, "-m", "scstream_app", "segment", sample, "--out", str(tmp_path / "out")]
    path = os.pathsep.join([str(ROOT / "engine"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests themselves run in the background, Ctrl-C is ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # Once the fourth frame's ids are there, three frames are in the movies.
    begun = tmp_path / "out" / "ids" / "00003.png"
    limit = time.monotonic() + 300
    while not begun.exists() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
    assert 3 <= len(read_video(tmp_path / "out" / "mean.mp4")) < 80
    assert not leftovers(tmp_path / "out")


# --- info


def test_info_for_programs(capsys):
    assert cli.main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cores"] == os.cpu_count()
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["h264"] is True
    assert Path(facts["numba_cache"]).is_absolute()


def test_info_for_people(capsys):
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert "numba cache" in text
    assert "scikit-learn" in text
