"""Messages on standard output and standard error, exit codes and Ctrl-C."""

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
from scstream_app.sources.addresses import hide_secrets

INTERRUPTED = 130


class Interrupted(Exception):
    """The user pressed Ctrl-C; the argument is the message to print."""


@contextmanager
def exit_on_error(debug: bool = False) -> Iterator[None]:
    """Convert exceptions of the body to one line on standard error and an exit code."""
    try:
        yield
    except (KeyboardInterrupt, Interrupted) as stop:
        print_message(str(stop) or "Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    except StudioError as error:
        _fail(" ".join([str(error), *getattr(error, "__notes__", [])]), debug)
    except (typer.Exit, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:
        hint = "" if debug else " Run again with --debug to see the traceback."
        _fail(f"Unexpected error: {type(error).__name__}: {error}.{hint}", debug)


def _fail(message: str, debug: bool) -> None:
    if debug:
        # FFmpeg's errors name the whole address.
        sys.stderr.write(hide_secrets(traceback.format_exc()))
    print_message(f"scstream: {message}")
    raise typer.Exit(1) from None


def print_message(line: str) -> None:
    """Print one line on standard error, without the secrets of URLs in it."""
    # Keep inner spaces: they may belong to a path that the user wants to copy.
    print(" ".join(part.strip() for part in hide_secrets(line).splitlines() if part.strip()), file=sys.stderr)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(values, indent=2))


@contextmanager
def cancel_on_interrupt() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets, to end the job after the current frame; a second Ctrl-C stops it at once."""
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
    """Yield a function that shows the current step in a line on standard error."""
    with Console(stderr=True).status("") as line:
        yield lambda text: line.update(text)


@contextmanager
def fail_safe_streams() -> Iterator[None]:
    """Prevent failures while printing, such as characters missing in the encoding or a closed standard error."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        yield
        return
    with redirect_stderr(cast(TextIO, _FailSafeStream(sys.stderr))):
        yield


class _FailSafeStream:
    """A stream that drops text it cannot write: hours of work must not fail because of a message."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, or drop it if that fails."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            self._redirect_to_null()
            return len(text)

    def flush(self) -> None:
        """Flush the stream; ignore errors."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._redirect_to_null()

    def _redirect_to_null(self) -> None:
        # Otherwise the interpreter flushes the buffer at exit, fails again and changes the exit code.
        with suppress(OSError, ValueError):
            number, null = self._stream.fileno(), os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.close(null)
