"""The log file of the window and the command: rotating, and without passwords or keys of URLs."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from platformdirs import user_log_path

from scstream_app import __version__
from scstream_app.addresses import hide_secrets

#: Bytes of one log file, and how many older ones are kept.
_BYTES, _OLDER = 1_000_000, 3
_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"

_logger = logging.getLogger("scstream_app")


def log_folder() -> Path:
    """Folder of the log files and of reports about crashes."""
    return user_log_path("scstream-studio", appauthor=False)


def log_file() -> Path:
    """The newest log file; older ones are beside it as scstream.log.1 and so on."""
    return log_folder() / "scstream.log"


@contextmanager
def logging_to_file(arguments: Sequence[str] = ()) -> Iterator[None]:
    """Write messages of the program to the log file, beginning with the versions and the command.

    Without a folder that can be written to there is no log, and the program works all the same.
    """
    try:
        log_folder().mkdir(parents=True, exist_ok=True)
        handler = _LogFile(log_file(), maxBytes=_BYTES, backupCount=_OLDER, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield
        return
    handler.setFormatter(_PublicFormatter(_LINE))
    level = _logger.level
    _logger.addHandler(handler)
    _logger.setLevel(logging.INFO)
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    _logger.info("scstream %s, Python %s, %s: %s", __version__, platform.python_version(), system, " ".join(arguments))
    try:
        yield
    finally:
        _logger.removeHandler(handler)
        _logger.setLevel(level)
        # Closing writes what is left, which fails on a full disk.
        with suppress(OSError, ValueError):
            handler.close()


def log_details() -> None:
    """Also write messages for debugging."""
    _logger.setLevel(logging.DEBUG)


def last_lines(count: int = 40) -> list[str]:
    """The last lines of the log file; none if it cannot be read."""
    try:
        return log_file().read_text("utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []


class _PublicFormatter(logging.Formatter):
    """Formats messages and tracebacks without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return hide_secrets(super().format(record))


class _LogFile(RotatingFileHandler):
    """A log file that fails in silence: hours of work must not fail because of a message."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk, or a file that another process has rotated."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handleError(record)
