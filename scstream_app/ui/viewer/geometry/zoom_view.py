"""Base widget that shows an image with zoom and pan."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage, QNativeGestureEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from scstream_app.ui.viewer.geometry.viewport import MAX_SCALE, Viewport

#: Shortest length of the image's longer side, in screen pixels.
_MIN_SIDE = 24.0
#: Zoom factor of one notch of the mouse wheel.
_NOTCH = 1.25


class ZoomView(QWidget):
    """Widget with an image that the mouse wheel and pinch gestures zoom.

    A subclass sets the image with `set_image`, paints it in `image_rect` and may override `viewport_changed`. Distances
    on the screen are in physical pixels; points of the widget are in logical pixels, as in Qt's events.

    ``zoomed`` carries the new scale.
    """

    zoomed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image: QImage | None = None
        self._viewport = Viewport()
        self._viewport_size = QSize()
        self._fitting = True

    def set_image(self, image: QImage | None) -> None:
        """Show this image. If the view fits, an image of another size is fitted again."""
        before = self._image.size() if self._image is not None else None
        self._image = image
        if image is not None and image.size() != before and self._fitting:
            self.fit()

    @property
    def scale(self) -> float:
        """Screen pixels per image pixel."""
        return self._viewport.scale

    @property
    def fits(self) -> bool:
        """Whether the image keeps the size of the widget."""
        return self._fitting

    @Slot()
    def fit(self) -> None:
        """Show the whole image, also after the widget is resized."""
        self._fitting = True
        if self._image is not None:
            self._set_viewport(Viewport.fitting(self._image.size(), self._screen_size()))

    @Slot()
    def actual_size(self) -> None:
        """Zoom to one screen pixel per image pixel."""
        self._set_scale(1.0)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Multiply the scale by ``factor``; the point ``at`` stays in place (default: the centre of the widget)."""
        self._set_scale(self._viewport.scale * factor, at)

    def pan(self, by: QPointF) -> None:
        """Move the image by this many logical pixels."""
        if self._image is not None:
            self._fitting = False
            self._set_viewport(self._viewport.moved(by * self.devicePixelRatioF()))

    def image_point(self, point: QPointF) -> QPointF:
        """Convert a point of the widget to image pixels."""
        return self._viewport.inverse(point * self.devicePixelRatioF())

    def image_rect(self) -> QRectF:
        """Rectangle of the image in the widget, in screen pixels."""
        return QRectF() if self._image is None else self._viewport.target(self._image.size())

    def viewport_changed(self) -> None:
        """Hook for subclasses: zoom or position changed."""

    def _set_scale(self, scale: float, at: QPointF | None = None) -> None:
        if self._image is None:
            return
        self._follow_resize()
        longer = max(self._image.width(), self._image.height())
        scale = min(max(scale, _MIN_SIDE / longer), MAX_SCALE)
        point = QRectF(self.rect()).center() if at is None else at
        self._fitting = False
        self._set_viewport(self._viewport.scaled(scale, point * self.devicePixelRatioF()))

    def _set_viewport(self, viewport: Viewport) -> None:
        if self._image is not None:
            viewport = viewport.kept_in(self._image.size(), self._screen_size())
        scaled = viewport.scale != self._viewport.scale
        self._viewport, self._viewport_size = viewport, self._screen_size()
        self.update()
        self.viewport_changed()
        if scaled:
            self.zoomed.emit(viewport.scale)

    def _follow_resize(self) -> None:
        """Adapt to the widget's size: fit again, or keep the centre in place.

        Qt sends no resize event to a hidden widget, so this also runs before each zoom.
        """
        growth = self._screen_size() - self._viewport_size
        if growth.isNull():
            return
        if self._fitting:
            self.fit()
        else:
            self._set_viewport(self._viewport.moved(QPointF(growth.width() / 2.0, growth.height() / 2.0)))

    def _screen_size(self) -> QSize:
        """Size of the widget in screen pixels."""
        ratio = self.devicePixelRatioF()
        return QSize(round(self.width() * ratio), round(self.height() * ratio))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt to the new size."""
        self._follow_resize()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the cursor."""
        notches = event.angleDelta().y() / 120.0
        if notches:
            self.zoom(_NOTCH**notches, event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Zoom by pinch gestures; adapt to a change of the screen's pixel ratio."""
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom(1.0 + event.value(), event.position())
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._follow_resize()
        return super().event(event)
