"""Marching outline of the selected segments: black and white dashes that move, visible on any picture."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPainterPath, QPen

from scstream_app.render.markings import Lines
from scstream_app.ui.viewer.geometry.frame_map import FrameMap
from scstream_app.ui.viewer.painting.primitives import outline_path

#: Length of a dash in screen pixels, and how far it moves at a time.
_DASH, _STEP = 4.0, 1.0
#: Milliseconds between two steps. Each new frame starts the interval again, so nothing moves during playback.
_INTERVAL = 120
#: Outlines with more points do not move: painting them takes too long.
_MOST_POINTS = 20_000


class SelectionOutline(QObject):
    """Paints the outline, and asks for it to be painted again at each step.

    ``stepped`` is emitted when the dashes move.
    """

    stepped = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: Lines | None = None
        self._path: QPainterPath | None = None
        self._offset = 0.0
        self._visible = False
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL)
        self._timer.timeout.connect(self._step)

    @property
    def marching(self) -> bool:
        """Whether the dashes move."""
        return self._timer.isActive()

    @property
    def bounds(self) -> QRectF:
        """Rectangle around the outline, in pixels of the frame."""
        return QRectF() if self._path is None else self._path.boundingRect()

    def set_lines(self, lines: Lines | None) -> None:
        """Show other lines, or none."""
        if lines is not self._lines:
            self._lines = lines
            self._path = None if lines is None else outline_path(lines)
        self._run()

    def set_visible(self, visible: bool) -> None:
        """Stop the dashes while they cannot be seen."""
        self._visible = visible
        self._run()

    def _run(self) -> None:
        if self._visible and self._lines is not None and len(self._lines[0]) <= _MOST_POINTS:
            self._timer.start()
        else:
            self._timer.stop()

    @Slot()
    def _step(self) -> None:
        self._offset = (self._offset + _STEP) % (2.0 * _DASH)
        self.stepped.emit()

    def paint(self, painter: QPainter, placed: FrameMap) -> None:
        """Paint the outline in all copies of the frame."""
        if self._path is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        black, white = QPen(Qt.GlobalColor.black, 1.0), QPen(Qt.GlobalColor.white, 1.0)
        white.setDashPattern([_DASH, _DASH])
        white.setDashOffset(self._offset)
        base = painter.transform()
        for tile in placed.tiles:
            painter.setTransform(placed.transform(tile) * base)
            for pen in (black, white):
                pen.setCosmetic(True)
                painter.setPen(pen)
                painter.drawPath(self._path)
        painter.restore()
