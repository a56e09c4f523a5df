"""The log file: what it says, what it keeps to itself, and how it ends."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from scstream_app import __main__ as program
from scstream_app import cli, logs

logger = logging.getLogger("scstream_app.test")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(logs, "log_folder", lambda: tmp_path / "log")
    return tmp_path / "log"


def test_the_log_begins_with_version_and_command(folder: Path) -> None:
    with logs.logging_to_file(["segment", "clip.mp4"]):
        logger.info("at work")
    first, second = logs.log_file().read_text().splitlines()
    assert first.endswith(": segment clip.mp4")
    assert "Python" in first
    assert second.endswith("INFO scstream_app.test: at work")


def test_after_the_end_nothing_is_written(folder: Path) -> None:
    with logs.logging_to_file():
        pass
    logger.error("too late")
    assert len(logs.last_lines()) == 1


def test_urls_have_no_secrets_not_even_in_tracebacks(folder: Path) -> None:
    with logs.logging_to_file(["rtsp://me:word@10.0.0.7/door"]):
        try:
            raise ValueError("https://you:sesame@host/a.mp4?token=abc#part failed")
        except ValueError:
            logger.exception("Cannot open http://a:hidden@b/c")
    text = logs.log_file().read_text()
    assert not any(secret in text for secret in ("word", "sesame", "hidden", "abc"))
    assert "https://you@host/a.mp4?..." in text


def test_debug_messages_only_on_request(folder: Path) -> None:
    with logs.logging_to_file():
        logger.debug("one")
        logs.log_details()
        logger.debug("two")
    text = logs.log_file().read_text()
    assert "one" not in text
    assert "two" in text


def test_the_log_rotates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_BYTES", 2000)
    with logs.logging_to_file():
        for _ in range(200):
            logger.info("x" * 100)
    files = sorted(path.name for path in folder.iterdir())
    assert files == ["scstream.log", "scstream.log.1", "scstream.log.2", "scstream.log.3"]
    assert all(path.stat().st_size <= 2000 for path in folder.iterdir())


def test_without_a_folder_the_program_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(logs, "log_folder", lambda: tmp_path / "file")
    with logs.logging_to_file():
        logger.error("not written")
    assert logs.last_lines() == []


def test_a_full_disk_is_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logs.logging_to_file():
        (handler,) = logging.getLogger("scstream_app").handlers
        assert isinstance(handler, logging.FileHandler)
        handler.stream.close()
        logger.error("lost")
    assert capsys.readouterr().err == ""


def test_the_command_logs_its_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["scstream", "segment", "missing.mp4", "--out", "out"])
    assert program.main() == 1
    text = logs.log_file().read_text()
    assert "segment missing.mp4" in text
    assert "ERROR scstream_app.terminal.console: Cannot open" in text
    assert not list(folder.glob("fault-*"))


def test_info_prints_the_path(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", "--json"]) == 0
    assert str(folder / "scstream.log") in capsys.readouterr().out
