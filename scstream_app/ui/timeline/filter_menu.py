"""Menu that chooses which events are shown."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.events.event_text import TITLES


def filter_menu(document: Document, parent: QWidget) -> QMenu:
    """Make the menu: kinds of events, the selected segments, each object, and all events."""
    events, selection = document.event_filter, document.display.selection
    menu = QMenu("Show Events", parent)
    for kind, title in TITLES.items():
        action = menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(kind in events.kinds)
        action.triggered.connect(partial(events.toggle_kind, kind))
    menu.addSeparator()
    chosen = menu.addAction("Of Selected Segments Only")
    chosen.setEnabled(bool(selection))
    chosen.triggered.connect(partial(events.set_segments, selection))
    for object_ in document.objects:
        action = menu.addAction(f"Of '{object_.name.replace('&', '&&')}' Only")
        action.setCheckable(True)
        action.setChecked(events.object_name == object_.name)
        action.triggered.connect(partial(events.set_object, object_))
    menu.addSeparator()
    everything = menu.addAction("All Events")
    everything.setEnabled(events.active)
    everything.triggered.connect(events.clear)
    return menu
