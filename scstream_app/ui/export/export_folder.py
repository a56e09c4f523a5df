"""Where exports go: which folder the dialog proposes, and which will not do."""

from __future__ import annotations

import os
from pathlib import Path

from scstream_app.session.library import file_stem
from scstream_app.sources.addresses import public_address
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.folders import own_folder, usable, writable


def clip_of(document: Document) -> str:
    """What tells the clip from others, without any password."""
    session = document.session
    return "" if session is None else public_address(session.source_address.partition("\n")[0])


def proposed_folder(document: Document, last: str = "", last_clip: str = "") -> Path:
    """The folder of the last export, if that was of the same clip; else one named after the clip.

    That one lies where the last export does, or beside the clip, or among a person's own videos: never where nothing
    can be written, nor among the program's own files.

    Parameters
    ----------
    last, last_clip : str
        The folder of the last export, and what `clip_of` gave then; empty if there was none.
    """
    if last and last_clip == clip_of(document) and usable(Path(last)):
        return Path(last)
    places = [Path(last).parent] if last else []
    facts, session = document.facts, document.session
    # Of several images, the first.
    address = Path(facts.address.partition("\n")[0]) if facts is not None else Path()
    if facts is not None and os.path.exists(address):
        places.append(address.absolute().parent)
    place = next((place for place in places if usable(place)), own_folder())
    name = session.path.stem if session is not None and session.recorded else address.stem
    return place / f"{file_stem(name)}_segments"


def is_empty(folder: Path) -> bool:
    """Whether there is nothing in a folder that a person could miss: no folder, or only hidden files."""
    try:
        return all(name.startswith(".") for name in os.listdir(folder))
    except OSError:
        return True


def folder_error(text: str) -> str:
    """What is wrong with a folder that was typed; nothing if it will do."""
    folder = folder_of(text)
    if not text:
        return "Choose a folder."
    if not folder.is_absolute():
        return f"'{text}' could be anywhere: give the whole path, or choose a folder with Browse…."
    if os.path.isfile(folder):
        return f"'{folder}' is a file: choose a folder."
    if not writable(folder):
        return f"Nothing can be written to '{folder}': choose another folder."
    return ""


def folder_of(text: str) -> Path:
    """The folder that somebody means who types this."""
    return Path(os.path.expanduser(text))
