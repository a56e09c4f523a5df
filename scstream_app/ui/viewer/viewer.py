"""Viewer of the current frame: zoom, pan, tools for the mouse, drag and drop of files."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from scstream_app.render.image_types import Picture
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.look import Shown
from scstream_app.ui.document.split_line import Mask
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.viewer.geometry.frame_map import FrameMap
from scstream_app.ui.viewer.geometry.stacked_layout import StackedLayout
from scstream_app.ui.viewer.geometry.zoom_view import ZoomView
from scstream_app.ui.viewer.mouse.divider import WIPE, WipeDivider
from scstream_app.ui.viewer.mouse.file_drop import FileDrop
from scstream_app.ui.viewer.mouse.hover import Hover, HoverFinder, HoverLabel
from scstream_app.ui.viewer.mouse.panning import Panning
from scstream_app.ui.viewer.mouse.select_tool import SelectTool
from scstream_app.ui.viewer.mouse.viewer_tool import ViewerTool
from scstream_app.ui.viewer.painting.object_outlines import ObjectOutlines
from scstream_app.ui.viewer.painting.picture_painter import PicturePainter, PicturePlace
from scstream_app.ui.viewer.painting.primitives import as_image, background, dashed, paint_note, paint_text
from scstream_app.ui.viewer.painting.selection_outline import SelectionOutline
from scstream_app.ui.viewer.painting.split_preview import SplitPreview
from scstream_app.ui.viewer.unsegmented_label import UnsegmentedLabel
from scstream_app.warmup_messages import PREPARING

_NO_OBJECT = f"No objects yet. Select segments in another view and choose {BY_ID['group'].menu_path}"
_TEXTS = {
    State.EMPTY: "Drop a video or a folder of images here",
    State.OPENING: "Opening …",
    State.WARMING: PREPARING,
    State.SETTLING: "Analysing first frame …",
    State.SEGMENTING: "Analysing first frame …",
}


class Viewer(FileDrop, ZoomView):
    """Shows the document's current frame. What the left mouse button does depends on the tool, by default `SelectTool`.

    ``hovered`` carries a `Hover`, or None when the mouse is not on a segment; ``menu_requested`` the screen position of
    a right click, after selecting the segment there. ``painted`` is emitted when a new frame is on the screen,
    ``escaped`` when the user presses Esc and the tool has nothing to give up.

    Attributes
    ----------
    panning : Panning
    tool : ViewerTool
    """

    hovered = Signal(object)
    menu_requested = Signal(QPoint)
    painted = Signal()
    escaped = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown: Shown | None = None
        self._picture = PicturePainter()
        self._object_outlines = ObjectOutlines()
        self._outline = SelectionOutline(self)
        self._marched = False
        self._split = SplitPreview(document, self)
        StackedLayout(self, document.display)
        self._dashes: tuple[Mask, Picture] | None = None
        self._mouse: QPointF | None = None
        self.panning = Panning(self)
        self._divider = WipeDivider(document.display)
        self.tool: ViewerTool = SelectTool(self)
        self._menu_requested: QContextMenuEvent | None = None
        self._hover: Hover | None = None
        self._hover_finder = HoverFinder(document)
        self._label = HoverLabel(self)
        self._toast = Toast(self)
        UnsegmentedLabel(document, self)
        self._start = self._make_start()
        self.setAccessibleName("Viewer")
        self.setAccessibleDescription("The current frame. Click a segment to select it.")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        document.display.shown_changed.connect(self._on_shown)
        document.opened.connect(self._on_opened)
        document.closed.connect(self._take_shown)
        document.state_changed.connect(self._on_state)
        document.run.frames_changed.connect(self._put_start)
        document.display.look_changed.connect(self._on_look)
        document.marks_changed.connect(self._follow_mouse)
        self._split.changed.connect(self.update)
        self._outline.stepped.connect(self._on_marched)
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
        self._toast.show_text(text, self._mouse)

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
        self._picture.clear()
        self._marched = False
        # The image shares the memory of the picture, which `_shown` keeps alive.
        self.set_image(None if self._shown is None else as_image(self._shown.picture))
        self._object_outlines.set_lines(() if self._shown is None else self._shown.object_outlines)
        self._outline.set_lines(None if self._shown is None else self._shown.outline)
        self.tool.frame_changed()
        self._put_start()
        self.update()
        self._follow_mouse()

    @Slot()
    def _on_opened(self) -> None:
        self._hover_finder.clear()
        self._toast.show_text("")
        self.fit()

    @Slot()
    def _on_state(self) -> None:
        self._put_start()
        if self._shown is None:
            self.update()

    @Slot()
    def _put_start(self) -> None:
        self._start.setVisible(not len(self._document.summary) and self._document.state is State.PAUSED)
        if not self._start.isHidden():
            self._start.setText(_start_text(*self._document.run.frames))
            self._start.adjustSize()
            self._start.move(self.rect().center() - self._start.rect().center())

    @Slot()
    def _on_look(self) -> None:
        if self._document.display.look.view == WIPE:
            self.update()

    # --- pixels and segments

    def id_at(self, point: QPoint) -> int | None:
        """Id of the segment at a point of the viewer; None outside of segments."""
        return self.segment_at(QPointF(point))

    def segment_at(self, point: QPointF) -> int | None:
        """Id of the segment at a point of the viewer; None outside of segments."""
        found = self._pixel(point)
        return None if found is None else self._id(*found)

    def frame_map(self) -> FrameMap | None:
        """Where the pixels of the frame are in the viewer; None while no frame is shown."""
        if self._shown is None or self._image is None:
            return None
        ratio, corner = self.devicePixelRatioF(), self.image_rect().topLeft()
        height, width = self._shown.result.ids.shape
        picture = self._image.width(), self._image.height()
        return FrameMap(width, height, picture, corner.x() / ratio, corner.y() / ratio, self.scale / ratio)

    def _pixel(self, point: QPointF) -> tuple[int, int] | None:
        """Column and row in the frame; all copies of the frame map to the same pixels."""
        placed = self.frame_map()
        if placed is None:
            return None
        place = placed.to_frame(point, placed.tile_at(point))
        x, y = int(place.x() // 1), int(place.y() // 1)
        return (x, y) if 0 <= x < placed.width and 0 <= y < placed.height else None

    def viewport_changed(self) -> None:
        """Update the segment under the mouse."""
        self._follow_mouse()

    def _id(self, x: int, y: int) -> int | None:
        assert self._shown is not None
        id = int(self._shown.result.ids[y, x])
        return id if id >= 0 else None

    @Slot()
    def _follow_mouse(self) -> None:
        """Update the hover information; the picture may move under a resting mouse."""
        busy = self.panning.moving or self._divider.dragged or not self.tool.describes
        pixel = None if self._mouse is None or busy else self._pixel(self._mouse)
        found = None if pixel is None or self._shown is None else self._hover_finder.at(self._shown.result, *pixel)
        if found != self._hover:
            self._hover = found
            self._label.show_hover(found, self._mouse)
            self.hovered.emit(found)

    # --- mouse and keys

    def set_tool(self, tool: ViewerTool) -> None:
        """Use another tool; what the one before has begun is given up."""
        self.tool.cancel()
        self.tool = tool
        self._follow_mouse()
        self._set_cursor()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.panning.press(event):
            return
        if self._divider.is_at(event.position(), self.frame_map()):
            self._divider.dragged = True
        else:
            self.tool.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse = event.position()
        if self._toast.isVisible():
            self._toast.put(self._mouse)
        if self._divider.dragged:
            self._divider.drag(event.position(), self.frame_map())
        elif not self.panning.move(event):
            self.tool.move(event)
        self._follow_mouse()
        self._set_cursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.panning.release(event):
            menu, self._menu_requested = self._menu_requested, None
            if menu is not None and not self.panning.dragged_right:
                self._request_menu(menu)
        elif self._divider.dragged:
            self._divider.dragged = False
        elif event.button() == Qt.MouseButton.LeftButton:
            self.tool.release(event)
        self._follow_mouse()
        self._set_cursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        left = event.button() == Qt.MouseButton.LeftButton and not self.panning.space
        if left and not self._divider.is_at(event.position(), self.frame_map()):
            self.tool.double_click(event)
        else:
            self.mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom, unless the tool uses the wheel."""
        if self.tool.wheel(event):
            event.accept()
        else:
            super().wheelEvent(event)

    def is_final(self) -> bool:
        """Whether segments can be selected; if not, show why: the ids of a draft are not final."""
        shown = self._shown
        draft = shown is not None and not len(shown.result.statistics) and bool((shown.result.ids >= 0).any())
        if draft:
            self.show_toast("This frame is still being analysed. Its segments can be selected in a moment.")
        return not draft

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu, with the mouse when the right button is released without having moved the picture."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        if by_mouse and self.panning.holds_right:
            # Some systems send this when the button is pressed; the event does not outlive this call.
            self._menu_requested = QContextMenuEvent(event.reason(), event.pos(), event.globalPos())
        elif not (by_mouse and self.panning.dragged_right):
            self._request_menu(event)

    def _request_menu(self, event: QContextMenuEvent) -> None:
        """Select the segment under the mouse, unless it is selected already, and request the menu."""
        if not self.is_final():
            return
        id = self.id_at(event.pos())
        if id is not None and id not in self._document.display.selection:
            self._document.display.select({id})
        if self._shown is not None:
            self.menu_requested.emit(event.globalPos())

    def event(self, event: QEvent) -> bool:
        """Reserve Space while the mouse is over the picture: held down, it makes a drag move the picture."""
        return self.reserve_space(event) or super().event(event)

    def reserve_space(self, event: QEvent) -> bool:
        """Keep Space from shortcuts, and take the focus for it, if the mouse is over the picture."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if self._shown is None or not self.panning.takes_key(event):
            return False
        self.setFocus()
        event.accept()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        escaped = event.key() == Qt.Key.Key_Escape and self.escape()
        if not (escaped or self.panning.press_key(event)):
            super().keyPressEvent(event)
        self._set_cursor()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.panning.release_key(event):
            super().keyReleaseEvent(event)
        self._set_cursor()

    def escape(self) -> bool:
        """Give up what the tool has begun, leave the tool, or clear the selection; returns False if there is none.

        Leaving full screen, which the window does, comes before the selection.
        """
        if self.tool.cancel():
            return True
        if not isinstance(self.tool, SelectTool):
            self.escaped.emit()
            return True
        display = self._document.display
        if not display.selection or self.window().isFullScreen():
            return False
        display.select(())
        return True

    def leaveEvent(self, event: QEvent) -> None:
        self._mouse = None
        self.tool.leave()
        self._follow_mouse()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Forget that Space is held down: another widget gets its release."""
        super().focusOutEvent(event)
        self.panning.space = False

    def _set_cursor(self) -> None:
        at_divider = self._mouse is not None and self._divider.is_at(self._mouse, self.frame_map())
        if self.panning.moving:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self.panning.space:
            shape = Qt.CursorShape.OpenHandCursor
        elif self._divider.dragged or at_divider:
            shape = Qt.CursorShape.SplitHCursor
        else:
            shape = self.tool.cursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)

    # --- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._label.isVisible():
            self._label.move_away(self._mouse)
        self._toast.put(self._mouse)
        self._put_start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._outline.set_visible(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._outline.set_visible(False)

    @Slot()
    def _on_marched(self) -> None:
        """Repaint the outline of the selection; the picture under it is kept from now on."""
        self._marched = True
        placed = self.frame_map()
        if placed is not None:
            for rect in placed.rects(self._outline.bounds):
                self.update(rect.toAlignedRect().adjusted(-1, -1, 1, 1))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setClipRegion(event.region())
        placed = self.frame_map()
        if placed is None:
            painter.fillRect(event.rect(), background(self.palette()))
            paint_text(painter, self.rect(), self.palette(), _TEXTS.get(self._document.state, ""))
        else:
            self._paint_frame(painter, event.rect())
            self._object_outlines.paint(painter, placed)
            self._outline.paint(painter, placed)
            self.tool.paint(painter)
            if self._lacks_object():
                paint_note(painter, self.rect(), _NO_OBJECT)
            self._divider.paint(painter, placed, float(self.height()))
        self.paint_drop_frame(painter)
        painter.end()

    def _paint_frame(self, painter: QPainter, area: QRect) -> None:
        """Paint the picture, what is around it, and the line of a split."""
        assert self._shown is not None
        ratio, around = self.devicePixelRatioF(), background(self.palette())
        place = PicturePlace(self.image_rect(), self.scale, ratio)
        painter.save()
        if not self._marched:
            painter.fillRect(area, around)
        # Paint in screen pixels, whatever the size of a logical pixel.
        painter.scale(1.0 / ratio, 1.0 / ratio)
        if self._marched:
            self._picture.paint_kept(painter, self._shown.picture, place, self._screen_size(), around)
        else:
            self._picture.paint(painter, self._shown.picture, place)
        self._paint_split(painter, self._shown.picture)
        painter.restore()

    def _lacks_object(self) -> bool:
        """Whether the picture is empty because the view shows objects and there are none."""
        shows_objects = self._shown is not None and "mask" in self._shown.look.drawn_view.needs
        return shows_objects and not self._document.objects

    def _paint_split(self, painter: QPainter, picture: Picture) -> None:
        """Paint the line along which the selected segment would divide, in views of a single opaque frame."""
        line = self.split_line
        if line is None or line.shape != picture.shape[:2] or picture.shape[2] == 4:
            return
        if self._dashes is None or self._dashes[0] is not line:
            self._dashes = line, dashed(line)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.scale < 1.0)
        painter.drawImage(self.image_rect(), as_image(self._dashes[1]))


def _start_text(start: int, stop: int | None) -> str:
    """Text of the button that starts the segmentation of frames start, ..., stop - 1.

    >>> _start_text(0, None), _start_text(4, 9)
    ('Start Segmentation', 'Segment Frames 4 to 8')
    """
    if stop is not None:
        return f"Segment Frames {start} to {stop - 1}"
    return f"Segment from Frame {start}" if start else "Start Segmentation"
