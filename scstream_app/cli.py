"""The command-line program `scstream`: opens the window, or runs one of the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from glob import has_magic
from typing import Annotated

import typer

from scstream_app import __version__, commands
from scstream_app.commands import COMMANDS
from scstream_app.terminal.console import fail_safe_streams, print_message
from scstream_app.terminal.lazy_group import LazyGroup, command_app


class _Commands(LazyGroup):
    package = commands.__name__
    summaries = COMMANDS


app = command_app(
    cls=_Commands,
    add_completion=True,
    name="scstream",
    help="Segment any video; segments keep their ids from frame to frame.\n\n"
    "[bold]scstream[/] or [bold]scstream SOURCE[/] opens the window; the commands below need no display.",
)


def main(args: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if args is None else args)
    with fail_safe_streams():
        # Shell completion calls the program without arguments.
        if not os.environ.get("_SCSTREAM_COMPLETE") and (not given or _is_source(given[0])):
            return _open_window(given)
        try:
            code = app(given, prog_name="scstream")
        except SystemExit as stop:
            code = stop.code
    return code if isinstance(code, int) else 0


def _is_source(text: str) -> bool:
    """Whether the first argument is a source, rather than an option or a (possibly misspelt) command."""
    if text.startswith("-") or text in COMMANDS:
        return False
    if text.startswith(("camera:", "live:", "live-loop:")) or has_magic(text) or os.path.exists(text):
        return True
    # No command has a suffix: that is the name of a file, if only of a missing one.
    return any(sign in text for sign in (os.sep, os.altsep or os.sep, "://")) or bool(os.path.splitext(text)[1])


def _open_window(given: Sequence[str]) -> int:
    if len(given) > 1:
        print_message(f"The window takes one source and no options, got '{given[1]}'. See 'scstream segment --help'.")
        return 2
    try:
        from scstream_app.ui.qt import display
        from scstream_app.ui.window import app as window
    except ImportError as error:
        print_message(f"scstream: Cannot open the window: {error}.")
        return 1
    if not display.has_display():
        print_message("No display found. Segment without a window: 'scstream segment SOURCE --out FOLDER'.")
        return 1
    return window.run(given[0] if given else None)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"scstream {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass
