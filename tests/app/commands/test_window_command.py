"""`scstream` without a command: the window opens, or a message says why not; and what is loaded for that."""

import subprocess
import sys

import pytest

from helpers.clips import moving_square, write_images
from helpers.command_line import environment
from scstream_app import cli


@pytest.fixture
def opened(monkeypatch):
    """What the window was opened with."""
    from scstream_app.ui.qt.dialogs import display
    from scstream_app.ui.window.startup import app

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
