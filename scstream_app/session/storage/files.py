"""Files of a session: read within limits and never through links, replaced in one step, appended to and trimmed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scstream_app.errors import SessionError

# A link inside a session could lead a reader, or worse a writer, to any file of the machine.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Invalid(SessionError, ValueError):
    """Something makes no sense; the message says what, but not in which session."""


def check_file(path: Path) -> os.stat_result:
    """An ordinary file: neither a link nor a pipe that would be waited on for ever."""
    info = _status(path)
    if not stat.S_ISREG(info.st_mode):
        raise Invalid(f"{path.name} is a link, or no ordinary file")
    return info


def check_folder(path: Path) -> None:
    """A real folder, no link to one."""
    if not stat.S_ISDIR(_status(path).st_mode):
        raise Invalid(f"{path.name} is a link, or no folder")


def _status(path: Path) -> os.stat_result:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        raise Invalid(f"{path.name} is missing") from None


def open_file(path: Path, flags: int) -> int:
    """A descriptor of the file itself, not of what a link points to."""
    return os.open(path, flags | _FLAGS, 0o666)


def read(path: Path, limit: int) -> bytes:
    """The whole file, if it is no larger than ``limit``."""
    size = check_file(path).st_size
    if size > limit:
        raise Invalid(f"{path.name} holds {size} bytes, more than the {limit} that make sense")
    with open(open_file(path, os.O_RDONLY), "rb") as file:
        return file.read(limit + 1)


def parse(text: bytes, name: str) -> Any:
    """JSON, whatever is wrong with it being said in one way."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{name} is damaged") from error


def dump(value: Any) -> bytes:
    """JSON for people to read."""
    return json.dumps(value, indent=1, allow_nan=False).encode() + b"\n"


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: one call to the system may take only some."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def replace(path: Path, data: bytes, durable: bool = False) -> None:
    """Write a file in one step: a reader finds the old one or the new one, never half of one."""
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
    """Write a file of which nobody knows yet; what was there before goes."""
    _write_new(path, data, durable)


def put_aside(path: Path) -> Path:
    """Rename a file that cannot be read to NAME.damaged, or NAME.damaged2, ...; returns its new path."""
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
    """Have a file's contents on the disk before going on."""
    _with_descriptor(path, os.O_RDWR, os.fsync)


def sync_folder(path: Path) -> None:
    """The same for a folder's names; Windows needs and offers no such thing."""
    if os.name == "posix":
        _with_descriptor(path, os.O_RDONLY, os.fsync)


def _with_descriptor(path: Path, flags: int, action: Callable[[int], None]) -> None:
    descriptor = open_file(path, flags)
    try:
        action(descriptor)
    finally:
        os.close(descriptor)


class AppendFile:
    """A file that only grows: whatever lies behind ``end``, where the last whole record ends, is cut off."""

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
        """Add the data, wholly or not at all."""
        before = self.end
        try:
            os.lseek(self._descriptor, before, os.SEEK_SET)
            write_all(self._descriptor, data)
        except BaseException:
            self.truncate(before)
            raise
        self.end = before + len(data)

    def truncate(self, end: int) -> None:
        """Cut back to ``end``."""
        os.ftruncate(self._descriptor, end)
        self.end = end

    def sync(self) -> None:
        """Have everything on the disk."""
        os.fsync(self._descriptor)

    def release(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)
