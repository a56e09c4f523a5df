"""The output folder of an export: which folder the dialog proposes, and which folders it rejects."""

from __future__ import annotations

import os
from pathlib import Path

from scstream_app.addresses import public_address
from scstream_app.session.library import file_stem, is_unsaved, plain_name
from scstream_app.sources import IMAGE_SUFFIXES, TIFF_SUFFIXES
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.dialogs.folders import own_folder, usable, writable


def clip_key(document: Document) -> str:
    """A key that identifies the clip: its address without password."""
    session = document.session
    return "" if session is None else public_address(session.source_address.partition("\n")[0])


def proposed_folder(document: Document, last: str = "", last_clip: str = "") -> Path:
    """The folder of the last export if it was of the same clip; else one named after the clip or its saved session.

    The new folder lies beside the session if the user has saved it, beside the last export, beside the clip or in the
    user's folder for videos: the first that is writable and belongs neither to the program nor to the clip's images. It
    lies neither among these nor beside their folder, which is often one of many: the export would look like another
    clip.

    Parameters
    ----------
    last, last_clip : str
        Folder and `clip_key` of the last export; empty if there was none.
    """
    if last and last_clip == clip_key(document) and usable(Path(last)):
        return Path(last)
    facts, session = document.facts, document.session
    address = "" if facts is None else facts.address
    images = _image_folder(address)
    saved = session is not None and not session.recorded and not is_unsaved(session.path)
    places = [session.path.parent] if session is not None and saved else []
    places += [Path(last).parent] if last else []
    if os.path.isfile(address):
        places.append(Path(address).absolute().parent)
    taken = () if images is None else (images, images.parent)
    place = next((place for place in places if place not in taken and usable(place)), own_folder())
    named = session is not None and (session.recorded or saved)
    name = session.path.stem if session is not None and named else plain_name(address)
    return place / f"{file_stem(name)}_segments"


def _image_folder(address: str) -> Path | None:
    """The folder of the images at an address: a folder, an image, a pattern or a list; None if they are not images."""
    first = Path(address.partition("\n")[0]).absolute()
    if os.path.isdir(first):
        return first
    suffix = first.suffix.lower()
    # A TIFF file contains all frames of a clip, like a film.
    is_film = suffix not in IMAGE_SUFFIXES or (suffix in TIFF_SUFFIXES and os.path.isfile(first))
    return None if is_film else first.parent


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
