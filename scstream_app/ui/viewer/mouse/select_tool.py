"""The Select tool: click segments, or drag over them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from scstream_app.plural import counted
from scstream_app.render.image_types import IdMap
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.viewer.geometry.frame_map import FrameMap, Tile
from scstream_app.ui.viewer.mouse.panning import Panning
from scstream_app.ui.viewer.mouse.viewer_tool import ViewerTool

#: Keys that add to the selection or take away from it.
_ALTERING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


class SelectableView(Protocol):
    """What the tool needs of the viewer."""

    @property
    def document(self) -> Document:
        """The document that the viewer shows."""

    @property
    def panning(self) -> Panning:
        """Moves the picture."""

    def frame_map(self) -> FrameMap | None:
        """Where the pixels of the frame are; None if there are none."""

    def segment_at(self, point: QPointF) -> int | None:
        """Id of the segment at a point; None outside of segments."""

    def is_final(self) -> bool:
        """Whether segments can be selected; if not, show why."""

    def show_toast(self, text: str) -> None:
        """Show a short text over the picture."""


class SelectTool(ViewerTool):
    """A click selects a segment, a drag all segments that it passes. Ctrl adds, Alt takes away.

    A drag that does not begin on a segment moves the picture.
    """

    def __init__(self, view: SelectableView) -> None:
        self._view = view
        self._pressed: QPointF | None = None
        self._tile: Tile = (0, 0)
        self._last = QPointF()
        self._dragged: set[int] | None = None
        self._before: frozenset[int] = frozenset()

    def press(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        placed = self._view.frame_map()
        self._pressed, self._dragged = event.position(), None
        self._before = self._view.document.display.selection
        if placed is not None:
            self._tile = placed.tile_at(event.position())
            self._last = placed.to_frame(event.position(), self._tile)

    def move(self, event: QMouseEvent) -> None:
        """Select the segments that the drag passes."""
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        if self._dragged is None and not self._begin(event):
            return
        self._pass_over(event)

    def _begin(self, event: QMouseEvent) -> bool:
        """Begin to select if the mouse was moved far enough; returns whether it does."""
        assert self._pressed is not None
        if (event.position() - self._pressed).manhattanLength() < QApplication.startDragDistance():
            return False
        if self._view.segment_at(self._pressed) is None or not self._view.is_final():
            self._view.panning.begin(Qt.MouseButton.LeftButton, self._pressed)
            self._pressed = None
            return False
        self._dragged = set()
        return True

    def _pass_over(self, event: QMouseEvent) -> None:
        placed, display = self._view.frame_map(), self._view.document.display
        if placed is None or display.shown is None or self._dragged is None:
            return
        now = placed.to_frame(event.position(), self._tile)
        self._dragged |= _passed(display.shown.result.ids, self._last, now)
        self._last = now
        if event.modifiers() & Qt.KeyboardModifier.AltModifier:
            display.select(self._before - self._dragged)
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            display.select(self._before | self._dragged)
        else:
            display.select(self._dragged)

    def release(self, event: QMouseEvent) -> None:
        """End a drag, or select the segment that was clicked."""
        clicked = self._pressed is not None and self._dragged is None
        self._pressed = self._dragged = None
        if clicked and self._view.is_final():
            self._click(self._view.segment_at(event.position()), event.modifiers())

    def _click(self, id: int | None, modifiers: Qt.KeyboardModifier) -> None:
        display = self._view.document.display
        chosen = frozenset() if id is None else frozenset({id})
        before = display.selection
        if modifiers & Qt.KeyboardModifier.AltModifier:
            display.select(display.selection - chosen)
        elif not modifiers & Qt.KeyboardModifier.ControlModifier:
            display.select(chosen)
        elif id is not None:
            display.select(display.selection ^ chosen)
        if modifiers & _ALTERING and before - display.selection:
            # In views with strong colours this is easy to miss.
            left = counted(len(display.selection), "segment")
            self._view.show_toast(f"Segment {id} is no longer selected. Selected: {left}.")
        elif before != display.selection:
            # What was said about the last click is no longer true.
            self._view.show_toast("")

    def double_click(self, event: QMouseEvent) -> None:
        """Isolate the segment, or show all again."""
        # `_pressed` stays None, so that the following release does not count as a click.
        if self._view.is_final():
            id = self._view.segment_at(event.position())
            undo_commands.isolate(self._view.document, frozenset() if id is None else frozenset({id}))

    def cancel(self) -> bool:
        """Restore the selection of before a drag."""
        if self._dragged is None:
            return False
        self._pressed = self._dragged = None
        self._view.document.display.select(self._before)
        return True


def _passed(ids: IdMap, start: QPointF, end: QPointF) -> set[int]:
    """Ids of the segments on a line between two points of the frame."""
    count = int(max(abs(end.x() - start.x()), abs(end.y() - start.y()))) + 2
    columns = np.floor(np.linspace(start.x(), end.x(), count)).astype(int)
    rows = np.floor(np.linspace(start.y(), end.y(), count)).astype(int)
    inside = (columns >= 0) & (columns < ids.shape[1]) & (rows >= 0) & (rows < ids.shape[0])
    found = np.unique(ids[rows[inside], columns[inside]])
    return set(found[found >= 0].tolist())
