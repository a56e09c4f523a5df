"""Small widgets that several panels share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction, QBrush, QColor, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QColorDialog, QMenu, QToolButton, QWidget

from scstream_app.render.palette import RGB


def ask_colour(parent: QWidget, start: RGB, title: str, done: Callable[[RGB], None]) -> QColorDialog:
    """Ask for a colour without stopping the program; ``done`` is called if one is chosen."""
    dialog = QColorDialog(QColor(*start), parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.colorSelected.connect(lambda colour: done((colour.red(), colour.green(), colour.blue())))
    dialog.open()
    return dialog


def more_button(actions: Sequence[QAction], about: str) -> QToolButton:
    """A button with a menu of what has none of its own."""
    more = QToolButton()
    more.setText("More")
    more.setToolTip(f"{about}; all of it is in the menu of the right mouse button too")
    more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    menu = QMenu(more)
    menu.setToolTipsVisible(True)
    menu.addActions(actions)
    more.setMenu(menu)
    return more


def show_boxes(view: QAbstractItemView) -> None:
    """Let the boxes of a list be seen that are not ticked: on dark ground Qt's own style frames them in black."""
    ground, text = (
        QGuiApplication.palette().color(role) for role in (QPalette.ColorRole.Base, QPalette.ColorRole.Text)
    )
    if ground.lightness() < text.lightness():
        colours = view.palette()
        # Frames are drawn somewhat darker than this, and a list shows it nowhere else.
        colours.setColor(QPalette.ColorRole.Window, QColor(150, 150, 150))
        view.setPalette(colours)
    else:
        view.setPalette(QPalette())


_CHECKER = 8


LIGHT_CHECK, DARK_CHECK = QColor(204, 204, 204), QColor(160, 160, 160)


def paint_checkers(painter: QPainter, target: QRectF, ratio: float) -> None:
    """The ground of transparent pictures; its pattern is the same in light and dark windows."""
    side = round(_CHECKER * ratio)
    tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
    tile.fill(LIGHT_CHECK)
    dark = QPainter(tile)
    for place in (0, side):
        dark.fillRect(place, place, side, side, DARK_CHECK)
    dark.end()
    painter.setBrushOrigin(target.topLeft())
    painter.fillRect(target, QBrush(tile))
