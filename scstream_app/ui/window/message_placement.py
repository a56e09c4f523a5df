"""Place of the message bar: over the upper edge of the picture, which does not move."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QWidget

from scstream_app.ui.qt.message_bar import MessageBar

_MOVING = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)
_CHANGING = (QEvent.Type.Show, QEvent.Type.LayoutRequest)


class MessagePlacement(QObject):
    """Keeps a message bar at the upper edge of the picture, or of the area while there is no picture.

    Parameters
    ----------
    message : MessageBar
    area : QWidget
        Becomes the parent of the bar.
    picture : QWidget
        Widget inside the area.
    """

    def __init__(self, message: MessageBar, area: QWidget, picture: QWidget) -> None:
        super().__init__(area)
        self._message, self._area, self._picture = message, area, picture
        message.setParent(area)
        for widget in (message, area, picture):
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Place the bar when its text or the room for it changes."""
        kinds = _CHANGING if watched is self._message else _MOVING
        if event.type() in kinds and not self._message.isHidden():
            self._place()
        return False

    def _place(self) -> None:
        inside = self._picture.isVisible()
        corner = self._picture.mapTo(self._area, QPoint()) if inside else QPoint()
        room = self._picture.size() if inside else self._area.size()
        height = self._message.heightForWidth(room.width())
        if height < 0:
            height = self._message.sizeHint().height()
        self._message.setGeometry(QRect(int(corner.x()), int(corner.y()), room.width(), min(height, room.height())))
        self._message.raise_()
