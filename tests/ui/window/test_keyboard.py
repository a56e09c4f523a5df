"""The window without a mouse: Tab, mnemonics, keys of every action, reasons of disabled ones, and the focus ring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QApplication,
    QKeySequenceEdit,
    QLabel,
    QMenu,
    QSpinBox,
    QTableView,
    QToolButton,
    QTreeWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from helpers.menus import entry_called, menu_called
from scstream_app.ui.actions.actions import KEY_ACTIONS
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.tracked_segments import segments_of_objects
from scstream_app.ui.qt.appearance import theme
from scstream_app.ui.window.help_dialogs import show_keys
from scstream_app.ui.window.main_window import MainWindow

LONG = 60_000
MENUS = ("File", "Edit", "Object", "View", "Playback", "Segmentation", "Help")


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    with qtbot.waitSignal(window.document.display.shown_changed, timeout=LONG):
        window.open_address(str(finished_session(story((48, 64)))))
    qtbot.waitUntil(window.panels["segments"].isVisible)
    return window


@pytest.fixture
def dark(qapp: QApplication) -> Iterator[None]:
    yield
    theme.apply(qapp, "system")


def toast(window: MainWindow) -> str:
    return window.viewer.findChild(QLabel, "toast").text()


def letters(texts: list[str]) -> list[str]:
    return [text.partition("&")[2][:1].lower() for text in texts]


def test_tab_leaves_every_table(opened: MainWindow, qtbot: QtBot) -> None:
    keys = show_keys(opened, opened.actions_)
    for table in (*opened.findChildren(QTableView), keys.table):
        assert not table.tabKeyNavigation(), table.accessibleName()
    keys.close()
    table = opened.segments.findChild(QTableView)
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    qtbot.keyClick(table, Qt.Key.Key_Tab)
    assert not table.hasFocus()
    assert QApplication.focusWidget() is not None


def test_every_menu_and_entry_has_a_letter_of_its_own(opened: MainWindow, qtbot: QtBot) -> None:
    titles = [menu_called(opened, name).title() for name in MENUS]
    assert letters(titles) == ["f", "e", "o", "v", "p", "s", "h"]
    for name in MENUS:
        menu = menu_called(opened, name)
        plain = [entry.text() for entry in menu.actions()]
        menu.popup(opened.mapToGlobal(QPoint(5, 5)))
        marked = letters([entry.text() for entry in menu.actions() if entry.text()])
        assert len(set(marked)) == len(marked), name
        assert "" not in marked, name
        menu.close()
        qtbot.waitUntil(lambda menu=menu, plain=plain: [entry.text() for entry in menu.actions()] == plain)


def test_names_keep_their_ampersands_in_menus(opened: MainWindow, qtbot: QtBot) -> None:
    undo_commands.make_object(opened.document, "cat & dog", [0])
    menu, undo = menu_called(opened, "Edit"), opened.actions_["undo"]
    text = undo.text()
    assert "cat && dog" in text
    menu.popup(opened.mapToGlobal(QPoint(5, 5)))
    assert undo.text() == f"&{text}"
    menu.close()
    qtbot.waitUntil(lambda: undo.text() == text)


def test_a_menu_is_opened_and_used_with_keys_alone(opened: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(opened, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert menu is menu_called(opened, "View")
    qtbot.keyClick(menu, letters([entry_called(menu, "Mean Colour").text()])[0])
    qtbot.waitUntil(lambda: opened.document.display.look.view == "mean_colour")


def test_entries_on_segments_are_disabled_with_the_reason(opened: MainWindow, qtbot: QtBot) -> None:
    hide, rename, ungroup = (opened.actions_[id] for id in ("hide", "rename", "ungroup"))
    assert menu_called(opened, "Edit").toolTipsVisible()
    assert not hide.isEnabled()
    assert hide.toolTip() == hide.statusTip() == "Select segments to hide them"
    opened.document.display.select({0})
    assert hide.isEnabled()
    assert hide.toolTip() == "Hide or Show Segments (H)"
    assert rename.isEnabled()
    assert (ungroup.isEnabled(), ungroup.toolTip()) == (False, "There is no object yet")
    about_objects = [opened.actions_[id] for id in ("carry_back", "next_low", "previous_low")]
    assert {(action.isEnabled(), action.toolTip()) for action in about_objects} == {(False, "There is no object yet")}
    undo_commands.make_object(opened.document, "square", [0])
    assert all(action.isEnabled() for action in about_objects)
    undo_commands.make_object(opened.document, "dog", [0])
    assert ungroup.isEnabled()
    opened.document.display.select({0, 1})
    assert (rename.isEnabled(), rename.statusTip()) == (False, "Select one segment to rename it")


def test_the_key_of_a_disabled_entry_says_why(opened: MainWindow, qtbot: QtBot) -> None:
    opened.viewer.setFocus()
    for key, reason in (
        (Qt.Key.Key_H, "Select segments to hide them."),
        (Qt.Key.Key_Delete, "Select segments to remove them from their object."),
    ):
        qtbot.keyClick(opened.viewer, key)
        assert toast(opened) == reason
    qtbot.keyClick(opened.viewer, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert toast(opened) == "Nothing to undo."


def test_an_action_of_a_panel_gets_a_key_in_the_sheet(opened: MainWindow, qtbot: QtBot) -> None:
    undo_commands.make_object(opened.document, "dog", [0])
    opened.objects.highlight(None)
    sheet = show_keys(opened, opened.actions_)
    assert sheet.table.rowCount() == len(KEY_ACTIONS)
    titles = [sheet.table.item(row, 0).text() for row in range(sheet.table.rowCount())]
    row = titles.index("Object: Delete")
    assert "Segments: Colour" in titles
    field = sheet.table.cellWidget(row, 1)
    assert isinstance(field, QKeySequenceEdit)
    qtbot.keyClick(field, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: opened.actions_.key("delete_object") == "Ctrl+D")
    sheet.close()
    with qtbot.waitActive(opened):
        opened.activateWindow()
    qtbot.keyClick(opened.viewer, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert toast(opened) == "Highlight an object in the list to delete it."
    tree = opened.objects.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))
    qtbot.keyClick(opened.viewer, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert opened.document.objects == ()


def test_the_object_menu_acts_on_the_highlighted_object(opened: MainWindow, qtbot: QtBot) -> None:
    undo_commands.make_object(opened.document, "dog", [0])
    qtbot.waitUntil(lambda: segments_of_objects(opened.document) == {"dog": {0}}, timeout=LONG)
    (menu,) = (action.menu() for action in opened.menuBar().actions() if action.text().replace("&", "") == "Object")
    entries = {action.text().replace("&", ""): action for action in menu.actions()}
    opened.objects.highlight("dog")
    entries["Select Its Segments"].trigger()
    assert opened.document.display.selection == {0}
    entries["Delete"].trigger()
    assert opened.document.objects == ()
    assert not entries["Colour…"].isEnabled()


@pytest.mark.usefixtures("dark")
@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_widget_with_the_focus_has_a_ring(opened: MainWindow, qtbot: QtBot, qapp: QApplication, name: str) -> None:
    opened.actions_[f"theme_{name}"].trigger()
    ground = qapp.palette().color(QPalette.ColorRole.Window)
    button = opened.findChild(QToolButton, "view_overlay")
    corner = button.mapTo(opened, QPoint(-1, button.height() // 2))
    qtbot.waitUntil(lambda: abs(opened.grab().toImage().pixelColor(corner).lightness() - ground.lightness()) < 20)
    previous = opened.findChild(QToolButton, "view_original")
    previous.setFocus()
    qtbot.waitUntil(previous.hasFocus)
    qtbot.keyClick(previous, Qt.Key.Key_Tab)
    qtbot.waitUntil(button.hasFocus)
    QApplication.processEvents()
    ringed = opened.grab().toImage().pixelColor(corner)
    assert ringed.blue() > ringed.red() + 60


def test_escape_clears_the_selection_wherever_the_focus_is(opened: MainWindow, qtbot: QtBot) -> None:
    display = opened.document.display
    for widget in (opened.objects.findChild(QTreeWidget), opened.findChild(QSpinBox), opened.viewer):
        display.select([0])
        widget.setFocus()
        qtbot.keyClick(widget, Qt.Key.Key_Escape)
        assert not display.selection, widget.accessibleName()


#: Keys that a keyboard of the United States writes with Shift.
_SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))


def test_no_key_stands_for_two_shortcuts_at_once() -> None:
    """Qt runs none of two shortcuts that the same key press means, such as "{" and "Shift+["."""
    found: dict[str, str] = {}
    for action in KEY_ACTIONS:
        for key in action.keys:
            last = key[-1]
            plain = f"{key[:-1].replace('Shift+', '')}Shift+{_SHIFTED[last]}" if last in _SHIFTED else key
            assert plain not in found, f"{key} of {action.title} and {found.get(plain)}"
            found[plain] = action.title


def test_tab_does_not_enter_a_panel_behind_another(opened: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitActive(opened, timeout=LONG):
        opened.activateWindow()
    opened.viewer.setFocus()
    qtbot.waitUntil(opened.viewer.hasFocus)
    visited = []
    while QApplication.focusWidget() not in visited:
        visited.append(QApplication.focusWidget())
        qtbot.keyClick(visited[-1], Qt.Key.Key_Tab)
    behind = [opened.objects, opened.controls]
    assert any(opened.segments.isAncestorOf(widget) for widget in visited)
    assert not [widget for widget in visited for panel in behind if panel.isAncestorOf(widget)]
