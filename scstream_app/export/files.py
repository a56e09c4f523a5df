"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from scstream_app.errors import ExportError, reason

#: What to do about a file that is there already.
Overwrite = Literal["replace", "skip", "refuse"]


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Write what is left and let go."""


def partial(path: Path) -> Path:
    """The temporary sibling of a file: hidden, with the same suffix, because encoders go by it."""
    return path.with_name(f".{path.stem}.partial{path.suffix}")


def failure(path: Path, error: BaseException) -> ExportError:
    """The error to raise when ``path`` cannot be written."""
    return ExportError(f"Cannot write '{path}': {reason(error)}.")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; one that is there already will do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        in_the_way = [place for place in (folder, *folder.parents) if os.path.isfile(place)]
        if not in_the_way:
            raise failure(folder, error) from error
        why = f"'{in_the_way[0]}' is a file, and a folder is needed there"
        raise ExportError(f"Cannot write '{folder}': {why}.") from error


def keep(path: Path, overwrite: Overwrite) -> bool:
    """Whether to leave what is at ``path``; raises ExportError where it may be neither kept nor replaced."""
    # Unlike the methods of paths, os.path takes a folder that may not be read for one without the file.
    if overwrite == "replace" or not os.path.exists(path):
        return False
    if overwrite == "skip":
        return True
    raise ExportError(
        f"Cannot write '{path}': it is there already. "
        "Choose another folder, or have what is there replaced or skipped (--existing replace, --existing skip)."
    )


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the file's content in one step."""
    temporary = partial(path)
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise failure(path, error) from error
    finally:
        discard(temporary)


def discard(path: Path) -> None:
    """Remove a file or a folder if it is there and can be removed."""
    try:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass


class Staged:
    """Files of one export, written beside their names and put in place together at the end.

    Parameters
    ----------
    paths : sequence of Path
        Their final names, in a folder that is there.
    overwrite : {"replace", "skip", "refuse"}
    folders : bool
        Whether they are folders rather than files.

    Attributes
    ----------
    kept : bool
        All of them are there already and are to stay: nothing should be written.
    """

    def __init__(self, paths: Sequence[Path], overwrite: Overwrite, folders: bool = False) -> None:
        self.paths = tuple(paths)
        # One that is missing means that the others belong to an export that did not finish.
        self.kept = all([keep(path, overwrite) for path in self.paths])
        self._folders = folders
        if not self.kept:
            self._reserve()

    def __getitem__(self, place: int) -> Path:
        """Where the file is written before it gets its name."""
        return partial(self.paths[place])

    def place(self) -> None:
        """Give the files their names."""
        for path in self.paths:
            _put(partial(path), path)

    def discard(self) -> None:
        """Remove what has not been put in place."""
        if not self.kept:
            for path in self.paths:
                discard(partial(path))

    def _reserve(self) -> None:
        # What keeps a file from being written is said more clearly here, and earlier, than by an encoder.
        for path in self.paths:
            self._check_kind(path)
            try:
                discard(partial(path))
                if self._folders:
                    partial(path).mkdir()
                else:
                    partial(path).write_bytes(b"")
            except OSError as error:
                self.discard()
                raise failure(path, error) from error

    def _check_kind(self, path: Path) -> None:
        if os.path.exists(path) and os.path.isdir(path) != self._folders:
            there, wanted = ("file", "folder") if self._folders else ("folder", "file")
            raise ExportError(f"Cannot write '{path}': there is a {there} of that name, and a {wanted} is needed.")


def _put(temporary: Path, path: Path) -> None:
    if not (temporary.is_dir() and path.is_dir()):
        os.replace(temporary, path)
        return
    # No system replaces one folder by another in a single step.
    aside = path.with_name(f".{path.stem}.old{path.suffix}")
    discard(aside)
    os.replace(path, aside)
    try:
        os.replace(temporary, path)
    except OSError:
        os.replace(aside, path)
        raise
    discard(aside)


def close_quietly(file: Closable) -> None:
    """Close a file that is not wanted any more: what it still had to write does not matter."""
    try:
        file.close()
    except Exception:
        pass
