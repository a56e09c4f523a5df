"""The viewer: the frame on the screen, with zoom, pan, selection by mouse, and a place to drop files on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import cv2
import numpy as np
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QBrush,
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QImage,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QWidget

from scstream_app.palette import RGB
from scstream_app.results import FrameResult, Picture
from scstream_app.ui.document import Document, State
from scstream_app.ui.look import Shown

#: Screen pixels for one of the picture's, at most.
_MAX_SCALE = 64.0
#: The picture's longer side on the screen, at least.
_MIN_SIDE = 24.0
#: How much of the picture stays in sight when it is dragged out, in screen pixels.
_KEPT_IN_SIGHT = 48.0
_NOTCH = 1.25
#: From this zoom on single pixels are what one wants to see; below it their uneven widths would only be ugly.
_PIXELATED_FROM = 2.0
#: Below this zoom the painter's own smoothing skips pixels.
_AVERAGED_BELOW = 0.5
#: Half the width of the strip in which the divider can be taken, in logical pixels.
_GRIP = 6.0
_CHECKER = 8
_LIGHT_CHECK, _DARK_CHECK = QColor(204, 204, 204), QColor(160, 160, 160)
_MARGIN = 8
_WIPE = "wipe"
_CHANNELS = ("red", "green", "blue")

_WORDS = {
    State.EMPTY: "Drop a video or a folder of images here",
    State.OPENING: "Opening …",
    State.WARMING: "Getting the engine ready …",
    State.SETTLING: "Segmenting the first frame …",
    State.SEGMENTING: "Segmenting the first frame …",
}


@dataclass(frozen=True, slots=True)
class Hover:
    """What is under the mouse.

    Parameters
    ----------
    id : int
    name : str
        That a person gave the segment; empty if none did.
    pixels : int
        The segment's size.
    colour : RGB
        Its mean colour.
    x, y : int
        The pixel under the mouse.
    """

    id: int
    name: str
    pixels: int
    colour: RGB
    x: int
    y: int

    @property
    def title(self) -> str:
        """What the segment is called."""
        return f"{self.name} (segment {self.id})" if self.name else f"Segment {self.id}"

    def __str__(self) -> str:
        swatch = QColor(*self.colour).name()
        return f"{self.title} · {self.pixels:,} px · {swatch} · x {self.x}, y {self.y}"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a picture is on the screen: screen pixels for one of its own, and where its corner is.

    Examples
    --------
    >>> placed = Placement.fitting(QSize(100, 50), QSize(400, 400))
    >>> placed.scale, placed.left, placed.top
    (4.0, 0.0, 100.0)
    >>> closer = placed.scaled(8.0, QPointF(40.0, 140.0))
    >>> closer.inverse(QPointF(40.0, 140.0)) == placed.inverse(QPointF(40.0, 140.0))
    True
    """

    scale: float = 1.0
    left: float = 0.0
    top: float = 0.0

    @classmethod
    def fitting(cls, picture: QSize, view: QSize) -> Placement:
        """All of the picture, as large as it goes."""
        scale = min(view.width() / picture.width(), view.height() / picture.height(), _MAX_SCALE)
        return cls.centred(scale, picture, view)

    @classmethod
    def centred(cls, scale: float, picture: QSize, view: QSize) -> Placement:
        """The picture's middle in the view's."""
        left = (view.width() - scale * picture.width()) / 2.0
        return cls(scale, left, (view.height() - scale * picture.height()) / 2.0)

    def scaled(self, scale: float, at: QPointF) -> Placement:
        """Closer or farther, with the point ``at`` of the screen where it is."""
        factor = scale / self.scale
        left, top = at.x() - factor * (at.x() - self.left), at.y() - factor * (at.y() - self.top)
        return Placement(scale, left, top)

    def moved(self, by: QPointF) -> Placement:
        """Shifted on the screen."""
        return replace(self, left=self.left + by.x(), top=self.top + by.y())

    def kept_in(self, picture: QSize, view: QSize) -> Placement:
        """Shifted so that some of the picture is in sight."""
        width, height = self.scale * picture.width(), self.scale * picture.height()
        x, y = min(_KEPT_IN_SIGHT, width), min(_KEPT_IN_SIGHT, height)
        return replace(
            self,
            left=min(max(self.left, x - width), view.width() - x),
            top=min(max(self.top, y - height), view.height() - y),
        )

    def target(self, picture: QSize) -> QRectF:
        """The picture's rectangle; its corner lies on a whole screen pixel, so that 100 % is exact."""
        return QRectF(round(self.left), round(self.top), self.scale * picture.width(), self.scale * picture.height())

    def inverse(self, at: QPointF) -> QPointF:
        """The place in the picture that is at this point of the screen."""
        return QPointF((at.x() - round(self.left)) / self.scale, (at.y() - round(self.top)) / self.scale)


class Viewer(QWidget):
    """Shows the document's frame. A click selects, Ctrl+click adds or takes away, a double click isolates.

    ``hovered`` carries a `Hover`, or None when the mouse is on no segment; ``dropped`` a list of paths and addresses;
    ``zoomed`` the screen pixels for one of the picture's, when they change.
    """

    hovered = Signal(object)
    dropped = Signal(object)
    zoomed = Signal(float)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown: Shown | None = None
        self._image: QImage | None = None
        self._averaged: tuple[Picture, QImage] | None = None
        self._placement = Placement()
        self._placed_in = QSize()
        self._fitting = True
        self._mouse: QPointF | None = None
        self._pressed: QPointF | None = None
        self._panning = False
        self._dividing = False
        self._dropping = False
        self._hover: Hover | None = None
        self._measured: FrameResult | None = None
        self._label = self._make_label()
        self.setAccessibleName("Viewer")
        self.setAccessibleDescription("The frame on the screen. Click a segment to select it.")
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        document.shown_changed.connect(self._on_shown)
        document.opened.connect(self.fit)
        document.closed.connect(self._on_shown)
        document.state_changed.connect(self._on_state)
        document.look_changed.connect(self._on_look)
        document.marks_changed.connect(self._follow_mouse)
        self._on_shown()

    def _make_label(self) -> QLabel:
        label = QLabel(self)
        label.setObjectName("hover")
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        label.setStyleSheet(
            "#hover { background: rgba(18, 18, 22, 205); color: #f2f2f4; border-radius: 5px; padding: 4px 8px; }"
        )
        label.hide()
        return label

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    # --- zoom

    @property
    def scale(self) -> float:
        """Screen pixels for one of the picture's."""
        return self._placement.scale

    @property
    def fits(self) -> bool:
        """Whether the picture is kept as large as the viewer."""
        return self._fitting

    @Slot()
    def fit(self) -> None:
        """Show all of the picture, also when the viewer's size changes."""
        self._fitting = True
        if self._image is not None:
            self._place(Placement.fitting(self._image.size(), self._view()))

    @Slot()
    def actual_size(self) -> None:
        """One screen pixel for one of the picture's."""
        self._scale_to(1.0)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Go closer; the point ``at`` of the viewer stays where it is, by default its middle."""
        self._scale_to(self._placement.scale * factor, at)

    def _scale_to(self, scale: float, at: QPointF | None = None) -> None:
        if self._image is None:
            return
        self._catch_up()
        longer = max(self._image.width(), self._image.height())
        scale = min(max(scale, _MIN_SIDE / longer), _MAX_SCALE)
        point = QRectF(self.rect()).center() if at is None else at
        self._fitting = False
        self._place(self._placement.scaled(scale, point * self.devicePixelRatioF()))

    def _place(self, placement: Placement) -> None:
        if self._image is not None:
            placement = placement.kept_in(self._image.size(), self._view())
        changed = placement.scale != self._placement.scale
        self._placement, self._placed_in = placement, self._view()
        self._averaged = None
        self.update()
        self._follow_mouse()
        if changed:
            self.zoomed.emit(placement.scale)

    def _catch_up(self) -> None:
        """Go with the viewer's size, of which a hidden widget is told late: what is in the middle stays there."""
        growth = self._view() - self._placed_in
        if growth.isNull():
            return
        if self._fitting:
            self.fit()
        else:
            self._place(self._placement.moved(QPointF(growth.width(), growth.height()) / 2.0))

    def _view(self) -> QSize:
        """The viewer's size in screen pixels."""
        ratio = self.devicePixelRatioF()
        return QSize(round(self.width() * ratio), round(self.height() * ratio))

    # --- what the document says

    @Slot()
    def _on_shown(self) -> None:
        before = self._image.size() if self._image is not None else None
        self._shown = self._document.shown
        self._averaged = None
        # The image borrows the picture's memory, which lives as long as `_shown` does.
        self._image = None if self._shown is None else _as_image(self._shown.picture)
        if self._image is not None and self._image.size() != before and self._fitting:
            self.fit()
        self.update()
        self._follow_mouse()

    @Slot()
    def _on_state(self) -> None:
        if self._shown is None:
            self.update()

    @Slot()
    def _on_look(self) -> None:
        if self._document.look.view == _WIPE:
            self.update()

    # --- what is where

    def id_at(self, point: QPoint) -> int | None:
        """The segment at this point of the viewer; None if there is none."""
        found = self._pixel(QPointF(point))
        return None if found is None else self._id(*found)

    def _pixel(self, point: QPointF) -> tuple[int, int] | None:
        """Column and row of the frame; the right half of "side by side" shows the same pixels as the left."""
        if self._shown is None or self._image is None:
            return None
        place = self._placement.inverse(point * self.devicePixelRatioF())
        x, y = int(place.x() // 1), int(place.y() // 1)
        if not (0 <= x < self._image.width() and 0 <= y < self._image.height()):
            return None
        return x % self._shown.result.ids.shape[1], y

    def _id(self, x: int, y: int) -> int | None:
        assert self._shown is not None
        id = int(self._shown.result.ids[y, x])
        return id if id >= 0 else None

    @Slot()
    def _follow_mouse(self) -> None:
        """Say what is under the mouse, also when the mouse rests and the picture moves."""
        found = None if self._mouse is None or self._panning or self._dividing else self._hover_at(self._mouse)
        if found != self._hover:
            self._hover = found
            self._show_hover(found)
            self.hovered.emit(found)

    def _hover_at(self, point: QPointF) -> Hover | None:
        found = self._pixel(point)
        id = None if found is None else self._id(*found)
        if found is None or id is None or self._shown is None:
            return None
        known = self._hover
        if known is not None and known.id == id and self._measured is self._shown.result:
            pixels, colour = known.pixels, known.colour
        else:
            pixels, colour = measure(self._shown.result, id)
            self._measured = self._shown.result
        return Hover(id, self._document.names.names.get(id, ""), pixels, colour, *found)

    def _show_hover(self, hover: Hover | None) -> None:
        self._label.setVisible(hover is not None)
        if hover is None:
            return
        swatch = QColor(*hover.colour).name()
        text = escape(str(hover)).replace(escape(hover.title), f"<b>{escape(hover.title)}</b>", 1)
        self._label.setText(f'<span style="background-color:{swatch}">{"&nbsp;" * 4}</span>&nbsp; {text}')
        self._put_label()

    def _put_label(self) -> None:
        """In the lower left corner; above if the mouse is there."""
        self._label.adjustSize()
        place = QRect(QPoint(_MARGIN, self.height() - self._label.height() - _MARGIN), self._label.size())
        if self._mouse is not None and place.adjusted(-16, -16, 16, 16).contains(self._mouse.toPoint()):
            place.moveTop(_MARGIN)
        self._label.setGeometry(place)

    # --- the divider of the wipe

    def _wiping(self) -> bool:
        return self._shown is not None and self._shown.look.view == _WIPE == self._document.look.view

    def _divider(self) -> float:
        """Where the divider is, in logical pixels."""
        assert self._image is not None
        target = self._placement.target(self._image.size())
        edge = round(self._document.look.divider * self._image.width())
        return (target.left() + edge * self._placement.scale) / self.devicePixelRatioF()

    def _on_divider(self, point: QPointF) -> bool:
        return self._wiping() and self._image is not None and abs(point.x() - self._divider()) <= _GRIP

    def _divide(self, point: QPointF) -> None:
        if self._image is None:
            return
        place = self._placement.inverse(point * self.devicePixelRatioF())
        divider = min(max(place.x() / self._image.width(), 0.0), 1.0)
        if divider != self._document.look.divider:
            self._document.set_look(divider=divider)

    # --- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.ignore()
            return
        self._pressed, self._panning = event.position(), False
        self._dividing = event.button() == Qt.MouseButton.LeftButton and self._on_divider(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        before, self._mouse = self._mouse, event.position()
        if self._dividing:
            self._divide(event.position())
        elif self._pressed is not None and event.buttons() != Qt.MouseButton.NoButton:
            self._pan(before, event.position())
        self._follow_mouse()
        self._set_cursor()

    def _pan(self, before: QPointF | None, now: QPointF) -> None:
        assert self._pressed is not None
        if not self._panning:
            if (now - self._pressed).manhattanLength() < QApplication.startDragDistance():
                return
            self._panning, before = True, self._pressed
        if self._image is not None and before is not None:
            self._fitting = False
            self._place(self._placement.moved((now - before) * self.devicePixelRatioF()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._pressed is not None and not self._panning and not self._dividing
        self._pressed, self._panning, self._dividing = None, False, False
        if clicked and event.button() == Qt.MouseButton.LeftButton:
            toggle = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._click(self.id_at(event.position().toPoint()), toggle)
        self._follow_mouse()
        self._set_cursor()

    def _click(self, id: int | None, toggle: bool) -> None:
        chosen = frozenset() if id is None else frozenset({id})
        if not toggle:
            self._document.select(chosen)
        elif id is not None:
            self._document.select(self._document.selection ^ chosen)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._on_divider(event.position()):
            self.mousePressEvent(event)
            return
        # No press is noted: the release that follows is no click of its own.
        id = self.id_at(event.position().toPoint())
        chosen = frozenset() if id is None else frozenset({id})
        if chosen or self._document.isolated:
            self._document.isolate(frozenset() if chosen == self._document.isolated else chosen)

    def leaveEvent(self, event: QEvent) -> None:
        self._mouse = None
        self._follow_mouse()

    def wheelEvent(self, event: QWheelEvent) -> None:
        notches = event.angleDelta().y() / 120.0
        if notches:
            self.zoom(_NOTCH**notches, event.position())
        event.accept()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom(1.0 + event.value(), event.position())
            return True
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._catch_up()
        return super().event(event)

    def _set_cursor(self) -> None:
        if self._panning:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._dividing or (self._mouse is not None and self._on_divider(self._mouse)):
            shape = Qt.CursorShape.SplitHCursor
        else:
            shape = Qt.CursorShape.ArrowCursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)

    # --- dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _addresses(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._set_dropping(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._set_dropping(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._set_dropping(False)
        addresses = _addresses(event.mimeData())
        if addresses:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(addresses)

    def _set_dropping(self, dropping: bool) -> None:
        self._dropping = dropping
        self.update()

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._catch_up()
        if self._label.isVisible():
            self._put_label()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), _ground(self.palette()))
        if self._image is None:
            self._paint_words(painter)
        else:
            painter.save()
            ratio = self.devicePixelRatioF()
            # Everything is reckoned in screen pixels, whatever a logical pixel is.
            painter.scale(1.0 / ratio, 1.0 / ratio)
            self._paint_picture(painter, self._image)
            painter.restore()
            if self._wiping():
                self._paint_divider(painter, self._image)
        if self._dropping:
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 3))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
        painter.end()

    def _paint_words(self, painter: QPainter) -> None:
        words = _WORDS.get(self._document.state, "")
        colour = QColor(self.palette().color(QPalette.ColorRole.WindowText))
        colour.setAlphaF(0.55)
        painter.setPen(colour)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)

    def _paint_picture(self, painter: QPainter, image: QImage) -> None:
        target = self._placement.target(image.size())
        if image.hasAlphaChannel():
            _paint_checkers(painter, target, round(_CHECKER * self.devicePixelRatioF()))
        scale = self._placement.scale
        if scale < _AVERAGED_BELOW and self._shown is not None:
            if self._averaged is None:
                smaller = _average(self._shown.picture, scale)
                self._averaged = smaller, _as_image(smaller)
            painter.drawImage(target.topLeft(), self._averaged[1])
            return
        smooth = scale < _PIXELATED_FROM and scale != 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(target, image)

    def _paint_divider(self, painter: QPainter, image: QImage) -> None:
        ratio = self.devicePixelRatioF()
        target = self._placement.target(image.size())
        x, top, bottom = self._divider(), target.top() / ratio, target.bottom() / ratio
        middle = (max(top, 0.0) + min(bottom, float(self.height()))) / 2.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for colour, width in ((QColor(0, 0, 0, 120), 3.0), (QColor(255, 255, 255), 1.0)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
        painter.setPen(QPen(QColor(0, 0, 0, 120), 1.0))
        painter.setBrush(QColor(255, 255, 255))
        painter.drawEllipse(QPointF(x, middle), 7.0, 7.0)
        painter.setPen(QPen(QColor(60, 60, 60), 1.5))
        for side in (-1.0, 1.0):
            tip = QPointF(x + 4.5 * side, middle)
            for up in (-2.5, 2.5):
                painter.drawLine(tip, QPointF(x + 2.0 * side, middle + up))


def measure(result: FrameResult, id: int) -> tuple[int, RGB]:
    """The size of a segment in pixels and its mean colour, as the engine has them or, on a draft, counted."""
    rows = result.statistics[result.statistics["id"] == id]
    if len(rows):
        red, green, blue = (round(min(max(255.0 * float(rows[0][name]), 0.0), 255.0)) for name in _CHANNELS)
        return int(rows[0]["pixels"]), (red, green, blue)
    inside = result.ids == id
    pixels = int(np.count_nonzero(inside))
    if result.rgb is None or not pixels:
        return pixels, (0, 0, 0)
    red, green, blue = (round(float(mean)) for mean in result.rgb[inside].mean(axis=0))
    return pixels, (red, green, blue)


def _as_image(picture: Picture) -> QImage:
    """An image on the picture's own memory; whoever keeps it keeps the picture."""
    height, width, channels = picture.shape
    form = QImage.Format.Format_RGBA8888 if channels == 4 else QImage.Format.Format_RGB888
    image = QImage(picture.data, width, height, picture.strides[0], form)
    # Pictures are in their own pixels: the ratio of the screen is not theirs.
    image.setDevicePixelRatio(1.0)
    return image


def _average(picture: Picture, scale: float) -> Picture:
    """A smaller picture, each pixel the mean of those it stands for."""
    height, width = picture.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.ascontiguousarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _ground(palette: QPalette) -> QColor:
    """Around the picture: darker than the window, so that the picture stands out."""
    return palette.color(QPalette.ColorRole.Window).darker(112)


def _paint_checkers(painter: QPainter, target: QRectF, side: int) -> None:
    """The ground of transparent pictures; its pattern is the same in light and dark windows."""
    tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
    tile.fill(_LIGHT_CHECK)
    dark = QPainter(tile)
    for place in (0, side):
        dark.fillRect(place, place, side, side, _DARK_CHECK)
    dark.end()
    painter.setBrushOrigin(target.topLeft())
    painter.fillRect(target, QBrush(tile))


def _addresses(data: QMimeData) -> list[str]:
    """Paths of the files and folders that are dragged, and addresses of streams."""
    return [url.toLocalFile() if url.isLocalFile() else url.toString() for url in data.urls() if url.isValid()]
