"""Paints the parts of the timeline that do not move with the playhead: lanes, curve, scene cuts, event marks."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPainter, QPalette, QPen, QPolygonF

from scstream.sampler.genealogy import Kind
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.events.event_text import TITLES
from scstream_app.ui.qt.appearance.contrast import mix
from scstream_app.ui.timeline.event_marks import LANES, EventMarks
from scstream_app.ui.timeline.time_scale import TimeScale

#: Heights in pixels of the ruler, of a lane of events, and of the progress bar.
TOP, LANE, BAR = 18, 13, 5
#: Width in pixels of a cell; the events of one cell share a mark.
CELL = 8
#: Colours on light and dark background, based on the colour-blind safe palette of Okabe and Ito.
_COLOURS: Mapping[Kind, tuple[QColor, QColor]] = MappingProxyType(
    {
        Kind.BIRTH: (QColor("#008a64"), QColor("#2fc99b")),
        Kind.SPLIT: (QColor("#cc5500"), QColor("#f5a133")),
        Kind.MERGE: (QColor("#0072b2"), QColor("#56b4e9")),
        Kind.DEATH: (QColor("#a8487c"), QColor("#e08fbb")),
    }
)
#: Size of the font relative to the window's.
_SMALL = 0.88
#: Space between two numbers of the ruler, and width of a frame from which on frames are divided, in pixels.
_BETWEEN, _DIVIDED_FROM = 28, 12.0
#: Opacity of the name of a kind of events that is hidden.
_HIDDEN = 0.35
#: Pixels by which marks may extend beyond the track.
_BESIDE = 5


def small_font(font: QFont) -> QFont:
    """The font of the timeline, for the font of its widget."""
    small = QFont(font)
    small.setPointSizeF(_SMALL * QFontInfo(small).pointSizeF())
    return small


class DrawnTimeline(Protocol):
    """What the layer needs of the timeline: the run, its ticks, and where they are in pixels."""

    marks: EventMarks
    peak: float
    scale: TimeScale

    @property
    def summary(self) -> RunSummary: ...
    @property
    def kinds(self) -> frozenset[Kind]: ...
    def palette(self) -> QPalette: ...
    def font(self) -> QFont: ...
    def width(self) -> int: ...
    def height(self) -> int: ...
    def gutter(self) -> int: ...
    def bottom(self) -> int: ...
    def track(self) -> QRect: ...
    def curve(self) -> tuple[int, int]: ...
    def x_of(self, index: float, /) -> float: ...
    def y_of(self, kind: Kind, /) -> float: ...
    def index_at(self, x: float, /) -> int: ...


class StaticLayer:
    """Draws the part of the timeline that does not depend on the playhead."""

    def __init__(self, timeline: DrawnTimeline, painter: QPainter) -> None:
        self._line, self._painter = timeline, painter
        self._summary = timeline.summary
        palette = timeline.palette()
        self._background = palette.color(QPalette.ColorRole.Window)
        self._text = palette.color(QPalette.ColorRole.WindowText)
        self._accent = palette.color(QPalette.ColorRole.Highlight)
        self._dark = self._background.lightness() < 128

    def draw(self, left: int) -> None:
        """Draw everything right of ``left``, in pixels."""
        line = self._line
        self._painter.fillRect(QRect(left, 0, line.width() - left, line.height()), self._background)
        self._painter.setFont(small_font(line.font()))
        if left < line.track().left():
            self._draw_names()
        self._painter.setClipRect(line.track().adjusted(-_BESIDE, 0, _BESIDE, 0), Qt.ClipOperation.IntersectClip)
        self._draw_lanes()
        self._draw_ruler()
        if not len(self._summary):
            return
        # Marks and lines left of ``left`` extend beyond it.
        seen = range(line.index_at(left - 2 * CELL), line.index_at(line.track().right() + CELL) + 1)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.save()
        self._painter.setClipRect(line.track(), Qt.ClipOperation.IntersectClip)
        self._draw_curve(seen)
        self._painter.restore()
        self._draw_cuts(seen)
        for kind in LANES:
            self._draw_ticks(kind, seen)

    def _draw_names(self) -> None:
        line, painter = self._line, self._painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = line.gutter() - 8
        faint = mix(self._background, self._text, 0.7)
        for kind in LANES:
            y = line.y_of(kind)
            painter.setOpacity(1.0 if kind in line.kinds else _HIDDEN)
            self._draw_mark(kind, 10.0, y)
            painter.setPen(faint)
            box = QRectF(20.0, y - 10.0, width - 20.0, 20.0)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, TITLES[kind])
        painter.setOpacity(1.0)
        top, bottom = line.curve()
        box = QRectF(4.0, top, width - 4.0, bottom - top)
        painter.setPen(faint)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, "Segments")
        if line.peak:
            painter.setPen(mix(self._background, self._text, 0.65))
            painter.drawText(box, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight, f"{line.peak:.0f}")
            painter.drawText(box, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, "0")

    def _draw_lanes(self) -> None:
        """Draw lanes, the background of the curve, and the progress bar of segmentation."""
        line, painter, track = self._line, self._painter, self._line.track()
        top, bottom = line.curve()
        bar = QRectF(track.left(), line.bottom() - BAR, track.width(), BAR - 1.0)
        painter.fillRect(bar, mix(self._background, self._text, 0.13))
        field = QRectF(track.left(), TOP, track.width(), bottom - TOP)
        painter.fillRect(field, mix(self._background, self._text, 0.04))
        if len(self._summary):
            left, right = self._segmented()
            painter.fillRect(QRectF(left, bar.top(), right - left, bar.height()), self._accent)
            painter.fillRect(QRectF(left, field.top(), right - left, field.height()), self._paper())
        rule = mix(self._background, self._text, 0.12)
        for lane in range(1, len(LANES)):
            painter.fillRect(QRectF(track.left(), TOP + lane * LANE, track.width(), 1.0), rule)
        painter.fillRect(QRectF(track.left(), top - 2, track.width(), 1.0), rule)

    def _segmented(self) -> tuple[float, float]:
        """Return where the segmented frames in view begin and end, in pixels."""
        frames, track = self._summary.frames, self._line.track()
        left, right = self._line.x_of(frames[0] - 0.5), self._line.x_of(frames[-1] + 0.5)
        low, high = float(track.left()), float(track.left() + track.width())
        return min(max(left, low), high), min(max(right, low), high)

    def _draw_ruler(self) -> None:
        """Draw frame numbers and, where frames are wide, lines between frames."""
        line, painter, track = self._line, self._painter, self._line.track()
        scale = line.scale
        metrics = painter.fontMetrics()
        step, frames = scale.ruler(metrics.horizontalAdvance(str(scale.last)) + _BETWEEN)
        faint, text = mix(self._background, self._text, 0.3), mix(self._background, self._text, 0.62)
        if scale.frame_width >= _DIVIDED_FROM:
            rule = mix(self._background, self._text, 0.09)
            for frame in range(math.ceil(scale.begin), math.floor(scale.end) + 1):
                x = line.x_of(frame - 0.5)
                painter.fillRect(QRectF(round(x), TOP, 1.0, line.curve()[1] - TOP), rule)
        for frame in frames:
            x = round(line.x_of(frame))
            painter.fillRect(QRectF(x, TOP - 4.0, 1.0, 4.0), faint)
            painter.setPen(text)
            width = metrics.horizontalAdvance(str(frame)) + 2.0
            box = QRectF(x + 0.5 - 0.5 * width, 0.0, width, TOP - 4.0)
            if track.left() - _BESIDE <= box.left() and box.right() <= track.right() + _BESIDE:
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(frame))
        half = step // 2 if step % 2 == 0 else step // 5
        for frame in range(math.ceil(scale.begin / half) * half, math.ceil(scale.end), half) if half else ():
            painter.fillRect(QRectF(round(line.x_of(frame)), TOP - 2.0, 1.0, 2.0), faint)

    def _paper(self) -> QColor:
        return mix(self._background, QColor(255, 255, 255), 0.07 if self._dark else 0.75)

    def _draw_curve(self, seen: range) -> None:
        line, painter = self._line, self._painter
        # One more on each side: the line goes on beyond the edges.
        start = max(bisect_left(self._summary.frames, seen.start) - 1, 0)
        stop = bisect_left(self._summary.frames, seen.stop) + 1
        frames = np.array(self._summary.frames[start:stop], np.int64)
        if not len(frames):
            return
        xs, values = _condense(self._xs(frames), self._summary.between("segments", start, stop))
        top, bottom = line.curve()
        ys = bottom - (bottom - top) * values / max(line.peak, 1.0)
        # Extend the curve to the outer edges of the first and last frame.
        half = line.scale.frame_width / 2.0
        points = [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
        points = [points[0] - QPointF(half, 0.0), *points, points[-1] + QPointF(half, 0.0)]
        area = QColor(self._accent)
        area.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(area)
        painter.drawPolygon(QPolygonF([QPointF(points[0].x(), bottom), *points, QPointF(points[-1].x(), bottom)]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(mix(self._accent, self._text, 0.25), 1.25))
        painter.drawPolyline(QPolygonF(points))

    def _draw_cuts(self, seen: range) -> None:
        line, cuts = self._line, self._summary.cuts
        frames = np.array(cuts[bisect_left(cuts, seen.start) : bisect_left(cuts, seen.stop)], np.int64)
        colour = mix(self._background, self._text, 0.6)
        for x in np.unique(np.rint(self._xs(frames))).tolist():
            self._painter.fillRect(QRectF(x - 0.5, TOP, 1.0, line.curve()[1] - TOP), colour)

    def _draw_ticks(self, kind: Kind, seen: range) -> None:
        frames = self._line.marks.ticks[kind].frames
        xs = self._xs(np.array(frames[bisect_left(frames, seen.start) : bisect_left(frames, seen.stop)], np.int64))
        if not len(xs):
            return
        left = self._line.track().left()
        cells, firsts, counts = np.unique((xs - left) // CELL, return_index=True, return_counts=True)
        y = self._line.y_of(kind)
        crowd = QColor(self._colour(kind))
        for cell, x, count in zip(cells.tolist(), xs[firsts].tolist(), counts.tolist(), strict=True):
            if count > 1:
                crowd.setAlphaF(min(0.10 + 0.06 * math.log2(count), 0.5))
                self._painter.fillRect(QRectF(left + cell * CELL, y - LANE / 2 + 1, CELL, LANE - 1), crowd)
            self._draw_mark(kind, x, y)

    def _draw_mark(self, kind: Kind, x: float, y: float) -> None:
        """Draw a dot for a birth, a cross for a death, a triangle that opens (split) or closes (merge) with time."""
        painter, colour = self._painter, self._colour(kind)
        if kind is Kind.DEATH:
            painter.setPen(QPen(colour, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(x - 2.8, y - 2.8), QPointF(x + 2.8, y + 2.8))
            painter.drawLine(QPointF(x - 2.8, y + 2.8), QPointF(x + 2.8, y - 2.8))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if kind is Kind.BIRTH:
            painter.drawEllipse(QPointF(x, y), 3.4, 3.4)
            return
        tip = -3.8 if kind is Kind.SPLIT else 3.8
        corners = (QPointF(x + tip, y), QPointF(x - tip, y - 4.2), QPointF(x - tip, y + 4.2))
        painter.drawPolygon(QPolygonF(corners))

    def _colour(self, kind: Kind) -> QColor:
        return _COLOURS[kind][self._dark]

    def _xs(self, frames: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Vectorised `Timeline.x_of`."""
        return np.asarray(self._line.x_of(0) + self._line.scale.frame_width * frames, np.float64)


def _condense(
    xs: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Keep at most one point per pixel column: the largest value."""
    columns = np.floor(xs)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1.0))
    if len(starts) == len(xs):
        return xs, values
    return columns[starts] + 0.5, np.maximum.reduceat(values, starts)
