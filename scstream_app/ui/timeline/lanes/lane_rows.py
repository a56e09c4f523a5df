"""LaneRows: one lane for each object, with its edits as keys that the mouse and the keyboard change."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from scstream_app.errors import StudioError
from scstream_app.objects import MarkedObject
from scstream_app.objects.reach import Reach
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.action_availability import why_unchangeable
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.objects.object_confidence import ObjectCurve, confidence_text, curve_of
from scstream_app.ui.document.objects.reach_text import key_text
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.timeline.lanes.key_menu import make_key_menu
from scstream_app.ui.timeline.lanes.lane_keys import LANE, Key, key_at, keys_of, reach_at
from scstream_app.ui.timeline.lanes.lanes_painter import LanesPainter
from scstream_app.ui.timeline.timeline import Timeline

#: Half the width of the playhead, in pixels.
_HEAD = 2
#: Height of a tooltip beyond its lines, and how far below the given point Qt shows it, in pixels.
_TIP_MARGIN = 32
#: Keys that the lanes handle while they have the focus, before the window's shortcuts.
_OWN_KEYS = frozenset(
    {
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Delete,
    }
)


class LaneRows(QWidget):
    """The lanes of all objects.

    A click on a key goes to its frame and highlights its object, a drag moves the edit. With the keyboard focus, the
    arrow keys choose a key, Enter goes to its frame, Delete deletes it. ``moved`` carries the lane of the chosen key.

    Attributes
    ----------
    current : Key or None
        The key that has the focus.
    target : int or None
        The frame to which a key is being dragged.
    highlight : str or None
        Name of the highlighted object.
    curves : list of ObjectCurve
        One for each object.
    """

    message = Signal(str)
    highlighted = Signal(str)
    menu_requested = Signal(str, QPoint)
    moved = Signal(int)

    def __init__(self, document: Document, player: Player, timeline: Timeline) -> None:
        super().__init__()
        self._document, self._player, self.timeline = document, player, timeline
        self.keys: list[Key] = []
        self.current: Key | None = None
        self.target: int | None = None
        self.highlight: str | None = None
        self.curves: list[ObjectCurve] = []
        self._pressed: QPointF | None = None
        self._grabbed: Key | None = None
        self._resume = False
        self._head: float | None = None
        self._layer: QPixmap | None = None
        self._drawn = QRect()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Objects over time")
        self._describe()
        document.marks_changed.connect(self._on_objects)
        document.opened.connect(self._on_objects)
        document.closed.connect(self._on_objects)
        document.tracking.advanced.connect(self._on_tracked)
        document.display.shown_changed.connect(self._on_shown)
        timeline.scale_changed.connect(self._on_scale)
        self._on_objects()

    @property
    def objects(self) -> tuple[MarkedObject, ...]:
        """The objects, in the order of the lanes."""
        return self._document.objects

    @property
    def head(self) -> float | None:
        """Horizontal place of the frame shown, in pixels."""
        return self._head

    def sizeHint(self) -> QSize:
        """Height of all lanes."""
        return QSize(240, len(self.objects) * LANE)

    def set_highlight(self, name: str) -> None:
        """Show which object is highlighted; an empty name: none."""
        self.highlight = name or None
        self._redraw()

    # --- document signals

    @Slot()
    def _on_objects(self) -> None:
        self.keys = list(keys_of(self.objects))
        if self.current is not None:
            lane, number = self.current.lane, self.current.number
            near = [key for key in self.keys if key.lane == lane]
            self._choose(near[min(number, len(near) - 1)] if near else None)
        self._grabbed = self.target = None
        self._on_tracked()

    @Slot()
    def _on_tracked(self) -> None:
        curves, cuts = self._document.tracking.curves, self._document.summary.cuts
        self.curves = [curve_of(curves, one, cuts) for one in self.objects]
        self._redraw()

    @Slot()
    def _on_scale(self) -> None:
        index = self._document.display.index
        self._head = None if index is None else self.timeline.x_of(index)
        self._redraw()

    @Slot()
    def _on_shown(self) -> None:
        before, index = self._head, self._document.display.index
        self._head = None if index is None else self.timeline.x_of(index)
        for x in {before, self._head} - {None}:
            assert x is not None
            self.update(round(x) - _HEAD, 0, 2 * _HEAD + 1, self.height())

    # --- what is where

    def lane_at(self, point: QPointF) -> int | None:
        """Place of the object at a point."""
        lane = int(point.y() // LANE)
        return lane if 0 <= lane < len(self.objects) else None

    def key_at(self, point: QPointF) -> Key | None:
        """The key at a point."""
        return key_at(self.keys, point, self.timeline.x_of) if self._on_track(point) else None

    def _on_track(self, point: QPointF) -> bool:
        return point.x() >= self.timeline.track().left() - 5

    def text_at(self, point: QPointF) -> str:
        """Tooltip text for a point."""
        lane = self.lane_at(point)
        if lane is None:
            return ""
        name, key = self.objects[lane].name, self.key_at(point)
        if key is not None:
            beside = f"\nOne of {key.together} edits of this frame" if key.together > 1 else ""
            return f"{name}\n{key_text(key.edit)}{beside}"
        reach = reach_at(self.keys, point, self.timeline.x_of) if self._on_track(point) else None
        if reach is not None:
            return f"{name}\n{key_text(reach.edit)}\nThe line shows these frames, the bar the last of them"
        if not self._on_track(point):
            return f"{name}\nArea (curve) and confidence (coloured line: the higher and redder, the lower)"
        index, curve = self.timeline.index_at(point.x()), self.curves[lane]
        place = int(curve.frames.searchsorted(index))
        if place == len(curve.frames) or curve.frames[place] != index:
            return f"{name}\nFrame {index}: not tracked yet"
        confidence = float(curve.confidences[place])
        if confidence != confidence:
            return f"{name}\nFrame {index}: not marked"
        return f"{name}\nFrame {index}: {curve.areas[place]:.0f} pixels, confidence: {confidence_text(confidence)}"

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the key or frame, and highlight the object."""
        point = event.position()
        lane = self.lane_at(point)
        if event.button() != Qt.MouseButton.LeftButton or lane is None:
            event.ignore()
            return
        key = self.key_at(point)
        self._choose(key)
        self.highlighted.emit(self.objects[lane].name)
        if self._on_track(point):
            self._pressed, self._grabbed = point, key
            self._resume = self._player.playing
            self._player.pause()
            self._player.seek(self.timeline.index_at(point.x()) if key is None else key.edit.frame)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag a key, or scrub."""
        point = event.position()
        if self._pressed is None:
            hand = Qt.CursorShape.PointingHandCursor if self.key_at(point) else Qt.CursorShape.ArrowCursor
            self.setCursor(hand)
            return
        far = (point - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        index = self.timeline.index_at(point.x())
        if self._grabbed is None:
            self._player.seek(index)
        elif self.target is not None or far:
            self.target = index
            self._player.seek(index)
            QToolTip.showText(event.globalPosition().toPoint(), f"Move to frame {index}", self)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Move the edit to the frame on which it is dropped."""
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        key, target = self._grabbed, self.target
        self._end_drag()
        if key is not None and target is not None:
            self._move(key, target)
        elif self._resume:
            self._player.play()

    def _end_drag(self) -> None:
        self._pressed = self._grabbed = self.target = None
        QToolTip.hideText()
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the key or of the object."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        point = QPointF(event.pos())
        key = self.current if by_key else self.key_at(point)
        lane = self.lane_at(point) if key is None else key.lane
        if key is not None:
            self._choose(key)
            self.highlighted.emit(key.name)
            menu = make_key_menu(self, key, self._go, self._set_reach, self._delete, why_unchangeable(self._document))
            where = key.centre(self.timeline.x_of).toPoint() if by_key else event.pos()
            menu.popup(self.mapToGlobal(where))
        elif lane is not None:
            self.highlighted.emit(self.objects[lane].name)
            self.menu_requested.emit(self.objects[lane].name, event.globalPos())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom the timeline, unless the lanes scroll."""
        around = self.parentWidget()
        if around is not None and self.height() > around.height():
            event.ignore()
        else:
            self.timeline.wheelEvent(event)

    # --- keyboard

    def event(self, event: QEvent) -> bool:
        """Take keys before the window's shortcuts, and show tooltips."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            escaping = event.key() == Qt.Key.Key_Escape and self.target is not None
            # Without a chosen key, the arrows step from frame to frame and Del removes segments, as everywhere.
            chosen = self.current is not None and held == Qt.KeyboardModifier.NoModifier
            if escaping or (chosen and event.key() in _OWN_KEYS):
                event.accept()
                return True
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.text_at(QPointF(event.pos()))
            QToolTip.showText(self._above(event.pos(), text), text, self) if text else QToolTip.hideText()
            return True
        return super().event(event)

    def _above(self, point: QPoint, text: str) -> QPoint:
        """Where a tooltip leaves the lane at a point free, on the screen."""
        lines = (text.count("\n") + 1) * self.fontMetrics().lineSpacing()
        return self.mapToGlobal(QPoint(point.x(), point.y() // LANE * LANE - lines)) - QPoint(0, _TIP_MARGIN)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose, go to or delete a key; Esc cancels a drag."""
        match event.key():
            case Qt.Key.Key_Escape if self.target is not None and self._grabbed is not None:
                self._player.seek(self._grabbed.edit.frame)
                self._end_drag()
            case Qt.Key.Key_Left | Qt.Key.Key_Right | Qt.Key.Key_Up | Qt.Key.Key_Down if self.current is not None:
                self._choose(self._beside(self.current, Qt.Key(event.key())))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.current is not None:
                self._go(self.current)
            case Qt.Key.Key_Delete if self.current is not None:
                self._delete(self.current)
            case _:
                super().keyPressEvent(event)

    def _beside(self, key: Key, towards: Qt.Key) -> Key:
        """The next key of the lane, or the nearest one of another lane."""
        if towards in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = 1 if towards == Qt.Key.Key_Right else -1
            near = [other for other in self.keys if other.lane == key.lane]
            return near[min(max(key.number + step, 0), len(near) - 1)]
        lane = key.lane + (1 if towards == Qt.Key.Key_Down else -1)
        near = [other for other in self.keys if other.lane == lane]
        return min(near, key=lambda other: abs(other.edit.frame - key.edit.frame), default=key)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Choose the first key if none is."""
        super().focusInEvent(event)
        if self.current is None and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._choose(next(iter(self.keys), None))
        self._redraw()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the focus."""
        super().focusOutEvent(event)
        self._redraw()

    def _choose(self, key: Key | None) -> None:
        self.current = key
        self._describe()
        if key is not None:
            self.moved.emit(key.lane)
        self._redraw()

    def _describe(self) -> None:
        hint = "Arrow keys choose an edit, Enter goes to its frame, Delete deletes it."
        key = self.current
        chosen = "" if key is None else f"{key.name}: {key_text(key.edit)}. ".replace("\n", ", ")
        self.setAccessibleDescription(chosen + hint)

    # --- edits

    def _go(self, key: Key) -> None:
        self._player.pause()
        self._player.seek(key.edit.frame)
        self.highlighted.emit(key.name)

    def _may_change(self) -> bool:
        """Whether edits can be changed now; if not, say why."""
        reason = why_unchangeable(self._document)
        if reason:
            self.message.emit(f"{reason}.")
        return not reason

    def _move(self, key: Key, frame: int) -> None:
        if frame == key.edit.frame or not self._may_change():
            return
        try:
            undo_commands.move_edit(self._document, key.name, key.edit, frame)
        except StudioError as error:
            self.message.emit(f"The edit stays on frame {key.edit.frame}: {error}.")
            return
        moved = [one for one in self.keys if one.lane == key.lane and one.edit.frame == frame]
        self._choose(moved[-1] if moved else self.current)

    def _delete(self, key: Key) -> None:
        if not self._may_change():
            return
        before = self.objects
        undo_commands.delete_edit(self._document, key.name, key.edit)
        if self.objects == before:
            # The session could not be written, which the window reports.
            return
        if len(self.objects) < len(before):
            self.message.emit(f"Object '{key.name}' deleted with its last edit.")
        else:
            self.message.emit(f"Edit of object '{key.name}' on frame {key.edit.frame} deleted.")

    def _set_reach(self, key: Key, reach: Reach) -> None:
        try:
            undo_commands.set_reach(self._document, key.name, key.edit, reach)
        except StudioError as error:
            self.message.emit(undo_commands.sentence(str(error)))

    # --- painting

    def changeEvent(self, event: QEvent) -> None:
        """Redraw after a change of palette, font or style."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._redraw()

    def _redraw(self) -> None:
        self._layer = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cached lanes, then the playhead and a key that is being dragged."""
        seen, ratio = self.visibleRegion().boundingRect() | event.rect(), self.devicePixelRatioF()
        if self._layer is None or self._drawn != seen or self._layer.devicePixelRatio() != ratio:
            self._layer, self._drawn = QPixmap(seen.size() * ratio), seen
            self._layer.setDevicePixelRatio(ratio)
            painter = QPainter(self._layer)
            painter.translate(-seen.topLeft())
            LanesPainter(self, painter).paint(seen)
            painter.end()
        painter = QPainter(self)
        painter.setClipRect(event.rect())
        painter.drawPixmap(seen.topLeft(), self._layer)
        LanesPainter(self, painter).paint_moving()
        painter.end()
