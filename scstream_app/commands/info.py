"""`scstream info`: the installation, or a session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scstream_app import headless, logs
from scstream_app.commands.shared import open_session
from scstream_app.terminal.command_options import Debug, Json, examples
from scstream_app.terminal.console import exit_on_error, print_json
from scstream_app.terminal.lazy_group import command_app

app = command_app()


@app.command(epilog=examples("scstream info", "scstream info results/clip.scstream"))
def info(
    session: Annotated[
        Path | None, typer.Argument(metavar="[SESSION]", help="A NAME.scstream folder to describe.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, codecs and cameras for a bug report or, given a session, its frames, settings and source."""
    with exit_on_error(debug):
        facts = _program_facts() if session is None else _session_facts(session)
        if as_json:
            print_json(facts)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in facts.items():
            # A long path is folded; a cell of plain text would be cut.
            table.add_row(name.replace("_", " "), Text(_as_text(value), overflow="fold"))
        # Names of folders may contain square brackets, which rich takes for markup.
        Console(markup=False).print(table)


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_as_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_as_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _program_facts() -> dict[str, Any]:
    from scstream_app import system_info

    return {**system_info.facts(), "log_file": str(logs.log_file())}


def _session_facts(path: Path) -> dict[str, Any]:
    from scstream_app import system_info

    with open_session(path) as session:
        return system_info.session_facts(session, headless.session_objects(session))
