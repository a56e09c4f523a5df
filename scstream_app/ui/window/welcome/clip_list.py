"""List of clips with their pictures."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QScrollArea, QWidget

from scstream_app.render.image_types import Picture
from scstream_app.ui.viewer.painting.primitives import as_image
from scstream_app.ui.window.welcome.thumbnail_loader import ThumbnailLoader

#: Size of the pictures in the list.
_ICON = QSize(80, 45)
_GROUND = QColor(128, 128, 128, 40)
#: Role of the address whose picture an item shows.
_PICTURED = Qt.ItemDataRole.UserRole + 1


class ClipList(QListWidget):
    """Clips or sessions, each with a text and the first frame of the clip.

    The address of an item is its data of the role ``UserRole``.

    Parameters
    ----------
    title : str
        Accessible name.
    thumbnails : ThumbnailLoader, optional
        Reads the pictures.
    """

    def __init__(self, title: str, thumbnails: ThumbnailLoader | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._pictures: dict[str, QPixmap] = {}
        self.setAccessibleName(title)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSpacing(3)
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIconSize(_ICON)
        if thumbnails is not None:
            thumbnails.loaded.connect(self._on_loaded)

    def add(self, text: str, address: str) -> None:
        """Add an entry; its picture follows."""
        item = self._add(text, address)
        item.setData(_PICTURED, address)
        item.setIcon(self._icon(self._pictures.get(address)))
        if self._thumbnails is not None:
            self._thumbnails.load(address)

    def add_below(self, text: str, address: str, accessible: str) -> None:
        """Add another entry for the clip above, without a picture; ``accessible`` is read out instead of the text."""
        item = self._add(text, address)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, accessible)
        blank = QPixmap(self.iconSize().width(), 1)
        blank.fill(Qt.GlobalColor.transparent)
        item.setIcon(QIcon(blank))

    def _add(self, text: str, address: str) -> QListWidgetItem:
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, address)
        item.setToolTip(address.partition("\n")[0])
        self.addItem(item)
        return item

    def sizeHint(self) -> QSize:
        """Maximum size: the list is smaller only in small windows."""
        return self.maximumSize()

    def grow(self, times: float) -> None:
        """Enlarge the pictures."""
        if self.iconSize() != _ICON * times:
            self.setIconSize(_ICON * times)
            for item in self._pictured():
                item.setIcon(self._icon(self._pictures.get(item.data(_PICTURED))))

    def _icon(self, picture: QPixmap | None) -> QIcon:
        """Icon of the list's proportions, so that all texts begin at the same place."""
        ratio = self.devicePixelRatioF()
        size = self.iconSize() * ratio
        canvas = QPixmap(size)
        canvas.fill(_GROUND)
        if picture is not None:
            smooth = Qt.TransformationMode.SmoothTransformation
            small = picture.scaled(size, Qt.AspectRatioMode.KeepAspectRatio, smooth)
            painter = QPainter(canvas)
            painter.drawPixmap(canvas.rect().center() - small.rect().center(), small)
            painter.end()
        canvas.setDevicePixelRatio(ratio)
        return QIcon(canvas)

    @Slot(str, object)
    def _on_loaded(self, address: str, picture: Picture) -> None:
        items = self._pictured()
        listed = {item.data(_PICTURED) for item in items}
        if address not in listed:
            return
        self._pictures = {known: pixmap for known, pixmap in self._pictures.items() if known in listed}
        self._pictures[address] = QPixmap.fromImage(as_image(picture))
        for item in items:
            if item.data(_PICTURED) == address:
                item.setIcon(self._icon(self._pictures[address]))

    def _pictured(self) -> list[QListWidgetItem]:
        """Items that show a picture."""
        items = [self.item(row) for row in range(self.count())]
        return [item for item in items if item.data(_PICTURED) is not None]


def scrolling(page: QWidget) -> QScrollArea:
    """Area in which a page scrolls if it is larger than the window."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setWidget(page)
    return area
