"""The canvas of the drawing tools: the frame that they paint, the object that gets it, and how a stroke is applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QPointF, Signal, Slot

from scstream_app.objects.edits import Mask
from scstream_app.objects.painting import Change
from scstream_app.render import palette
from scstream_app.render.palette import RGB
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.action_availability import why_unavailable
from scstream_app.ui.document.undo_commands.painting import (
    PaintedChange,
    PaintedFrame,
    painted_change,
    push_painted,
)
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.viewer.geometry.frame_map import Tile
from scstream_app.ui.viewer.tools.strokes import Point
from scstream_app.ui.viewer.tools.tool_options import ToolOptions
from scstream_app.ui.viewer.viewer import Viewer


@dataclass(frozen=True, slots=True)
class _Stroke:
    """A stroke on a frame of the clip with this summary."""

    frame: PaintedFrame
    mask: Callable[[], Mask]
    change: Change
    summary: RunSummary


class Canvas(QObject):
    """Paints objects of the frame shown.

    ``began`` is emitted when the user begins to draw, ``painted`` carries the name of the object that a stroke changed,
    ``applied`` is emitted after each stroke, with whether the frame will be drawn again. Strokes are applied one after
    another, off the window's thread.

    Parameters
    ----------
    viewer : Viewer
    options : ToolOptions
    queue : JobQueue
        For computations that take a while.
    target : callable
        Returns the name of the object to paint; None: a new one.

    Attributes
    ----------
    viewer, options
        As given.
    """

    began = Signal()
    painted = Signal(object)
    applied = Signal(bool)

    def __init__(self, viewer: Viewer, options: ToolOptions, queue: JobQueue, target: Callable[[], str | None]) -> None:
        super().__init__(viewer)
        self.viewer, self.options = viewer, options
        self._queue, self._target = queue, target
        self._document = viewer.document
        self._strokes: list[_Stroke] = []
        self._running = False

    def begin(self) -> PaintedFrame | None:
        """Return the frame to draw on, which stays on the screen; None, with the reason on the screen, if it cannot."""
        display = self._document.display
        reason = why_unavailable(self._document, "tool_brush")
        if not reason and display.index is not None and self._document.summary.place(display.index) is None:
            reason = "Wait until this frame is segmented to draw on it"
        if reason or display.index is None:
            self.viewer.show_toast(f"{reason}." if reason else "")
            return None
        self.began.emit()
        display.follow_newest = False
        return PaintedFrame.shown(self._document)

    def frame_point(self, point: QPointF, tile: Tile) -> Point:
        """Convert a point of the viewer to pixels of the frame."""
        placed = self.viewer.frame_map()
        found = QPointF() if placed is None else placed.to_frame(point, tile)
        return found.x(), found.y()

    @property
    def colour(self) -> RGB:
        """Colour of the object that is painted."""
        objects, name = self._document.objects, self._target()
        known = next((object_.colour for object_ in objects if object_.name == name), None)
        return known or palette.colour(len(objects))

    # --- applying strokes

    @property
    def busy(self) -> bool:
        """Whether strokes wait or are being applied."""
        return bool(self._strokes)

    def apply(self, frame: PaintedFrame, mask: Callable[[], Mask], change: Change) -> None:
        """Change the object by a stroke, whose mask (H, W) is computed on the queue's thread."""
        self._strokes.append(_Stroke(frame, mask, change, self._document.summary))
        self._go_on()

    @Slot()
    def _go_on(self) -> None:
        """Begin with the next stroke, unless one is being applied."""
        if self._running or not self._strokes:
            return
        stroke, name = self._strokes[0], self._target()
        same = self._document.summary is stroke.summary
        frame = stroke.frame.with_objects_of(self._document) if same else None
        if frame is None:
            self._end("The objects have changed meanwhile. Draw again." if same else "")
        elif stroke.change == "remove" and name is None:
            self._end("Highlight an object in the list to erase from it.")
        else:
            self._running = True
            self._queue.do(partial(_computed, frame, name, stroke), self._on_computed, self._on_failed, what="Drawing")

    def _on_computed(self, change: PaintedChange | None) -> None:
        self._running = False
        stroke = self._strokes[0]
        if change is not None and self._document.summary is stroke.summary:
            if change.frame.objects != self._document.objects:
                # The user has undone something meanwhile.
                self._go_on()
                return
            push_painted(self._document, change)
            # The marks of selected segments would hide what the stroke has changed.
            self._document.display.select(())
            self.painted.emit(change.about)
            self._end(redrawn=True)
        else:
            self._end()

    def _on_failed(self, reason: str) -> None:
        self._running = False
        self._end(reason)

    def _end(self, reason: str = "", redrawn: bool = False) -> None:
        """Go on after the first stroke."""
        del self._strokes[0]
        if reason:
            self.viewer.show_toast(reason)
        self.applied.emit(redrawn)
        self._go_on()


def _computed(frame: PaintedFrame, name: str | None, stroke: _Stroke) -> PaintedChange | None:
    return painted_change(frame, name, stroke.mask(), stroke.change)
