"""Safe file access: reads with a size limit, no symbolic links, atomic replacement, appending and truncation."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scstream_app.errors import InvalidData as InvalidData

# A symbolic link inside a session could make the program read, or worse overwrite, any file of the machine.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Unwritten(InvalidData):
    """Data that never reached the disk: the file is empty or zero there, as a power failure leaves it."""


def is_unwritten(data: bytes) -> bool:
    """Whether the data is what a power failure leaves of data that was not flushed: zeros, or nothing.

    >>> is_unwritten(bytes(20)), is_unwritten(b""), is_unwritten(b"ids")
    (True, True, False)
    """
    return not data.strip(b"\0")


def check_file(path: Path) -> os.stat_result:
    """Require a regular file: not a link, nor a pipe, which would block for ever; returns its status."""
    info = _status(path)
    if not stat.S_ISREG(info.st_mode):
        raise InvalidData(f"{path.name} is a link or not a regular file")
    return info


def check_folder(path: Path) -> None:
    """Require a folder that is not a link."""
    if not stat.S_ISDIR(_status(path).st_mode):
        raise InvalidData(f"{path.name} is a link or not a folder")


def _status(path: Path) -> os.stat_result:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        raise InvalidData(f"{path.name} is missing") from None


def open_file(path: Path, flags: int) -> int:
    """Open a file and return its descriptor; fails for a symbolic link."""
    return os.open(path, flags | _FLAGS, 0o666)


def read(path: Path, limit: int) -> bytes:
    """Read a whole file of at most ``limit`` bytes."""
    size = check_file(path).st_size
    if size > limit:
        raise InvalidData(f"{path.name} has {size} bytes, which exceeds the limit of {limit}")
    with open(open_file(path, os.O_RDONLY), "rb") as file:
        # Not up to the limit: that much memory would be taken at once, however short the file is.
        return file.read(size)


def parse(text: bytes, name: str) -> Any:
    """Parse JSON; raises InvalidData for any kind of malformed text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"{name} is damaged") from error


def dump(value: Any) -> bytes:
    """Indented JSON."""
    return json.dumps(value, indent=1, allow_nan=False).encode() + b"\n"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes: a single os.write may write only some of them."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace(path: Path, data: bytes, durable: bool = False) -> None:
    """Replace a file atomically: a reader finds the old content or the new one, never a part of it."""
    temporary = path.with_name(f".{path.name}.partial")
    try:
        _write_new(temporary, data, durable)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_new(path: Path, data: bytes, durable: bool = False) -> None:
    """Write a file that no reader expects yet, so it need not be atomic; replaces an existing file."""
    _write_new(path, data, durable)


def rename_damaged(path: Path) -> Path:
    """Rename an unreadable file to NAME.damaged, or NAME.damaged2, ...; returns its new path."""
    aside, number = path.with_name(f"{path.name}.damaged"), 2
    while os.path.lexists(aside):
        aside, number = path.with_name(f"{path.name}.damaged{number}"), number + 1
    os.rename(path, aside)
    return aside


def _write_new(path: Path, data: bytes, durable: bool) -> None:
    path.unlink(missing_ok=True)
    descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Flush the content of a file to disk."""
    _with_descriptor(path, os.O_RDWR, os.fsync)


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk; Windows neither needs nor offers this."""
    if os.name == "posix":
        _with_descriptor(path, os.O_RDONLY, os.fsync)


def _with_descriptor(path: Path, flags: int, action: Callable[[int], None]) -> None:
    descriptor = open_file(path, flags)
    try:
        action(descriptor)
    finally:
        os.close(descriptor)


class AppendFile:
    """File opened for appending. ``end`` is the end of the last complete record; opening truncates the file there."""

    def __init__(self, path: Path, end: int) -> None:
        self.path, self.end = path, end
        check_file(path)
        self._descriptor = open_file(path, os.O_RDWR)
        try:
            self.truncate(end)
        except BaseException:
            self.release()
            raise

    def append(self, data: bytes) -> None:
        """Append the data completely, or leave the file unchanged."""
        before = self.end
        try:
            os.lseek(self._descriptor, before, os.SEEK_SET)
            write_all(self._descriptor, data)
        except BaseException:
            self.truncate(before)
            raise
        self.end = before + len(data)

    def truncate(self, end: int) -> None:
        """Truncate the file to ``end`` bytes."""
        os.ftruncate(self._descriptor, end)
        self.end = end

    def sync(self) -> None:
        """Flush the file to disk."""
        os.fsync(self._descriptor)

    def release(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
