"""Helpers shared by the plots: colours, curves, axes, clicks, number formats and theme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from scstream.pixels.statistics import STATISTICS
from scstream_app.render import palette
from scstream_app.render.palette import RGB
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.tick_steps import whole_step

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.void]
EMPTY: Rows = np.empty(0, STATISTICS)

#: Colour-blind safe palette of Okabe and Ito.
BLUE, ORANGE, GREEN, PURPLE = (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167)
RED, SKY = (213, 94, 0), (86, 180, 233)
#: Minimum height of a plot over time in pixels: five of them fit into the dock on a small screen.
LOWEST = 39

#: Brightness of thin lines on a dark background, in per cent.
_LIGHTER = 145
#: Minimum distance between two numbers of an axis in pixels.
_APART = 18.0
#: Distance between two frame numbers of an axis in pixels.
_FRAMES_APART = 70.0
#: Pixels by which a number may extend beyond its axis: half its height.
_OVERLAP = 10
#: Smallest number written in a unit, the unit, and its letter.
_UNITS = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))


def statistics_of(document: Document) -> Rows:
    """Statistics of the segments that have pixels on the current frame; empty before it has been segmented."""
    if document.display.shown is None:
        return EMPTY
    rows = document.display.shown.result.statistics
    return rows[rows["pixels"] > 0]


def colour_of(document: Document, id: int) -> RGB:
    """Colour of a segment in the overlay."""
    own = document.names.colours.get(id)
    return palette.colour(id, document.display.look.palette) if own is None else own


def add_curve(plot: Any, colour: RGB) -> Any:
    """Add a curve to a plot; unknown values leave a gap."""
    curve = pg.PlotCurveItem(pen=line_pen(colour), connect="finite")
    plot.addItem(curve)
    return curve


def line_pen(colour: RGB) -> Any:
    """Pen of a curve, one pixel wide: wider lines take twice as long to draw."""
    dark = QGuiApplication.palette().color(QPalette.ColorRole.Base).lightness() < 128
    return pg.mkPen(QColor(*colour).lighter(_LIGHTER) if dark else QColor(*colour), width=1)


def add_line(plot: Any, angle: int, style: Qt.PenStyle, colour: RGB = RED) -> Any:
    """Add a straight line to a plot."""
    line = pg.InfiniteLine(angle=angle, pen=pg.mkPen(*colour, width=1, style=style))
    # The line must not widen the range of the axes.
    plot.addItem(line, ignoreBounds=True)
    return line


def set_strokes(curve: Any, steps: Sequence[tuple[float, float, float]]) -> None:
    """Draw vertical strokes, each given as (x, y from, y to)."""
    x = np.repeat([float(step[0]) for step in steps], 2)
    y = np.array([[step[1], step[2]] for step in steps], np.float64).ravel()
    curve.setData(x, y)


class ShortAxis(pg.AxisItem):  # type: ignore[misc]
    """Axis for low plots, with few and short numbers: 1.62M instead of 1.62e+06."""

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self.setStyle(hideOverlappingLabels=_OVERLAP)

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        return [(rounded_up(abs(maxVal - minVal) * _APART / max(size, _APART)), 0.0)]

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        # A number at the lower end would overlap the one at the upper end of the plot below.
        least = minVal + (maxVal - minVal) * _OVERLAP / max(size, _OVERLAP)
        levels = super().tickValues(minVal, maxVal, size)
        return [(spacing, [value for value in values if value >= least]) for spacing, values in levels]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        largest = max((abs(value * scale) for value in values), default=0.0)
        return [brief(value * scale, spacing * scale, largest) for value in values]


class FrameAxis(pg.AxisItem):  # type: ignore[misc]
    """Horizontal axis of frames, with ticks at whole frames only."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.enableAutoSIPrefix(False)
        self.setLabel("frame")

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        return [(float(whole_step(abs(maxVal - minVal) * _FRAMES_APART / max(size, _FRAMES_APART))), 0.0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [f"{value:.0f}" for value in values]


def clicked(plot: Any, event: Any) -> QPointF | None:
    """Position of a left click in plot coordinates; None if it is outside of the plot."""
    box = plot.getViewBox()
    if event.button() != Qt.MouseButton.LeftButton or not box.sceneBoundingRect().contains(event.scenePos()):
        return None
    place = box.mapSceneToView(event.scenePos())
    return QPointF(place.x(), place.y())


def paint_axes(view: Any, plots: Iterable[Any]) -> None:
    """Apply the application's palette to plots."""
    view.setBackground(QGuiApplication.palette().color(QPalette.ColorRole.Base))
    for plot in plots:
        for side in ("left", "bottom"):
            axis = plot.getAxis(side)
            axis.setPen(ink(110))
            axis.setTextPen(ink(255))


def ink(alpha: int, width: float = 1.0) -> Any:
    """Pen in the text colour."""
    colour = QColor(QGuiApplication.palette().color(QPalette.ColorRole.Text))
    colour.setAlpha(alpha)
    return pg.mkPen(colour, width=width)


def html(colour: RGB) -> str:
    """Format a colour for HTML."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def rounded_up(number: float) -> float:
    """Round up to the next of 1, 2, 3, 5, 10, 20, 30, 50, ...

    >>> rounded_up(1.2), rounded_up(26.0), rounded_up(0.05)
    (2.0, 30.0, 0.05)
    """
    unit = 10.0 ** math.floor(math.log10(max(number, 1e-12)))
    return next(times * unit for times in (1.0, 2.0, 3.0, 5.0, 10.0) if times * unit >= number * (1.0 - 1e-9))


def brief(value: float, spacing: float, largest: float | None = None) -> str:
    """Format a number of an axis with the given spacing in few characters.

    All numbers of an axis are in the unit of its ``largest``, by default the number itself.

    >>> brief(1_620_000.0, 20_000.0), brief(-500_000.0, 500_000.0), brief(2.5, 0.5)
    ('1.62M', '-500k', '2.5')
    >>> [brief(value, 400_000.0, largest=1.2e6) for value in (0.0, 400_000.0, 1.2e6)]
    ['0', '0.4M', '1.2M']
    """
    size = abs(value) if largest is None else largest
    if not value:
        return "0"
    unit, suffix = next(((unit, letter) for least, unit, letter in _UNITS if size >= least), (1.0, ""))
    places = max(0, math.ceil(-math.log10(spacing / unit) - 1e-9))
    return f"{value / unit:.{places}f}{suffix}"


def short(number: int) -> str:
    """Format a number in few characters.

    >>> short(512), short(2048), short(1 << 20)
    ('512', '2k', '1M')
    """
    for size, suffix in ((1 << 20, "M"), (1 << 10, "k")):
        if number >= size:
            return f"{number // size}{suffix}"
    return str(number)
