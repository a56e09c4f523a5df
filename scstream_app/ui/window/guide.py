"""The guide, read in the program: what is in docs/guide.md, with its pictures, and without any network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QImage, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from scstream_app.assets import page

#: Pixels: a picture's width, and those of the list of chapters.
_PICTURE_WIDTH, _CHAPTERS_WIDTH = 640, 190
_SIZE = QSize(920, 700)
#: Of the headings that chapters begin with.
_LEVEL = 2


class GuideDialog(QDialog):
    """The guide beside a list of its chapters. It leaves the window free, so that one can try what one reads."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("guide")
        self.setWindowTitle("Guide")
        self.resize(_SIZE)
        self.text = _Page(page("guide.md"))
        self.chapters = QListWidget()
        self.chapters.setAccessibleName("Chapters")
        self.chapters.setFixedWidth(_CHAPTERS_WIDTH)
        self.chapters.setWordWrap(True)
        self.chapters.setSpacing(2)
        for title in self.text.chapters():
            self.chapters.addItem(title)
        self.chapters.itemClicked.connect(self._go)
        self.chapters.itemActivated.connect(self._go)
        row = QHBoxLayout(self)
        row.addWidget(self.chapters)
        row.addWidget(self.text, 1)
        self.text.setFocus()

    @Slot(QListWidgetItem)
    def _go(self, item: QListWidgetItem) -> None:
        self.text.show_chapter(item.text())


class _Page(QTextBrowser):
    """A page of Markdown, as wide as its pictures may be."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setAccessibleName("Guide")
        # There is nothing that one could be led away to.
        self.setOpenLinks(False)
        self.document().setDocumentMargin(16.0)
        self.setSource(QUrl.fromLocalFile(str(path)), QTextDocument.ResourceType.MarkdownResource)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """Files of the program only; pictures no wider than the page."""
        url = self.source().resolved(QUrl(name))
        if not url.isLocalFile():
            return None
        if type != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(type, url)
        image, ratio = QImage(url.toLocalFile()), self.devicePixelRatioF()
        if image.width() > _PICTURE_WIDTH * ratio:
            image = image.scaledToWidth(round(_PICTURE_WIDTH * ratio), Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        return image

    def chapters(self) -> list[str]:
        """Their titles, in order."""
        return [block.text() for block in self._headings()]

    def show_chapter(self, title: str) -> None:
        """Have a chapter begin at the upper edge."""
        for block in self._headings():
            if block.text() == title:
                top = self.document().documentLayout().blockBoundingRect(block).top()
                self.verticalScrollBar().setValue(round(top - self.document().documentMargin() / 2.0))

    def _headings(self) -> list[QTextBlock]:
        block, found = self.document().begin(), list[QTextBlock]()
        while block.isValid():
            if block.blockFormat().headingLevel() == _LEVEL:
                found.append(block)
            block = block.next()
        return found


def show_guide(parent: QWidget) -> GuideDialog:
    """Open the guide, or bring the one that is open to the front."""
    dialog = parent.findChild(GuideDialog)
    if dialog is None:
        dialog = GuideDialog(parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
    return dialog
