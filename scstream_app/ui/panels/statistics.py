"""The Statistics panel: tabs with the run over time, lives of segments, events and the current frame."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import QEvent, QSize, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.panels.plots.events_table import EventsTable
from scstream_app.ui.panels.plots.frame_plots import ColoursPlot, SizesPlot
from scstream_app.ui.panels.plots.lifetimes import LifetimesPlot
from scstream_app.ui.panels.plots.plot_helpers import LOWEST
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage
from scstream_app.ui.panels.plots.time_plots import TimePlots

_TITLES = ("Over time", "Lifetimes", "Events", "Sizes", "Colours")
#: Seconds between two updates of the visible plots: painting them keeps the window busy for 10 to 20 ms.
_PAUSE = 0.5

Page = TypeVar("Page", bound=StatisticsPage)


class StatisticsPanel(QWidget):
    """Tabs of plots. A click in a plot goes to the frame or selects the segment.

    A tab is filled when it is first shown: to make all plots takes longer than the rest of the window.
    """

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self._made: list[StatisticsPage] = []
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self.setMinimumHeight(4 * LOWEST)
        for title in _TITLES:
            place = QWidget()
            QVBoxLayout(place).setContentsMargins(0, 0, 0, 0)
            self._tabs.addTab(place, title)
        self._tabs.currentChanged.connect(self._refresh)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._tabs)
        self._panel_refresh = PanelRefresh(document, _PAUSE, self)
        self._panel_refresh.come.connect(self._refresh)
        for signal in (document.display.shown_changed, document.progressed, document.display.selection_changed):
            signal.connect(self._panel_refresh.ask)
        for signal in (document.marks_changed, document.display.look_changed):
            signal.connect(self._panel_refresh.ask)
        for signal in (document.closed, document.opened):
            signal.connect(self._reset)

    @cached_property
    def time(self) -> TimePlots:
        """Numbers of the run over time."""
        return self._add(0, TimePlots(self._document))

    @cached_property
    def lives(self) -> LifetimesPlot:
        """Lives of the segments."""
        return self._add(1, LifetimesPlot(self._document))

    @cached_property
    def events(self) -> EventsTable:
        """Table of events."""
        return self._add(2, EventsTable(self._document))

    @cached_property
    def sizes(self) -> SizesPlot:
        """Sizes of the segments on the frame shown."""
        return self._add(3, SizesPlot(self._document))

    @cached_property
    def colours(self) -> ColoursPlot:
        """Colours of the segments on the frame shown."""
        return self._add(4, ColoursPlot(self._document))

    def _add(self, place: int, page: Page) -> Page:
        """Put a new page into its tab."""
        tab = self._tabs.widget(place)
        assert tab is not None
        layout = tab.layout()
        assert layout is not None
        layout.addWidget(page)
        page.paint()
        self._made.append(page)
        return page

    def _current(self) -> StatisticsPage:
        match self._tabs.currentIndex():
            case 0:
                return self.time
            case 1:
                return self.lives
            case 2:
                return self.events
            case 3:
                return self.sizes
        return self.colours

    def sizeHint(self) -> QSize:
        """A size with room for all plots."""
        return QSize(480, 12 * LOWEST)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._paint()

    @Slot()
    def _reset(self) -> None:
        """Reset plots and their zoom when another clip opens."""
        for page in self._made:
            page.reset()
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        if not self._stale:
            self._current().refresh()

    def _paint(self) -> None:
        for page in self._made:
            page.paint()
        self._stale = True
        self._refresh()
