"""Chart of segment lifetimes: one bar per segment, below its parent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from scstream_app.session.run_summary import Life, RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.plots.plot_helpers import (
    GREEN,
    RED,
    FrameAxis,
    add_line,
    clicked,
    colour_of,
    html,
    ink,
    paint_axes,
    set_strokes,
)
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage

#: Maximum number of segments in the chart.
_MOST_LIVES = 60


class LifetimesPlot(StatisticsPage):
    """Bars of the longest-lived segments, each below its parent, with lines for splits and merges."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, "A bar for each segment's lifetime appears here from the first segmented frame on.")
        self.ids: list[int] = []
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Segment lifetimes")
        self.plot = self._view.addPlot(axisItems={"bottom": FrameAxis()}, enableMenu=False)
        self.plot.getAxis("left").setWidth(96)
        self.plot.invertY(True)
        self.plot.setLimits(yMin=-1.0, yMax=_MOST_LIVES + 1.0, minYRange=3.0, minXRange=2.0)
        self.bars = pg.BarGraphItem(x0=[], x1=[], y=[], height=0.7)
        self.branches = pg.PlotCurveItem(connect="pairs", pen=pg.mkPen(GREEN, width=1.5))
        self.joins = pg.PlotCurveItem(connect="pairs", pen=pg.mkPen(RED, width=1.5, style=Qt.PenStyle.DotLine))
        # Behind the bars and higher, so that an edge of it stays visible.
        self.chosen = pg.BarGraphItem(x0=[], x1=[], y=[], height=1.2)
        for item in (self.chosen, self.bars, self.branches, self.joins):
            self.plot.addItem(item)
        self.now = add_line(self.plot, 90, Qt.PenStyle.SolidLine)
        self._legend = QLabel(
            f"<span style='color:{html(GREEN)}'>│</span> split off &nbsp; "
            f"<span style='color:{html(RED)}'>┊</span> merged into"
        )
        self._set_content(self._view, legend=self._legend)
        self.plot.getViewBox().sigYRangeChanged.connect(self._label)
        self._view.scene().sigMouseClicked.connect(self._on_click)

    def reset(self) -> None:
        self.plot.enableAutoRange()

    def _has_content(self) -> bool:
        return bool(self.ids)

    def _update_content(self) -> None:
        document = self._document
        summary = document.summary
        end = float(summary.frames[-1] + 1) if len(summary) else 0.0
        lives = longest_lives(summary, _MOST_LIVES, document.display.selection)
        self.ids = [life.id for life in lives]
        row = {life.id: n for n, life in enumerate(lives)}
        self.bars.setOpts(
            x0=[life.born for life in lives],
            x1=[end if life.died is None else life.died for life in lives],
            y=list(range(len(lives))),
            brushes=[pg.mkBrush(*colour_of(document, life.id)) for life in lives],
            pen=None,
        )
        chosen = [life for life in lives if life.id in document.display.selection]
        self.chosen.setOpts(
            x0=[life.born for life in chosen],
            x1=[end if life.died is None else life.died for life in chosen],
            y=[row[life.id] for life in chosen],
            pen=ink(255, 2.0),
            brush=ink(255).color(),
        )
        set_strokes(
            self.branches, [(life.born, row[life.parent], row[life.id]) for life in lives if life.parent in row]
        )
        joined = [(life.died, row[life.id], row[life.merged_into]) for life in lives if life.merged_into in row]
        set_strokes(self.joins, [(died, one, other) for died, one, other in joined if died is not None])
        self.now.setVisible(document.display.index is not None)
        self.now.setValue(document.display.index or 0)
        self._label()

    def _label(self) -> None:
        """Label as many rows as fit without overlap, selected segments first."""
        box = self.plot.getViewBox()
        low, high = box.viewRange()[1]
        pixels = box.height() / max(high - low, 1e-9)
        step = max(1, math.ceil((self.fontMetrics().height() + 1) / max(pixels, 0.1)))
        names = self._document.names.names
        labels = [names.get(id, f"segment {id}") for id in self.ids]
        short = [label if len(label) <= 13 else f"{label[:12]}…" for label in labels]
        chosen = [n for n, id in enumerate(self.ids) if id in self._document.display.selection]
        labelled: list[int] = []
        for n in (*chosen, *range(0, len(short), step)):
            if all(abs(n - row) >= step for row in labelled):
                labelled.append(n)
        self.plot.getAxis("left").setTicks([[(n, short[n]) for n in labelled]])

    def paint(self) -> None:
        """Apply the application's palette."""
        paint_axes(self._view, [self.plot])
        self.now.setPen(ink(160))

    def _on_click(self, event: Any) -> None:
        place = clicked(self.plot, event)
        if place is not None:
            row = round(place.y())
            if 0 <= row < len(self.ids):
                self._document.display.select([self.ids[row]])


def longest_lives(summary: RunSummary, most: int, always: Iterable[int] = ()) -> list[Life]:
    """The longest lives and those in ``always``, each after its parent."""
    end = summary.frames[-1] + 1 if len(summary) else 0
    asked = frozenset(always)

    def rank(life: Life) -> tuple[bool, int, int]:
        return life.id not in asked, life.born - (end if life.died is None else life.died), life.id

    lives = [life for life in summary.lives.values() if life.died != life.born or life.id in asked]
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
