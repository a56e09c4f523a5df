"""The folder of unsaved sessions: create, list, clean up and save them."""

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

from scstream_app.addresses import has_number, split_reading
from scstream_app.errors import SessionError, StudioError, reason
from scstream_app.plural import counted
from scstream_app.session import PICTURES, SUFFIX, UNSAVED, Manifest
from scstream_app.session.folder_copy import Progress, copy_folder
from scstream_app.session.reader import reporting_errors
from scstream_app.session.storage.files import InvalidData, check_file, check_folder
from scstream_app.session.storage.lock import Lock
from scstream_app.session.storage.write_access import can_write

#: Longest session name without its suffix, in bytes: file systems allow 255, and temporary names need some of them.
_LONGEST_NAME = 200
_DAY = 86_400.0
_CHUNK = 1 << 20


class Library:
    """Folder of new sessions: every run is written there from its first frame on, so that a crash loses nothing.

    The user may save sessions into the same folder. Unsaved ones contain a marker file.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_data_path("scstream-studio", appauthor=False) / "sessions"
        self._reserved: set[Path] = set()

    def new_path(self, address: str) -> Path:
        """Reserve an unused path for a session of the source; raises SessionError if the folder is not writable."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise SessionError(
                f"Cannot store sessions in '{self.folder}': {reason(error)}. Choose another folder in Preferences."
            ) from error
        stem = file_stem(plain_name(address))
        stamp = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        path = self.folder / f"{stem} {stamp}{SUFFIX}"
        count = 1
        while path in self._reserved or path.exists():
            count += 1
            path = self.folder / f"{stem} {stamp} ({count}){SUFFIX}"
        self._reserved.add(path)
        return path

    def unsaved_sessions(self) -> list[tuple[str, str]]:
        """Description and path of each unsaved session that has frames, newest first.

        The sessions are not opened, because that takes time in proportion to their length.
        """
        found = []
        for path in self._unsaved():
            with suppress(StudioError, OSError):
                name = Manifest.read(path / "manifest.json").source.name
                count = count_frames(path)
                if count:
                    text = f"{name}\n{counted(count, 'frame')}"
                    found.append((path.stat().st_mtime, text, str(path)))
        return [(text, path) for _, text, path in sorted(found, reverse=True)]

    def stale_sessions(self, days: float = 0.0) -> Iterator[Path]:
        """Yield unsaved sessions that are not open and were last written at least ``days`` days ago.

        Recordings are left out.
        """
        for path in self._unsaved():
            # The user made a recording on purpose, and its pictures exist nowhere else.
            if (path / PICTURES).exists():
                continue
            with suppress(StudioError, OSError):
                written = max(entry.stat().st_mtime for entry in (path, path / "manifest.json", path / "frames.jsonl"))
                if time() - written >= days * _DAY:
                    Lock(path / "lock").release()
                    yield path

    def delete_stale(self, days: float = 0.0) -> int:
        """Delete the `stale_sessions`; returns how many were deleted."""
        paths = list(self.stale_sessions(days))
        for path in paths:
            discard(path)
        return sum(not path.exists() for path in paths)

    def sessions(self) -> list[Path]:
        """Paths of all sessions in the folder, saved or not."""
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _unsaved(self) -> list[Path]:
        return [path for path in self.sessions() if is_unsaved(path)]


def file_stem(name: str) -> str:
    """Turn a name into a valid file name without a suffix.

    >>> file_stem("a/b: c.")
    'a_b_ c'
    """
    safe = "".join(sign if sign.isalnum() or sign in " -_.()" else "_" for sign in name)
    return safe.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .") or "video"


def plain_name(address: str) -> str:
    """Short name of a source: its file, the folder of several images, or the path or host of a URL.

    A user name or password in the URL is left out.
    """
    address, _ = split_reading(address)
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
    if has_number(path.name) and not os.path.exists(path):
        return path.parent.name
    return path.name if os.path.isdir(path) else path.stem


# --- single sessions


def count_frames(path: Path) -> int:
    """Number of segmented frames of a session, without opening it."""
    records = path / "frames.jsonl"
    check_file(records)
    with open(records, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))


def is_unsaved(path: Path) -> bool:
    """Whether the user has not saved the session yet."""
    return os.path.lexists(path / UNSAVED)


def mark_saved(path: Path) -> None:
    """Save a session where it is by removing its marker file; raises SessionError if that fails."""
    try:
        (path / UNSAVED).unlink(missing_ok=True)
    except OSError as error:
        raise SessionError(f"Cannot save '{path}': {reason(error)}.") from error


def discard(path: Path) -> bool:
    """Delete a session if it is unsaved and not open; return whether it is gone."""
    with suppress(StudioError, OSError):
        if is_unsaved(path):
            Lock(path / "lock").release()
            shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def move_session(path: Path, target: Path, on_progress: Progress | None = None) -> None:
    """Save a session by moving it to ``target``; it must not be open.

    A session that is already at ``target`` is replaced, and deleted only after the move succeeded. Raises SessionError
    if the move fails; both sessions are then unchanged. ``on_progress`` is called if the session has to be copied to
    another disk; what it raises stops the move.
    """
    with reporting_errors(f"Cannot save '{target}'"):
        _check_target(path, target)
        try:
            _rename_session(path, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # Copying takes minutes, in which nobody else may write to the session or delete it.
            lock = Lock(path / "lock")
            try:
                _copy_in_place(path, target, on_progress)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                lock.release()
            # Windows does not delete an open file.
            shutil.rmtree(path, ignore_errors=True)


def copy_session(path: Path, target: Path, on_progress: Progress | None = None) -> None:
    """Save a copy of a session at ``target``; as `move_session`, but the session stays as it is."""
    with reporting_errors(f"Cannot save '{target}'"):
        _check_target(path, target)
        # Where the folder cannot be written to, the lock file cannot be created either.
        lock = Lock(path / "lock") if can_write(path) else None
        try:
            _copy_in_place(path, target, on_progress)
        finally:
            if lock is not None:
                lock.release()


def _check_target(path: Path, target: Path) -> None:
    if target.suffix != SUFFIX:
        raise InvalidData(f"the name of a session must end in {SUFFIX}")
    if Path(os.path.abspath(path)) in Path(os.path.abspath(target)).parents:
        raise InvalidData("a session cannot be inside itself")
    if os.path.lexists(target):
        check_folder(target)
        Manifest.read(target / "manifest.json")
        Lock(target / "lock").release()


def _copy_in_place(path: Path, target: Path, on_progress: Progress | None) -> None:
    """Copy a session to a temporary folder beside the target, then rename that."""
    copy = target.with_name(f".{target.name}.partial")
    shutil.rmtree(copy, ignore_errors=True)
    try:
        copy_folder(path, copy, on_progress)
        _rename_session(copy, target)
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise


def _rename_session(path: Path, target: Path) -> None:
    """Rename a session on the same disk; a session that has this name is moved aside and deleted afterwards."""
    with _without_unsaved_marker(path):
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
def _without_unsaved_marker(path: Path) -> Iterator[None]:
    """Remove the marker file of an unsaved session before it is moved, and restore it if the move fails.

    Removing it after the move would be too late: if that failed, the session that was replaced may be gone already.
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
