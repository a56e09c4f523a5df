"""The program uses the network only for an address that the user opens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.clips import moving_square, write_video
from helpers.paths import ROOT

#: A day's work in small: segment, export, info, and the window with a clip, its preferences and the guide.
_WORK = """
import sys
from pathlib import Path
from helpers.no_network import forbid_network
forbid_network()
from PySide6.QtCore import QSettings, QTimer
from scstream_app import cli
from scstream_app.session.library import Library
from scstream_app.ui.document.state import State
from scstream_app.ui.window.startup.app import application
from scstream_app.ui.window.main_window import MainWindow

clip, folder = map(Path, sys.argv[1:])
quick = ["--quiet", "--threads", "1", "--max-init-sweeps", "10"]
assert cli.main(["segment", str(clip), "--out", str(folder / "out"), "--formats", "csv,mp4,zarr", *quick]) == 0
session = str(folder / "out" / "clip.scstream")
assert cli.main(["export", session, "--formats", "coco,npz", "--out", str(folder / "more"), "--quiet"]) == 0
assert cli.main(["info"]) == 0

app = application()
window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), Library(folder / "library"))
window.show()

def on_state():
    if window.document.state is State.DONE:
        window.show_preferences()
        window.actions_["guide"].trigger()
        QTimer.singleShot(0, lambda: app.exit(0))

window.document.state_changed.connect(on_state)
window.open_address(session)
QTimer.singleShot(60_000, lambda: app.exit(1))
assert app.exec() == 0
assert window.document.state is State.DONE
assert window.close()
print("done")
"""
_OPEN = """
import sys
from helpers.no_network import forbid_network
forbid_network()
from scstream_app.sources import open_source
open_source(sys.argv[1])
"""
_PYTHON = """
import socket
from helpers.no_network import forbid_network
forbid_network()
socket.create_connection(("127.0.0.1", 9))
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join([str(ROOT), str(ROOT / "tests"), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": search, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
    )


def test_a_day_of_work_opens_no_socket(tmp_path: Path) -> None:
    clip = write_video(tmp_path / "clip.mp4", moving_square(3))
    done = run(_WORK, str(clip), str(tmp_path))
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    assert done.stdout.endswith("done\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can watch the sockets of libraries")
def test_an_address_that_the_user_opens_needs_one() -> None:
    """Shows that the test above would notice."""
    assert run(_OPEN, "http://127.0.0.1:9/clip.mp4").returncode == -signal.SIGSYS


def test_sockets_of_python_are_noticed_too() -> None:
    done = run(_PYTHON)
    assert done.returncode != 0
    assert "socket.getaddrinfo" in done.stderr or done.returncode == -signal.SIGSYS
