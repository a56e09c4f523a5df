"""Write files atomically: a file appears complete under its name, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from scstream_app.errors import ExportError, reason

#: What to do with an existing file.
Overwrite = Literal["replace", "skip", "refuse"]
#: How often the removal of a folder is tried.
_ATTEMPTS = 5


class Closable(Protocol):
    """An object with a ``close`` method."""

    def close(self) -> None:
        """Write buffered data and release the file."""


def temporary_path(path: Path) -> Path:
    """The hidden temporary file beside ``path``. It keeps the suffix, from which encoders infer the format."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


def write_error(path: Path, error: BaseException) -> ExportError:
    """The ExportError for an ``error`` that occurred while writing ``path``."""
    return ExportError(f"Cannot write '{path}': {reason(error)}.")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents unless they exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        in_the_way = [place for place in (folder, *folder.parents) if os.path.isfile(place)]
        if not in_the_way:
            raise write_error(folder, error) from error
        why = f"'{in_the_way[0]}' is a file, and a folder is needed there"
        raise ExportError(f"Cannot write '{folder}': {why}.") from error


def should_keep(path: Path, overwrite: Overwrite) -> bool:
    """Whether the policy keeps an existing file at ``path``; raises ExportError if it refuses existing files."""
    # os.path.exists returns False for files in unreadable folders, where Path.exists raises.
    if overwrite == "replace" or not os.path.exists(path):
        return False
    if overwrite == "skip":
        return True
    raise ExportError(
        f"Cannot write '{path}': the file exists. "
        "Choose another folder, or replace or skip existing files (--existing replace, --existing skip)."
    )


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the content of a file in one step."""
    temporary = temporary_path(path)
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        discard(temporary)


def discard(path: Path) -> None:
    """Remove a file or a folder; ignore errors."""
    try:
        if not path.is_dir():
            path.unlink(missing_ok=True)
        # After a failure, zarr's threads may still put files into a folder that is being removed.
        for _ in range(_ATTEMPTS):
            if not path.is_dir():
                return
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass


class StagedFiles:
    """Files written under temporary names and moved into place together.

    Parameters
    ----------
    paths : sequence of Path
        Final paths, in an existing folder.
    overwrite : {"replace", "skip", "refuse"}
    folders : bool
        Whether the paths are folders instead of files.

    Attributes
    ----------
    kept : bool
        True if all files exist and ``overwrite`` is "skip": then nothing should be written.
    """

    def __init__(self, paths: Sequence[Path], overwrite: Overwrite, folders: bool = False) -> None:
        self.paths = tuple(paths)
        # If one file is missing, the others belong to an export that did not finish.
        self.kept = all([should_keep(path, overwrite) for path in self.paths])
        self._folders = folders
        if not self.kept:
            self._reserve()

    def __getitem__(self, place: int) -> Path:
        """The temporary path of a file."""
        return temporary_path(self.paths[place])

    def commit(self) -> None:
        """Move the files to their final paths."""
        for path in self.paths:
            _move_into_place(temporary_path(path), path)

    def discard(self) -> None:
        """Remove the temporary files that were not committed."""
        if not self.kept:
            for path in self.paths:
                discard(temporary_path(path))

    def _reserve(self) -> None:
        # Fail here if a file cannot be written: earlier and with a clearer message than an encoder gives.
        for path in self.paths:
            self._check_kind(path)
            try:
                discard(temporary_path(path))
                if self._folders:
                    temporary_path(path).mkdir()
                else:
                    temporary_path(path).write_bytes(b"")
            except OSError as error:
                self.discard()
                raise write_error(path, error) from error

    def _check_kind(self, path: Path) -> None:
        if os.path.exists(path) and os.path.isdir(path) != self._folders:
            found, wanted = ("file", "folder") if self._folders else ("folder", "file")
            raise ExportError(f"Cannot write '{path}': a {found} of that name exists, and a {wanted} is needed.")


def _move_into_place(temporary: Path, path: Path) -> None:
    if not (temporary.is_dir() and path.is_dir()):
        os.replace(temporary, path)
        return
    # No operating system replaces a folder by another one in a single step.
    old = path.with_name(f".{path.stem}.old{path.suffix}")
    discard(old)
    os.replace(path, old)
    try:
        os.replace(temporary, path)
    except OSError:
        os.replace(old, path)
        raise
    discard(old)


def close_quietly(file: Closable) -> None:
    """Close a file whose content is no longer needed; ignore errors."""
    try:
        file.close()
    except Exception:
        pass
