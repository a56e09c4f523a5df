"""Dock widgets and tab bars that are readable in dark themes too."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPointF, QRectF, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QTabBar, QWidget

from scstream_app.ui.qt.appearance.icons import draw_icon

_ICON = 12
#: Qt's object names of the buttons in a dock's title bar.
_CLOSE, _FLOAT = "qt_dockwidget_closebutton", "qt_dockwidget_floatbutton"

#: Qt's style hardly distinguishes the current tab. A transparent line of the same height below the other tabs keeps all
#: texts level.
_TABS = """
QTabBar {{ background: {Window}; }}
QTabBar::tab {{ background: transparent; color: {WindowText}; padding: 4px 10px 2px 10px;
    border: none; border-bottom: 3px solid transparent; }}
QTabBar::tab:hover {{ border-bottom-color: {Mid}; }}
QTabBar::tab:selected {{ background: {Base}; border-bottom-color: {Highlight}; }}
"""
_ROLES = ("Window", "WindowText", "Mid", "Base", "Highlight")


def underline_current_tab(bar: QTabBar) -> None:
    """Underline the current tab in the colours of the application's palette."""
    palette = QApplication.palette()
    bar.setDrawBase(False)
    bar.setStyleSheet(_TABS.format(**{role: palette.color(QPalette.ColorRole[role]).name() for role in _ROLES}))


def is_behind_another(widget: QWidget) -> bool:
    """Whether a widget belongs to a dock that is behind another one; Qt treats such docks as visible."""
    parent: QWidget | None = widget
    while parent is not None and not isinstance(parent, QDockWidget):
        parent = parent.parentWidget()
    return parent is not None and parent.visibleRegion().isEmpty()


class Dock(QDockWidget):
    """Dock whose title buttons have the text colour; Qt's own icons are made for light themes."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._icons: dict[str, int] = {}
        self.topLevelChanged.connect(self._draw_icons)
        self.featuresChanged.connect(self._draw_icons)
        self._draw_icons()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._draw_icons()

    def event(self, event: QEvent) -> bool:
        # Restoring a layout resets the icons without a signal.
        if event.type() == QEvent.Type.LayoutRequest and self._icons != self._icon_keys():
            self._draw_icons()
        return super().event(event)

    @Slot()
    def _draw_icons(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        for name, button in self._buttons().items():
            button.setIcon(_icon(name, colour))
        self._icons = self._icon_keys()

    def _buttons(self) -> dict[str, QAbstractButton]:
        found: Iterable[QAbstractButton] = self.findChildren(QAbstractButton)
        return {button.objectName(): button for button in found if button.objectName() in (_CLOSE, _FLOAT)}

    def _icon_keys(self) -> dict[str, int]:
        """Cache key of each button's icon."""
        return {name: button.icon().cacheKey() for name, button in self._buttons().items()}


def _icon(name: str, colour: QColor) -> QIcon:
    def draw(painter: QPainter) -> None:
        painter.setPen(QPen(colour, 1.3))
        if name == _CLOSE:
            painter.drawLine(QPointF(2.5, 2.5), QPointF(9.5, 9.5))
            painter.drawLine(QPointF(9.5, 2.5), QPointF(2.5, 9.5))
        else:
            painter.drawRect(QRectF(1.5, 4.5, 6.0, 6.0))
            painter.drawPolyline([QPointF(4.5, 2.0), QPointF(10.0, 2.0), QPointF(10.0, 7.5)])

    return draw_icon(_ICON, draw)
