"""The Statistics panel: tabs with the run over time, lives of segments, events and the current frame."""

from __future__ import annotations

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

#: Seconds between two updates of the visible plots: painting them keeps the window busy for 10 to 20 ms.
_PAUSE = 0.5


class StatisticsPanel(QWidget):
    """Tabs of plots. A click in a plot goes to the frame or selects the segment."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self.time = TimePlots(document)
        self.lives = LifetimesPlot(document)
        self.events = EventsTable(document)
        self.sizes = SizesPlot(document)
        self.colours = ColoursPlot(document)
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self.setMinimumHeight(4 * LOWEST)
        for title, plots in self._plots().items():
            self._tabs.addTab(plots, title)
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
        self._paint()

    def _plots(self) -> dict[str, StatisticsPage]:
        return {
            "Over time": self.time,
            "Lifetimes": self.lives,
            "Events": self.events,
            "Sizes": self.sizes,
            "Colours": self.colours,
        }

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
        for plots in self._plots().values():
            plots.reset()
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        if not self._stale:
            list(self._plots().values())[self._tabs.currentIndex()].refresh()

    def _paint(self) -> None:
        for plots in self._plots().values():
            plots.paint()
        self._stale = True
        self._refresh()
