"""Replace many files of a folder together: they are written beside it and moved into it at the end."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from scstream_app.export import atomic_files


class StagedFolder:
    """New files for an existing folder. Until `commit` the folder stays as it is; files of other names stay for ever.

    The new files are in the hidden folder ``.NAME.partial`` beside the folder, or in it if it has a disk of its own.
    While they are moved, the files that they replace are in ``.NAME.old``: if the process is killed just then, `clear`
    moves these back.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new, self._old = _hidden_folders(path)
        clear(path)
        try:
            self._new.mkdir()
        except OSError as error:
            raise atomic_files.write_error(path, error) from error

    def write(self, path: Path, content: bytes) -> None:
        """Write the new content of a file, given by its final path."""
        staged = self._new / path.relative_to(self._path)
        try:
            staged.parent.mkdir(parents=True, exist_ok=True)
            staged.write_bytes(content)
        except OSError as error:
            raise atomic_files.write_error(path, error) from error

    def commit(self, removed: Collection[Path] = ()) -> None:
        """Move the new files into the folder, and remove others from it; on an error it is left as it was."""
        moved: list[Path] = []
        try:
            for staged in _files(self._new):
                self._move(staged, final := self._path / staged.relative_to(self._new))
                moved.append(final)
            for path in removed:
                self._put_aside(path)
        except BaseException:
            for path in moved:
                path.unlink(missing_ok=True)
            _move_all(self._old, self._path)
            raise
        self.discard()
        if self._old.is_dir():
            # From here on there is nothing to move back.
            os.replace(self._old, self._new)
            self.discard()

    def _move(self, staged: Path, final: Path) -> None:
        try:
            self._put_aside(final)
            final.parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged, final)
        except OSError as error:
            raise atomic_files.write_error(final, error) from error

    def _put_aside(self, path: Path) -> None:
        if os.path.lexists(path):
            aside = self._old / path.relative_to(self._path)
            aside.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, aside)

    def discard(self) -> None:
        """Remove the new files that are not in the folder."""
        atomic_files.discard(self._new)


def clear(path: Path) -> None:
    """Remove what a killed export of this folder has left, and move back the files that it was replacing."""
    new, old = _hidden_folders(path)
    try:
        _move_all(old, path)
    except OSError as error:
        raise atomic_files.write_error(path, error) from error
    atomic_files.discard(new)
    for temporary in list(path.rglob(".*.partial.*")):
        atomic_files.discard(temporary)


def _hidden_folders(path: Path) -> tuple[Path, Path]:
    # Files are moved on one disk only, and a link may lead to another one.
    real = path.resolve()
    beside = os.stat(real).st_dev == os.stat(real.parent).st_dev and os.access(real.parent, os.W_OK | os.X_OK)
    place = real.parent if beside else real
    return place / f".{path.name}.partial", place / f".{path.name}.old"


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if not path.is_dir())


def _move_all(folder: Path, target: Path) -> None:
    """Move all files of a folder, if it exists, to the same places in another one, and remove the folder."""
    for path in _files(folder):
        os.replace(path, target / path.relative_to(folder))
    atomic_files.discard(folder)
