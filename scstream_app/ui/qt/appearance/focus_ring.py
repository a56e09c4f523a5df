"""Ring around the widget with the keyboard focus; Qt's style hardly shows it in dark themes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QTabBar,
    QWidget,
)
from shiboken6 import isValid

from scstream_app.ui.qt.appearance.contrast import contrast

#: Width of the ring, which is around the widget, in pixels.
_WIDTH = 2
#: Least contrast of the ring to its ground.
_LEAST = 3.5
#: Widgets that get a ring. A text field has a cursor and a coloured frame.
_RINGED = (QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QTabBar)
_MOVES = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide)


class FocusRing(QObject):
    """Shows a ring around the widget with the focus, unless a mouse click has set it."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._ring: _Ring | None = None
        self._watched: list[QWidget] = []
        app.focusChanged.connect(self._on_focus)

    @classmethod
    def install(cls, app: QApplication) -> None:
        """Show the ring in this application."""
        if app.findChild(cls) is None:
            cls(app)

    @Slot(QWidget, QWidget)
    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        self._remove()
        if isinstance(now, _RINGED) and not QApplication.mouseButtons():
            self._watched = [now, *_containers(now)]
            for widget in self._watched:
                widget.installEventFilter(self)
            self._ring = _Ring(now.window())
            self._place()

    def _remove(self) -> None:
        # Widgets and the ring may have been deleted together with their dialog.
        for widget in filter(isValid, self._watched):
            widget.removeEventFilter(self)
        self._watched = []
        ring, self._ring = self._ring, None
        if ring is not None and isValid(ring):
            ring.hide()
            ring.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget when it, or what it is in, is moved, scrolled, resized or hidden."""
        if event.type() in _MOVES:
            self._place()
        return False

    def _place(self) -> None:
        ring = self._ring
        if ring is not None and isValid(ring):
            ring.put(self._watched[0], self._watched[1:])


class _Ring(QWidget):
    """The ring, a child of the window in front of all others that lets clicks through."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def put(self, widget: QWidget, containers: list[QWidget]) -> None:
        """Put the ring around a widget, as far as its containers show it."""
        around = _in_window(widget).adjusted(-_WIDTH, -_WIDTH, _WIDTH, _WIDTH)
        for container in containers:
            around &= _in_window(container)
        self.setGeometry(around)
        self.setVisible(widget.isVisible() and not around.isEmpty())
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self.palette()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(_colour(palette), _WIDTH))
        inside = _WIDTH / 2.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inside, inside, -inside, -inside), 3.0, 3.0)
        painter.end()


def _colour(palette: QPalette) -> QColor:
    ground, ring = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.Highlight)
    return ring if contrast(ring, ground) >= _LEAST else palette.color(QPalette.ColorRole.Link)


def _in_window(widget: QWidget) -> QRect:
    """Rectangle of a widget in the coordinates of its window."""
    corner = widget.mapTo(widget.window(), QPointF()).toPoint()
    return QRect(corner, widget.size())


def _containers(widget: QWidget) -> list[QWidget]:
    """Widgets that contain this one, without the window."""
    found, parent = list[QWidget](), widget.parentWidget()
    while parent is not None and not parent.isWindow():
        found.append(parent)
        parent = parent.parentWidget()
    return found
