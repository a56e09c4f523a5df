"""Reports about unexpected errors and about processes that ended by a fault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.paths import ROOT
from scstream_app import crash_report, logs

_FAULT = """
import os, signal, sys
from pathlib import Path
from scstream_app import crash_report, logs
logs.log_folder = lambda: Path(sys.argv[1])
with crash_report.watching_for_faults():
    if sys.argv[2] == "fault":
        os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(logs, "log_folder", lambda: tmp_path / "log")
    return tmp_path / "log"


@pytest.fixture
def reports() -> list[tuple[str, str]]:
    return []


def fail(text: str) -> None:
    raise RuntimeError(text)


def raised(text: str) -> RuntimeError:
    try:
        fail(text)
    except RuntimeError as error:
        return error
    raise AssertionError


def hand_over(error: BaseException) -> None:
    """Do what the interpreter does with an exception that nothing catches."""
    sys.excepthook(type(error), error, error.__traceback__)


def test_a_report_has_versions_traceback_and_log(reports: list[tuple[str, str]]) -> None:
    with (
        logs.logging_to_file(["segment", "clip.mp4"]),
        crash_report.reporting_exceptions(lambda *given: reports.append(given)),
    ):
        hand_over(raised("boom rtsp://me:secret@host/door"))
    ((headline, text),) = reports
    assert headline == "RuntimeError: boom rtsp://me@host/door"
    for part in ("numpy", "in fail", "segment clip.mp4", "python: "):
        assert part in text
    assert "secret" not in text


def test_an_error_at_the_same_place_is_reported_once(reports: list[tuple[str, str]]) -> None:
    with crash_report.reporting_exceptions(lambda *given: reports.append(given)):
        for number in range(100):
            hand_over(raised(f"boom {number}"))
    assert [headline for headline, _ in reports] == ["RuntimeError: boom 0"]


def test_errors_of_threads_are_reported(reports: list[tuple[str, str]]) -> None:
    with crash_report.reporting_exceptions(lambda *given: reports.append(given)):
        thread = threading.Thread(target=fail, args=("on a thread",))
        thread.start()
        thread.join()
    assert [headline for headline, _ in reports] == ["RuntimeError: on a thread"]


def test_ctrl_c_is_no_error(reports: list[tuple[str, str]]) -> None:
    with crash_report.reporting_exceptions(lambda *given: reports.append(given)):
        hand_over(KeyboardInterrupt())
    assert reports == []


def test_the_hooks_are_taken_back() -> None:
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    with crash_report.reporting_exceptions(lambda *given: None):
        assert sys.excepthook is not before[0]
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


def run(folder: Path, what: str) -> int:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.run([sys.executable, "-c", _FAULT, str(folder), what], env=environment).returncode


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other processes do not exist there")
def test_a_fault_is_noticed_once(folder: Path) -> None:
    assert run(folder, "fault") == -signal.SIGSEGV
    (text,) = crash_report.earlier_faults()
    assert "Segmentation fault" in text
    assert crash_report.earlier_faults() == []


def test_a_process_that_ends_well_leaves_nothing(folder: Path) -> None:
    assert run(folder, "nothing") == 0
    assert list(folder.iterdir()) == []


def test_files_of_killed_processes_are_removed_in_the_end(folder: Path) -> None:
    folder.mkdir()
    new, old = folder / "fault-1.txt", folder / "fault-2.txt"
    for path in (new, old):
        path.write_text("")
    os.utime(old, (0, 0))
    assert crash_report.earlier_faults() == []
    assert list(folder.iterdir()) == [new]
