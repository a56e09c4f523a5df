"""Standard output and standard error: messages that cannot fail, exit codes, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from types import FrameType
from typing import Any, TextIO, cast

import typer
from rich.console import Console

from scstream_app.errors import SettingsError, StudioError

INTERRUPTED = 130


class Interrupted(Exception):
    """Ctrl-C, with what there is to say about it."""


@contextmanager
def reporting(debug: bool = False) -> Iterator[None]:
    """Turn what goes wrong inside into one line on standard error and the right exit code."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted) as stop:
        say(str(stop) or "Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    except StudioError as error:
        _fail(" ".join([str(error), *getattr(error, "__notes__", [])]), debug)
    except (typer.Exit, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:
        hint = "" if debug else " Run again with --debug for the details."
        _fail(f"Unexpected failure: {type(error).__name__}: {error}.{hint}", debug)


def _fail(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    say(f"scstream: {message}")
    raise typer.Exit(1) from None


def say(line: str) -> None:
    """Print one line on standard error."""
    # Spaces stay as they are: they may be part of a path that is to be copied.
    print(" ".join(part.strip() for part in line.splitlines() if part.strip()), file=sys.stderr)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(values, indent=2))


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that the frame at hand is finished and kept; a second Ctrl-C stops at once."""
    cancel = threading.Event()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)
    if cancel.is_set():
        raise KeyboardInterrupt


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done."""
    with Console(stderr=True).status("") as line:
        yield lambda text: line.update(text)


@contextmanager
def forgiving_streams() -> Iterator[None]:
    """Let no message fail: neither for a letter that the output does not have, nor because nobody listens."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        yield
        return
    with redirect_stderr(cast(TextIO, _Forgiving(sys.stderr))):
        yield


class _Forgiving:
    """A stream that loses what cannot be written: what is said on the way is not worth the work of hours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if that is possible."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Flush, if that is possible."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._give_up()

    def _give_up(self) -> None:
        # What is left in the buffer would fail once more when the interpreter ends, and change the exit code.
        with suppress(OSError, ValueError):
            number, nowhere = self._stream.fileno(), os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)
