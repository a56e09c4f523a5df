"""File lock that allows one writer per session."""

from __future__ import annotations

from pathlib import Path

from scstream_app.file_lock import Locked, lock_if_possible
from scstream_app.session.storage.files import InvalidData


class Lock:
    """Exclusive right to write a session, held until `release`; raises InvalidData if another process holds it.

    On a drive without locks it has no effect.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._lock = lock_if_possible(path)
        except Locked as error:
            raise InvalidData(str(error)) from error

    def release(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()
