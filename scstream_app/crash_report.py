"""Reports about exceptions that nothing expected, and about runs that ended without a chance to report anything."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from types import TracebackType
from typing import Any

from scstream_app import logs
from scstream_app.addresses import hide_secrets

#: Bytes of a report of the interpreter that are read.
_FAULT_BYTES = 100_000
#: Empty files older than this many seconds belong to processes that were killed.
_OLD = 30 * 86_400.0

_logger = logging.getLogger(__name__)

#: Called with the headline of a fault and the full report.
OnCrash = Callable[[str, str], None]


def report(trace: str) -> str:
    """Text for a bug report: versions, the traceback, and the end of the log file, without secrets."""
    # Imports what is needed to ask for versions, which no run without a crash should wait for.
    from scstream_app import system_info

    facts = system_info.versions()
    packages = ", ".join(f"{name} {version}" for name, version in facts.pop("packages").items())
    lines = [
        *(f"{name}: {value}" for name, value in facts.items()),
        f"packages: {packages}",
        "",
        trace.strip(),
        "",
        f"Last lines of {logs.log_file()}:",
        *logs.last_lines(),
    ]
    return hide_secrets("\n".join(lines)) + "\n"


# --- exceptions


@contextmanager
def reporting_exceptions(on_crash: OnCrash) -> Iterator[None]:
    """Log exceptions that nothing caught, on all threads, and pass each new one on; the program continues.

    An exception at a place where one was raised before is only logged. ``on_crash`` is called on the thread of the
    exception.
    """
    hooks = _Hooks(on_crash)
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.excepthook = hooks.on_exception
    threading.excepthook = lambda given: hooks.on_exception(given.exc_type, given.exc_value, given.exc_traceback)
    sys.unraisablehook = lambda given: hooks.on_exception(given.exc_type, given.exc_value, given.exc_traceback)
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before


class _Hooks:
    def __init__(self, on_crash: OnCrash) -> None:
        self._on_crash = on_crash
        self._known: set[tuple[Any, ...]] = set()
        self._lock = threading.Lock()

    def on_exception(self, kind: type[BaseException], value: BaseException | None, trace: TracebackType | None) -> None:
        """Log an exception, and report it unless there was one at the same place."""
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            return
        text = "".join(traceback.format_exception(kind, value, trace))
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr, end="")
        _logger.error("Unexpected error on thread '%s'\n%s", threading.current_thread().name, text.rstrip())
        place = kind, *((one.filename, one.lineno) for one in traceback.extract_tb(trace)[-1:])
        with self._lock:
            if place in self._known:
                return
            self._known.add(place)
        headline = hide_secrets(f"{kind.__name__}: {value}".splitlines()[0])
        self._on_crash(headline, report(text))


# --- ends without an exception


@contextmanager
def watching_for_faults() -> Iterator[None]:
    """Have the interpreter write where each thread was if the process ends by a fault, for instance in a library.

    The file is removed when the process ends as it should; see `earlier_faults`. Nothing is done if faults are written
    elsewhere already, as with ``python -X faulthandler``.
    """
    try:
        if faulthandler.is_enabled():
            raise FileExistsError
        logs.log_folder().mkdir(parents=True, exist_ok=True)
        path = logs.log_folder() / f"fault-{os.getpid()}.txt"
        file = path.open("w", encoding="utf-8")
    except OSError:
        yield
        return
    with file:
        faulthandler.enable(file)
        try:
            yield
        finally:
            faulthandler.disable()
    with suppress(OSError):
        path.unlink()


def earlier_faults() -> list[str]:
    """What processes that ended by a fault have written; each is returned once."""
    found = []
    for path in sorted(logs.log_folder().glob("fault-*.txt")):
        with suppress(OSError):
            text = _read(path)
            if text or time() - path.stat().st_mtime > _OLD:
                path.unlink()
            if text:
                _logger.error("An earlier run ended by a fault\n%s", text)
                found.append(text)
    return found


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_FAULT_BYTES).decode("utf-8", "replace").strip()
