"""Lock files: one process at a time; the system releases a lock when its process ends, even if killed."""

from __future__ import annotations

import errno
import logging
import os
import re
import socket
import sys
from contextlib import suppress
from pathlib import Path

#: Errors of drives without locks, such as some network drives.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
# A link would let a foreign folder make the program write to any file.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_OWNER = re.compile(r"([0-9]{1,10}) ([\w.-]{1,255})")

_logger = logging.getLogger(__name__)


class Locked(Exception):
    """Another process, or another part of this one, holds the lock; the message says which process."""


class FileLock:
    """Exclusive lock on a file, held until `release`; raises `Locked` if it is taken.

    Parameters
    ----------
    path : Path
        The lock file. It is created if necessary and contains the number of the process and the name of the machine.
    temporary : bool
        Whether `release` deletes the file.
    """

    def __init__(self, path: Path, temporary: bool = False) -> None:
        self._path, self._temporary = path, temporary
        self._descriptor = _lock(path, os.O_CREAT)
        # The process before may have deleted the file after it was opened here.
        while temporary and not _is_at(self._descriptor, path):
            os.close(self._descriptor)
            self._descriptor = _lock(path, os.O_CREAT)
        # Only informative: a full disk must not prevent the lock.
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())

    def release(self) -> None:
        """Release the lock."""
        if self._temporary and os.name == "posix":
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        if self._temporary and os.name != "posix":
            # Windows deletes no open file. If another process has opened it meanwhile, that one deletes it.
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def lock_if_possible(path: Path, temporary: bool = False) -> FileLock | None:
    """Take the lock as `FileLock` does; on a drive without locks, log that and return None."""
    try:
        return FileLock(path, temporary)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        if temporary:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        _logger.warning("'%s' is written without a lock: its drive has none (%s)", path.parent, error.strerror)
        return None


def check_free(path: Path) -> None:
    """Raise `Locked` if the lock is taken; creates no file."""
    with suppress(FileNotFoundError):
        os.close(_lock(path, 0))


def _lock(path: Path, flags: int) -> int:
    descriptor = os.open(path, _FLAGS | flags, 0o666)
    try:
        _take(descriptor)
    except OSError as error:
        owner = _owner(descriptor)
        os.close(descriptor)
        if error.errno not in _TAKEN:
            raise
        raise Locked(f"another ScStream process is writing to it{owner}") from error
    return descriptor


def _owner(descriptor: int) -> str:
    """The process in the lock file, in brackets; empty if it is unknown or this one."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        found = _OWNER.match(os.read(descriptor, 300).decode(errors="replace"))
    except OSError:
        return ""
    here = socket.gethostname()
    if found is None or (int(found[1]) == os.getpid() and found[2] == here):
        return ""
    return f" (process {found[1]})" if found[2] == here else f" (process {found[1]} on {found[2]})"


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    #: A byte behind the content, which other processes can therefore read.
    _PLACE = 1 << 20

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        # Not lockf: a process can acquire that lock twice, and loses it when it closes either descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
