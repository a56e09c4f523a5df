"""The command-line program `scstream`: opens the window, or runs one of the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from glob import has_magic, iglob
from typing import Annotated

import typer

import scstream_app
from scstream_app import commands
from scstream_app.addresses import CAMERA, NUMBER, ONCE, REPEATED, split_reading
from scstream_app.commands import COMMANDS
from scstream_app.terminal.console import UsageError, print_message, print_usage_error
from scstream_app.terminal.exit_codes import FAILED, INTERRUPTED, WRONG_USAGE
from scstream_app.terminal.lazy_group import LazyGroup, command_app
from scstream_app.terminal.streams import fail_safe_streams, output_code


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
    """Run the program and return its exit code.

    0 success, 1 failure, 2 wrong usage, 130 interrupted, 141 standard output was closed, 143 terminated.
    """
    given = list(sys.argv[1:] if args is None else args)
    with fail_safe_streams() as output:
        # Shell completion calls the program without arguments.
        if os.environ.get("_SCSTREAM_COMPLETE") or (given and (given[0].startswith("-") or given[0] in COMMANDS)):
            code = _run_command(given)
        elif not given or _is_source(given[0]):
            code = _open_window(given)
        else:
            code = _reject(given)
        return code or output_code(output)


def _run_command(given: Sequence[str]) -> int:
    try:
        code = app(given, prog_name="scstream", standalone_mode=False)
    except typer.Abort:
        # Ctrl-C outside `exit_on_error`, mostly while modules are imported.
        print_message("Interrupted.")
        return INTERRUPTED
    except UsageError as error:
        print_usage_error(error)
        return WRONG_USAGE
    except (OSError, MemoryError) as error:
        # Outside `exit_on_error`: the modules of the command cannot be imported.
        print_message(f"scstream: The program cannot be loaded: {str(error) or 'too little memory'}.")
        return FAILED
    except SystemExit as stop:
        code = stop.code
    return code if isinstance(code, int) else 0


# --- the window -------------------------------------------------------------------------------------------


def _is_source(text: str) -> bool:
    """Whether the first argument is a source, if only a missing one, rather than a misspelt command."""
    if text.startswith((CAMERA, ONCE, REPEATED)) or has_magic(text) or os.path.exists(os.path.expanduser(text)):
        return True
    if any(sign in text for sign in (os.sep, os.altsep or os.sep, "://")):
        return True
    # No command has a suffix, or options after a #.
    return bool(os.path.splitext(text)[1] or split_reading(text)[1])


def _reject(given: Sequence[str]) -> int:
    """Report that the first argument is neither a command nor a source."""
    name = given[0]
    similar = get_close_matches(name, COMMANDS, 1)
    if similar:
        print_message(f"scstream: No such command '{name}'. Did you mean '{similar[0]}'? See 'scstream --help'.")
    elif len(given) > 1:
        print_message(f"scstream: No such command '{name}'. See 'scstream --help'.")
    else:
        print_message(f"scstream: Cannot open '{name}': there is no such file, folder or command.")
        return FAILED
    return WRONG_USAGE


def _open_window(given: Sequence[str]) -> int:
    unusable = next((text for text in given[1:] if text.startswith("-") or not os.path.exists(text)), None)
    if unusable is not None:
        print_message(
            f"The window takes one source or several images, and no options, got '{unusable}'. "
            "See 'scstream segment --help'."
        )
        return WRONG_USAGE
    if given and not _may_exist(given[0]):
        print_message(f"scstream: Cannot open '{given[0]}': there is no such file or folder.")
        return FAILED
    try:
        from scstream_app.ui.qt.dialogs import display
        from scstream_app.ui.window.startup import app as window
    except ImportError as error:
        print_message(f"scstream: Cannot open the window: {error}.")
        return FAILED
    if not display.has_display():
        print_message("No display found. Segment without a window: 'scstream segment SOURCE --out FOLDER'.")
        return FAILED
    return window.run("\n".join(given) if given else None)


def _may_exist(address: str) -> bool:
    """Whether there is a file for this address; cameras and URLs are not tried."""
    path = os.path.expanduser(address)
    if os.path.exists(path) or address.startswith(CAMERA) or "://" in address:
        return True
    for prefix in (ONCE, REPEATED):
        if address.startswith(prefix):
            return _may_exist(address.removeprefix(prefix).strip())
    plain, reading = split_reading(address)
    if reading:
        return _may_exist(plain)
    pattern = NUMBER.sub("*", path)
    return has_magic(pattern) and next(iglob(pattern, recursive=True), None) is not None


# --- options ----------------------------------------------------------------------------------------------


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"scstream {scstream_app.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass
