"""Small widgets and painting functions shared by several panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction, QBrush, QColor, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QColorDialog, QMenu, QToolButton, QWidget

from scstream_app.render.palette import RGB


def ask_colour(parent: QWidget, start: RGB, title: str, done: Callable[[RGB], None]) -> QColorDialog:
    """Show a colour dialog without blocking; ``done`` is called with the chosen colour."""
    dialog = QColorDialog(QColor(*start), parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.colorSelected.connect(lambda colour: done((colour.red(), colour.green(), colour.blue())))
    dialog.open()
    return dialog


def more_button(actions: Sequence[QAction], about: str) -> QToolButton:
    """Create a "More" button with a menu of actions that have no button of their own."""
    more = QToolButton()
    more.setText("More")
    more.setToolTip(f"{about}; also in the context menu")
    more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    menu = QMenu(more)
    menu.setToolTipsVisible(True)
    menu.addActions(actions)
    more.setMenu(menu)
    return more


def show_boxes(view: QAbstractItemView) -> None:
    """Make unchecked boxes of a list visible in dark themes, where Qt's style frames them in black."""
    ground, text = (
        QGuiApplication.palette().color(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text)
    )
    if ground.lightness() < text.lightness():
        colours = view.palette()
        # The style darkens this colour for frames; lists do not show it otherwise.
        colours.setColor(QPalette.ColorRole.Window, QColor(150, 150, 150))
        view.setPalette(colours)
    else:
        view.setPalette(QPalette())


_CHECKER = 8


LIGHT_CHECK, DARK_CHECK = QColor(204, 204, 204), QColor(160, 160, 160)


def paint_checkers(painter: QPainter, target: QRectF, ratio: float) -> None:
    """Paint a checkerboard behind transparent pictures, the same in light and dark themes."""
    side = round(_CHECKER * ratio)
    tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
    tile.fill(LIGHT_CHECK)
    dark = QPainter(tile)
    for place in (0, side):
        dark.fillRect(place, place, side, side, DARK_CHECK)
    dark.end()
    painter.setBrushOrigin(target.topLeft())
    painter.fillRect(target, QBrush(tile))
