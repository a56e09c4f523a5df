"""Folders for file dialogs, and whether they are writable."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from scstream_app.samples import SAMPLES

#: Folders of the user in order of preference.
_PLACES = (QStandardPaths.StandardLocation.MoviesLocation, QStandardPaths.StandardLocation.DocumentsLocation)


def own_folder() -> Path:
    """Videos, documents or home folder of the user, the first that is writable."""
    places = [Path(QStandardPaths.writableLocation(kind)) for kind in _PLACES]
    return next((place for place in places if place.is_dir() and usable(place)), Path.home())


def folder_of(address: str) -> Path:
    """Folder of a clip, or the user's own if it is not a file in an existing folder."""
    # An address may be a list of images, at a network address, or relative to a session.
    path = Path(address.partition("\n")[0])
    return path.parent if path.is_absolute() and path.parent.is_dir() else own_folder()


def usable(folder: Path) -> bool:
    """Whether a folder is writable and not the one with the sample clips."""
    return not folder.is_relative_to(SAMPLES) and writable(folder)


def writable(folder: Path) -> bool:
    """Whether a folder is writable or can be created."""
    # Functions of os.path return False where methods of Path raise PermissionError.
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), None)
    return there is not None and os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)
