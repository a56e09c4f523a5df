"""Curves of the run over time: segments, processing time, log posterior, churn and uncertainty."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontInfo, QGuiApplication, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea

from scstream_app.session.run_summary import MEASURES, RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.plots.min_max_pyramid import MinMaxPyramid
from scstream_app.ui.panels.plots.plot_helpers import (
    BLUE,
    GREEN,
    LOWEST,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Array,
    FrameAxis,
    ShortAxis,
    add_curve,
    add_line,
    brief,
    clicked,
    html,
    ink,
    line_pen,
    paint_axes,
)
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage

_NOTHING = "Segments, time, log posterior, churn and uncertainty appear here from the first segmented frame on."
#: Titles of the plots from top to bottom.
_TITLES = {
    "segments": "segments",
    "milliseconds": "ms per frame",
    "log_posterior": "log posterior",
    "churn": "churn %",
    "uncertainty": "uncertainty %",
}
_COLOURS = {"segments": BLUE, "log_posterior": GREEN, "churn": PURPLE, "uncertainty": RED}
#: Stages of a frame, from the bottom of the stack to its top.
_STAGES = {"decode": SKY, "engine": BLUE, "write": ORANGE}
_TOP = "write"
#: Percentile of the milliseconds that sets the axis, since single frames can take a hundred times as long; and the
#: number of frames it is estimated from.
_TYPICAL, _SAMPLE = 98.0, 4096
#: Width of the vertical axes in pixels.
_LEFT = 44
#: Room around the numbers of the frame axis in pixels.
_TICKS = 8
#: The title beside the frame axis.
_FRAME = "frame"
#: Distance between two plots in pixels.
_GAP = 4
#: Size of titles relative to other text.
_SMALL = 0.9


class TimePlots(StatisticsPage):
    """Stacked plots of segments, milliseconds, log posterior, churn and mean uncertainty.

    A line marks the current frame, and a title beside each plot shows its value there. The plots show the whole run
    until the user zooms with the wheel.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document, _NOTHING)
        self._series: dict[str, MinMaxPyramid] = {}
        self._of: RunSummary | None = None
        self._first = self._filled_up = 0
        # Height of the row with the numbers of the frame axis.
        self._below = self.fontMetrics().height() + _TICKS
        self._whole = True
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Statistics over time")
        self._view.ci.setSpacing(_GAP)
        self._view.ci.setContentsMargins(2, _GAP, 4, 0)
        self.plots: dict[str, Any] = {}
        self.titles: dict[str, Any] = {}
        self._title_texts: dict[str, tuple[str, str, str]] = {}
        for name in _TITLES:
            self._add_plot(name)
        # Beside the numbers: in a low dock there is no room for a line below them.
        self.titles[_FRAME] = pg.LabelItem(justify="left")
        self._view.addItem(self.titles[_FRAME], row=len(_TITLES), col=1)
        self._view.ci.layout.setRowFixedHeight(len(_TITLES), self._below)
        self.curves = {name: add_curve(self.plots[name], colour) for name, colour in _COLOURS.items()}
        # Draw the tallest first; the others cover its lower part.
        for stage, colour in reversed(_STAGES.items()):
            curve = add_curve(self.plots["milliseconds"], colour)
            curve.setFillLevel(0.0)
            curve.setBrush(pg.mkBrush(*colour))
            self.curves[stage] = curve
        self.plots["segments"].setLimits(minYRange=4.0)
        self.plots["milliseconds"].disableAutoRange(axis="y")
        self.real_time = add_line(self.plots["milliseconds"], 0, Qt.PenStyle.DashLine, RED)
        self.now = {name: add_line(plot, 90, Qt.PenStyle.SolidLine) for name, plot in self.plots.items()}
        self._legend = QLabel()
        self._set_content(self._make_scroll(), legend=self._legend)
        self.plots["segments"].sigXRangeChanged.connect(self._draw)
        self._view.scene().sigMouseClicked.connect(self._on_click)

    def _add_plot(self, name: str) -> None:
        row = len(self.plots)
        lowest = row == len(_TITLES) - 1
        plot = self._view.addPlot(
            row=row,
            col=0,
            rowspan=2 if lowest else 1,
            axisItems={"left": ShortAxis("left"), "bottom": FrameAxis()},
            enableMenu=False,
        )
        plot.getAxis("left").setWidth(_LEFT)
        plot.getAxis("left").enableAutoSIPrefix(False)
        # One frame axis for all plots: axes take half of the painting time.
        plot.showAxis("bottom", lowest)
        plot.getAxis("bottom").showLabel(False)
        plot.getAxis("bottom").setHeight(_GAP + self._below if lowest else 0)
        plot.setMouseEnabled(x=True, y=False)
        plot.hideButtons()
        plot.disableAutoRange(axis="x")
        title = pg.LabelItem(justify="left")
        title.setFixedWidth(self.fontMetrics().horizontalAdvance(_TITLES["log_posterior"]) + 6)
        self._view.addItem(title, row=row, col=1)
        if row:
            plot.setXLink(self.plots["segments"])
        self._view.ci.layout.setRowMinimumHeight(row, LOWEST - _GAP)
        plot.getViewBox().sigRangeChangedManually.connect(self._on_zoomed)
        plot.autoBtn.clicked.connect(self.reset)
        self.plots[name], self.titles[name] = plot, title

    def _make_scroll(self) -> QScrollArea:
        """Scroll area: in a low dock the plots scroll instead of shrinking."""
        self._view.setMinimumHeight(len(self.plots) * LOWEST + self._below + _GAP)
        scroll = QScrollArea()
        scroll.setWidget(self._view)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        return scroll

    # --- data

    def _has_content(self) -> bool:
        return bool(len(self._document.summary))

    def _update_content(self) -> None:
        summary = self._document.summary
        first = summary.frames[0] if len(summary) else 0
        if summary is not self._of or first != self._first:
            # Another clip, or the summary of an endless source has dropped its oldest frames.
            self._of, self._first, self._filled_up = summary, first, len(summary.filled)
            self._series = {name: MinMaxPyramid() for name in self.curves}
        self._take(summary, len(self._series["segments"]), len(summary))
        self._take_later(summary)
        self._show_whole_run()
        self._draw()
        self._set_time_range()
        self._mark_now()
        # Lay out now: range changes during painting would paint everything twice.
        self._view.scene().prepareForPaint()

    def _take(self, summary: RunSummary, start: int, stop: int) -> None:
        """Add the numbers of the frames with positions [start, stop)."""
        for name in ("segments", "log_posterior"):
            self._series[name].put(start, summary.between(name, start, stop))
        self._take_measures(summary, start, stop)
        total = np.zeros(stop - start)
        for stage in _STAGES:
            # A stage without a time counts as 0.
            total = total + np.nan_to_num(summary.between(stage, start, stop))
            self._series[stage].put(start, total)

    def _take_measures(self, summary: RunSummary, start: int, stop: int) -> None:
        for name in MEASURES:
            self._series[name].put(start, 100.0 * summary.between(name, start, stop))

    def _take_later(self, summary: RunSummary) -> None:
        """Add measures of earlier frames that were computed later."""
        late = summary.filled[self._filled_up :]
        self._filled_up += len(late)
        places = [place for place in map(summary.place, late) if place is not None]
        if places:
            self._take_measures(summary, min(places), max(places) + 1)

    # --- visible range

    @Slot()
    def reset(self) -> None:
        """Show the whole run again."""
        self._whole = True
        for plot in self.plots.values():
            plot.disableAutoRange(axis="x")
            plot.hideButtons()
        self._show_whole_run()

    @Slot()
    def _on_zoomed(self) -> None:
        self._whole = False
        for plot in self.plots.values():
            plot.showButtons()

    def _show_whole_run(self) -> None:
        frames = self._document.summary.frames
        if self._whole and len(frames):
            self.plots["segments"].setXRange(frames[0], max(frames[-1], frames[0] + 1), padding=0.02)

    @Slot()
    def _draw(self) -> None:
        """Draw the visible part of the run, with at most one point per pixel."""
        summary = self._of
        if summary is None or not len(self._series["segments"]):
            for curve in self.curves.values():
                curve.setData([], [])
            return
        if not len(summary) or summary.frames[0] != self._first:
            # The summary has dropped frames; the next refresh draws the rest.
            return
        box = self.plots["segments"].getViewBox()
        (left, right), _ = box.viewRange()
        start, stop = bisect_left(summary.frames, left) - 1, bisect_right(summary.frames, right) + 1
        for name, curve in self.curves.items():
            places, values = self._series[name].part(start, stop, most=max(round(box.width()), 1))
            known = np.isfinite(values).any()
            curve.setData(_frames(summary, places), values) if known else curve.setData([], [])

    def _set_time_range(self) -> None:
        """Set the range of the milliseconds; first frames of scenes take longer and may exceed it."""
        facts, summary = self._document.facts, self._document.summary
        places, total = self._series[_TOP].sample(_SAMPLE)
        unusual = [0, *(place for place in map(summary.place, summary.cuts) if place is not None)]
        usual = total[~np.isin(places, unusual)] if len(total) > 1 else total
        typical = float(np.percentile(usual, _TYPICAL)) if len(usual) else 0.0
        room = max(1.15 * typical, 1.25 * 1000.0 / facts.rate if facts is not None else 0.0, 1.0)
        self.plots["milliseconds"].setYRange(0.0, room, padding=0.0)
        self.real_time.setVisible(facts is not None)
        if facts is not None:
            self.real_time.setValue(1000.0 / facts.rate)

    def _mark_now(self) -> None:
        index = self._document.display.index
        for line in self.now.values():
            line.setVisible(index is not None)
            line.setValue(index or 0)
        self._update_titles()

    # --- titles

    def _update_titles(self) -> None:
        facts = self._document.facts
        parts = [f"<span style='color:{html(colour)}'>■</span> {stage}" for stage, colour in _STAGES.items()]
        if facts is not None:
            parts.append(f"<span style='color:{html(RED)}'>╌╌</span> real time ({1000.0 / facts.rate:.1f} ms)")
        self._legend.setText(" &nbsp; ".join(parts))
        size, colour = self._small(), _text_colour()
        index = self._document.display.index
        texts = {name: f"{_TITLES[name]}<br><b>{self._value(name)}</b>" for name in self.plots}
        texts[_FRAME] = f"frame <b>{'' if index is None else index}</b>"
        for name, text in texts.items():
            shown = text, size, colour
            if shown != self._title_texts.get(name):
                self._title_texts[name] = shown
                self.titles[name].setText(text, size=size, color=colour)

    def _small(self) -> str:
        return f"{_SMALL * QFontInfo(self.font()).pointSizeF():.1f}pt"

    def _value(self, name: str) -> str:
        """Value of a plot on the current frame, in few characters."""
        index, summary = self._document.display.index, self._document.summary
        place = None if index is None else summary.place(index)
        if place is None:
            return ""
        if name == "milliseconds":
            value = sum(np.nan_to_num(summary.value(stage, place)) for stage in _STAGES)
        else:
            value = summary.value(name, place)
        if math.isnan(value):
            return "–"
        if name == "log_posterior":
            return brief(value, max(abs(value), 1.0) / 1000.0)
        value *= 100.0 if name in MEASURES else 1.0
        return f"{value:.0f}" if name == "segments" or value >= 100.0 else f"{value:.1f}"

    def paint(self) -> None:
        paint_axes(self._view, self.plots.values())
        for name, colour in _COLOURS.items():
            self.curves[name].setPen(line_pen(colour))
        for line in self.now.values():
            line.setPen(ink(160))
        self._update_titles()

    def _on_click(self, event: Any) -> None:
        for plot in self.plots.values():
            x = clicked(plot, event)
            if x is not None:
                self._document.display.show(round(x.x()))
                return


def _text_colour() -> str:
    return QGuiApplication.palette().color(QPalette.ColorRole.Text).name()


def _frames(summary: RunSummary, places: npt.NDArray[np.int64]) -> Array:
    """Frame indices at these positions of the summary."""
    # `frombuffer` shares memory with the array, which must be free again before it grows.
    return np.frombuffer(summary.frames, np.int64)[places].astype(np.float64)
