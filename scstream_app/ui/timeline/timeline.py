"""Timeline: segmentation progress, number of segments per frame, events, scene cuts and the playhead."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from scstream.sampler.genealogy import Kind
from scstream_app.plural import counted
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.events.event_text import TITLES
from scstream_app.ui.document.playback.frame_range import is_part, is_planned, showable_frames
from scstream_app.ui.document.playback.frame_times import timecode
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.document.refresh_scheduler import PanelRefresh
from scstream_app.ui.document.state import State
from scstream_app.ui.document.undo_commands.text import segments_text
from scstream_app.ui.timeline.event_marks import LANES, EventMarks, nearest
from scstream_app.ui.timeline.filter_chip import FilterChip
from scstream_app.ui.timeline.playhead_painting import BESIDE, paint_playhead, paint_range, playhead_width
from scstream_app.ui.timeline.scroll_bar import ScrollBar
from scstream_app.ui.timeline.time_scale import TimeScale
from scstream_app.ui.timeline.time_view import TimeView
from scstream_app.ui.timeline.timeline_painting import BAR, CELL, LANE, TOP, StaticLayer, small_font

_RIGHT = 10
#: Ratio of the curve's scale to its largest value.
_HEADROOM = 1.1
#: Distance within which the mouse hits an event mark or a scene cut, in pixels.
_REACH, _CUT_REACH = 5.0, 3.0
#: Initial number of frames of a source of unknown length, and the factor by which it grows.
_ROOM, _GROWTH = 250, 1.25
#: Seconds between two updates with new frames.
_PAUSE = 0.1


class Timeline(TimeView):
    """Timeline of a run. A click or drag seeks; a click on an event mark selects the event's segments; the wheel zooms.

    A cached pixmap holds everything except playhead and in/out points; new frames are appended to it.
    ``menu_requested`` carries the screen position of a right click, after seeking to its frame. ``scale_changed`` is
    emitted when frames are at other positions: after zooming and scrolling, for another clip, and for another width.
    ``message`` carries what a click has selected.
    """

    menu_requested = Signal(QPoint)
    message = Signal(str)

    def __init__(self, document: Document, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._player = document, player
        self._layer: QPixmap | None = None
        self._outgrown = self._fresh = False
        self._bar = ScrollBar(self)
        self._bar.scrolled.connect(self.scroll_frames)
        self._panel_refresh = PanelRefresh(document, _PAUSE, self)
        self._panel_refresh.come.connect(self._draw_new_frames)
        self.marks = EventMarks(document)
        self._chip = FilterChip(document.event_filter, self)
        self._reset()
        self._head: float | None = None
        self._here = document.display.index
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
        document.event_filter.changed.connect(self._on_filter)
        player.changed.connect(self.update)

    def _reset(self) -> None:
        self.marks.reset()
        self._measured = self._drawn = 0
        self._of = self.summary
        self.peak = 0.0

    @property
    def summary(self) -> RunSummary:
        """Numbers and events per frame."""
        return self._document.summary

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of events that are shown."""
        return self._document.event_filter.kinds

    def sizeHint(self) -> QSize:
        """Height of the lanes and the curve."""
        return QSize(640, self.minimumSizeHint().height() + 14)

    def minimumSizeHint(self) -> QSize:
        """Height of the lanes and a low curve."""
        return QSize(240, TOP + len(LANES) * LANE + 34 + BAR)

    # --- geometry

    def gutter(self) -> int:
        """Width of the lane names in pixels."""
        metrics = self.fontMetrics()
        return 28 + max(metrics.horizontalAdvance(word) for word in (*TITLES.values(), "Segments"))

    def bottom(self) -> int:
        """Lower edge of the progress bar in pixels; the scroll bar is below it."""
        return self.height() - (self._bar.height() if self.scale.zoomed else 0)

    def curve(self) -> tuple[int, int]:
        """Top and bottom of the curve in pixels."""
        return TOP + len(LANES) * LANE + 4, self.bottom() - BAR - 4

    def scale_moved(self) -> None:
        """Redraw for another scale."""
        self._bar.follow(self.scale, self.track())
        self._chip.follow()
        self._redraw()

    def y_of(self, kind: Kind) -> float:
        """Vertical centre of an event lane in pixels."""
        return TOP + LANE * (LANES.index(kind) + 0.5)

    def _frame_range(self) -> tuple[int, int]:
        """First frame of the timeline and one past the last: the length of the source if known."""
        frames, facts = showable_frames(self._document), self._document.facts
        if not len(frames):
            return 0, 1
        if self._document.state is State.DONE or (facts is not None and facts.length is not None):
            return frames.start, frames.stop
        room = _ROOM
        while room < len(frames):
            room = math.ceil(room * _GROWTH)
        return frames.start, frames.start + room

    # --- document signals

    @Slot()
    def _on_opened(self) -> None:
        self._reset()
        self.scale = TimeScale()
        self._here = self._document.display.index
        self._on_progress()
        if is_part(self._document) and len(self.summary):
            self.scale.see(self.summary.frames[0], self.summary.frames[-1] + 1)
        self.place(self.gutter(), _RIGHT)

    @Slot()
    def _on_progress(self) -> None:
        """Take new frames and events; the next refresh draws them."""
        clip, peak = self._frame_range(), self.peak
        if self.summary is not self._of or (self.marks and clip[0] != self.scale.first):
            # Segments were merged in the result, or the summary of an endless source has dropped its oldest frames.
            self._reset()
            self._outgrown = True
        grown = clip != (self.scale.first, self.scale.last)
        moved = self.scale.set_clip(*clip)
        self.marks.take()
        self._take_peak()
        self._outgrown |= grown or self.peak != peak
        self._panel_refresh.ask()
        if grown:
            self._bar.follow(self.scale, self.track())
        if moved:
            self.scale_changed.emit()

    @Slot()
    def _draw_new_frames(self) -> None:
        """Draw the new frames only, unless the scale has changed."""
        if self._outgrown:
            self._redraw()
        elif len(self.summary) > self._drawn:
            self._fresh = True
            left = self._left_of_new_frames()
            self.update(left, 0, max(self.width() - left, 0), self.height())

    def _take_peak(self) -> None:
        """Set the curve's scale, a round number at least as large as any value."""
        values = self.summary.tail("segments", self._measured)
        self._measured += len(values)
        if len(values) and values.max() > self.peak:
            self.peak = _round_up(_HEADROOM * float(values.max()))

    @Slot()
    def _on_shown(self) -> None:
        index = self._document.display.index
        if index is not None and index != self._here:
            self._follow(self._here, index)
        self._here = index
        before, self._head = self._head, None if index is None else self.x_of(index)
        # Where the plate may be, also beside its frame at an end of the track.
        reach = math.ceil(playhead_width(QFontMetricsF(small_font(self.font())), self.scale.last)) + 1
        for x in {before, self._head} - {None}:
            assert x is not None
            self.update(round(x) - reach, 0, 2 * reach, self.height())

    def _follow(self, before: int | None, index: int) -> None:
        """Keep the playhead in view, unless the user has scrolled away from it while frames go by."""
        going = self._player.playing or self._document.display.follow_newest
        if going and before is not None and not self.scale.shows(before):
            return
        moved = self.scale.reveal(index, 0.0) if self._scrubbing else self.scale.reveal(index)
        if moved:
            self.rescale()

    # --- events and scene cuts

    @Slot()
    def _on_filter(self) -> None:
        self.marks.reset()
        self.marks.take()
        self._redraw()

    def _lane_at(self, point: QPointF) -> Kind | None:
        """Kind of the events of the lane at this point."""
        lane = math.floor((point.y() - TOP) / LANE)
        return LANES[lane] if 0 <= lane < len(LANES) else None

    def _tick_at(self, point: QPointF) -> tuple[Kind, int] | None:
        """Kind and frame of the event mark at this point."""
        kind = self._lane_at(point)
        frame = None if kind is None else self.marks.nearest(kind, self.index_at(point.x()))
        if kind is None or frame is None or abs(self.x_of(frame) - point.x()) > _REACH:
            return None
        return kind, frame

    def _cut_at(self, point: QPointF) -> int | None:
        cut = nearest(self.summary.cuts, self.index_at(point.x()))
        return None if cut is None or abs(self.x_of(cut) - point.x()) > _CUT_REACH else cut

    def text_at(self, point: QPointF) -> str:
        """Tooltip text for a point of the timeline."""
        if not len(showable_frames(self._document)):
            return ""
        if point.x() < self.track().left():
            return self._name_text(self._lane_at(point))
        tick, cut = self._tick_at(point), self._cut_at(point)
        if tick is not None:
            return "\n".join([self._frame_text(tick[1]), *self.marks.describe(*tick)])
        if cut is not None:
            return f"{self._frame_text(cut)}\nScene cut"
        index = self.index_at(point.x())
        place = self.summary.place(index)
        if place is None:
            return f"Frame {index}: not segmented" + (" yet" if is_planned(self._document, index) else "")
        return f"{self._frame_text(index)}\n{counted(self.summary.value('segments', place), 'segment')}"

    def _name_text(self, kind: Kind | None) -> str:
        if kind is None:
            return ""
        return f"Click to {'hide' if kind in self.kinds else 'show'} {TITLES[kind].lower()}"

    def _frame_text(self, frame: int) -> str:
        return f"Frame {frame} · {timecode(self._player.time_of(frame))}"

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Seek to the frame; a click on an event or scene cut seeks to its frame, one on a name hides its events."""
        point = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        if point.x() < self.track().left() - _REACH:
            kind = self._lane_at(point)
            if kind is not None:
                self._document.event_filter.toggle_kind(kind)
            return
        self._pressed, self._scrubbing = point, False
        self._resume = self._player.playing
        self._player.pause()
        tick, cut = self._tick_at(point), self._cut_at(point)
        if tick is not None:
            # Select before seeking: selecting redraws the current frame, which would replace the pending seek.
            ids = {id for happened in self.marks.events(*tick) for id in happened.ids}
            self._document.display.select(ids)
            self._player.seek(tick[1])
            self.message.emit(f"Selected by this mark: {segments_text(ids)}. Esc selects none.")
        else:
            self._player.seek(self.index_at(point.x()) if cut is None else cut)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while the button is down."""
        point = event.position()
        if self._pressed is None:
            name = point.x() < self.track().left() and self._lane_at(point) is not None
            on_mark = name or self._tick_at(point) is not None
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
            # A frame that is not segmented stays, rather than playing from the start.
            if self._resume and self.summary.place(self.index_at(event.position().x())) is not None:
                self._player.play()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole clip."""
        on_track = event.position().x() >= self.track().left()
        if event.button() == Qt.MouseButton.LeftButton and self.scale.zoomed and on_track:
            self.fit()
        else:
            self.mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Seek to the frame and request the context menu."""
        if len(showable_frames(self._document)) and event.pos().x() >= self.track().left():
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
        self.place(self.gutter(), _RIGHT)

    def changeEvent(self, event: QEvent) -> None:
        """Redraw after a change of palette, font or style."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.place(self.gutter(), _RIGHT)
        elif event.type() == QEvent.Type.PaletteChange:
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
        if self._document.is_open or len(self.summary):
            # Part of the playhead is beside the track if it is on the first or last frame of the view.
            painter.setClipRect(self.track().adjusted(-BESIDE, 0, BESIDE, 0), Qt.ClipOperation.IntersectClip)
            area = QRect(self.track().topLeft(), QSize(self.track().width(), self.bottom()))
            paint_range(painter, self.palette(), self.scale, area, (self._player.in_point, self._player.out_point))
            if self._here is not None and self.scale.shows(self._here):
                painter.setFont(small_font(self.font()))
                paint_playhead(painter, self.palette(), self.scale, area, self._here)
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
        return min(max(left, left + (int(self.x_of(last) - left) // CELL - 1) * CELL), self.width())


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
