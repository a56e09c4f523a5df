"""Options of the drawing tools: the size of the brush, and whether strokes take whole segments."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

#: Smallest and largest diameter of the brush, in pixels of the frame.
SIZES = (1, 400)
#: Factor between two steps of the size.
_STEP = 1.2


class ToolOptions(QObject):
    """Options of the drawing tools; ``changed`` is emitted when one of them changes.

    Attributes
    ----------
    size : int
        Diameter of the brush in pixels of the frame.
    snap : bool
        Whether strokes take whole segments.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.size, self.snap = 24, False

    def set_size(self, size: int) -> None:
        """Set the diameter of the brush."""
        size = min(max(size, SIZES[0]), SIZES[1])
        if size != self.size:
            self.size = size
            self.changed.emit()

    def step_size(self, steps: int) -> None:
        """Make the brush larger, or smaller with a negative number of steps."""
        for _ in range(abs(steps)):
            larger = max(self.size + 1, round(self.size * _STEP))
            self.set_size(larger if steps > 0 else min(self.size - 1, round(self.size / _STEP)))

    def set_snap(self, snap: bool) -> None:
        """Set whether strokes take whole segments."""
        if snap != self.snap:
            self.snap = snap
            self.changed.emit()
