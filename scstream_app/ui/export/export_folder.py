"""The output folder of an export: which folder the dialog proposes, and which folders it rejects."""

from __future__ import annotations

import os
from pathlib import Path

from scstream_app.addresses import public_address
from scstream_app.session.library import file_stem, plain_name
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.dialogs.folders import own_folder, usable, writable


def clip_key(document: Document) -> str:
    """A key that identifies the clip: its address without password."""
    session = document.session
    return "" if session is None else public_address(session.source_address.partition("\n")[0])


def proposed_folder(document: Document, last: str = "", last_clip: str = "") -> Path:
    """The folder of the last export if it was of the same clip; else a folder named after the clip.

    The new folder lies beside the last export, beside the clip or in the user's folder for videos: the first of these
    that is writable and does not belong to the program. It never lies beside a folder of images: that is often one of
    many, among which the export would look like another clip.

    Parameters
    ----------
    last, last_clip : str
        Folder and `clip_key` of the last export; empty if there was none.
    """
    if last and last_clip == clip_key(document) and usable(Path(last)):
        return Path(last)
    places = [Path(last).parent] if last else []
    facts, session = document.facts, document.session
    address = "" if facts is None else facts.address
    if os.path.isfile(address):
        places.append(Path(address).absolute().parent)
    place = next((place for place in places if usable(place)), own_folder())
    name = session.path.stem if session is not None and session.recorded else plain_name(address)
    return place / f"{file_stem(name)}_segments"


def is_empty(folder: Path) -> bool:
    """Whether a folder does not exist or contains only hidden files."""
    try:
        return all(name.startswith(".") for name in os.listdir(folder))
    except OSError:
        return True


def folder_error(text: str) -> str:
    """Describe why the typed folder cannot be used; empty if it can."""
    folder = expand_folder(text)
    if not text:
        return "Choose a folder."
    if not folder.is_absolute():
        return f"'{text}' is not a full path. Type the full path, or click Browse…."
    if os.path.isfile(folder):
        return f"'{folder}' is a file. Choose a folder."
    if not writable(folder):
        return f"The folder '{folder}' is not writable. Choose another folder."
    return ""


def expand_folder(text: str) -> Path:
    """Convert typed text to a folder; "~" is the home folder."""
    return Path(os.path.expanduser(text))
