"""The timeline: how far segmentation has come, how many segments there are, what happened when, and where one is."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QFontInfo,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from scstream import Event
from scstream.genealogy import Kind
from scstream_app.ui.document import Document, State
from scstream_app.ui.player import Player, timecode

_LANES = (Kind.BIRTH, Kind.SPLIT, Kind.MERGE, Kind.DEATH)
_TITLES: Mapping[Kind, str] = MappingProxyType(
    {Kind.BIRTH: "Births", Kind.SPLIT: "Splits", Kind.MERGE: "Merges", Kind.DEATH: "Deaths"}
)
#: On light and on dark ground; after Okabe and Ito, who chose colours that nobody confuses.
_COLOURS: Mapping[Kind, tuple[QColor, QColor]] = MappingProxyType(
    {
        Kind.BIRTH: (QColor("#008a64"), QColor("#2fc99b")),
        Kind.SPLIT: (QColor("#cc5500"), QColor("#f5a133")),
        Kind.MERGE: (QColor("#0072b2"), QColor("#56b4e9")),
        Kind.DEATH: (QColor("#a8487c"), QColor("#e08fbb")),
    }
)
_TOP, _LANE, _BAR, _RIGHT = 12, 13, 5, 10
#: Between the curve and the upper edge of its field.
_HEADROOM = 1.1
_SMALL = 0.88
#: Events closer than this, in pixels, share a mark.
_CELL = 8
#: How near the mouse has to be, in pixels.
_REACH, _CUT_REACH = 5.0, 3.0
#: Half the width of what the playhead covers.
_HEAD = 7
#: A source of unknown length gets room for so many frames, then for a quarter more each time.
_ROOM, _GROWTH = 250, 1.25
_LINES_IN_TIP = 6


@dataclass(slots=True)
class _Ticks:
    """Frames of the events of one kind, and where in the trace's list each event is."""

    frames: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))


class Timeline(QWidget):
    """Shows a whole run. Click or drag to go somewhere; click the mark of an event to see the segments concerned.

    What does not change with the playhead is kept as a pixmap, which grows with the run.
    """

    def __init__(self, document: Document, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._player = document, player
        self._layer: QPixmap | None = None
        self._forget()
        self._head: float | None = None
        self._pressed: QPointF | None = None
        self._scrubbing = self._resume = False
        self.setAccessibleName("Timeline")
        self.setAccessibleDescription("Segments alive and events over the frames. Click to go to a frame.")
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._on_opened()
        document.opened.connect(self._on_opened)
        document.closed.connect(self._on_opened)
        document.progressed.connect(self._on_progress)
        document.state_changed.connect(self._on_progress)
        document.shown_changed.connect(self._on_shown)
        player.changed.connect(self.update)

    def _forget(self) -> None:
        self._ticks = {kind: _Ticks() for kind in _LANES}
        self._taken = self._measured = self._drawn = 0
        self._peak = 0.0
        self._domain = (0, 1)

    def sizeHint(self) -> QSize:
        """Wide, and high enough for the lanes and a curve."""
        return QSize(640, self.minimumSizeHint().height() + 14)

    def minimumSizeHint(self) -> QSize:
        """The lanes and a low curve."""
        return QSize(240, _TOP + len(_LANES) * _LANE + 34 + _BAR)

    # --- where things are

    def _track(self) -> QRect:
        """Everything right of the names."""
        left = self._gutter()
        return QRect(left, 0, max(self.width() - left - _RIGHT, 1), self.height())

    def _gutter(self) -> int:
        metrics = self.fontMetrics()
        return 28 + max(metrics.horizontalAdvance(word) for word in (*_TITLES.values(), "Segments"))

    def _curve(self) -> tuple[int, int]:
        """Top and bottom of the curve."""
        return _TOP + len(_LANES) * _LANE + 4, self.height() - _BAR - 4

    def x_of(self, index: float) -> float:
        """The middle of a frame, in pixels."""
        first, last = self._domain
        track = self._track()
        return track.left() + track.width() * (index + 0.5 - first) / (last - first)

    def index_at(self, x: float) -> int:
        """The frame at this many pixels from the left."""
        first, last = self._domain
        track = self._track()
        index = first + math.floor((x - track.left()) / track.width() * (last - first))
        return min(max(index, first), last - 1)

    def y_of(self, kind: Kind) -> float:
        """The middle of the lane of these events, in pixels."""
        return _TOP + _LANE * (_LANES.index(kind) + 0.5)

    def _reach(self) -> tuple[int, int]:
        """The frames there is room for: the source's, from the first one segmented."""
        trace, facts = self._document.trace, self._document.facts
        if not len(trace):
            return 0, max(1, (facts.length if facts is not None else None) or 1)
        first, end = trace.frames[0], trace.frames[-1] + 1
        length = None if facts is None else facts.length
        if self._document.state is State.DONE:
            return first, end
        if length is not None:
            return first, max(end, length)
        room = _ROOM
        while room < end - first:
            room = math.ceil(room * _GROWTH)
        return first, first + room

    # --- what the document says

    @Slot()
    def _on_opened(self) -> None:
        self._forget()
        self._on_progress()
        self._redraw()

    @Slot()
    def _on_progress(self) -> None:
        """Take in what is new; draw only that, unless it changes the scale."""
        before = self._domain, self._peak
        self._domain = self._reach()
        self._take_events()
        self._take_peak()
        if (self._domain, self._peak) != before:
            self._redraw()
        elif len(self._document.trace) > self._drawn:
            left = self._fresh_from()
            self.update(left, 0, self.width() - left, self.height())

    def _take_events(self) -> None:
        events = self._document.trace.events
        for place in range(self._taken, len(events)):
            frame, event = events[place]
            ticks = self._ticks[event.kind]
            ticks.frames.append(frame)
            ticks.places.append(place)
        self._taken = len(events)

    def _take_peak(self) -> None:
        """The curve's scale, a round number at least as large as any value."""
        values = self._document.trace.column("segments")[self._measured :]
        self._measured += len(values)
        if len(values) and values.max() > self._peak:
            self._peak = _round_up(_HEADROOM * float(values.max()))

    @Slot()
    def _on_shown(self) -> None:
        index = self._document.index
        before, self._head = self._head, None if index is None else self.x_of(index)
        for x in {before, self._head} - {None}:
            assert x is not None
            self.update(round(x) - _HEAD, 0, 2 * _HEAD, self.height())

    # --- what happened where

    def _tick_at(self, point: QPointF) -> tuple[Kind, int] | None:
        """The event whose mark is at this point: its kind and its frame."""
        lane = math.floor((point.y() - _TOP) / _LANE)
        if not 0 <= lane < len(_LANES):
            return None
        kind = _LANES[lane]
        frame = _nearest(self._ticks[kind].frames, self.index_at(point.x()))
        return None if frame is None or abs(self.x_of(frame) - point.x()) > _REACH else (kind, frame)

    def _cut_at(self, point: QPointF) -> int | None:
        cut = _nearest(self._document.trace.cuts, self.index_at(point.x()))
        return None if cut is None or abs(self.x_of(cut) - point.x()) > _CUT_REACH else cut

    def _events(self, kind: Kind, frame: int) -> list[Event]:
        ticks = self._ticks[kind]
        places = ticks.places[bisect_left(ticks.frames, frame) : bisect_right(ticks.frames, frame)]
        return [self._document.trace.events[place][1] for place in places]

    def text_at(self, point: QPointF) -> str:
        """What is at this point, in words."""
        trace = self._document.trace
        if not len(trace) or point.x() < self._track().left():
            return ""
        tick = self._tick_at(point)
        if tick is not None:
            lines = [self._words(event) for event in self._events(*tick)]
            more = [f"and {len(lines) - _LINES_IN_TIP} more"] if len(lines) > _LINES_IN_TIP else []
            return "\n".join([self._moment(tick[1]), *lines[:_LINES_IN_TIP], *more])
        cut = self._cut_at(point)
        if cut is not None:
            return f"{self._moment(cut)}\nA new scene begins"
        index = self.index_at(point.x())
        place = trace.place(index)
        if place is None:
            return f"Frame {index}: not segmented" + (" yet" if index > trace.frames[-1] else "")
        return f"{self._moment(index)}\n{trace.column('segments')[place]:.0f} segments"

    def _moment(self, frame: int) -> str:
        return f"Frame {frame} · {timecode(self._player.time_of(frame))}"

    def _words(self, event: Event) -> str:
        names = self._document.names.names
        first, last = (names.get(id) or f"segment {id}" for id in (event.ids[0], event.ids[-1]))
        text = {
            Kind.BIRTH: f"{first} appears",
            Kind.SPLIT: f"{first} splits: {last} is new",
            Kind.MERGE: f"{last} merges into {first}",
            Kind.DEATH: f"{first} is gone",
        }[event.kind]
        return text[0].upper() + text[1:]

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there; exactly to the event or the scene if one is clicked."""
        if event.button() != Qt.MouseButton.LeftButton or event.position().x() < self._track().left() - _REACH:
            event.ignore()
            return
        point = event.position()
        self._pressed, self._scrubbing = point, False
        self._resume = self._player.playing
        self._player.pause()
        tick, cut = self._tick_at(point), self._cut_at(point)
        if tick is not None:
            # In this order: selecting redraws the frame on the screen, which would overtake the wish for another.
            self._document.select(id for happened in self._events(*tick) for id in happened.ids)
            self._player.seek(tick[1])
        else:
            self._player.seek(self.index_at(point.x()) if cut is None else cut)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while the button is down."""
        point = event.position()
        if self._pressed is None:
            on_mark = self._tick_at(point) is not None
            self.setCursor(Qt.CursorShape.PointingHandCursor if on_mark else Qt.CursorShape.ArrowCursor)
            return
        # The hand that clicks a mark trembles, and has not to leave it for that.
        if self._scrubbing or (point - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self._scrubbing = True
            self._player.seek(self.index_at(point.x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Play on if it was playing."""
        if self._pressed is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._scrubbing = None, False
            if self._resume:
                self._player.play()

    def event(self, event: QEvent) -> bool:
        """Say what the mouse is on."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.text_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Everything moves."""
        self._redraw()

    def changeEvent(self, event: QEvent) -> None:
        """Light, dark, another font: draw anew."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._redraw()

    def _redraw(self) -> None:
        self._layer = None
        self._head = None if self._document.index is None else self.x_of(self._document.index)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The kept layer, and over it what moves."""
        self._bring_up_to_date()
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        if self._layer is not None:
            painter.drawPixmap(0, 0, self._layer)
        if len(self._document.trace):
            self._paint_range(painter)
            self._paint_head(painter)
        painter.end()

    def _bring_up_to_date(self) -> None:
        ratio = self.devicePixelRatioF()
        if self._layer is None or self._layer.devicePixelRatio() != ratio:
            self._layer = QPixmap(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
            self._layer.setDevicePixelRatio(ratio)
            left = 0
        elif len(self._document.trace) > self._drawn:
            left = self._fresh_from()
        else:
            return
        self._drawn = len(self._document.trace)
        painter = QPainter(self._layer)
        painter.setClipRect(left, 0, self.width() - left, self.height())
        _Layer(self, painter).draw(left)
        painter.end()

    def _fresh_from(self) -> int:
        """Pixels from the left that stay as they are when the frames since are drawn."""
        frames = self._document.trace.frames
        last = frames[max(self._drawn - 1, 0)]
        left = self._track().left()
        return max(left, left + (int(self.x_of(last) - left) // _CELL - 1) * _CELL)

    def _paint_range(self, painter: QPainter) -> None:
        begin, out = self._player.in_point, self._player.out_point
        if begin is None and out is None:
            return
        track, half = self._track(), (self.x_of(1) - self.x_of(0)) / 2.0
        shade = QColor(self.palette().color(QPalette.ColorRole.Window))
        shade.setAlpha(175)
        mark = self.palette().color(QPalette.ColorRole.Highlight)
        bottom = self.height()
        left = float(track.left()) if begin is None else self.x_of(begin) - half
        right = float(track.right() + 1) if out is None else self.x_of(out) + half
        painter.fillRect(QRectF(track.left(), _TOP, left - track.left(), bottom - _TOP), shade)
        painter.fillRect(QRectF(right, _TOP, track.right() + 1 - right, bottom - _TOP), shade)
        for there, x, side in ((begin, left, 1.0), (out, right, -1.0)):
            if there is not None:
                painter.fillRect(QRectF(x - (side < 0) * 2.0, 2.0, 2.0, bottom - 2.0), mark)
                painter.fillRect(QRectF(min(x, x + 6.0 * side), 2.0, 6.0, 2.0), mark)
                painter.fillRect(QRectF(min(x, x + 6.0 * side), bottom - 2.0, 6.0, 2.0), mark)

    def _paint_head(self, painter: QPainter) -> None:
        if self._head is None:
            return
        x = self._head
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        tip = [QPointF(x - 5.0, 1.0), QPointF(x + 5.0, 1.0), QPointF(x + 5.0, 5.0), QPointF(x, 11.0)]
        painter.drawPolygon(QPolygonF([*tip, QPointF(x - 5.0, 5.0)]))
        painter.fillRect(QRectF(x - 0.75, 8.0, 1.5, self.height() - 8.0), colour)


class _Layer:
    """Draws what does not change with the playhead, from some pixel on."""

    def __init__(self, timeline: Timeline, painter: QPainter) -> None:
        self._line, self._painter = timeline, painter
        self._trace = timeline._document.trace
        palette = timeline.palette()
        self._ground = palette.color(QPalette.ColorRole.Window)
        self._text = palette.color(QPalette.ColorRole.WindowText)
        self._accent = palette.color(QPalette.ColorRole.Highlight)
        self._dark = self._ground.lightness() < 128

    def draw(self, left: int) -> None:
        """Everything right of ``left``."""
        line = self._line
        self._painter.fillRect(QRect(left, 0, line.width() - left, line.height()), self._ground)
        if left < line._track().left():
            self._draw_names()
        self._draw_ground()
        if not len(self._trace):
            return
        # Marks and lines reach over from the pixels beside.
        first = line.index_at(left - 2 * _CELL)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_curve(first)
        self._draw_cuts(first)
        for kind in _LANES:
            self._draw_ticks(kind, first)

    def _draw_names(self) -> None:
        line, painter = self._line, self._painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        small = line.font()
        small.setPointSizeF(_SMALL * QFontInfo(small).pointSizeF())
        painter.setFont(small)
        width = line._gutter() - 8
        faint = _mix(self._ground, self._text, 0.7)
        for kind in _LANES:
            y = line.y_of(kind)
            self._draw_mark(kind, 10.0, y)
            painter.setPen(faint)
            box = QRectF(20.0, y - 10.0, width - 20.0, 20.0)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, _TITLES[kind])
        top, bottom = line._curve()
        box = QRectF(4.0, top, width - 4.0, bottom - top)
        painter.setPen(faint)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, "Segments")
        if line._peak:
            painter.setPen(_mix(self._ground, self._text, 0.5))
            painter.drawText(box, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight, f"{line._peak:.0f}")
            painter.drawText(box, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, "0")

    def _draw_ground(self) -> None:
        """Lanes, the curve's field, and the bar that fills as segmentation goes on."""
        line, painter, track = self._line, self._painter, self._line._track()
        top, bottom = line._curve()
        bar = QRectF(track.left(), line.height() - _BAR, track.width(), _BAR - 1.0)
        painter.fillRect(bar, _mix(self._ground, self._text, 0.13))
        field = QRectF(track.left(), _TOP, track.width(), bottom - _TOP)
        painter.fillRect(field, _mix(self._ground, self._text, 0.04))
        if len(self._trace):
            right = line.x_of(self._trace.frames[-1] + 0.5)
            painter.fillRect(QRectF(bar.left(), bar.top(), right - bar.left(), bar.height()), self._accent)
            painter.fillRect(QRectF(field.left(), field.top(), right - field.left(), field.height()), self._paper())
        rule = _mix(self._ground, self._text, 0.12)
        for lane in range(1, len(_LANES)):
            painter.fillRect(QRectF(track.left(), _TOP + lane * _LANE, track.width(), 1.0), rule)
        painter.fillRect(QRectF(track.left(), top - 2, track.width(), 1.0), rule)

    def _paper(self) -> QColor:
        return _mix(self._ground, QColor(255, 255, 255), 0.07 if self._dark else 0.75)

    def _draw_curve(self, first: int) -> None:
        line, painter = self._line, self._painter
        place = max(bisect_left(self._trace.frames, first) - 1, 0)
        frames = np.array(self._trace.frames[place:])
        xs, values = _condense(self._xs(frames), self._trace.column("segments")[place:])
        top, bottom = line._curve()
        ys = bottom - (bottom - top) * values / max(line._peak, 1.0)
        # The last frame has a width too, and the first one.
        half = (line.x_of(1) - line.x_of(0)) / 2.0
        points = [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
        points = [points[0] - QPointF(half, 0.0), *points, points[-1] + QPointF(half, 0.0)]
        area = QColor(self._accent)
        area.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(area)
        painter.drawPolygon(QPolygonF([QPointF(points[0].x(), bottom), *points, QPointF(points[-1].x(), bottom)]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_mix(self._accent, self._text, 0.25), 1.25))
        painter.drawPolyline(QPolygonF(points))

    def _draw_cuts(self, first: int) -> None:
        line, cuts = self._line, self._trace.cuts
        frames = np.array(cuts[bisect_left(cuts, first) :], np.int64)
        colour = _mix(self._ground, self._text, 0.6)
        for x in np.unique(np.rint(self._xs(frames))).tolist():
            self._painter.fillRect(QRectF(x - 0.5, _TOP, 1.0, line._curve()[1] - _TOP), colour)

    def _draw_ticks(self, kind: Kind, first: int) -> None:
        frames = self._line._ticks[kind].frames
        xs = self._xs(np.array(frames[bisect_left(frames, first) :], np.int64))
        if not len(xs):
            return
        left = self._line._track().left()
        cells, firsts, counts = np.unique((xs - left) // _CELL, return_index=True, return_counts=True)
        y = self._line.y_of(kind)
        crowd = QColor(self._colour(kind))
        for cell, x, count in zip(cells.tolist(), xs[firsts].tolist(), counts.tolist(), strict=True):
            if count > 1:
                crowd.setAlphaF(min(0.10 + 0.06 * math.log2(count), 0.5))
                self._painter.fillRect(QRectF(left + cell * _CELL, y - _LANE / 2 + 1, _CELL, _LANE - 1), crowd)
            self._draw_mark(kind, x, y)

    def _draw_mark(self, kind: Kind, x: float, y: float) -> None:
        """A dot for a birth, a cross for a death; a split opens with time, a merge closes."""
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
        """`Timeline.x_of` of many frames."""
        begin, step = self._line.x_of(0), self._line.x_of(1) - self._line.x_of(0)
        return np.asarray(begin + step * frames, np.float64)


def _condense(
    xs: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """One point a pixel where there are more: the largest value of each."""
    columns = np.floor(xs)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1.0))
    if len(starts) == len(xs):
        return xs, values
    return columns[starts] + 0.5, np.maximum.reduceat(values, starts)


def _nearest(frames: array[int] | list[int], index: int) -> int | None:
    """The frame of a rising sequence that is nearest to ``index``."""
    place = bisect_left(frames, index)
    near = frames[max(place - 1, 0) : place + 1]
    return min(near, key=lambda frame: abs(frame - index), default=None)


def _round_up(value: float) -> float:
    """The next of 5, 10, 20, 30, 50, 100, 200, ...

    >>> [_round_up(value) for value in (1.0, 12.0, 31.0, 100.0)]
    [5.0, 20.0, 50.0, 100.0]
    """
    size = 1.0
    while True:
        for step in (5.0, 10.0, 20.0, 30.0):
            if value <= step * size:
                return step * size
        size *= 10.0


def _mix(a: QColor, b: QColor, share: float) -> QColor:
    """Some of ``b`` in ``a``."""
    pairs = ((a.redF(), b.redF()), (a.greenF(), b.greenF()), (a.blueF(), b.blueF()))
    return QColor.fromRgbF(*(x + share * (y - x) for x, y in pairs))
