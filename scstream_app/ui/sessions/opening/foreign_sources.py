"""Ask before the address in a session that may come from somewhere else is opened."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtWidgets import QWidget

from scstream_app.addresses import is_remote, public_address
from scstream_app.errors import StudioError
from scstream_app.session import Manifest
from scstream_app.session.library import Library
from scstream_app.ui.qt.dialogs.confirm import confirm
from scstream_app.ui.sessions.opening.recent_files import RecentFiles


def may_open_source(path: Path, addresses: RecentFiles, library: Library, window: QWidget) -> bool:
    """Whether a session may be opened, which opens its source.

    Asks if the source is a camera or at a network address, unless the session is in the user's library or was opened
    before: whoever sends a session must not decide what this machine connects to.
    """
    try:
        address = Manifest.read(path / "manifest.json").source.address
    except (StudioError, OSError):
        # Opening the session reports it.
        return True
    if not is_remote(address) or _is_own(path, addresses, library):
        return True
    question = f"This session's source is '{public_address(address)}'. Open it?"
    return confirm(window, question, "Open")


def _is_own(path: Path, addresses: RecentFiles, library: Library) -> bool:
    here = os.path.abspath(path)
    return Path(here).parent == Path(os.path.abspath(library.folder)) or here in addresses.recent()
