"""The list of formats in the export dialog."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from scstream_app.export import FORMATS, needs_object, needs_picture
from scstream_app.export.writer import GROUPS
from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.widgets import show_boxes

#: Default format for the current view; ids for all other views.
_DEFAULTS: Mapping[str, str] = {"matte": "matte", "overlay": "mp4"}
_FORMAT = Qt.ItemDataRole.UserRole


class FormatsTree(QTreeWidget):
    """Check list of all formats, in groups. Formats that this session cannot be exported to are disabled."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._items: dict[str, QTreeWidgetItem] = {}
        self._highlighted_before = ""
        self.setAccessibleName("Formats")
        self.setHeaderHidden(True)
        show_boxes(self)
        self.setMinimumSize(200, 96)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._fill()
        self.itemChanged.connect(self._on_item_changed)

    def _fill(self) -> None:
        for title in GROUPS:
            items = [self._item(name) for name, writer in FORMATS.items() if writer.group == title]
            if items:
                group = QTreeWidgetItem([title])
                group.setFlags(Qt.ItemFlag.ItemIsEnabled)
                font = group.font(0)
                font.setBold(True)
                group.setFont(0, font)
                self.addTopLevelItem(group)
                group.addChildren(items)
        self.expandAll()

    def _item(self, name: str) -> QTreeWidgetItem:
        item = self._items[name] = QTreeWidgetItem([FORMATS[name].title])
        item.setData(0, _FORMAT, name)
        item.setSizeHint(0, QSize(0, self.fontMetrics().height() + 6))
        item.setCheckState(0, Qt.CheckState.Unchecked)
        item.setToolTip(0, self.about(name))
        item.setDisabled(bool(self.unavailable(name)))
        return item

    def about(self, name: str) -> str:
        """The description of a format, or why it is unavailable."""
        return self.unavailable(name) or f"{FORMATS[name].about}."

    def unavailable(self, name: str) -> str:
        """Why a format cannot be chosen; empty if it can."""
        facts = self._document.facts
        if needs_object(name) and not self._document.objects:
            return f"Needs an object: select segments and choose {BY_ID['group'].menu_path}."
        if needs_picture([name]) and facts is not None and facts.live:
            return "Needs the pictures of the camera, which are not saved."
        package, extra = FORMATS[name].library.partition(".")[0], FORMATS[name].extra
        if extra and importlib.util.find_spec(package) is None:
            return f"Needs the extra '{extra}': pip install 'scstream-studio[{extra}]'."
        return ""

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the checked formats, in the order of `FORMATS`."""
        items = self._items
        return tuple(name for name in FORMATS if name in items and items[name].checkState(0) == Qt.CheckState.Checked)

    def choose(self, names: Iterable[str]) -> None:
        """Check the available ones of these formats or, if there are none, a default; highlight the first."""
        checked = self._available(names) or self._available([self._default()]) or ["ids"]
        with QSignalBlocker(self):
            for name, item in self._items.items():
                item.setCheckState(0, Qt.CheckState.Checked if name in checked else Qt.CheckState.Unchecked)
        self.setCurrentItem(self._items[checked[0]])

    def _available(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in self._items and not self.unavailable(name)]

    def _default(self) -> str:
        """The default format for the current view, and for a clip with objects or without."""
        return _DEFAULTS.get(self._document.display.look.view, "object" if self._document.objects else "ids")

    @Slot(QTreeWidgetItem, int)
    def _on_item_changed(self, item: QTreeWidgetItem) -> None:
        """Highlight the format that was checked or unchecked, which shows its description and preview."""
        self.setCurrentItem(item)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._highlighted_before = self.highlighted
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """After a click that unchecks a format, highlight one that is checked: the preview shows what is exported."""
        before = self.chosen
        super().mouseReleaseEvent(event)
        chosen = self.chosen
        if chosen and len(chosen) < len(before):
            name = self._highlighted_before if self._highlighted_before in chosen else chosen[0]
            # The list must not scroll below the mouse.
            self.setAutoScroll(False)
            self.setCurrentItem(self._items[name])
            self.setAutoScroll(True)

    @property
    def highlighted(self) -> str:
        """The name of the highlighted format; empty if there is none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(0, _FORMAT) or "")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationPaletteChange:
            show_boxes(self)
