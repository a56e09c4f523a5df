"""Standard output that cannot be written to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from scstream_app import cli


@pytest.mark.parametrize("words", [["--help"], ["segment", "--help"], ["info"], ["info", "--json"]])
def test_a_closed_pipe_ends_the_program_quietly(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scstream_app.system_info.facts", lambda: {"packages": {"numpy": "2"}, "text": "x" * 100_000})
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert cli.main(words) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert cli.main(["--version"]) == 1
    assert capsys.readouterr().err == "scstream: Cannot write to standard output: No space left on device.\n"
