"""Timeline: segmentation progress, number of segments per frame, events, scene cuts and the playhead."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document import event_text
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.event_text import TITLES
from scstream_app.ui.document.frame_times import timecode
from scstream_app.ui.document.player import Player
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.state import State
from scstream_app.ui.timeline.timeline_painting import BAR, CELL, LANE, LANES, TOP, StaticLayer, Ticks

_RIGHT = 10
#: Ratio of the curve's scale to its largest value.
_HEADROOM = 1.1
#: Distance within which the mouse hits an event mark or a scene cut, in pixels.
_REACH, _CUT_REACH = 5.0, 3.0
#: Half the width of the playhead, in pixels.
_HEAD = 7
#: Initial number of frames of a source of unknown length, and the factor by which it grows.
_ROOM, _GROWTH = 250, 1.25
#: Seconds between two updates with new frames.
_PAUSE = 0.1
_LINES_IN_TIP = 6


class Timeline(QWidget):
    """Timeline of a whole run. A click or drag seeks; a click on an event mark selects the event's segments.

    A cached pixmap holds everything except playhead and in/out points; new frames are appended to it.
    ``menu_requested`` carries the screen position of a right click, after seeking to its frame.
    """

    menu_requested = Signal(QPoint)

    def __init__(self, document: Document, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._player = document, player
        self._layer: QPixmap | None = None
        self._outgrown = self._fresh = False
        self._panel_refresh = PanelRefresh(document, _PAUSE, self)
        self._panel_refresh.come.connect(self._draw_new_frames)
        self._reset()
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
        document.display.shown_changed.connect(self._on_shown)
        player.changed.connect(self.update)

    def _reset(self) -> None:
        self.ticks = {kind: Ticks() for kind in LANES}
        self._taken = self._measured = self._drawn = 0
        self.peak = 0.0
        self._domain = (0, 1)

    @property
    def summary(self) -> RunSummary:
        """Numbers and events per frame."""
        return self._document.summary

    def sizeHint(self) -> QSize:
        """Height of the lanes and the curve."""
        return QSize(640, self.minimumSizeHint().height() + 14)

    def minimumSizeHint(self) -> QSize:
        """Height of the lanes and a low curve."""
        return QSize(240, TOP + len(LANES) * LANE + 34 + BAR)

    # --- geometry

    def track(self) -> QRect:
        """Rectangle right of the lane names."""
        left = self.gutter()
        return QRect(left, 0, max(self.width() - left - _RIGHT, 1), self.height())

    def gutter(self) -> int:
        """Width of the lane names in pixels."""
        metrics = self.fontMetrics()
        return 28 + max(metrics.horizontalAdvance(word) for word in (*TITLES.values(), "Segments"))

    def curve(self) -> tuple[int, int]:
        """Top and bottom of the curve in pixels."""
        return TOP + len(LANES) * LANE + 4, self.height() - BAR - 4

    def x_of(self, index: float) -> float:
        """Horizontal centre of a frame in pixels."""
        first, last = self._domain
        track = self.track()
        return track.left() + track.width() * (index + 0.5 - first) / (last - first)

    def index_at(self, x: float) -> int:
        """Index of the frame at a horizontal position in pixels."""
        first, last = self._domain
        track = self.track()
        index = first + math.floor((x - track.left()) / track.width() * (last - first))
        return min(max(index, first), last - 1)

    def y_of(self, kind: Kind) -> float:
        """Vertical centre of an event lane in pixels."""
        return TOP + LANE * (LANES.index(kind) + 0.5)

    def _frame_range(self) -> tuple[int, int]:
        """First frame of the timeline and one past the last: the length of the source if known."""
        summary, facts = self.summary, self._document.facts
        if not len(summary):
            return 0, max(1, (facts.length if facts is not None else None) or 1)
        first, end = summary.frames[0], summary.frames[-1] + 1
        length = None if facts is None else facts.length
        if self._document.state is State.DONE:
            return first, end
        if length is not None:
            return first, max(end, length)
        room = _ROOM
        while room < end - first:
            room = math.ceil(room * _GROWTH)
        return first, first + room

    # --- document signals

    @Slot()
    def _on_opened(self) -> None:
        self._reset()
        self._on_progress()
        self._redraw()

    @Slot()
    def _on_progress(self) -> None:
        """Take new frames and events; the next refresh draws them."""
        if self._taken and self._frame_range()[0] != self._domain[0]:
            # The summary of an endless source has dropped its oldest frames.
            self._reset()
        before = self._domain, self.peak
        self._domain = self._frame_range()
        self._take_events()
        self._take_peak()
        self._outgrown |= (self._domain, self.peak) != before
        self._panel_refresh.ask()

    @Slot()
    def _draw_new_frames(self) -> None:
        """Draw the new frames only, unless the scale has changed."""
        if self._outgrown:
            self._redraw()
        elif len(self.summary) > self._drawn:
            self._fresh = True
            left = self._left_of_new_frames()
            self.update(left, 0, self.width() - left, self.height())

    def _take_events(self) -> None:
        log = self.summary.events
        for place in range(self._taken, len(log)):
            ticks = self.ticks[log.kind(place)]
            ticks.frames.append(log.frames[place])
            ticks.places.append(place)
        self._taken = len(log)

    def _take_peak(self) -> None:
        """Set the curve's scale, a round number at least as large as any value."""
        values = self.summary.tail("segments", self._measured)
        self._measured += len(values)
        if len(values) and values.max() > self.peak:
            self.peak = _round_up(_HEADROOM * float(values.max()))

    @Slot()
    def _on_shown(self) -> None:
        index = self._document.display.index
        before, self._head = self._head, None if index is None else self.x_of(index)
        for x in {before, self._head} - {None}:
            assert x is not None
            self.update(round(x) - _HEAD, 0, 2 * _HEAD, self.height())

    # --- events and scene cuts

    def _tick_at(self, point: QPointF) -> tuple[Kind, int] | None:
        """Kind and frame of the event mark at this point."""
        lane = math.floor((point.y() - TOP) / LANE)
        if not 0 <= lane < len(LANES):
            return None
        kind = LANES[lane]
        frame = _nearest(self.ticks[kind].frames, self.index_at(point.x()))
        return None if frame is None or abs(self.x_of(frame) - point.x()) > _REACH else (kind, frame)

    def _cut_at(self, point: QPointF) -> int | None:
        cut = _nearest(self.summary.cuts, self.index_at(point.x()))
        return None if cut is None or abs(self.x_of(cut) - point.x()) > _CUT_REACH else cut

    def _events(self, kind: Kind, frame: int) -> list[Event]:
        ticks = self.ticks[kind]
        places = ticks.places[bisect_left(ticks.frames, frame) : bisect_right(ticks.frames, frame)]
        return [self.summary.events[place][1] for place in places]

    def text_at(self, point: QPointF) -> str:
        """Tooltip text for a point of the timeline."""
        summary = self.summary
        if not len(summary) or point.x() < self.track().left():
            return ""
        tick = self._tick_at(point)
        if tick is not None:
            lines = [self._event_text(event) for event in self._events(*tick)]
            more = [f"and {len(lines) - _LINES_IN_TIP} more"] if len(lines) > _LINES_IN_TIP else []
            return "\n".join([self._frame_text(tick[1]), *lines[:_LINES_IN_TIP], *more])
        cut = self._cut_at(point)
        if cut is not None:
            return f"{self._frame_text(cut)}\nScene cut"
        index = self.index_at(point.x())
        place = summary.place(index)
        if place is None:
            return f"Frame {index}: not segmented" + (" yet" if index > summary.frames[-1] else "")
        return f"{self._frame_text(index)}\n{summary.value('segments', place):.0f} segments"

    def _frame_text(self, frame: int) -> str:
        return f"Frame {frame} · {timecode(self._player.time_of(frame))}"

    def _event_text(self, event: Event) -> str:
        ratio = event_text.describe_ratio(event)
        return event_text.describe(event, self._document.names.names) + (
            f" (log Hastings ratio {ratio})" if ratio else ""
        )

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Seek to the frame; a click on an event or scene cut seeks to its frame."""
        if event.button() != Qt.MouseButton.LeftButton or event.position().x() < self.track().left() - _REACH:
            event.ignore()
            return
        point = event.position()
        self._pressed, self._scrubbing = point, False
        self._resume = self._player.playing
        self._player.pause()
        tick, cut = self._tick_at(point), self._cut_at(point)
        if tick is not None:
            # Select before seeking: selecting redraws the current frame, which would replace the pending seek.
            self._document.display.select(id for happened in self._events(*tick) for id in happened.ids)
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
        # Small movements during a click on a mark must not seek.
        if self._scrubbing or (point - self._pressed).manhattanLength() >= QApplication.startDragDistance():
            self._scrubbing = True
            self._player.seek(self.index_at(point.x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Resume playback if it was running."""
        if self._pressed is not None and event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._scrubbing = None, False
            if self._resume:
                self._player.play()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Seek to the frame and request the context menu."""
        if len(self.summary) and event.pos().x() >= self.track().left():
            self._player.pause()
            self._player.seek(self.index_at(event.pos().x()))
            self.menu_requested.emit(event.globalPos())

    def event(self, event: QEvent) -> bool:
        """Show the tooltip for the mouse position."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.text_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Redraw at the new size."""
        self._redraw()

    def changeEvent(self, event: QEvent) -> None:
        """Redraw after a change of palette, font or style."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._redraw()

    def _redraw(self) -> None:
        self._layer, self._outgrown = None, False
        self._head = None if self._document.display.index is None else self.x_of(self._document.display.index)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cached layer, then in/out range and playhead."""
        self._update_layer()
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        if self._layer is not None:
            painter.drawPixmap(0, 0, self._layer)
        if len(self.summary):
            self._paint_range(painter)
            self._paint_head(painter)
        painter.end()

    def _update_layer(self) -> None:
        ratio = self.devicePixelRatioF()
        if self._layer is None or self._layer.devicePixelRatio() != ratio:
            self._layer = QPixmap(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
            self._layer.setDevicePixelRatio(ratio)
            left = 0
        elif self._fresh:
            left = self._left_of_new_frames()
        else:
            return
        self._drawn, self._fresh = len(self.summary), False
        painter = QPainter(self._layer)
        painter.setClipRect(left, 0, self.width() - left, self.height())
        StaticLayer(self, painter).draw(left)
        painter.end()

    def _left_of_new_frames(self) -> int:
        """Left edge in pixels of the area that new frames change."""
        frames = self.summary.frames
        last = frames[max(self._drawn - 1, 0)]
        left = self.track().left()
        return max(left, left + (int(self.x_of(last) - left) // CELL - 1) * CELL)

    def _paint_range(self, painter: QPainter) -> None:
        begin, out = self._player.in_point, self._player.out_point
        if begin is None and out is None:
            return
        track, half = self.track(), (self.x_of(1) - self.x_of(0)) / 2.0
        shade = QColor(self.palette().color(QPalette.ColorRole.Window))
        shade.setAlpha(175)
        mark = self.palette().color(QPalette.ColorRole.Highlight)
        bottom = self.height()
        left = float(track.left()) if begin is None else self.x_of(begin) - half
        right = float(track.right() + 1) if out is None else self.x_of(out) + half
        painter.fillRect(QRectF(track.left(), TOP, left - track.left(), bottom - TOP), shade)
        painter.fillRect(QRectF(right, TOP, track.right() + 1 - right, bottom - TOP), shade)
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


def _nearest(frames: array[int] | list[int], index: int) -> int | None:
    """Frame of a sorted sequence nearest to ``index``."""
    place = bisect_left(frames, index)
    near = frames[max(place - 1, 0) : place + 1]
    return min(near, key=lambda frame: abs(frame - index), default=None)


def _round_up(value: float) -> float:
    """Round up to the next of 5, 10, 20, 30, 50, 100, 200, ...

    >>> [_round_up(value) for value in (1.0, 12.0, 31.0, 100.0)]
    [5.0, 20.0, 50.0, 100.0]
    """
    size = 1.0
    while True:
        for step in (5.0, 10.0, 20.0, 30.0):
            if value <= step * size:
                return step * size
        size *= 10.0
