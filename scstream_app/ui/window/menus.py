"""The menu bar and the context menus, built from the table of actions, and what their actions do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from scstream_app.ui.actions.actions import KEY_ACTIONS, SPECS, Actions
from scstream_app.ui.actions.mnemonics import mark_while_open, with_mnemonics
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.sessions.rerun.rerun import Rerun
from scstream_app.ui.timeline.filter_menu import filter_menu
from scstream_app.ui.viewer.viewer import Viewer

_VIEWER_MENU = ("fit", "actual_size", "view_original", "view_overlay")
_TIMELINE_MENU = (
    ("next_event", "previous_event", "next_uncertain", "previous_uncertain"),
    ("set_in", "set_out", "clear_range", "loop", "export"),
)

Handlers = dict[str, Callable[[], object]]


def build_menus(window: QMainWindow, actions: Actions, open_menus: Iterable[QMenu]) -> None:
    """Fill the window's menu bar.

    Parameters
    ----------
    window : QMainWindow
    actions : Actions
    open_menus : iterable of QMenu
        Submenus for the File menu, behind the entries that ask what to open.
    """
    specs = [spec for spec in SPECS if spec.menu]
    names = list(dict.fromkeys(spec.menu for spec in specs))
    titles = zip(names, with_mnemonics(names), strict=True)
    menus = {name: window.menuBar().addMenu(title) for name, title in titles}
    for menu in menus.values():
        menu.setToolTipsVisible(True)
        mark_while_open(menu)
    groups = {name: QActionGroup(window) for name in dict.fromkeys(spec.group for spec in specs if spec.group)}
    for spec in specs:
        if not spec.title:
            menus[spec.menu].addSeparator()
            continue
        action = actions[spec.id]
        menus[spec.menu].addAction(action)
        window.addAction(action)
        if spec.group:
            groups[spec.group].addAction(action)
    entries = menus["File"].actions()
    behind = entries[entries.index(actions["open_session"]) + 1]
    for menu in open_menus:
        menus["File"].insertMenu(behind, menu)
    window.addActions([actions[spec.id] for spec in KEY_ACTIONS if not spec.menu])


def viewer_menu(segments_menu: QMenu, actions: Actions) -> QMenu:
    """Add ways to look at the picture to the menu of the selected segments."""
    segments_menu.addSeparator()
    segments_menu.addActions([actions[id] for id in _VIEWER_MENU])
    return segments_menu


def timeline_menu(parent: QWidget, actions: Actions, document: Document) -> QMenu:
    """Make the timeline's context menu."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    go, play = _TIMELINE_MENU
    menu.addActions([actions[id] for id in go])
    menu.addMenu(filter_menu(document, menu))
    menu.addSeparator()
    menu.addActions([actions[id] for id in play])
    return menu


def segment_handlers(segments: SegmentsPanel, objects: ObjectsPanel) -> Handlers:
    """Return what the Edit actions on segments and objects do."""

    def rename() -> None:
        if objects.has_list_focus:
            objects.rename_current()
        else:
            segments.rename_selected()

    return {
        "hide": segments.toggle_hidden,
        "isolate": segments.isolate_selected,
        "rename": rename,
        "merge": segments.merge_selected,
        "split": segments.split_selected,
        "lock": segments.toggle_locked,
        "recolour": segments.recolour_selected,
        "palette_colour": segments.use_palette_colour,
        "group": objects.add_selected,
        "ungroup": objects.remove_selected,
        "select_object": objects.select_current,
        "recolour_object": objects.recolour_current,
        "delete_object": objects.delete_current,
    }


def playback_handlers(player: Player, actions: Actions) -> Handlers:
    """Return what the Playback actions do that only need the player."""
    return {
        "next": lambda: player.step(1),
        "previous": lambda: player.step(-1),
        "forward": lambda: player.step(10),
        "back": lambda: player.step(-10),
        "start": player.to_start,
        "end": player.to_end,
        "next_event": player.next_event,
        "previous_event": player.previous_event,
        "slower": player.slower,
        "faster": player.faster,
        "normal_speed": player.normal_speed,
        "loop": lambda: player.set_loop(actions["loop"].isChecked()),
        "set_in": player.set_in,
        "set_out": player.set_out,
        "clear_range": player.clear_range,
    }


def segmentation_handlers(document: Document, rerun: Rerun) -> Handlers:
    """Return what the Segmentation actions do that start or step the run."""

    def segment_one() -> None:
        document.display.follow_newest = True
        document.run.step()

    return {
        "segment_one": segment_one,
        "restart": lambda: rerun.again(document.settings),
        "restart_here": rerun.again_from_here,
    }


def zoom_handlers(viewer: Viewer) -> Handlers:
    """Return what the View actions do that only need the viewer."""
    return {
        "fit": viewer.fit,
        "actual_size": viewer.actual_size,
        "zoom_in": lambda: viewer.zoom(1.25),
        "zoom_out": lambda: viewer.zoom(0.8),
    }
