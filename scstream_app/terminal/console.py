"""Messages on standard output and standard error, and the exit codes of failures."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from scstream_app import logs
from scstream_app.addresses import hide_secrets
from scstream_app.errors import SettingsError, StudioError
from scstream_app.terminal.exit_codes import CLOSED_PIPE, FAILED
from scstream_app.terminal.interruption import exit_code

#: Base class of typer.BadParameter and of the errors for unknown options and commands. It belongs to click or, in later
#: releases of typer, to a copy of click that is not public.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_NOT_A_NUMBER = re.compile(r"Input should be a valid (number|integer), unable to parse .*", re.DOTALL)

_logger = logging.getLogger(__name__)


class Interrupted(Exception):
    """The user or the system stopped the program; the arguments are the message to print and the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def exit_on_error(debug: bool = False) -> Iterator[None]:
    """Convert exceptions of the body to a line on standard error and an exit code; log their tracebacks."""
    if debug:
        logs.log_details()
    try:
        yield
    except KeyboardInterrupt as stop:
        print_message("Interrupted.")
        raise typer.Exit(exit_code(stop)) from None
    except Interrupted as stop:
        print_message(str(stop))
        raise typer.Exit(stop.code) from None
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    except StudioError as error:
        _logger.debug("Traceback of the next error", exc_info=True)
        _fail(" ".join([str(error), *getattr(error, "__notes__", [])]), debug)
    except BrokenPipeError:
        raise typer.Exit(CLOSED_PIPE) from None
    except (typer.Exit, UsageError):
        raise
    except MemoryError:
        _logger.debug("Traceback of the next error", exc_info=True)
        _fail("There is not enough memory.", debug)
    except Exception as error:
        _logger.error("Unexpected error", exc_info=True)
        hint = "" if debug else " Run again with --debug to see the traceback."
        _fail(f"Unexpected error: {type(error).__name__}: {error}.{hint}", debug)


def _fail(message: str, debug: bool) -> None:
    if debug:
        # FFmpeg's errors name the whole address.
        sys.stderr.write(hide_secrets(traceback.format_exc()))
    _logger.error("%s", message)
    print_message(f"scstream: {message}")
    raise typer.Exit(FAILED) from None


def print_message(line: str) -> None:
    """Print one line on standard error, without the secrets of URLs in it."""
    # Keep inner spaces: they may belong to a path that the user wants to copy.
    print(" ".join(part.strip() for part in hide_secrets(line).splitlines() if part.strip()), file=sys.stderr)


def print_usage_error(error: Any) -> None:
    """Print what is wrong with the arguments, and where to read more, in one line."""
    # Some releases of typer add these to their messages.
    text = error.format_message().strip().replace("Value error, ", "").replace(" (env var: 'None')", "")
    if option := getattr(error, "option_name", "") if "No such option" in text else "":
        similar = getattr(error, "possibilities", None)
        text = f"No such option '{option}'." + (f" Did you mean {_alternatives(similar)}?" if similar else "")
    if number := _NOT_A_NUMBER.search(text):
        # typer reports pydantic's reason, which does not name the value.
        kind = "a whole number" if number[1] == "integer" else "a number"
        text = f"{text[: number.start()]}must be {kind}{_given_value(error)}"
    text = re.sub(r"\S{200,}", lambda long: f"{long[0][:60]}...", text)
    path = error.ctx.command_path if error.ctx is not None else "scstream"
    print_message(f"scstream: {text}{'' if text[-1:] in '.?!' else '.'} See '{path} --help'.")


def _given_value(error: Any) -> str:
    problems = getattr(error.__cause__, "errors", None)
    return f", got '{problems()[0]['input']}'" if problems is not None else ""


def _alternatives(names: list[str]) -> str:
    return " or ".join(f"'{name}'" for name in sorted(names))


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(values, indent=2))
