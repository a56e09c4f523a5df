"""Dialog that shows the user guide, docs/guide.md, without network access."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QImage, QTextBlock, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from scstream_app.assets import page
from scstream_app.ui.qt.layout.screen_fit import fit_dialog

#: Maximum width of pictures and width of the chapter list, in pixels.
_PICTURE_WIDTH, _CHAPTERS_WIDTH = 640, 190
_SIZE = QSize(920, 700)
#: Heading level of chapters.
_LEVEL = 2


class GuideDialog(QDialog):
    """Non-modal dialog with the guide and a list of its chapters."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("guide")
        self.setWindowTitle("Guide")
        fit_dialog(self, _SIZE)
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
    """Markdown page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setAccessibleName("Guide")
        # The guide is a single page; links would leave it.
        self.setOpenLinks(False)
        self.document().setDocumentMargin(16.0)
        self.setSource(QUrl.fromLocalFile(str(path)), QTextDocument.ResourceType.MarkdownResource)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """Load local files only; scale pictures to the width of the page."""
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
        """Titles of the chapters in order."""
        return [block.text() for block in self._headings()]

    def show_chapter(self, title: str) -> None:
        """Scroll to the start of a chapter."""
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
    """Open the guide, or raise it if it is open."""
    dialog = parent.findChild(GuideDialog)
    if dialog is None:
        dialog = GuideDialog(parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
    return dialog
