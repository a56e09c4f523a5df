"""The dock of statistics: the run over time, the lives of segments, and the frame at hand, as plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QGuiApplication, QPalette, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QScrollArea, QTabWidget, QVBoxLayout, QWidget
from superqt.utils import QSignalThrottler

from scstream.colour import channels
from scstream_app import palette
from scstream_app.palette import RGB
from scstream_app.trace import Life, Trace
from scstream_app.ui.document import Document

Array = npt.NDArray[np.float64]

#: At most five updates a second, and of the plots that are seen.
_PAUSE_MILLISECONDS = 200
#: Lives in the Gantt chart, and ellipses in the scatter plot.
_MOST_LIVES = 60
_MOST_ELLIPSES = 60
_CIRCLE = np.append(np.linspace(0.0, 2.0 * np.pi, 33), np.nan)
#: Okabe and Ito's colours, which everybody can tell apart, on light and on dark ground.
_BLUE, _ORANGE, _GREEN, _PURPLE = (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167)
_RED, _SKY = (213, 94, 0), (86, 180, 233)
#: From the bottom of the stack to its top.
_STAGES = (("decode", _SKY), ("engine", _BLUE), ("write", _ORANGE))
_AXES = {
    "rgb": ("red", "green", "blue"),
    "lab": ("lightness", "green to red", "blue to yellow"),
}
#: Percentile of the milliseconds that there is room for: single frames can take a hundred times as long.
_TYPICAL = 98.0
_SMALL = {"font-size": "8pt"}
#: Pixels that a plot over time has at least.
_LOWEST = 80


class StatisticsPanel(QWidget):
    """Tabs of plots. A click jumps to the frame, or selects the segment."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._stale = True
        self.time = TimePlots(document)
        self.lives = LivesPlot(document)
        self.sizes = SizesPlot(document)
        self.colours = ColoursPlot(document)
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self.setMinimumHeight(2 * _LOWEST)
        for title, plots in self._plots().items():
            self._tabs.addTab(plots, title)
        self._tabs.currentChanged.connect(self._refresh)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._tabs)
        self._throttle = QSignalThrottler(parent=self)
        self._throttle.setTimeout(_PAUSE_MILLISECONDS)
        self._throttle.triggered.connect(self._refresh)
        for signal in (document.shown_changed, document.progressed, document.selection_changed):
            signal.connect(self._throttle.throttle)
        for signal in (document.marks_changed, document.look_changed, document.closed, document.opened):
            signal.connect(self._throttle.throttle)
        self._paint()

    def _plots(self) -> dict[str, TimePlots | LivesPlot | SizesPlot | ColoursPlot]:
        return {"Over time": self.time, "Lives": self.lives, "Sizes": self.sizes, "Colours": self.colours}

    def sizeHint(self) -> QSize:
        """Room enough for all plots."""
        return QSize(480, 4 * _LOWEST + 80)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            self._paint()

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


# --- over time


class TimePlots(QWidget):
    """Segments, milliseconds, log posterior and churn, one below the other, with the frame at hand as a line."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Statistics over time")
        self.plots: dict[str, Any] = {}
        for row, (name, title) in enumerate(
            (
                ("segments", "segments"),
                ("milliseconds", "ms a frame"),
                ("log_posterior", "log posterior"),
                ("churn", "churn, %"),
            )
        ):
            self.plots[name] = self._plot(row, title)
        self.curves = {
            "segments": _curve(self.plots["segments"], _BLUE),
            "log_posterior": _curve(self.plots["log_posterior"], _GREEN),
            "churn": _curve(self.plots["churn"], _PURPLE),
        }
        # The tallest is drawn first: the others cover its lower part.
        for stage, colour in reversed(_STAGES):
            curve = _curve(self.plots["milliseconds"], colour)
            curve.setFillLevel(0.0)
            curve.setBrush(pg.mkBrush(*colour))
            self.curves[stage] = curve
        self.plots["segments"].setLimits(minYRange=4.0)
        self.plots["milliseconds"].disableAutoRange(axis="y")
        self.real_time = _line(self.plots["milliseconds"], 0, Qt.PenStyle.DashLine, _RED)
        self.now = {name: _line(plot, 90, Qt.PenStyle.SolidLine) for name, plot in self.plots.items()}
        self._legend = QLabel()
        self._legend.setContentsMargins(8, 2, 8, 2)
        self._legend.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        # In a low dock they are scrolled rather than squeezed.
        self._view.setMinimumHeight(4 * _LOWEST)
        scroll = QScrollArea()
        scroll.setWidget(self._view)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        layout.addWidget(scroll, 1)
        layout.addWidget(self._legend)
        self._view.scene().sigMouseClicked.connect(self._on_click)

    def _plot(self, row: int, title: str) -> Any:
        plot = self._view.addPlot(row=row, col=0)
        plot.setLabel("left", title, **_SMALL)
        plot.getAxis("left").setWidth(64)
        plot.getAxis("left").enableAutoSIPrefix(False)
        plot.getAxis("bottom").setStyle(showValues=row == 3)
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        plot.setMouseEnabled(x=True, y=False)
        plot.setMenuEnabled(False)
        plot.setDownsampling(auto=True, mode="peak")
        plot.setClipToView(True)
        if row:
            plot.setXLink(self.plots["segments"])
        if row == 3:
            plot.setLabel("bottom", "frame")
        return plot

    def refresh(self) -> None:
        """Show the trace as it is now."""
        trace = self._document.trace
        frames = np.array(trace.frames, np.float64)
        self.curves["segments"].setData(frames, trace.column("segments"))
        self.curves["log_posterior"].setData(frames, trace.column("log_posterior"))
        self.curves["churn"].setData(frames, 100.0 * trace.column("churn"))
        # A stage that was not timed takes no room.
        total = np.zeros(len(frames))
        for stage, _ in _STAGES:
            total = total + np.nan_to_num(trace.column(stage))
            self.curves[stage].setData(frames, total)
        self.plots["milliseconds"].setYRange(0.0, self._room(total), padding=0.0)
        facts = self._document.facts
        self.real_time.setVisible(facts is not None)
        if facts is not None:
            self.real_time.setValue(1000.0 / facts.rate)
        index = self._document.index
        for line in self.now.values():
            line.setVisible(index is not None)
            line.setValue(index or 0)
        self._tell()

    def _room(self, total: Array) -> float:
        """Milliseconds at the top of the axis: first frames of scenes have to settle, and go beyond it."""
        facts, trace = self._document.facts, self._document.trace
        usual = np.delete(total, [0, *filter(None, map(trace.place, trace.cuts))]) if len(total) > 1 else total
        typical = float(np.percentile(usual, _TYPICAL)) if len(usual) else 0.0
        return max(1.15 * typical, 1.25 * 1000.0 / facts.rate if facts is not None else 0.0, 1.0)

    def _tell(self) -> None:
        facts = self._document.facts
        parts = [f"<span style='color:{_html(colour)}'>■</span> {stage}" for stage, colour in _STAGES]
        if facts is not None:
            parts.append(f"<span style='color:{_html(_RED)}'>╌╌</span> real time ({1000.0 / facts.rate:.1f} ms)")
        self._legend.setText(" &nbsp; ".join(parts))

    def paint(self) -> None:
        """Follow the application's palette."""
        _paint(self._view, self.plots.values())
        for line in self.now.values():
            line.setPen(_ink(160))

    def _on_click(self, event: Any) -> None:
        for plot in self.plots.values():
            x = _clicked(plot, event)
            if x is not None:
                self._document.show(round(x.x()))
                return


# --- lives


class LivesPlot(QWidget):
    """A bar for each of the segments that lived longest, under the one it split off from."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.ids: list[int] = []
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Lives of segments")
        self.plot = self._view.addPlot()
        self.plot.setMenuEnabled(False)
        self.plot.setLabel("bottom", "frame")
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self.plot.getAxis("left").setWidth(96)
        self.plot.invertY(True)
        self.plot.setLimits(yMin=-1.0, yMax=_MOST_LIVES + 1.0, minYRange=3.0, minXRange=2.0)
        self.bars = pg.BarGraphItem(x0=[], x1=[], y=[], height=0.7)
        self.branches = pg.PlotCurveItem(connect="pairs", pen=pg.mkPen(_GREEN, width=1.5))
        self.joins = pg.PlotCurveItem(connect="pairs", pen=pg.mkPen(_RED, width=1.5, style=Qt.PenStyle.DotLine))
        for item in (self.bars, self.branches, self.joins):
            self.plot.addItem(item)
        self.now = _line(self.plot, 90, Qt.PenStyle.SolidLine)
        self._legend = QLabel(
            f"<span style='color:{_html(_GREEN)}'>│</span> split off &nbsp; "
            f"<span style='color:{_html(_RED)}'>┊</span> merged into"
        )
        self._legend.setContentsMargins(8, 2, 8, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._view, 1)
        layout.addWidget(self._legend)
        self.plot.getViewBox().sigYRangeChanged.connect(self._label)
        self._view.scene().sigMouseClicked.connect(self._on_click)

    def refresh(self) -> None:
        """Show the lives as they are now."""
        document = self._document
        trace = document.trace
        end = float(trace.frames[-1] + 1) if len(trace) else 0.0
        lives = important(trace, _MOST_LIVES, document.selection)
        self.ids = [life.id for life in lives]
        row = {life.id: n for n, life in enumerate(lives)}
        self.bars.setOpts(
            x0=[life.born for life in lives],
            x1=[end if life.died is None else life.died for life in lives],
            y=list(range(len(lives))),
            brushes=[pg.mkBrush(*colour_of(document, life.id)) for life in lives],
            pens=[_ink(255, 2.0) if life.id in document.selection else pg.mkPen(None) for life in lives],
        )
        _pairs(self.branches, [(life.born, row[life.parent], row[life.id]) for life in lives if life.parent in row])
        joined = [(life.died, row[life.id], row[life.merged_into]) for life in lives if life.merged_into in row]
        _pairs(self.joins, [(died, one, other) for died, one, other in joined if died is not None])
        self.now.setVisible(document.index is not None)
        self.now.setValue(document.index or 0)
        self._label()

    def _label(self) -> None:
        """Name as many rows as there is room for."""
        box = self.plot.getViewBox()
        low, high = box.viewRange()[1]
        pixels = box.height() / max(high - low, 1e-9)
        step = max(1, math.ceil((self.fontMetrics().height() + 1) / max(pixels, 0.1)))
        names = self._document.names.names
        labels = [names.get(id, f"segment {id}") for id in self.ids]
        short = [label if len(label) <= 13 else f"{label[:12]}…" for label in labels]
        self.plot.getAxis("left").setTicks([[(n, short[n]) for n in range(0, len(short), step)]])

    def paint(self) -> None:
        """Follow the application's palette."""
        _paint(self._view, [self.plot])
        self.now.setPen(_ink(160))

    def _on_click(self, event: Any) -> None:
        place = _clicked(self.plot, event)
        if place is not None:
            row = round(place.y())
            if 0 <= row < len(self.ids):
                self._document.select([self.ids[row]])


def important(trace: Trace, most: int, always: Iterable[int] = ()) -> list[Life]:
    """The lives that lasted longest, and those asked for; each below the one that it split off from."""
    end = trace.frames[-1] + 1 if len(trace) else 0
    asked = frozenset(always)

    def rank(life: Life) -> tuple[bool, int, int]:
        return life.id not in asked, life.born - (end if life.died is None else life.died), life.id

    lives = [life for life in trace.lives.values() if life.died != life.born or life.id in asked]
    chosen = {life.id: life for life in sorted(lives, key=rank)[:most]}
    children: dict[int | None, list[Life]] = {}
    for life in sorted(chosen.values(), key=lambda life: (life.born, life.id)):
        children.setdefault(life.parent if life.parent in chosen else None, []).append(life)
    ordered: list[Life] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        life = waiting.pop()
        ordered.append(life)
        waiting.extend(children.get(life.id, [])[::-1])
    return ordered


# --- the frame at hand


class SizesPlot(QWidget):
    """How many segments of the frame at hand have which size."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Sizes of segments")
        self.plot = self._view.addPlot()
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.setLabel("bottom", "pixels of a segment, on this frame")
        self.plot.setLabel("left", "segments")
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self.bars = pg.BarGraphItem(x=[], height=[], width=0.9, brush=_BLUE, pen=None)
        self.plot.addItem(self.bars)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)

    def refresh(self) -> None:
        """Count the segments of the frame at hand: those of 1 pixel, of 2 and 3, of 4 to 7, ..."""
        shown = self._document.shown
        pixels = np.empty(0) if shown is None else shown.result.statistics["pixels"]
        counts = doublings(pixels)
        self.bars.setOpts(x=np.arange(len(counts)), height=counts)
        self.plot.getAxis("bottom").setTicks([[(n, _short(2**n)) for n in range(0, len(counts), 1 + len(counts) // 9)]])
        self.plot.setXRange(-0.6, max(len(counts), 1) - 0.4, padding=0.0)

    def paint(self) -> None:
        """Follow the application's palette."""
        _paint(self._view, [self.plot])


def doublings(pixels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """How many numbers are 1, how many 2 or 3, how many 4 to 7 and so on; smaller ones are left out.

    >>> doublings(np.array([0, 1, 2, 3, 9])).tolist()
    [1, 2, 0, 1]
    """
    seen = pixels[pixels >= 1]
    return np.bincount(np.floor(np.log2(seen)).astype(np.int64)).astype(np.int64)


class ColoursPlot(QWidget):
    """The segments of the frame at hand in two channels of colour, with an ellipse of two standard deviations each."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._axes = QComboBox()
        self._axes.setAccessibleName("Colour channels")
        for across, up in ((0, 1), (0, 2), (1, 2)):
            self._axes.addItem("", (across, up))
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Colours of segments")
        self.plot = self._view.addPlot()
        self.plot.setMenuEnabled(False)
        self.plot.getAxis("left").setWidth(52)
        self.ellipses = pg.PlotCurveItem(connect="finite")
        self.chosen = pg.PlotCurveItem(connect="finite")
        self.spots = pg.ScatterPlotItem(hoverable=True, tip=None)
        for item in (self.ellipses, self.chosen, self.spots):
            self.plot.addItem(item)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 0)
        row.addWidget(self._axes)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self._view, 1)
        self._axes.currentIndexChanged.connect(self.refresh)
        self.spots.sigClicked.connect(self._on_click)

    @Slot()
    def refresh(self) -> None:
        """Show the segments of the frame at hand."""
        document = self._document
        colour = document.settings.colour
        across, up = self._axes.currentData()
        for n, pair in enumerate(((0, 1), (0, 2), (1, 2))):
            self._axes.setItemText(n, " and ".join(_AXES[colour][axis] for axis in pair))
        self.plot.setLabel("bottom", _AXES[colour][across])
        self.plot.setLabel("left", _AXES[colour][up])
        shown = document.shown
        rows = None if shown is None else shown.result.statistics
        if rows is None or not len(rows):
            self.spots.clear()
            self.ellipses.setData([], [])
            self.chosen.setData([], [])
            return
        rgb = np.stack([rows[name] for name in ("red", "green", "blue")], axis=1).astype(np.float64)
        means = channels(rgb, colour)[:, [across, up]]
        covariances = rows["covariance"][:, [[across], [up]], [across, up]].astype(np.float64)
        selected = np.isin(rows["id"], list(document.selection))
        self.spots.setData(
            x=means[:, 0],
            y=means[:, 1],
            data=rows["id"],
            size=6.0 + 24.0 * np.sqrt(rows["share"]),
            brush=[pg.mkBrush(*level) for level in np.rint(255.0 * rgb).astype(int)],
            pen=[_ink(255, 2.0) if one else _ink(110) for one in selected],
        )
        self.ellipses.setData(*_ellipses(means[:_MOST_ELLIPSES], covariances[:_MOST_ELLIPSES]))
        self.chosen.setData(*_ellipses(means[selected], covariances[selected]))

    def paint(self) -> None:
        """Follow the application's palette."""
        _paint(self._view, [self.plot])
        self.ellipses.setPen(_ink(80))
        self.chosen.setPen(_ink(255, 2.0))

    def _on_click(self, item: Any, spots: Sequence[Any], event: Any) -> None:
        if len(spots):
            id = int(spots[0].data())
            more = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            self._document.select(self._document.selection ^ {id} if more else {id})


def _ellipses(means: Array, covariances: Array) -> tuple[Array, Array]:
    """Outlines of two standard deviations, one after the other with nan between them: x and y."""
    if not len(means):
        return np.empty(0), np.empty(0)
    values, vectors = np.linalg.eigh(covariances)
    axes = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    points = means[:, :, None] + 2.0 * axes @ np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
    return points[:, 0].ravel(), points[:, 1].ravel()


# --- what plots have in common


def colour_of(document: Document, id: int) -> RGB:
    """A segment's colour in the overlay."""
    own = document.names.colours.get(id)
    if own is not None:
        return own
    red, green, blue = (int(level) for level in palette.colours(id + 1, document.look.palette)[id])
    return red, green, blue


def _curve(plot: Any, colour: RGB) -> Any:
    return plot.plot(pen=pg.mkPen(*colour, width=1), connect="finite")


def _line(plot: Any, angle: int, style: Qt.PenStyle, colour: RGB = _RED) -> Any:
    line = pg.InfiniteLine(angle=angle, pen=pg.mkPen(*colour, width=1, style=style))
    # It is not what the plot is about: its place does not widen the axes.
    plot.addItem(line, ignoreBounds=True)
    return line


def _pairs(curve: Any, steps: Sequence[tuple[float, float, float]]) -> None:
    """Vertical strokes: x, and from which y to which."""
    x = np.repeat([float(step[0]) for step in steps], 2)
    y = np.array([[step[1], step[2]] for step in steps], np.float64).ravel()
    curve.setData(x, y)


def _clicked(plot: Any, event: Any) -> QPointF | None:
    """Where in the plot's own units a left click went; None if it went elsewhere."""
    box = plot.getViewBox()
    if event.button() != Qt.MouseButton.LeftButton or not box.sceneBoundingRect().contains(event.scenePos()):
        return None
    place = box.mapSceneToView(event.scenePos())
    return QPointF(place.x(), place.y())


def _paint(view: Any, plots: Iterable[Any]) -> None:
    view.setBackground(QGuiApplication.palette().color(QPalette.ColorRole.Base))
    for plot in plots:
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.setPen(_ink(110))
            axis.setTextPen(_ink(255))


def _ink(alpha: int, width: float = 1.0) -> Any:
    colour = QColor(QGuiApplication.palette().color(QPalette.ColorRole.Text))
    colour.setAlpha(alpha)
    return pg.mkPen(colour, width=width)


def _html(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _short(number: int) -> str:
    """A number in few characters.

    >>> _short(512), _short(2048), _short(1 << 20)
    ('512', '2k', '1M')
    """
    for size, suffix in ((1 << 20, "M"), (1 << 10, "k")):
        if number >= size:
            return f"{number // size}{suffix}"
    return str(number)
