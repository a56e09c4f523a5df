"""Two choices above the table of events: their kind, and the segments that they concern."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from scstream.sampler.genealogy import Kind
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.events.event_filter import ALL_KINDS, kinds_text
from scstream_app.ui.document.events.event_text import TITLES

#: Places in the choice of segments; objects follow.
_ALL, _SELECTED = range(2)


class EventFilterBar(QWidget):
    """Changes and shows the document's filter of events, which the timeline has too."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._kinds, self._subject = QComboBox(), QComboBox()
        self._kinds.setAccessibleName("Kind of event")
        self._subject.setAccessibleName("Segments of the events")
        self._kinds.addItem("All events", None)
        for kind, title in TITLES.items():
            self._kinds.addItem(title, kind)
        self._clear = QToolButton()
        self._clear.setText("Show All")
        self._clear.setToolTip("Show all events again")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self._kinds, self._subject, self._clear):
            row.addWidget(widget)
        self._kinds.activated.connect(self._on_kind)
        self._subject.activated.connect(self._on_subject)
        self._clear.clicked.connect(self._on_clear)
        document.event_filter.changed.connect(self._follow)
        document.marks_changed.connect(self._follow)
        document.display.selection_changed.connect(self._follow)
        self._follow()

    @Slot(int)
    def _on_kind(self, place: int) -> None:
        # Qt returns the enum's value as a plain string.
        kind = self._kinds.itemData(place)
        self._document.event_filter.set_kinds(ALL_KINDS if kind is None else {Kind(kind)})

    @Slot(int)
    def _on_subject(self, place: int) -> None:
        document = self._document
        if place > _SELECTED:
            document.event_filter.set_object(document.objects[place - _SELECTED - 1])
        else:
            chosen = document.display.selection if place == _SELECTED else None
            document.event_filter.set_segments(chosen or None)

    @Slot()
    def _on_clear(self) -> None:
        self._document.event_filter.clear()

    @Slot()
    def _follow(self) -> None:
        events, objects = self._document.event_filter, [object_.name for object_ in self._document.objects]
        titles = ["All segments", "Selected segments", *(f"Object '{name}'" for name in objects)]
        if titles != [self._subject.itemText(n) for n in range(self._subject.count())]:
            self._subject.clear()
            self._subject.addItems(titles)
        kinds = [ALL_KINDS, *({kind} for kind in TITLES)]
        # Two or three kinds, chosen in the timeline, have no entry of their own.
        self._kinds.setPlaceholderText(kinds_text(events.kinds))
        self._kinds.setCurrentIndex(kinds.index(events.kinds) if events.kinds in kinds else -1)
        if events.object_name in objects:
            self._subject.setCurrentIndex(_SELECTED + 1 + objects.index(events.object_name))
        else:
            self._subject.setCurrentIndex(_SELECTED if events.by_segments else _ALL)
        self._subject.setToolTip(events.text)
        self._clear.setVisible(events.active)
