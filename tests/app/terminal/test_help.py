"""Help texts are readable in a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest

from scstream_app import cli
from scstream_app.commands import COMMANDS


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "bench"])
def test_the_help_of_an_option_has_room(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main([command, "--help"]) == 0
    parts = re.findall(r"╭─ (\w[\w ]*?) ─+╮\n(.*?)╰", capsys.readouterr().out, re.DOTALL)
    assert "Options" in dict(parts)
    for title, rows in parts:
        lines = [row.strip("│").rstrip() for row in rows.splitlines()]
        assert max(map(len, lines)) <= 78
        # Continued lines have nothing but help.
        indents = [len(line) - len(line.lstrip()) for line in lines]
        assert max(indents) <= 45, f"the help in '{title}' begins at column {max(indents)}"
