"""Submenus with recent files and sample clips."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from scstream_app.addresses import short_name
from scstream_app.samples import sample_clips
from scstream_app.ui.sessions.opening.recent_files import RecentFiles
from scstream_app.ui.sessions.opening.recent_sessions import RecentSessions


class OpenMenu(QMenu):
    """Menu whose entries are addresses; ``chosen`` carries the address of the clicked entry."""

    chosen = Signal(str)

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self.triggered.connect(self._on_triggered)

    def _add(self, text: str, address: str, tip: str) -> None:
        # An ampersand in a menu underlines the next letter.
        action = self.addAction(text.replace("&", "&&"))
        action.setData(address)
        action.setToolTip(tip)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.data() is not None:
            self.chosen.emit(str(action.data()))


class RecentMenu(OpenMenu):
    """Recently opened files and sessions, newest first, and "Clear"; ``cleared`` follows a click on it.

    A clip that has a session has two entries: one continues the session, one segments the clip again.
    """

    cleared = Signal()

    def __init__(self, addresses: RecentFiles, sessions: RecentSessions, parent: QWidget) -> None:
        super().__init__("Open Recent", parent)
        self.setObjectName("open_recent")
        self._addresses, self._sessions = addresses, sessions
        self.aboutToShow.connect(self._fill)
        self.aboutToShow.connect(sessions.refresh)
        sessions.changed.connect(self._refill)

    @Slot()
    def _refill(self) -> None:
        if self.isVisible():
            self._fill()

    @Slot()
    def _fill(self) -> None:
        self.clear()
        recent = self._addresses.recent()
        for address, name in zip(recent, _distinct_names(recent), strict=True):
            tip = address.partition("\n")[0]
            session = self._sessions.of(address)
            if session is None:
                self._add(name, address, tip)
            else:
                self._add(f"{name}: {session.describe()}", session.path, session.path)
                self._add(f"{name}: segment again", address, tip)
        if not recent:
            self.addAction("No Recent Files").setEnabled(False)
        self.addSeparator()
        clear = self.addAction("Clear")
        clear.setEnabled(bool(recent))
        clear.triggered.connect(self._on_clear)

    @Slot()
    def _on_clear(self) -> None:
        self._addresses.clear()
        self.cleared.emit()


class SamplesMenu(OpenMenu):
    """Menu of the sample clips that come with the program."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Sample Clips", parent)
        self.setObjectName("sample_clips")
        self.menuAction().setVisible(bool(sample_clips()))
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for sample in sample_clips():
            self._add(sample.title, str(sample.path), sample.about or sample.title)


def _distinct_names(addresses: list[str]) -> list[str]:
    """Short names of addresses; equal names get their folder appended."""
    names = [short_name(address) for address in addresses]
    times = Counter(names)
    folders = [Path(address.partition("\n")[0]).parent.name for address in addresses]
    return [
        f"{name} ({folder})" if times[name] > 1 and folder else name
        for name, folder in zip(names, folders, strict=True)
    ]
