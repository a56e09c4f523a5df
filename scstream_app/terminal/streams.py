"""Standard output and standard error that may fail: a closed pipe, a full disk, characters missing in the encoding."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO, cast

from scstream_app.errors import reason

FAILED = 1
#: The reader of standard output closed it, as in `scstream info | head -1`: 128 + SIGPIPE, as shells report it.
CLOSED_PIPE = 141
#: How the system reports that the reader of a pipe has closed it; Windows has the second one.
_PIPE_ERRORS = (errno.EPIPE, errno.EINVAL)


@contextmanager
def fail_safe_streams() -> Iterator[FailSafeStream | None]:
    """Let printing never raise in the body; yields standard output, which tells whether it failed."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Without a console, Windows starts the program without streams.
    out = None if sys.stdout is None else FailSafeStream(sys.stdout)
    err = None if sys.stderr is None else FailSafeStream(sys.stderr)
    with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, err)):
        yield out


def output_code(output: FailSafeStream | None) -> int:
    """The exit code of a program that succeeded, but perhaps could not print its results."""
    if output is None:
        return 0
    output.flush()
    if output.failure is None:
        return 0
    if getattr(output.failure, "errno", None) in _PIPE_ERRORS:
        return CLOSED_PIPE
    print(f"scstream: Cannot write to standard output: {reason(output.failure)}.", file=sys.stderr)
    return FAILED


class FailSafeStream:
    """A stream that drops text it cannot write: hours of work must not fail because of a message.

    Attributes
    ----------
    failure : OSError or ValueError or None
        Why the first text was dropped.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | ValueError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text, or drop it if that fails."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError) as error:
            self._redirect_to_null(error)
            return len(text)

    def flush(self) -> None:
        """Flush the stream; drop what cannot be written."""
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._redirect_to_null(error)

    def _redirect_to_null(self, error: OSError | ValueError) -> None:
        self.failure = self.failure or error
        # Otherwise the interpreter flushes the buffer at exit, fails again and changes the exit code.
        with suppress(OSError, ValueError):
            number, null = self._stream.fileno(), os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, number)
            os.close(null)
