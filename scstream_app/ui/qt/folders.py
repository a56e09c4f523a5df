"""Folders of the user: where a file dialog starts, and whether files can be written there."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from scstream_app.samples import SAMPLES

#: People's own folders, the fittest first.
_PLACES = (QStandardPaths.StandardLocation.MoviesLocation, QStandardPaths.StandardLocation.DocumentsLocation)


def own_folder() -> Path:
    """A folder of the person who sits here: for videos, for documents, or the one with all of them."""
    places = [Path(QStandardPaths.writableLocation(kind)) for kind in _PLACES]
    return next((place for place in places if place.is_dir() and usable(place)), Path.home())


def usable(folder: Path) -> bool:
    """Whether a folder is a person's own and can be written to."""
    return not folder.is_relative_to(SAMPLES) and writable(folder)


def writable(folder: Path) -> bool:
    """Whether something can be written to a folder, or the folder be made."""
    # Unlike the methods of paths, those of os.path do not fail where nothing may be read.
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), None)
    return there is not None and os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)
