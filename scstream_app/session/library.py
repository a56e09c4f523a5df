"""Where sessions are kept before anybody saves them, which were left behind, and moving one to where it is to stay."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from time import time
from urllib.parse import urlsplit

from platformdirs import user_data_path

from scstream_app.errors import SessionError, StudioError, reason
from scstream_app.session import PICTURES, SUFFIX, UNSAVED, Manifest
from scstream_app.session.reader import reporting_errors
from scstream_app.session.storage.files import check_file, check_folder
from scstream_app.session.storage.lock import Lock

#: Longest name of a session without its suffix, in bytes: systems allow 255, temporary names need some of them.
_LONGEST_NAME = 200
_DAY = 86_400.0
_CHUNK = 1 << 20


class Library:
    """A folder of sessions: every run is written there from its first frame on, so that a crash loses nothing.

    Sessions that a person has saved may lie there as well: those that nobody has are told by a mark of their own.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_data_path("scstream-studio", appauthor=False) / "sessions"
        self._given: set[Path] = set()

    def new_path(self, address: str) -> Path:
        """Where the session of a source is to be; a SessionError if there can be none."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise SessionError(
                f"Sessions cannot be kept in '{self.folder}': {reason(error)}. Choose another folder in Preferences."
            ) from error
        stem = file_stem(_plain_name(address))
        stamp = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        path = self.folder / f"{stem} {stamp}{SUFFIX}"
        count = 1
        while path in self._given or path.exists():
            count += 1
            path = self.folder / f"{stem} {stamp} ({count}){SUFFIX}"
        self._given.add(path)
        return path

    def left_behind(self) -> list[tuple[str, str]]:
        """What to say of each session here that nobody has saved, newest first, and its path.

        They are not opened: that would take as long as all of them are.
        """
        found = []
        for path in self._unsaved():
            with suppress(StudioError, OSError):
                name = Manifest.read(path / "manifest.json").source.name
                count = _lines(path / "frames.jsonl")
                if count:
                    text = f"{name}\n{count} {'frame' if count == 1 else 'frames'}"
                    found.append((path.stat().st_mtime, text, str(path)))
        return [(text, path) for _, text, path in sorted(found, reverse=True)]

    def forgotten(self, days: float = 0.0) -> Iterator[Path]:
        """Unsaved sessions, but for recordings, that nothing was written to for so many days, and open nowhere."""
        for path in self._unsaved():
            # A recording was made on purpose, and its pictures are nowhere else.
            if (path / PICTURES).exists():
                continue
            with suppress(StudioError, OSError):
                written = max(entry.stat().st_mtime for entry in (path, path / "manifest.json", path / "frames.jsonl"))
                if time() - written >= days * _DAY:
                    Lock(path / "lock").release()
                    yield path

    def clear(self, days: float = 0.0) -> int:
        """Delete `forgotten` sessions; how many of them are gone."""
        paths = list(self.forgotten(days))
        for path in paths:
            discard(path)
        return sum(not path.exists() for path in paths)

    def _unsaved(self) -> list[Path]:
        return [path for path in sorted(self.folder.glob(f"*{SUFFIX}")) if is_unsaved(path)]


def file_stem(name: str) -> str:
    """A name as far as files can be called so, without a suffix.

    >>> file_stem("a/b: c.")
    'a_b_ c'
    """
    safe = "".join(sign if sign.isalnum() or sign in " -_.()" else "_" for sign in name)
    return safe.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .") or "video"


def _plain_name(address: str) -> str:
    """What a source is called for short: by its file, its folder if it is several images, or its place in the network.

    What stands before the host, a password maybe, is no part of that.
    """
    first, several, _ = address.partition("\n")
    if several:
        return Path(first).parent.name
    if "://" in address:
        try:
            parts = urlsplit(address)
        except ValueError:
            return "stream"
        return Path(parts.path).stem or parts.hostname or parts.scheme
    path = Path(address)
    return path.name if os.path.isdir(path) else path.stem


def _lines(path: Path) -> int:
    check_file(path)
    with open(path, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))


# --- single sessions


def is_unsaved(path: Path) -> bool:
    """Whether nobody has said yet that the session is to stay where it is."""
    return os.path.lexists(path / UNSAVED)


def keep(path: Path) -> None:
    """Have a session stay where it is; a SessionError says why that cannot be done."""
    try:
        (path / UNSAVED).unlink(missing_ok=True)
    except OSError as error:
        raise SessionError(f"Cannot save '{path}': {reason(error)}.") from error


def discard(path: Path) -> None:
    """Delete a session that nobody has saved; any other, and one that is open somewhere, is left alone."""
    with suppress(StudioError, OSError):
        if is_unsaved(path):
            Lock(path / "lock").release()
            shutil.rmtree(path, ignore_errors=True)


def move_session(path: Path, target: Path) -> None:
    """Save a session that is not open elsewhere. One that is there already goes, but not before this is in its place.

    A SessionError says why that cannot be done; both are then where they were.
    """
    with reporting_errors(f"Cannot save '{target}'"):
        if target.suffix != SUFFIX:
            raise SessionError(f"Cannot save '{target}': the name of a session ends in {SUFFIX}.")
        if os.path.lexists(target):
            check_folder(target)
            Manifest.read(target / "manifest.json")
            Lock(target / "lock").release()
        try:
            _put(path, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _bring(path, target)


def _bring(path: Path, target: Path) -> None:
    """Move from another disk: a whole copy first."""
    copy = target.with_name(f".{target.name}.partial")
    shutil.rmtree(copy, ignore_errors=True)
    try:
        shutil.copytree(path, copy, symlinks=True)
        _put(copy, target)
    except shutil.Error as error:
        shutil.rmtree(copy, ignore_errors=True)
        # It tells of every file; the first is enough.
        raise OSError(error.args[0][0][2]) from error
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise
    shutil.rmtree(path, ignore_errors=True)


def _put(path: Path, target: Path) -> None:
    """Save a folder under another name on the same disk; what has that name is put aside, and goes afterwards."""
    with _unmarked(path):
        if not os.path.lexists(target):
            os.rename(path, target)
            return
        aside = target.with_name(f".{target.name}.replaced")
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(target, aside)
        try:
            os.rename(path, target)
        except BaseException:
            os.rename(aside, target)
            raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _unmarked(path: Path) -> Iterator[None]:
    """Take the mark of an unsaved session off before it is moved, and put it back if that fails.

    Afterwards it could not be undone: what was in its place may be gone.
    """
    marked = is_unsaved(path)
    (path / UNSAVED).unlink(missing_ok=True)
    try:
        yield
    except BaseException:
        if marked:
            with suppress(OSError):
                (path / UNSAVED).touch()
        raise
