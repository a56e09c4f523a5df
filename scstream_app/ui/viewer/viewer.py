"""Viewer of the current frame: zoom, pan, selection with the mouse, drag and drop of files."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QWidget

from scstream_app.render.image_types import Picture
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Shown
from scstream_app.ui.document.split_line import Mask
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.qt.widgets import paint_checkers
from scstream_app.ui.viewer.hover import Hover, HoverLabel, Membership, measure
from scstream_app.ui.viewer.split_preview import SplitPreview
from scstream_app.ui.viewer.viewer_painting import (
    as_image,
    average,
    background,
    dashed,
    paint_divider,
    paint_note,
    paint_text,
)
from scstream_app.ui.viewer.zoom_view import ZoomView
from scstream_app.warmup_messages import PREPARING

#: From this zoom on pixels are drawn as squares; below it squares would have uneven widths.
_PIXELATED_FROM = 2.0
#: Below this zoom QPainter's smoothing skips pixels.
_AVERAGED_BELOW = 0.5
#: Distance from the divider within which it can be dragged, in logical pixels.
_GRIP = 6.0
_WIPE = "wipe"

_NO_OBJECT = f"No objects yet. Select segments in another view and choose {BY_ID['group'].menu_path}"
_TEXTS = {
    State.EMPTY: "Drop a video or a folder of images here",
    State.OPENING: "Opening …",
    State.WARMING: PREPARING,
    State.SETTLING: "Analysing first frame …",
    State.SEGMENTING: "Analysing first frame …",
}


class Viewer(ZoomView):
    """Shows the document's current frame. A click selects a segment, Ctrl+click toggles it, a double click isolates it.

    ``hovered`` carries a `Hover`, or None when the mouse is not on a segment; ``dropped`` a list of paths and URLs;
    ``menu_requested`` the screen position of a right click, after selecting the segment there. ``painted`` is emitted
    when a new frame is on the screen.
    """

    hovered = Signal(object)
    dropped = Signal(object)
    menu_requested = Signal(QPoint)
    painted = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown: Shown | None = None
        self._averaged: tuple[Picture, QImage] | None = None
        self._split = SplitPreview(document, self)
        self._dashes: tuple[Mask, Picture] | None = None
        self._mouse: QPointF | None = None
        self._pressed: QPointF | None = None
        self._panning = False
        self._dividing = False
        self._dropping = False
        self._hover: Hover | None = None
        self._membership: Membership | None = None
        self._label = HoverLabel(self)
        self._toast = Toast(self)
        self._start = self._make_start()
        self.setAccessibleName("Viewer")
        self.setAccessibleDescription("The current frame. Click a segment to select it.")
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        document.display.shown_changed.connect(self._on_shown)
        document.opened.connect(self._on_opened)
        document.closed.connect(self._take_shown)
        document.state_changed.connect(self._on_state)
        document.display.look_changed.connect(self._on_look)
        document.marks_changed.connect(self._follow_mouse)
        self._split.changed.connect(self.update)
        self._take_shown()

    def _make_start(self) -> QPushButton:
        """Create the button that starts segmentation when Preferences switch the automatic start off."""
        button = QPushButton("Start Segmentation", self)
        button.setToolTip("Automatic start is off (Edit > Preferences)")
        button.clicked.connect(lambda _checked=False: self._document.pause(False))
        button.hide()
        return button

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    @property
    def document(self) -> Document:
        """The document that the viewer shows."""
        return self._document

    @property
    def split_line(self) -> Mask | None:
        """Line (H, W) along which the selected segment would divide; None if unknown."""
        return None if self._shown is None else self._split.line(self._shown)

    @Slot(str)
    def show_toast(self, text: str) -> None:
        """Show a short text over the picture for a few seconds."""
        self._toast.show_text(text)

    # --- document signals

    @Slot()
    def _on_shown(self) -> None:
        self._take_shown()
        if self.isVisible():
            # Paint at once: with the other pending repaints it would be later.
            self.repaint()
            self.painted.emit()

    @Slot()
    def _take_shown(self) -> None:
        self._shown = self._document.display.shown
        self._averaged = None
        # The image shares the memory of the picture, which `_shown` keeps alive.
        self.set_image(None if self._shown is None else as_image(self._shown.picture))
        self._put_start()
        self.update()
        self._follow_mouse()

    @Slot()
    def _on_opened(self) -> None:
        self._membership = None
        self._toast.show_text("")
        self.fit()

    @Slot()
    def _on_state(self) -> None:
        self._put_start()
        if self._shown is None:
            self.update()

    def _put_start(self) -> None:
        self._start.setVisible(not len(self._document.summary) and self._document.state is State.PAUSED)
        if not self._start.isHidden():
            self._start.adjustSize()
            self._start.move(self.rect().center() - self._start.rect().center())

    @Slot()
    def _on_look(self) -> None:
        if self._document.display.look.view == _WIPE:
            self.update()

    # --- pixels and segments

    def id_at(self, point: QPoint) -> int | None:
        """Id of the segment at a point of the viewer; None outside of segments."""
        found = self._pixel(QPointF(point))
        return None if found is None else self._id(*found)

    def _pixel(self, point: QPointF) -> tuple[int, int] | None:
        """Column and row in the frame; both halves of "side by side" map to the same pixels."""
        if self._shown is None or self._image is None:
            return None
        place = self.image_point(point)
        x, y = int(place.x() // 1), int(place.y() // 1)
        if not (0 <= x < self._image.width() and 0 <= y < self._image.height()):
            return None
        return x % self._shown.result.ids.shape[1], y

    def viewport_changed(self) -> None:
        """Update the segment under the mouse."""
        self._averaged = None
        self._follow_mouse()

    def _id(self, x: int, y: int) -> int | None:
        assert self._shown is not None
        id = int(self._shown.result.ids[y, x])
        return id if id >= 0 else None

    @Slot()
    def _follow_mouse(self) -> None:
        """Update the hover information; the picture may move under a resting mouse."""
        found = None if self._mouse is None or self._panning or self._dividing else self._hover_at(self._mouse)
        if found != self._hover:
            self._hover = found
            self._label.show_hover(found, self._mouse)
            self.hovered.emit(found)

    def _hover_at(self, point: QPointF) -> Hover | None:
        found = self._pixel(point)
        id = None if found is None else self._id(*found)
        if found is None or id is None or self._shown is None:
            return None
        known, member = self._hover, self._membership
        if known is not None and known.id == id and member is not None and member.result is self._shown.result:
            pixels, colour = known.pixels, known.colour
        else:
            pixels, colour = measure(self._shown.result, id)
        sure = self._member(self._shown).probability(*found)
        return Hover(id, self._document.names.names.get(id, ""), pixels, colour, *found, sure)

    def _member(self, shown: Shown) -> Membership:
        """Membership probabilities of the shown frame, computed once per frame."""
        if self._membership is None or self._membership.result is not shown.result:
            self._membership = Membership(shown.result, self._document.colour_at(shown.result.index))
        return self._membership

    # --- divider of the wipe

    def _wiping(self) -> bool:
        return self._shown is not None and self._shown.look.view == _WIPE == self._document.display.look.view

    def _divider(self) -> float:
        """Horizontal position of the divider in logical pixels."""
        assert self._image is not None
        edge = round(self._document.display.look.divider * self._image.width())
        return (self.image_rect().left() + edge * self.scale) / self.devicePixelRatioF()

    def _on_divider(self, point: QPointF) -> bool:
        return self._wiping() and self._image is not None and abs(point.x() - self._divider()) <= _GRIP

    def _divide(self, point: QPointF) -> None:
        if self._image is None:
            return
        place = self.image_point(point)
        divider = min(max(place.x() / self._image.width(), 0.0), 1.0)
        if divider != self._document.display.look.divider:
            self._document.display.set_look(divider=divider)

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
        if before is not None:
            self.pan(now - before)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._pressed is not None and not self._panning and not self._dividing
        self._pressed, self._panning, self._dividing = None, False, False
        if clicked and event.button() == Qt.MouseButton.LeftButton:
            toggle = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._click(self.id_at(event.position().toPoint()), toggle)
        self._follow_mouse()
        self._set_cursor()

    def _click(self, id: int | None, toggle: bool) -> None:
        if not self._final():
            return
        chosen = frozenset() if id is None else frozenset({id})
        if not toggle:
            self._document.display.select(chosen)
        elif id is not None:
            self._document.display.select(self._document.display.selection ^ chosen)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._on_divider(event.position()):
            self.mousePressEvent(event)
            return
        # `_pressed` stays None, so that the following release does not count as a click.
        if not self._final():
            return
        id = self.id_at(event.position().toPoint())
        chosen = frozenset() if id is None else frozenset({id})
        undo_commands.isolate(self._document, chosen)

    def _final(self) -> bool:
        """Whether segments can be selected: the ids of a draft are not final."""
        shown = self._shown
        draft = shown is not None and not len(shown.result.statistics) and bool((shown.result.ids >= 0).any())
        if draft:
            self.show_toast("This frame is still being analysed. Its segments can be selected in a moment.")
        return not draft

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Select the segment under the mouse, unless it is selected already, and request the menu."""
        if not self._final():
            return
        id = self.id_at(event.pos())
        if id is not None and id not in self._document.display.selection:
            self._document.display.select({id})
        if self._shown is not None:
            self.menu_requested.emit(event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        self._mouse = None
        self._follow_mouse()

    def _set_cursor(self) -> None:
        if self._panning:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._dividing or (self._mouse is not None and self._on_divider(self._mouse)):
            shape = Qt.CursorShape.SplitHCursor
        else:
            shape = Qt.CursorShape.ArrowCursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)

    # --- drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_addresses(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._set_dropping(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._set_dropping(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._set_dropping(False)
        addresses = _dropped_addresses(event.mimeData())
        if addresses:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(addresses)

    def _set_dropping(self, dropping: bool) -> None:
        self._dropping = dropping
        self.update()

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._label.isVisible():
            self._label.move_away(self._mouse)
        self._toast.put()
        self._put_start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), background(self.palette()))
        if self._image is None:
            paint_text(painter, self.rect(), self.palette(), _TEXTS.get(self._document.state, ""))
        else:
            painter.save()
            ratio = self.devicePixelRatioF()
            # Paint in screen pixels, whatever the size of a logical pixel.
            painter.scale(1.0 / ratio, 1.0 / ratio)
            self._paint_picture(painter, self._image)
            self._paint_split(painter, self._image)
            painter.restore()
            if self._lacks_object():
                paint_note(painter, self.rect(), _NO_OBJECT)
            if self._wiping():
                target = self.image_rect()
                top, bottom = target.top() / ratio, target.bottom() / ratio
                paint_divider(painter, self._divider(), top, bottom, float(self.height()))
        if self._dropping:
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 3))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
        painter.end()

    def _lacks_object(self) -> bool:
        """Whether the picture is empty because the view shows objects and there are none."""
        shows_objects = self._shown is not None and "mask" in self._shown.look.drawn_view.needs
        return shows_objects and not self._document.objects

    def _paint_picture(self, painter: QPainter, image: QImage) -> None:
        target = self.image_rect()
        if image.hasAlphaChannel():
            paint_checkers(painter, target, self.devicePixelRatioF())
        scale = self.scale
        if scale < _AVERAGED_BELOW and self._shown is not None:
            if self._averaged is None:
                smaller = average(self._shown.picture, scale)
                self._averaged = smaller, as_image(smaller)
            painter.drawImage(target.topLeft(), self._averaged[1])
            return
        smooth = scale < _PIXELATED_FROM and scale != 1.0
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(target, image)

    def _paint_split(self, painter: QPainter, image: QImage) -> None:
        """Paint the line along which the selected segment would divide, in views that outline it too."""
        line = self.split_line
        if line is None or image.hasAlphaChannel() or line.shape != (image.height(), image.width()):
            return
        if self._dashes is None or self._dashes[0] is not line:
            self._dashes = line, dashed(line)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.scale < 1.0)
        painter.drawImage(self.image_rect(), as_image(self._dashes[1]))


def _dropped_addresses(data: QMimeData) -> list[str]:
    """Paths of the dragged files and folders, and URLs of streams."""
    return [url.toLocalFile() if url.isLocalFile() else url.toString() for url in data.urls() if url.isValid()]
