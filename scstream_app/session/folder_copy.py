"""Copy the folder of a session, with progress."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.new_folder import UNSAVED

#: Called with the number of bytes copied so far and in total; it may raise to stop.
Progress = Callable[[int, int], None]

_CHUNK = 1 << 20
#: Files that belong to the original alone.
_LEFT_OUT = frozenset({"lock", UNSAVED})


def copy_folder(path: Path, target: Path, on_progress: Progress | None = None) -> None:
    """Copy a session that is not open to a new folder, without the marker of unsaved sessions.

    Raises OSError at once if the disk has too little room. If it raises, a part of the copy may be left.
    """
    found = list(_files(path, Path()))
    total, done = sum(size for _, size in found), 0
    if total > shutil.disk_usage(target.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    target.mkdir()
    for name, _ in found:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        with open(path / name, "rb") as source, open(target / name, "xb") as copy:
            while data := source.read(_CHUNK):
                copy.write(data)
                done += len(data)
                if on_progress is not None:
                    on_progress(done, total)
        with suppress(OSError):
            shutil.copystat(path / name, target / name)
            # Files of a read-only session: the copy is to be changed.
            os.chmod(target / name, stat.S_IMODE(os.stat(target / name).st_mode) | stat.S_IWUSR)
    for folder in _folders(path, Path()):
        (target / folder).mkdir(exist_ok=True)
    if hasattr(os, "sync"):
        # Once for all files: flushing thousands one by one takes minutes.
        os.sync()


def _files(folder: Path, inside: Path) -> Iterator[tuple[Path, int]]:
    """Yield the relative path and size of every file of a session."""
    with os.scandir(folder / inside) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(info.st_mode):
                yield from _files(folder, inside / entry.name)
            elif not stat.S_ISREG(info.st_mode):
                raise InvalidData(f"{entry.name} is a link or not a regular file")
            elif not (inside == Path() and entry.name in _LEFT_OUT):
                yield inside / entry.name, info.st_size


def _folders(folder: Path, inside: Path) -> Iterator[Path]:
    """Yield the relative paths of all folders of a session: some may be empty."""
    with os.scandir(folder / inside) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield inside / entry.name
                yield from _folders(folder, inside / entry.name)
