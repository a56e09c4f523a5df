"""List of recently opened files and sessions, stored in the settings without secrets."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings

from scstream_app.addresses import absolute_address, public_address, split_reading
from scstream_app.session import SUFFIX
from scstream_app.session.library import is_unsaved
from scstream_app.ui.sessions.opening.drive_check import DriveCheck

_MOST = 12
_KEY = "recent"


class RecentFiles:
    """Addresses of sources and paths of sessions, newest first.

    Unsaved sessions are not included; they have a list of their own.
    """

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings
        self._drives = DriveCheck()

    def recent(self) -> list[str]:
        """Recent addresses, newest first."""
        value = self._settings.value(_KEY)
        # QSettings returns a list of one as a string, and an empty list as None.
        kept = value if isinstance(value, list) else [value] if value else []
        return [public_address(str(address)) for address in kept]

    def remember(self, address: str) -> None:
        """Put an address first, with an absolute path and without its password and other secrets."""
        address = absolute_address(address)
        if _is_unsaved_session(address):
            return
        shown = public_address(address)
        kept = [shown, *(other for other in self.recent() if other != shown)]
        self._settings.setValue(_KEY, kept[:_MOST])

    def forget(self, address: str) -> None:
        """Remove an address that cannot be opened."""
        self._settings.setValue(_KEY, [other for other in self.recent() if other != public_address(address)])

    def clear(self) -> None:
        """Remove all addresses."""
        self._settings.remove(_KEY)

    def folder(self) -> Path:
        """Folder of the file opened last."""
        return next(iter(self.folders()), Path.home())

    def folders(self, sessions_first: bool = False) -> list[Path]:
        """Folders of recent files, newest first; optionally the folders of sessions before those of clips.

        Folders on drives that do not respond are left out.
        """
        firsts = [split_reading(address)[0].partition("\n")[0] for address in self.recent()]
        if sessions_first:
            firsts.sort(key=lambda first: not first.endswith(SUFFIX))
        return [Path(first).absolute().parent for first in self._drives.existing(firsts)]


def _is_unsaved_session(address: str) -> bool:
    return address.endswith(SUFFIX) and is_unsaved(Path(address))
