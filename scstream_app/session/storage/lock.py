"""One writer at a time: a lock that the system takes back when its holder dies, however it dies."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from scstream_app.session.storage.files import Invalid, open_file

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Lock:
    """The right to write a session, until `release`."""

    def __init__(self, path: Path) -> None:
        self._descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            _take(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno not in _TAKEN:
                raise
            raise Invalid("it is being written by another ScStream") from error

    def release(self) -> None:
        """Let others write."""
        os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        # Not lockf: a process could take that lock twice, and would lose it when closing either.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
