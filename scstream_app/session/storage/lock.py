"""File lock that allows one writer per session."""

from __future__ import annotations

from pathlib import Path

from scstream_app.file_lock import FileLock, Locked
from scstream_app.session.storage.files import InvalidData


class Lock:
    """Exclusive right to write a session, held until `release`; raises InvalidData if another process holds it."""

    def __init__(self, path: Path) -> None:
        try:
            self._lock = FileLock(path)
        except Locked as error:
            raise InvalidData(str(error)) from error

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()
