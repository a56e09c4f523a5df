"""Context menu of a key: go to its frame, change its reach, delete it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from scstream_app.objects.key_editing import reach_of
from scstream_app.objects.reach import Reach
from scstream_app.ui.document.objects.reach_text import REACHES
from scstream_app.ui.timeline.lanes.lane_keys import Key


def make_key_menu(
    parent: QWidget,
    key: Key,
    go: Callable[[Key], object],
    set_reach: Callable[[Key, Reach], object],
    delete: Callable[[Key], object],
    reason: str = "",
) -> QMenu:
    """Make the menu of a key; the functions are called with the key.

    ``reason`` says why edits cannot be changed; empty if they can.
    """
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.setToolTipsVisible(True)
    menu.addAction(f"Go to Frame {key.edit.frame}").triggered.connect(lambda: go(key))
    menu.addSection("Edit holds")
    group = QActionGroup(menu)
    for reach, title in REACHES.items():
        group.addAction(_reach_action(menu, key, reach, title))
    group.triggered.connect(lambda action: set_reach(key, Reach(action.data())))
    menu.addActions(group.actions())
    menu.addSeparator()
    deletion = menu.addAction("Delete Edit\tDel")
    deletion.triggered.connect(lambda: delete(key))
    if reason:
        for action in (*group.actions(), deletion):
            action.setEnabled(False)
            action.setToolTip(reason)
    return menu


def _reach_action(menu: QMenu, key: Key, reach: Reach, title: str) -> QAction:
    action = QAction(title, menu)
    action.setData(reach.value)
    action.setCheckable(True)
    action.setChecked(reach is reach_of(key.edit))
    if key.edit.mask is not None and reach in (Reach.BEFORE, Reach.EVERYWHERE):
        action.setEnabled(False)
        action.setToolTip("A painted mask holds from its frame on; Object > Carry Back from Here tracks it back")
    return action
