"""The command-line program, called through its `main` function."""

import errno
import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers.clips import leftovers, locked_folder, moving_square, read_video, write_images, write_video
from helpers.fake_source import FakeSource
from helpers.paths import ROOT, SAMPLES
from helpers.settings import OTHER
from scstream import VideoSegmenter
from scstream_app import __version__, cli, headless
from scstream_app.commands import COMMANDS
from scstream_app.commands import segment as segment_command
from scstream_app.errors import StudioError
from scstream_app.export.encodings import png
from scstream_app.session import Session
from scstream_app.settings import SPECS, Settings
from scstream_app.sources import STDIN, open_source

REPORT = {
    "frames", "width", "height", "ms_per_frame_median", "ms_per_frame_p95", "ms_engine_median", "fps",
    "segments_last", "segments_ever", "init_seconds", "seed", "threads", "ms_decode_median", "share_not_engine",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _ready(monkeypatch):
    """The engine is warm in tests: nothing is gained by warming it up for each."""
    monkeypatch.setattr("scstream.warm_up", lambda on_progress: None)


@pytest.fixture
def clip(tmp_path):
    return write_video(tmp_path / "clip.mp4", moving_square(6))


def environment(**more):
    """What a process of its own needs to find the program."""
    path = os.pathsep.join([str(ROOT / "engine"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


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


def test_a_run_without_formats_names_only_the_session(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "", "--frames", ":1", "--max-init-sweeps", "5") == 0
    assert capsys.readouterr().out.endswith(f": {clip.stem}.scstream\n")


def test_smoothing_and_steadiness_can_be_switched_off(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--smoothing", "0", "--steadiness", "0", "--quiet") == 0
    bare = VideoSegmenter(smoothing=0, steadiness=0)
    for frame, ids in zip(open_source(str(clip)).frames(), ids_in(tmp_path / "out").values(), strict=True):
        np.testing.assert_array_equal(ids, bare.segment(frame.rgb))
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        settings = session.manifest.settings
    assert (settings.smoothing, settings.steadiness) == (0.0, 0.0)


def test_the_session_holds_what_the_files_do(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert session.manifest.complete
        for index, ids in enumerate(ids_in(tmp_path / "out").values()):
            np.testing.assert_array_equal(session.ids(index), ids)


def test_movies_show_what_they_are_asked_to(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--formats", "ids,mp4,mp4:mean_colour", "--quiet") == 0
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
    assert segment(folder, tmp_path / "other") == 0


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
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 2


def test_an_earlier_session_is_not_lost_unasked(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--frames", ":2", "--quiet") == 1
    error = capsys.readouterr().err
    assert "scstream resume" in error
    assert "--overwrite" in error
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--frames", ":2", "--overwrite", "--quiet") == 0
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert session.frames.tolist() == [0, 1]


def test_the_way_to_go_on_can_be_copied(tmp_path, capsys):
    clip = write_video(tmp_path / "my  clip.mp4", moving_square(1))
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    error = capsys.readouterr().err
    assert f"resume it with: scstream resume '{tmp_path / 'out' / 'my  clip.scstream'}'" in error


def test_files_of_another_source_are_not_lost_unasked(clip, tmp_path, capsys):
    other = write_video(tmp_path / "cut.mp4", moving_square(2))
    assert segment(other, tmp_path / "out", "--quiet") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    assert capsys.readouterr().err == (
        f"scstream: '{tmp_path / 'out'}' holds the session 'cut.scstream' of another source: "
        "choose another --out, or use --overwrite.\n"
    )
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--quiet", "--overwrite") == 0
    assert len(ids_in(tmp_path / "out")) == 6


@pytest.mark.parametrize("options", ["--scale 0.5 --burn-in 9", "--colour lab --merge paper", "--sweeps 0"])
def test_options_reach_the_engine(clip, tmp_path, options):
    assert segment(clip, tmp_path / "out", "--quiet", *options.split()) == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {(48, 64)}
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        chosen = session.manifest.settings.as_dict()
    flags = iter(options.split())
    for flag, value in zip(flags, flags, strict=True):
        assert str(chosen[flag[2:].replace("-", "_")]) == value


def test_every_setting_has_its_option(clip, tmp_path, monkeypatch):
    prepared = []

    def prepare(source, out, settings, *_, **__):
        prepared.append(settings)
        raise StudioError("enough")

    monkeypatch.setattr(headless, "prepare", prepare)
    options = []
    for name, value in OTHER.items():
        flag = SPECS[name].flag
        options += [f"--no-{flag[2:]}"] if value is False else [flag, "none" if value is None else str(value)]
    assert segment(clip, tmp_path / "out", *options) == 1
    assert segment(clip, tmp_path / "out") == 1
    assert prepared == [Settings(**OTHER), Settings()]


@pytest.mark.parametrize("shape", [(47, 63), (16, 16), (5, 3)])
def test_odd_and_tiny_frames(tmp_path, shape):
    frames = [np.ascontiguousarray(frame[: shape[0], : shape[1]]) for frame in moving_square(3)]
    assert segment(write_images(tmp_path / "in", frames), tmp_path / "out", "--quiet") == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {shape}


# --- the window


@pytest.fixture
def opened(monkeypatch):
    """What the window was opened with."""
    from scstream_app.ui.qt.dialogs import display
    from scstream_app.ui.window import app

    addresses = []
    monkeypatch.setattr(app, "run", lambda address=None: addresses.append(address) or 0)
    monkeypatch.setattr(display, "has_display", lambda: True)
    return addresses


def test_without_a_command_the_window_opens(clip, tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "frames", moving_square(1))
    images = ["frames#rate=12", "frames/%05d.png", "frames/%05d.png#range=full&rate=12"]
    addresses = ["clip.mp4", "*.mp4", "rtsp://there/live", "camera:0", "live:clip.mp4", *images]
    for address in addresses:
        assert cli.main([address]) == 0
    assert cli.main([]) == 0
    assert opened == [*addresses, None]


def test_commands_go_before_files_of_their_name(tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    for name in ("segment", "bench"):
        (tmp_path / name).mkdir()
        assert cli.main([name, "--help"]) == 0
    assert opened == []


def test_a_mistyped_command_is_no_source(capsys, opened):
    assert cli.main(["segmnt"]) == 2
    error = capsys.readouterr().err
    assert error == "scstream: No such command 'segmnt'. Did you mean 'segment'? See 'scstream --help'.\n"
    assert opened == []


@pytest.mark.parametrize("source", ["missing.mp4", "gone/clip.mp4", "*.tiff", "live:missing.mp4", "missing#rate=12"])
def test_a_missing_file_is_reported_before_the_window_opens(tmp_path, monkeypatch, capsys, opened, source):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scstream_app.ui.qt.dialogs.display.has_display", lambda: False)
    assert cli.main([source]) == 1
    assert capsys.readouterr().err == f"scstream: Cannot open '{source}': there is no such file or folder.\n"
    assert opened == []


def test_a_word_that_is_neither_a_command_nor_a_file(tmp_path, monkeypatch, capsys, opened):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["missing"]) == 1
    assert capsys.readouterr().err == "scstream: Cannot open 'missing': there is no such file, folder or command.\n"
    assert cli.main(["missing", "--out", "x"]) == 2
    assert capsys.readouterr().err == "scstream: No such command 'missing'. See 'scstream --help'.\n"
    assert opened == []


def test_info_names_every_package_and_folds_long_paths(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert "PySide6-Essentials" in text
    assert str(SAMPLES) in text.replace("\n", "").replace(" ", "")
    assert "…" not in text


def test_the_window_takes_one_source(clip, capsys, opened):
    assert cli.main([str(clip), "--out", "x"]) == 2
    assert "got '--out'" in capsys.readouterr().err
    assert opened == []


def test_without_a_display_the_message_names_the_command(clip, capsys, monkeypatch, opened):
    monkeypatch.setattr("scstream_app.ui.qt.dialogs.display.has_display", lambda: False)
    assert cli.main([str(clip)]) == 1
    assert capsys.readouterr().err == (
        "No display found. Segment without a window: 'scstream segment SOURCE --out FOLDER'.\n"
    )
    assert opened == []


STARTUP = """
import os
import sys
def check(*names):
    loaded = {name.partition(".")[0] for name in sys.modules} & set(names)
    assert not loaded, loaded
import scstream_app.__main__ as program
sys.argv[1:] = ["--version"]
assert program.main() == 0
check("typer", "rich", "numpy", "numba", "av", "cv2", "PySide6")
from scstream_app import cli, commands
for word in ("--version", "-h"):
    assert cli.main([word]) == 0
check("numpy", "numba", "av", "cv2", "PySide6")
for name in commands.COMMANDS:
    assert cli.main([name, "-h"]) == 0
os.environ |= {"_SCSTREAM_COMPLETE": "complete_bash", "COMP_WORDS": "scstream segment --fo", "COMP_CWORD": "2"}
assert cli.main([]) == 0
check("scstream", "numpy", "numba", "av", "cv2", "PySide6")
for name in ("export", "headless", "evaluation.scores", "system_info"):
    __import__(f"scstream_app.{name}")
check("PySide6")
"""


def test_only_what_is_needed_is_loaded():
    done = subprocess.run([sys.executable, "-c", STARTUP], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- wrong usage


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--alpha", "-1"], r"'--alpha': must be a number, .*, got -1\.0"),
        (["--scale", "0"], r"'--scale': must be a number, above 0 and at most 1, got 0\.0"),
        (["--scale", "half"], "'--scale': .*'half'"),
        (["--seed", "1.5"], r"'--seed': .*'1\.5'"),
        (["--sweeps", "-2"], r"'--sweeps': must be a whole number, .*, got -2"),
        (["--threads", "0"], r"'--threads': must be a whole number, .*, got 0"),
        (["--seed", "-1"], r"'--seed': must be a whole number, .*, got -1"),
        (["--steadiness", "3"], r"'--steadiness': must be a number, at least 0 and at most 2, got 3\.0"),
        (["--decay", "nan"], r"'--decay': must be a number, .*, got nan"),
        (["--burn-in", "-1"], "'--burn-in': must be a whole number"),
        (["--restart", "soon"], "'--restart': must be a whole number or none, got 'soon'"),
        (["--formats", "ids,bmp"], "unknown format 'bmp'"),
        (["--formats", "ids:overlay"], "'ids' is not a movie"),
        (["--formats", "mp4:nope"], "Unknown view 'nope'"),
        (["--formats", "mp4:uncertainty"], "results hold no uncertainty"),
        (["--pattern", "frame"], "must contain {frame}"),
        (["--colour", "cmyk"], "cmyk"),
        (["--frames", "5:5"], "B must be greater than A; got '5:5'"),
        (["--frames", "first"], "got 'first'"),
        (["--frames", "-3:"], "got '-3:'"),
        (["--frames", "9" * 5000 + ":"], "'--frames': must be at most 2147483647, got '99999"),
        (["--frames", ":2147483648"], "'--frames': must be at most"),
        (["--seed", "9" * 5000], "--seed"),
        (["--threads", "9" * 5000], "--threads"),
        (["--pattern", "{frame:999999999d}"], "more than 64 digits"),
        (["--pattern", "{frame:{frame}}"], "field within a field"),
        (["--pattern", "{frame}{shot}"], "a pattern knows {frame}, {time}, {name}; .* has the field {shot}"),
        (["--pattern", "{frame}" + "x" * 300], "makes names of 306 bytes, and 200 are the most"),
        (["--nonsense"], "No such option '--nonsense'"),
        (["--fromats", "ids"], "No such option '--fromats'. Did you mean '--formats'?"),
        (["--format", "ids"], "No such option '--format'"),
        (["--palette", "grey"], "palette must be one of vivid, safe, got 'grey'"),
        (["--view", "nope"], "view must be one of .*, got 'nope'"),
    ],
)
def test_wrong_usage(clip, tmp_path, capsys, options, message):
    assert segment(clip, tmp_path / "out", *options) == 2
    captured = capsys.readouterr()
    assert re.search(message, captured.err)
    assert captured.err.count("\n") == 1
    assert len(captured.err) < 600
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["segment", "clip.mp4"], "Missing option '--out'"),
        (["bench"], "Missing command. See 'scstream bench --help'"),
        (["bench", "vido"], "No such command 'vido'. Did you mean 'video'?"),
        (["--vesion"], "No such option '--vesion'. Did you mean '--version'?"),
        (["export", "s", "-o", "e", "--formats", "ids", "--scale", "inf"], "'--scale': must be a number, above 0"),
        (["evaluate", "a", "b", "--void", "9999999999"], "'--void': must be a whole number, at least -2147483648"),
        (["bench", "streams", "--seeds", "-1"], "'--seeds': must be a whole number, at least 1"),
        (["bench", "streams", "--alpha", "nan"], "'--alpha': must be a number"),
        (["bench", "streams", "--decay", "1e9"], "'--decay': must be a number"),
        (["bench", "streams", "--psi", "-1"], "'--psi': must be a number"),
    ],
)
def test_wrong_usage_of_other_commands(capsys, words, message):
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_help_is_no_error(capsys):
    assert cli.main(["--help"]) == 0
    long = capsys.readouterr().out
    assert "--install-completion" in long
    assert all(name in long for name in COMMANDS)
    assert cli.main(["-h"]) == 0
    assert capsys.readouterr().out == long


@pytest.mark.parametrize("command", [*(name for name in COMMANDS if name != "bench"), "bench video"])
def test_every_command_has_help(capsys, command):
    assert cli.main([*command.split(), "-h"]) == 0
    assert f"scstream {command} " in capsys.readouterr().out


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


def test_unicode_and_spaces_in_names(tmp_path):
    clip = write_video(tmp_path / "Größe – 鳥 (1).mp4", moving_square(2))
    out = tmp_path / "mein Ordner ✓"
    assert segment(clip, out, "--quiet") == 0
    assert len(ids_in(out)) == 2
    assert (out / "Größe – 鳥 (1).scstream").is_dir() or len(list(out.glob("*.scstream"))) == 1


def test_help_shows_examples_one_on_a_line(capsys):
    assert cli.main(["segment", "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "scstream segment clip.mp4 --out results" in lines
    assert "scstream segment camera:0 --out results --frames :300" in lines


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"scstream {__version__}\n"


# --- interruption and resumption


def interrupt_at(monkeypatch, frame, number=signal.SIGINT):
    """Press Ctrl-C, or send another signal, when the frame is being written."""
    append = Session.append

    def interrupted(self, result):
        append(self, result)
        if result.index == frame:
            signal.raise_signal(number)

    monkeypatch.setattr(Session, "append", interrupted)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interruption_keeps_whole_frames(clip, tmp_path, capsys, monkeypatch, name):
    interrupt_at(monkeypatch, 2, getattr(signal, name))
    assert segment(clip, tmp_path / "out", "--quiet") == {"SIGINT": 130, "SIGTERM": 143}[name]
    session = tmp_path / "out" / "clip.scstream"
    assert capsys.readouterr().err == f"Interrupted after 3 frames. Resume with: scstream resume {session}\n"
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 3
    assert len(ids_in(tmp_path / "out")) == 3
    assert not leftovers(tmp_path)


def test_resume_ends_as_if_never_interrupted(clip, tmp_path, monkeypatch):
    assert segment(clip, tmp_path / "unbroken", "--quiet") == 0
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        assert segment(clip, tmp_path / "out", "--quiet") == 130
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--quiet"]) == 0
    broken, unbroken = ids_in(tmp_path / "out"), ids_in(tmp_path / "unbroken")
    assert list(broken) == list(unbroken)
    for name, ids in unbroken.items():
        np.testing.assert_array_equal(broken[name], ids)
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 6
    table = (tmp_path / "out" / "segments.csv").read_text()
    assert table == (tmp_path / "unbroken" / "segments.csv").read_text()


def test_resume_keeps_to_the_names_that_were_asked_for(clip, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        assert segment(clip, tmp_path / "out", "--quiet", "--formats", "ids", "--pattern", "f{frame}") == 130
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--quiet"]) == 0
    assert list(ids_in(tmp_path / "out")) == [f"f{n}.png" for n in range(6)]


def test_resume_of_a_moved_source(clip, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        segment(clip, tmp_path / "out", "--quiet")
    capsys.readouterr()
    moved = clip.rename(tmp_path / "moved.mp4")
    session = str(tmp_path / "out" / "clip.scstream")
    assert cli.main(["resume", session, "--quiet"]) == 1
    assert "clip.mp4" in capsys.readouterr().err
    assert cli.main(["resume", session, "--quiet", "--source", str(moved)]) == 0


def test_resume_of_a_finished_session_only_writes_files(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    (tmp_path / "out" / "ids" / "00003.png").unlink()
    assert cli.main(["resume", str(tmp_path / "out" / "clip.scstream"), "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["frames"], report["frames_in_session"]) == (0, 6)
    assert len(ids_in(tmp_path / "out")) == 6


def test_resume_says_what_it_did(clip, tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 1)
        assert segment(clip, tmp_path / "out", "--quiet", "--formats", "ids,npz") == 130
    session = str(tmp_path / "out" / "clip.scstream")
    capsys.readouterr()
    assert cli.main(["resume", session]) == 0
    assert "4 new frames, 6 in all, of 64 x 48" in capsys.readouterr().out
    assert cli.main(["resume", session]) == 0
    with Session.open(session) as opened:
        segments = len(opened.statistics(5))
    assert capsys.readouterr().out == f"Already complete: 6 frames, {segments} segments; files written: ids, npz\n"


@pytest.mark.parametrize("threads", ["0", "-1", "9" * 5000])
def test_resume_checks_threads(tmp_path, capsys, threads):
    assert cli.main(["resume", str(tmp_path / "none.scstream"), "--threads", threads]) == 2
    assert "threads" in capsys.readouterr().err


def test_interruption_before_the_first_frame(clip, tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)
        yield from ()

    monkeypatch.setattr("scstream_app.headless.segment_job.segment_frames", interrupted)
    assert segment(clip, tmp_path / "out", "--quiet") == 130
    assert capsys.readouterr().err == "Interrupted before the first frame was finished. Nothing was written.\n"


def test_interruption_of_a_live_source(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(segment_command, "open_given", lambda *given: FakeSource(moving_square(5), live=True))
    interrupt_at(monkeypatch, 1)
    assert segment("camera:0", tmp_path / "out", "--formats", "ids", "--quiet") == 130
    assert capsys.readouterr().err.endswith(" They are saved, but a live source cannot be resumed.\n")


def test_interruption_of_standard_input(tmp_path, capsys, monkeypatch):
    source = FakeSource(moving_square(5), live=True)
    source.address = STDIN
    monkeypatch.setattr(segment_command, "open_given", lambda *given: source)
    interrupt_at(monkeypatch, 1)
    assert segment("-", tmp_path / "out", "--formats", "ids", "--quiet") == 130
    assert capsys.readouterr().err == (
        "Interrupted after 2 frames. They are saved. What followed on standard input is lost, so the session cannot be "
        "resumed.\n"
    )


def test_resume_says_what_was_found_damaged(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    session = tmp_path / "out" / "clip.scstream"
    (session / "names.json").write_text("{")
    assert cli.main(["resume", str(session), "--quiet"]) == 0
    assert "names.json" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["resume"], ["export", "--formats", "npz", "--out", "OUT"], ["info"]])
def test_the_folder_of_one_session_stands_for_it(clip, tmp_path, capsys, command):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    words = [command[0], str(tmp_path / "out"), *command[1:]]
    words = [str(tmp_path / "e") if word == "OUT" else word for word in words]
    assert cli.main(words) == 0
    (tmp_path / "out" / "clip.scstream").rename(tmp_path / "out" / "a.scstream")
    assert cli.main([words[0], str(tmp_path / "out" / "a"), *words[2:]]) == 1
    assert f"Did you mean '{tmp_path / 'out' / 'a.scstream'}'?" in capsys.readouterr().err
    (tmp_path / "out" / "b.scstream").mkdir()
    assert cli.main(words) == 1
    assert "Did you mean" in capsys.readouterr().err


# --- streams that fail


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


def test_letters_that_the_output_does_not_have(tmp_path):
    clip = write_video(tmp_path / "鳥.mp4", moving_square(1))
    command = [sys.executable, "-m", "scstream_app", "segment", str(clip), "--out", str(tmp_path / "Größe")]
    done = subprocess.run(command, env=environment(PYTHONIOENCODING="ascii"), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert rb"Gr\xf6\xdfe" in done.stdout


# --- objects, export, evaluate


def square_mask(folder, frame):
    path = folder / "mask.png"
    mask = (np.abs(frame.astype(int) - (230, 200, 40)).sum(axis=2) < 60).astype(np.uint8) * 255
    Image.fromarray(mask).save(path)
    return path


def test_an_object_is_followed_to_the_end(clip, tmp_path, capsys):
    frames = moving_square(6)
    mask = square_mask(tmp_path, frames[0])
    assert segment(clip, tmp_path / "out", "--object", str(mask), "--formats", "matte") == 0
    assert "clip.scstream, matte, object" in capsys.readouterr().out
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(frames):
        square_mask(tmp_path, frame).rename(truth / f"{n:05d}.png")
    assert cli.main(["evaluate", str(tmp_path / "out" / "object"), str(truth), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["frames"] == 6
    assert scores["j_mean"] > 0.8
    with Image.open(tmp_path / "out" / "matte" / "00005.png") as matte:
        alpha = np.asarray(matte)[..., 3] > 0
    with Image.open(tmp_path / "out" / "object" / "00005.png") as written:
        np.testing.assert_array_equal(alpha, np.asarray(written) > 0)


def test_several_objects_in_one_mask(clip, tmp_path):
    labels = np.zeros((48, 64), np.uint8)
    labels[16:32, 4:20], labels[32:, :] = 1, 2
    image = Image.fromarray(labels).convert("P")
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    image.save(tmp_path / "masks.png")
    assert (
        segment(clip, tmp_path / "out", "--object", str(tmp_path / "masks.png"), "--formats", "davis", "--quiet") == 0
    )
    assert sorted(path.name for path in (tmp_path / "out" / "object").iterdir()) == ["object 1", "object 2"]
    with Image.open(tmp_path / "out" / "davis" / "00000.png") as first:
        agreement = (np.asarray(first) == labels).mean()
    assert agreement > 0.9


@pytest.mark.parametrize(
    ("kind", "message"),
    [("absent", "No such file"), ("text", "Cannot open"), ("size", "it is 5 x 5"), ("empty", "the mask is empty")],
)
def test_an_invalid_mask_is_rejected_before_anything_is_written(clip, tmp_path, capsys, kind, message):
    path = tmp_path / "mask.png"
    match kind:
        case "text":
            path.write_text("no image")
        case "size":
            Image.fromarray(np.ones((5, 5), np.uint8)).save(path)
        case "empty":
            Image.fromarray(np.zeros((48, 64), np.uint8)).save(path)
    assert segment(clip, tmp_path / "out", "--object", str(path)) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_format_that_needs_an_object_says_so_at_once(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "matte") == 1
    assert "needs an object" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_export_of_an_object_that_there_is_none_of(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    command = ["export", str(tmp_path / "out"), "--formats", "matte", "--out", str(tmp_path / "e"), "--quiet"]
    assert cli.main(command) == 1
    assert "add one with --object" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--view", "nope"], ["--formats", "mp4:nope"]])
def test_only_views_that_can_be_written_are_offered(tmp_path, capsys, options):
    command = ["export", str(tmp_path), "--out", str(tmp_path / "e"), "--formats", "mp4"]
    assert cli.main([*command, *options]) == 2
    error = capsys.readouterr().err
    assert "mean_colour" in error
    assert "uncertainty" not in error


def test_export_needs_the_source_only_for_pictures(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    clip.rename(tmp_path / "gone.mp4")
    session = str(tmp_path / "out" / "clip.scstream")
    assert cli.main(["export", session, "--formats", "npz,ids", "--out", str(tmp_path / "e"), "--frames", "2:5"]) == 0
    assert "3 frames written" in capsys.readouterr().out
    written, first = ids_in(tmp_path / "e"), ids_in(tmp_path / "out")
    assert list(written) == ["00002.png", "00003.png", "00004.png"]
    for name, ids in written.items():
        np.testing.assert_array_equal(ids, first[name])
    assert cli.main(["export", session, "--formats", "mp4", "--out", str(tmp_path / "e")]) == 1
    assert "clip.mp4" in capsys.readouterr().err


def test_export_of_a_moved_source(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    moved = clip.rename(tmp_path / "moved.mp4")
    other = write_video(tmp_path / "other.mp4", moving_square(6)[::-1])
    command = ["export", str(tmp_path / "out" / "clip.scstream"), "--formats", "mp4", "--out", str(tmp_path / "e")]
    assert cli.main([*command, "--quiet", "--source", str(other)]) == 1
    assert "its frame 0 is a different picture" in capsys.readouterr().err
    assert cli.main([*command, "--quiet", "--source", str(moved)]) == 0
    assert len(read_video(tmp_path / "e" / "overlay.mp4")) == 6


def test_export_of_nothing_fails(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    command = ["export", str(tmp_path / "out" / "clip.scstream"), "--formats", "ids", "--out", str(tmp_path / "e")]
    assert cli.main([*command, "--frames", "20:30", "--quiet"]) == 1
    assert "has no such frame" in capsys.readouterr().err
    assert cli.main([*command, "--view", "nope"]) == 2
    assert cli.main([*command, "--palette", "nope"]) == 2
    assert not (tmp_path / "e").exists()


def test_a_live_source_takes_no_start(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(segment_command, "open_given", lambda *given: FakeSource(moving_square(3), live=True))
    assert segment("camera:0", tmp_path / "out", "--frames", "100:") == 2
    assert "is live: --frames can only set the end" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_export_of_what_is_there_already(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    session, there = str(tmp_path / "out" / "clip.scstream"), tmp_path / "out" / "ids" / "00002.png"
    there.write_bytes(b"precious")
    again = ["export", session, "--formats", "ids", "--out", str(tmp_path / "out"), "--quiet"]
    assert cli.main([*again, "--existing", "refuse"]) == 1
    assert "--existing replace" in capsys.readouterr().err
    assert cli.main([*again, "--existing", "skip"]) == 0
    assert there.read_bytes() == b"precious"
    assert cli.main(again) == 0
    assert there.read_bytes() != b"precious"


@pytest.mark.parametrize("command", [["resume"], ["export", "--formats", "ids", "--out", "x"]])
def test_no_session_is_said(tmp_path, capsys, command):
    assert cli.main([command[0], str(tmp_path / "none.scstream"), *command[1:]]) == 1
    error = capsys.readouterr().err
    assert error.startswith("scstream: Cannot open")
    assert error.count("\n") == 1


def test_evaluate_for_people(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(moving_square(6)):
        square_mask(tmp_path, frame).rename(truth / f"{n:05d}.png")
    assert cli.main(["evaluate", str(tmp_path / "out" / "clip.scstream"), str(truth)]) == 0
    text = capsys.readouterr().out
    assert "j oracle" in text
    assert "j carried" in text
    assert re.search(r"frames without prediction +0 *\n", text)
    assert "kept along flow" not in text


def test_evaluate_with_the_video_and_dense_labels(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(moving_square(6)):
        labels = np.where(frame[..., 0] > 128, 1, np.where(np.arange(48)[:, None] < 24, 0, 2)).astype(np.uint8)
        labels[:, 60:] = 7
        Image.fromarray(labels).save(truth / f"{n:05d}.png")
    given = ["evaluate", str(tmp_path / "out" / "clip.scstream"), str(truth), "--json"]
    assert cli.main([*given, "--source", str(clip), "--void", "7"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert 0.7 < scores["kept_along_flow"] < 1.0
    assert scores["explained_variation"] > 0.9
    assert scores["sa3d"] > 0.9
    assert scores["purity"] > 0.9
    assert cli.main([*given, "--source", str(tmp_path / "absent.mp4")]) == 1
    assert "absent.mp4" in capsys.readouterr().err


def on_screen(screen):
    """What a program writes to its terminal, as it comes, until it has ended."""
    while select.select([screen], [], [], 300)[0]:
        try:
            text = os.read(screen, 4096)
        except OSError:
            # Linux reports a closed terminal with this error.
            return
        if not text:
            return
        yield text
    pytest.fail("nothing was written for minutes")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_too_few_file_descriptors_to_load_a_command_are_reported():
    code = (
        "import resource, sys; from scstream_app.cli import main; "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); sys.exit(main(['segment', 'a.mp4', '--out', 'out']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"scstream: The program cannot be loaded: .*Too many open files.*\n", done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_control_c(tmp_path):
    import pty

    sample = str(ROOT / "sample_videos" / "kite_surf.mp4")
    command = [sys.executable, "-m", "scstream_app", "segment", sample, "--out", str(tmp_path / "out")]
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        command,
        env={**environment(), "TERM": "xterm", "COLUMNS": "120"},
        stderr=terminal,
        # Where the tests themselves run in the background, Ctrl-C is ignored, and a child would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(terminal)
    shown = b""
    for text in on_screen(screen):
        shown += text
        # The bar counts frames.
        if process.poll() is None and re.search(rb"(?<!\d)([4-9]|\d\d)/80\b", shown):
            process.send_signal(signal.SIGINT)
            break
    shown += b"".join(on_screen(screen))
    os.close(screen)
    assert process.wait(60) == 130
    assert b"Traceback" not in shown
    assert 3 <= len(read_video(tmp_path / "out" / "overlay.mp4")) < 80
    assert not leftovers(tmp_path / "out")


# --- info


def test_info_for_programs(capsys):
    assert cli.main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cores"] == os.cpu_count()
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["codecs"]["libx264"] == "yes"
    assert "cameras" in facts
    assert Path(facts["numba_cache"]).is_absolute()


def test_info_for_people(capsys):
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert "numba cache" in text
    assert "scikit-learn" in text


def test_info_of_a_session(clip, tmp_path, capsys):
    mask = square_mask(tmp_path, moving_square(1)[0])
    assert segment(clip, tmp_path / "o[u]t", "--quiet", "--seed", "7", "--object", str(mask), "--formats", "npz") == 0
    session = str(tmp_path / "o[u]t" / "clip.scstream")
    assert cli.main(["info", session, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["frames"], facts["size"], facts["seed"], facts["complete"]) == (6, "64 x 48", 7, True)
    assert (facts["objects"], facts["source"]) == (["object"], str(clip))
    assert facts["settings"]["scale"] == 1.0
    assert cli.main(["info", session]) == 0
    text = capsys.readouterr().out
    assert re.search(r"complete +yes", text)
    assert "o[u]t" in "".join(text.split())


def test_readme_and_help_describe_info_alike(capsys):
    assert cli.main(["info", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "versions, codecs and cameras" in words
    assert "versions, codecs and cameras" in (ROOT / "README.md").read_text("utf-8")
