"""File lock that allows one writer per session; the system releases it when the process ends, even if killed."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from scstream_app.session.storage.files import InvalidData, open_file

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Lock:
    """Exclusive right to write a session, held until `release`; raises InvalidData if another process holds it."""

    def __init__(self, path: Path) -> None:
        self._descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            _take(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno not in _TAKEN:
                raise
            raise InvalidData("another ScStream process is writing to it") from error

    def release(self) -> None:
        """Release the lock."""
        os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        # Not lockf: a process can acquire that lock twice, and loses it when it closes either descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
