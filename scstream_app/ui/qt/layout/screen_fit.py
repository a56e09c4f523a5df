"""Sizes of windows and dialogs that fit the screen, and areas that scroll when the screen is too small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDialog, QFrame, QScrollArea, QSlider, QWidget

#: Largest share of the available screen that a new window or dialog takes.
_SHARE = 0.9
#: Height in pixels below which a scrolling area does not shrink.
_LEAST_HEIGHT = 96
#: Distance between cascaded windows, in pixels.
_STEP = 32
#: Fields that the wheel changes.
_WHEELED = (QAbstractSpinBox, QComboBox, QSlider)


def place_on_screen(window: QWidget, wanted: QSize) -> None:
    """Give a new window its size, at most nine tenths of the screen, in the middle of the screen."""
    available = window.screen().availableGeometry()
    size = wanted.boundedTo(QSize(int(_SHARE * available.width()), int(_SHARE * available.height())))
    place = QRect(available.topLeft(), size)
    place.moveCenter(available.center())
    window.setGeometry(place)


def keep_on_screen(window: QWidget) -> None:
    """Move and shrink a window whose stored place is not inside a screen that is present."""
    place = window.geometry()
    screen: QScreen | None = QGuiApplication.screenAt(place.center())
    screen = QGuiApplication.primaryScreen() if screen is None else screen
    inside = clipped(place, screen.availableGeometry())
    if inside != place:
        window.setGeometry(inside)


def clipped(place: QRect, available: QRect) -> QRect:
    """Return the rectangle, moved and if necessary shrunk into the available one.

    >>> clipped(QRect(1800, 900, 1280, 800), QRect(0, 0, 1024, 700))
    PySide6.QtCore.QRect(0, 0, 1024, 700)
    """
    size = place.size().boundedTo(available.size())
    left = min(max(place.left(), available.left()), available.right() + 1 - size.width())
    top = min(max(place.top(), available.top()), available.bottom() + 1 - size.height())
    return QRect(left, top, size.width(), size.height())


def cascade(window: QWidget, others: Sequence[QWidget]) -> None:
    """Move a window down and to the right until it covers the title of none of the others."""
    taken = [other.pos() for other in others]
    while any((window.pos() - place).manhattanLength() < _STEP for place in taken):
        window.move(window.pos() + QPoint(_STEP, _STEP))
    keep_on_screen(window)


def fit_dialog(dialog: QDialog, wanted: QSize | None = None) -> None:
    """Give a dialog the wanted size, by default that of its contents, as far as the screen has room."""
    available = dialog.screen().availableGeometry().size()
    dialog.resize((wanted or dialog.sizeHint()).boundedTo(available * _SHARE))


class ScrollBox(QScrollArea):
    """Area that asks for the size of its content, and scrolls vertically if it gets less.

    The wheel scrolls it also over input fields, unless these have the focus. Fields must be in ``content`` before.
    """

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(content)
        for kind in _WHEELED:
            fields: Iterable[QWidget] = content.findChildren(kind)
            for field in fields:
                field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the wheel from fields without the focus."""
        if event.type() == QEvent.Type.Wheel and isinstance(watched, _WHEELED) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """Size of the content, with room for the scroll bar."""
        widget = self.widget()
        assert widget is not None
        content = widget.sizeHint()
        return QSize(content.width() + self.verticalScrollBar().sizeHint().width(), content.height())

    def minimumSizeHint(self) -> QSize:
        """Width of the content, and a few lines."""
        widget = self.widget()
        assert widget is not None
        content = widget.minimumSizeHint()
        width = content.width() + self.verticalScrollBar().sizeHint().width()
        return QSize(width, min(content.height(), _LEAST_HEIGHT))
