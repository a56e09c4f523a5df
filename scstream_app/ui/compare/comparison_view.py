"""Widget that shows a frame of two runs: with a wipe, side by side, or where they differ."""

from __future__ import annotations

from typing import Literal

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from scstream_app.render.image_types import Picture
from scstream_app.ui.compare.compared_frame import ComparedFrame
from scstream_app.ui.viewer.geometry.zoom_view import ZoomView
from scstream_app.ui.viewer.painting.primitives import (
    as_image,
    average,
    background,
    paint_divider,
    paint_note,
    paint_text,
)

Mode = Literal["wipe", "side_by_side", "difference"]

#: Names of the runs over the picture.
FIRST, SECOND = "This run", "Other run"
_DIFFERENCES = "Orange: the runs disagree"
#: Distance from the divider within which it can be dragged, in logical pixels.
_GRIP = 6.0
#: Zoom from which pixels are drawn as squares, and below which pixels are averaged; see `Viewer`.
_PIXELATED_FROM, _AVERAGED_BELOW = 2.0, 0.5
#: Pixels between two pictures side by side.
_GAP = 4
_PLATE, _INK = QColor(18, 18, 22, 200), QColor(242, 242, 244)


class ComparisonView(ZoomView):
    """Shows a `ComparedFrame`. The divider of the wipe can be dragged; the wheel zooms, and dragging pans.

    ``divider_moved`` carries the place of the divider in [0, 1].
    """

    divider_moved = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mode: Mode = "wipe"
        self.divider = 0.5
        self._frame: ComparedFrame | None = None
        self._text = "Reading the other run …"
        self._pictures: tuple[Picture, ...] = ()
        self._averaged: dict[int, QImage] = {}
        self._stacked = False
        self._dividing = False
        self._dragged: QPointF | None = None
        self.setAccessibleName("Comparison")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    # --- content

    def show_frame(self, frame: ComparedFrame) -> None:
        """Show a frame."""
        self._frame, self._text = frame, ""
        self._arrange()

    @property
    def text(self) -> str:
        """The text over the picture; empty if there is none."""
        return self._text

    def show_text(self, text: str) -> None:
        """Show a text over the last frame, which is out of date."""
        self._text = text
        self.update()

    def set_mode(self, mode: Mode) -> None:
        """Choose how the runs are compared."""
        self.mode = mode
        self._arrange()

    def _arrange(self) -> None:
        """Prepare the pictures of the mode; the first one gives the size."""
        frame = self._frame
        if frame is None:
            return
        match self.mode:
            case "wipe":
                self._pictures = frame.first, frame.second
            case "side_by_side":
                self._stacked = self._stacks()
                self._pictures = (_joined(frame.first, frame.second, self._stacked),)
            case "difference":
                self._pictures = (frame.difference,)
        self._averaged.clear()
        # The image shares the memory of the picture, which `_pictures` keeps alive.
        self.set_image(as_image(self._pictures[0]))
        self.update()

    def _stacks(self) -> bool:
        """Whether two pictures are larger one above the other than side by side."""
        assert self._frame is not None
        height, width = self._frame.pair.first.shape
        beside = min(self.width() / (2 * width), self.height() / height)
        return bool(min(self.width() / width, self.height() / (2 * height)) > beside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._frame is not None and self.mode == "side_by_side" and self._stacks() != self._stacked:
            self._arrange()

    def viewport_changed(self) -> None:
        self._averaged.clear()

    # --- mouse

    def _divider_x(self) -> float:
        """Horizontal position of the divider in logical pixels."""
        target = self.image_rect()
        return (target.left() + self.divider * target.width()) / self.devicePixelRatioF()

    def _on_divider(self, point: QPointF) -> bool:
        return self.mode == "wipe" and self._image is not None and abs(point.x() - self._divider_x()) <= _GRIP

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            left = event.button() == Qt.MouseButton.LeftButton
            self._dividing = left and self._on_divider(event.position())
            self._dragged = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        if self._dividing and self._image is not None:
            self.divider = min(max(self.image_point(point).x() / self._image.width(), 0.0), 1.0)
            self.divider_moved.emit(self.divider)
            self.update()
        elif self._dragged is not None:
            self.pan(point - self._dragged)
            self._dragged = point
        split = self._dividing or (self._dragged is None and self._on_divider(point))
        self.setCursor(Qt.CursorShape.SplitHCursor if split else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dividing, self._dragged = False, None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole picture again."""
        self.fit()

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), background(self.palette()))
        if self._image is None:
            paint_text(painter, self.rect(), self.palette(), self._text)
            return
        painter.save()
        ratio = self.devicePixelRatioF()
        # Paint in screen pixels, whatever the size of a logical pixel.
        painter.scale(1.0 / ratio, 1.0 / ratio)
        self._paint_pictures(painter)
        painter.restore()
        target = self.image_rect()
        if self.mode == "wipe":
            top, bottom = target.top() / ratio, target.bottom() / ratio
            paint_divider(painter, self._divider_x(), top, bottom, float(self.height()))
        self._paint_labels(painter)
        if self._text:
            paint_note(painter, self.rect(), self._text)

    def _paint_pictures(self, painter: QPainter) -> None:
        target = self.image_rect()
        self._paint_picture(painter, 0, target)
        if self.mode == "wipe":
            edge = target.left() + round(self.divider * target.width())
            painter.setClipRect(QRectF(edge, target.top(), target.right() - edge, target.height()))
            self._paint_picture(painter, 1, target)

    def _paint_picture(self, painter: QPainter, place: int, target: QRectF) -> None:
        picture = self._pictures[place]
        if self.scale < _AVERAGED_BELOW:
            if place not in self._averaged:
                # A copy, since the image does not own the memory of the array.
                self._averaged[place] = as_image(average(picture, self.scale)).copy()
            painter.drawImage(target.topLeft(), self._averaged[place])
            return
        smooth = self.scale < _PIXELATED_FROM and self.scale != 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(target, as_image(picture))

    def _paint_labels(self, painter: QPainter) -> None:
        if self.mode == "difference":
            self._paint_label(painter, _DIFFERENCES, 0.0, Qt.AlignmentFlag.AlignLeft)
            return
        self._paint_label(painter, FIRST, 0.0, Qt.AlignmentFlag.AlignLeft)
        if self.mode == "wipe":
            self._paint_label(painter, SECOND, float(self.width()), Qt.AlignmentFlag.AlignRight)
        else:
            middle, ratio = self.image_rect().center(), self.devicePixelRatioF()
            x, y = (0.0, middle.y() / ratio) if self._stacked else (middle.x() / ratio, 0.0)
            self._paint_label(painter, SECOND, max(x, 0.0), Qt.AlignmentFlag.AlignLeft, max(y, 0.0))

    def _paint_label(self, painter: QPainter, text: str, x: float, side: Qt.AlignmentFlag, y: float = 0.0) -> None:
        """Paint a text on a dark plate below ``y``, right or left of ``x``."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(text) + 16.0
        left = x + 8.0 if side == Qt.AlignmentFlag.AlignLeft else x - width - 8.0
        plate = QRectF(left, y + 8.0, width, metrics.height() + 8.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_PLATE)
        painter.drawRoundedRect(plate, 4.0, 4.0)
        painter.setPen(_INK)
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)


def _joined(first: Picture, second: Picture, stacked: bool) -> Picture:
    """Two pictures with a gap between them, one above the other if ``stacked``."""
    height, width = first.shape[:2]
    gap = np.zeros((_GAP, width, 3) if stacked else (height, _GAP, 3), np.uint8)
    return np.concatenate([first, gap, second], axis=0 if stacked else 1)
