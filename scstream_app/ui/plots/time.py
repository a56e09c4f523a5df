"""The run over time: curves one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from scstream_app.trace import MEASURES
from scstream_app.ui.document import Document
from scstream_app.ui.plots.common import (
    BLUE,
    GREEN,
    LOWEST,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Array,
    ShortAxis,
    add_curve,
    add_line,
    add_title,
    clicked,
    html,
    ink,
    paint_axes,
    paint_title,
)

#: The row of the lowest plot.
_LAST = 4
#: From the bottom of the stack to its top.
_STAGES = (("decode", SKY), ("engine", BLUE), ("write", ORANGE))
#: Percentile of the milliseconds that there is room for: single frames can take a hundred times as long.
_TYPICAL = 98.0
#: Pixels for the numbers of an axis, and below the lowest plot for those of the frames.
_LEFT, _BELOW = 44, 36


class TimePlots(QWidget):
    """Segments, milliseconds, log posterior, churn and mean uncertainty, with the frame at hand as a line."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Statistics over time")
        self._view.ci.setSpacing(2)
        self._view.ci.setContentsMargins(2, 6, 4, 0)
        self.plots: dict[str, Any] = {}
        self.titles: dict[str, Any] = {}
        for row, (name, title) in enumerate(
            (
                ("segments", "segments"),
                ("milliseconds", "ms a frame"),
                ("log_posterior", "log posterior"),
                ("churn", "churn, %"),
                ("uncertainty", "uncertain, %"),
            )
        ):
            self.plots[name] = self._plot(row)
            self.titles[name] = add_title(self.plots[name], title)
        self.curves = {
            "segments": add_curve(self.plots["segments"], BLUE),
            "log_posterior": add_curve(self.plots["log_posterior"], GREEN),
            "churn": add_curve(self.plots["churn"], PURPLE),
            "uncertainty": add_curve(self.plots["uncertainty"], RED),
        }
        # The tallest is drawn first: the others cover its lower part.
        for stage, colour in reversed(_STAGES):
            curve = add_curve(self.plots["milliseconds"], colour)
            curve.setFillLevel(0.0)
            curve.setBrush(pg.mkBrush(*colour))
            self.curves[stage] = curve
        self.plots["segments"].setLimits(minYRange=4.0)
        self.plots["milliseconds"].disableAutoRange(axis="y")
        self.real_time = add_line(self.plots["milliseconds"], 0, Qt.PenStyle.DashLine, RED)
        self.now = {name: add_line(plot, 90, Qt.PenStyle.SolidLine) for name, plot in self.plots.items()}
        self._legend = QLabel()
        self._legend.setContentsMargins(8, 2, 8, 2)
        self._legend.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        # In a low dock they are scrolled rather than squeezed.
        self._view.setMinimumHeight(len(self.plots) * LOWEST + _BELOW)
        scroll = QScrollArea()
        scroll.setWidget(self._view)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        layout.addWidget(scroll, 1)
        layout.addWidget(self._legend)
        self._view.scene().sigMouseClicked.connect(self._on_click)

    def _plot(self, row: int) -> Any:
        plot = self._view.addPlot(row=row, col=0, axisItems={"left": ShortAxis("left")})
        plot.getAxis("left").setWidth(_LEFT)
        plot.getAxis("left").enableAutoSIPrefix(False)
        plot.getAxis("bottom").setStyle(showValues=row == _LAST)
        plot.getAxis("bottom").setHeight(_BELOW if row == _LAST else 4)
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        plot.setMouseEnabled(x=True, y=False)
        plot.setMenuEnabled(False)
        plot.setDownsampling(auto=True, mode="peak")
        plot.setClipToView(True)
        if row:
            plot.setXLink(self.plots["segments"])
        if row == _LAST:
            plot.setLabel("bottom", "frame")
        return plot

    def refresh(self) -> None:
        """Show the trace as it is now."""
        trace = self._document.trace
        frames = np.array(trace.frames, np.float64)
        self.curves["segments"].setData(frames, trace.column("segments"))
        self.curves["log_posterior"].setData(frames, trace.column("log_posterior"))
        for name in MEASURES:
            self.curves[name].setData(frames, 100.0 * trace.column(name))
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
        parts = [f"<span style='color:{html(colour)}'>■</span> {stage}" for stage, colour in _STAGES]
        if facts is not None:
            parts.append(f"<span style='color:{html(RED)}'>╌╌</span> real time ({1000.0 / facts.rate:.1f} ms)")
        self._legend.setText(" &nbsp; ".join(parts))

    def paint(self) -> None:
        """Follow the application's palette."""
        paint_axes(self._view, self.plots.values())
        for title in self.titles.values():
            paint_title(title)
        for line in self.now.values():
            line.setPen(ink(160))

    def _on_click(self, event: Any) -> None:
        for plot in self.plots.values():
            x = clicked(plot, event)
            if x is not None:
                self._document.show(round(x.x()))
                return
