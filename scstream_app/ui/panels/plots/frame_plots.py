"""Plots of the current frame: histogram of segment sizes, and scatter plot of segment colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from scstream.pixels.colour import from_rgb
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.plots.plot_helpers import BLUE, Array, ink, paint_axes, short, statistics_of
from scstream_app.ui.panels.plots.statistics_page import StatisticsPage

#: Maximum number of ellipses in the scatter plot.
_MOST_ELLIPSES = 60
#: Pairs of channels on the horizontal and vertical axis.
_PAIRS = ((0, 1), (0, 2), (1, 2))
_CIRCLE = np.append(np.linspace(0.0, 2.0 * np.pi, 33), np.nan)
_AXES = {
    "rgb": ("red", "green", "blue"),
    "lab": ("lightness", "green to red", "blue to yellow"),
}


class SizesPlot(StatisticsPage):
    """Histogram of the segment sizes of the current frame."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, "The sizes of a frame's segments appear here when it has been segmented.")
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Segment sizes")
        self.plot = self._view.addPlot(enableMenu=False)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.hideButtons()
        self.plot.setLabel("bottom", "size in pixels")
        self.plot.setLabel("left", "segments")
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self.bars = pg.BarGraphItem(x=[], height=[], width=0.9, brush=BLUE, pen=None)
        self.plot.addItem(self.bars)
        self._set_content(self._view)

    def _has_content(self) -> bool:
        return bool(len(statistics_of(self._document)))

    def _update_content(self) -> None:
        """Count the segments of 1 pixel, of 2 and 3, of 4 to 7, ..."""
        counts = doublings(statistics_of(self._document)["pixels"])
        self.bars.setOpts(x=np.arange(len(counts)), height=counts)
        self.plot.getAxis("bottom").setTicks([[(n, short(2**n)) for n in range(0, len(counts), 1 + len(counts) // 9)]])
        self.plot.setXRange(-0.6, max(len(counts), 1) - 0.4, padding=0.0)

    def paint(self) -> None:
        """Apply the application's palette."""
        paint_axes(self._view, [self.plot])


def doublings(pixels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Count the numbers that are 1, 2 to 3, 4 to 7, and so on; smaller numbers are ignored.

    >>> doublings(np.array([0, 1, 2, 3, 9])).tolist()
    [1, 2, 0, 1]
    """
    seen = pixels[pixels >= 1]
    return np.bincount(np.floor(np.log2(seen)).astype(np.int64)).astype(np.int64)


class ColoursPlot(StatisticsPage):
    """Scatter plot of the current frame's segments in two colour channels, with ellipses of two standard deviations."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, "The colours of a frame's segments appear here when it has been segmented.")
        self._axes = QComboBox()
        self._axes.setAccessibleName("Colour channels")
        for across, up in _PAIRS:
            self._axes.addItem("", (across, up))
        self._view = pg.GraphicsLayoutWidget()
        self._view.setAccessibleName("Segment colours")
        self.plot = self._view.addPlot(enableMenu=False)
        self.plot.getAxis("left").setWidth(52)
        self.ellipses = pg.PlotCurveItem(connect="finite")
        self.chosen = pg.PlotCurveItem(connect="finite")
        self.spots = pg.ScatterPlotItem(hoverable=True, tip=None)
        for item in (self.ellipses, self.chosen, self.spots):
            self.plot.addItem(item)
        self._set_content(self._view, choice=self._axes)
        self._axes.currentIndexChanged.connect(self.refresh)
        self.spots.sigClicked.connect(self._on_click)

    def reset(self) -> None:
        self.plot.enableAutoRange()

    def _has_content(self) -> bool:
        return bool(len(statistics_of(self._document)))

    def _update_content(self) -> None:
        document, rows = self._document, statistics_of(self._document)
        # Earlier frames may be from before the colour space was changed.
        index = document.display.index
        colour = document.settings.colour if index is None else document.colour_at(index)
        across, up = self._axes.currentData()
        for n, pair in enumerate(_PAIRS):
            self._axes.setItemText(n, " and ".join(_AXES[colour][axis] for axis in pair))
        self.plot.setLabel("bottom", _AXES[colour][across])
        self.plot.setLabel("left", _AXES[colour][up])
        if not len(rows):
            self.spots.clear()
            self.ellipses.setData([], [])
            self.chosen.setData([], [])
            return
        rgb = np.stack([rows[name] for name in ("red", "green", "blue")], axis=1).astype(np.float64)
        means = from_rgb(rgb, colour)[:, [across, up]]
        covariances = rows["covariance"][:, [[across], [up]], [across, up]].astype(np.float64)
        selected = np.isin(rows["id"], list(document.display.selection))
        self.spots.setData(
            x=means[:, 0],
            y=means[:, 1],
            data=rows["id"],
            size=6.0 + 24.0 * np.sqrt(rows["share"]),
            brush=[pg.mkBrush(*level) for level in np.rint(255.0 * rgb).astype(int)],
            pen=[ink(255, 2.0) if one else ink(110) for one in selected],
        )
        self.ellipses.setData(*_ellipses(means[:_MOST_ELLIPSES], covariances[:_MOST_ELLIPSES]))
        self.chosen.setData(*_ellipses(means[selected], covariances[selected]))

    def paint(self) -> None:
        """Apply the application's palette."""
        paint_axes(self._view, [self.plot])
        self.ellipses.setPen(ink(80))
        self.chosen.setPen(ink(255, 2.0))

    def _on_click(self, item: Any, spots: Sequence[Any], event: Any) -> None:
        if len(spots):
            id = int(spots[0].data())
            more = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            self._document.display.select(self._document.display.selection ^ {id} if more else {id})


def _ellipses(means: Array, covariances: Array) -> tuple[Array, Array]:
    """Outlines (x, y) of two standard deviations, separated by nan."""
    if not len(means):
        return np.empty(0), np.empty(0)
    values, vectors = np.linalg.eigh(covariances)
    axes = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    points = means[:, :, None] + 2.0 * axes @ np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
    return points[:, 0].ravel(), points[:, 1].ravel()
