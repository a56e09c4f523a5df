"""Base widget that shows frames along a scale that zooms and scrolls."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget

from scstream_app.ui.timeline.time_scale import TimeScale

#: Factor by which a step of the wheel, or a key, zooms; and the angle of such a step in eighths of a degree.
_ZOOM, _WHEEL_STEP = 1.25, 120.0
#: Share of the view by which a step of the wheel scrolls.
_SCROLL = 0.15


class TimeView(QWidget):
    """Widget with frames from left to right. The wheel zooms; with Shift, or a horizontal wheel, it scrolls.

    A subclass calls `place` when its size changes, and overrides `scale_moved`. ``scale_changed`` is emitted
    when frames are at other positions.

    Attributes
    ----------
    scale : TimeScale
        The visible frames.
    """

    scale_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scale = TimeScale()
        self._here: int | None = None

    def scale_moved(self) -> None:
        """Hook for subclasses: frames are at other positions."""

    def place(self, left: int, right: int) -> None:
        """Put the frames between margins of this many pixels."""
        self.scale.left, self.scale.width = float(left), float(max(self.width() - left - right, 1))
        self.rescale()

    def rescale(self) -> None:
        """Announce that frames are at other positions."""
        self.scale_moved()
        self.scale_changed.emit()

    def track(self) -> QRect:
        """Rectangle between the margins."""
        return QRect(round(self.scale.left), 0, round(self.scale.width), self.height())

    def x_of(self, index: float) -> float:
        """Horizontal centre of a frame in pixels; outside of `track` if the frame is out of view."""
        return self.scale.x_of(index)

    def index_at(self, x: float) -> int:
        """Index of the frame at a horizontal position in pixels."""
        return self.scale.index_at(x)

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Make frames wider by a factor, around a horizontal position in pixels, by default the playhead."""
        if x is None:
            seen = self._here is not None and self.scale.shows(self._here)
            x = self.x_of(self._here) if seen and self._here is not None else self.track().center().x()
        if self.scale.zoom(factor, x):
            self.rescale()

    @Slot()
    def zoom_in(self) -> None:
        """Make frames wider."""
        self.zoom(_ZOOM)

    @Slot()
    def zoom_out(self) -> None:
        """Make frames narrower."""
        self.zoom(1.0 / _ZOOM)

    @Slot()
    def fit(self) -> None:
        """Show the whole clip."""
        if self.scale.fit():
            self.rescale()

    @Slot(float)
    def scroll_frames(self, frames: float) -> None:
        """Move the view by a number of frames."""
        if self.scale.scroll(frames):
            self.rescale()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the mouse; with Shift or a horizontal wheel, scroll."""
        across, down = event.angleDelta().x() / _WHEEL_STEP, event.angleDelta().y() / _WHEEL_STEP
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            across, down = across or down, 0.0
        if abs(across) > abs(down):
            self.scroll_frames(-across * _SCROLL * self.scale.span)
        elif down:
            self.zoom(_ZOOM**down, event.position().x())
        event.accept()
