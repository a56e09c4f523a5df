"""Submenus that open something at once: what was opened lately, and the sample clips."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from scstream_app.samples import sample_clips
from scstream_app.sources.addresses import short_name
from scstream_app.ui.sessions.recent_files import RecentFiles


class OpenMenu(QMenu):
    """Entries that each stand for an address; ``chosen`` carries that of the one that was clicked."""

    chosen = Signal(str)

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self.triggered.connect(self._on_triggered)

    def _offer(self, text: str, address: str, tip: str) -> None:
        # In a menu an ampersand would underline the letter after it.
        action = self.addAction(text.replace("&", "&&"))
        action.setData(address)
        action.setToolTip(tip)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.data() is not None:
            self.chosen.emit(str(action.data()))


class RecentMenu(OpenMenu):
    """What was opened lately, newest first, and a way to forget it, after which comes ``cleared``."""

    cleared = Signal()

    def __init__(self, addresses: RecentFiles, parent: QWidget) -> None:
        super().__init__("Open Recent", parent)
        self.setObjectName("open_recent")
        self._addresses = addresses
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        recent = self._addresses.recent()
        for address, name in zip(recent, _told_apart(recent), strict=True):
            self._offer(name, address, address.partition("\n")[0])
        if not recent:
            self.addAction("Nothing Yet").setEnabled(False)
        self.addSeparator()
        clear = self.addAction("Clear")
        clear.setEnabled(bool(recent))
        clear.triggered.connect(self._on_clear)

    @Slot()
    def _on_clear(self) -> None:
        self._addresses.clear()
        self.cleared.emit()


class SamplesMenu(OpenMenu):
    """The clips that come with the program."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Sample Clips", parent)
        self.setObjectName("sample_clips")
        self.menuAction().setVisible(bool(sample_clips()))
        self.aboutToShow.connect(self._fill)

    @Slot()
    def _fill(self) -> None:
        self.clear()
        for sample in sample_clips():
            self._offer(sample.title, str(sample.path), sample.about or sample.title)


def _told_apart(addresses: list[str]) -> list[str]:
    """Short names; those that would be the same say in which folder each is."""
    names = [short_name(address) for address in addresses]
    times = Counter(names)
    folders = [Path(address.partition("\n")[0]).parent.name for address in addresses]
    return [
        f"{name} ({folder})" if times[name] > 1 and folder else name
        for name, folder in zip(names, folders, strict=True)
    ]
