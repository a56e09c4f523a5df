"""Too little memory ends in a message, and short files need little of it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
import typer

from scstream_app.session.storage import files
from scstream_app.terminal.console import exit_on_error


def test_too_little_memory_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as stop, exit_on_error():
        raise MemoryError
    assert stop.value.exit_code == 1
    assert capsys.readouterr().err == "scstream: There is not enough memory.\n"


def test_a_short_file_takes_little_memory_whatever_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    path.write_bytes(b"[1, 2]")
    tracemalloc.start()
    try:
        assert files.read(path, 2**28) == b"[1, 2]"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
