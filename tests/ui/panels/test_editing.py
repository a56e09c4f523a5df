"""Editing in the window by keys and mouse: keys that a person chose, what is isolated, locks, and while it is saved."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QColor, QImage
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFileDialog,
    QLabel,
    QLineEdit,
    QTableView,
    QToolBar,
    QToolButton,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from helpers.menus import menu_called
from scstream_app.pipeline.edits import Edit
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import COLOUR, NAME, SHOWN, SIZE
from scstream_app.ui.qt.appearance import theme
from scstream_app.ui.sessions import session_saver
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """The window with five frames open, on the first of which are the segments 0, 1 and 2."""
    window.opening.open_session(finished_session(story((48, 64))))
    qtbot.waitUntil(lambda: window.document.state is State.DONE and row_of(window, 1) is not None, timeout=LONG)
    return window


def table(of: QWidget) -> QTableView:
    return of.findChild(QTableView)


def row_of(window: MainWindow, id: int) -> int | None:
    return table(window.segments).model().row(id)


def index_of(of: QWidget, id: int, column: int) -> QModelIndex:
    model = table(of).model()
    return model.index(model.row(id), column)


def cell(of: QWidget, id: int, column: int) -> QRect:
    return table(of).visualRect(index_of(of, id, column))


def click(window: MainWindow, qtbot: QtBot, id: int, column: int = SIZE) -> None:
    view = table(window.segments)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=cell(window.segments, id, column).center())


def tick(window: MainWindow, qtbot: QtBot, id: int) -> None:
    rect = cell(window.segments, id, SHOWN)
    where = QPoint(rect.left() + 10, rect.center().y())
    qtbot.mouseClick(table(window.segments).viewport(), Qt.MouseButton.LeftButton, pos=where)


def double_click(window: MainWindow, qtbot: QtBot, id: int, column: int) -> None:
    view, where = table(window.segments), cell(window.segments, id, column).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=where)


def button(of: QWidget, text: str) -> QToolButton:
    bar = of.findChild(QToolBar)
    return next(found for found in bar.findChildren(QToolButton) if found.text() == text)


def press(qtbot: QtBot, of: QWidget, text: str) -> None:
    qtbot.mouseClick(button(of, text), Qt.MouseButton.LeftButton)


def on_screen(window: MainWindow, qtbot: QtBot) -> bytes:
    """The picture, when it is as was wished for last."""
    document = window.document
    qtbot.waitUntil(
        lambda: document.display.shown.look == document.display.full_look(document.display.index), timeout=LONG
    )
    return document.display.shown.picture.tobytes()


# --- isolating


def test_isolating_is_undone_and_done_again_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    click(window, qtbot, 1)
    whole = on_screen(window, qtbot)
    press(qtbot, window.segments, "Isolate")
    alone = on_screen(window, qtbot)
    assert alone != whole
    assert window.actions_["undo"].text() == "Undo Isolate segment 1"
    qtbot.keyClick(table(window.segments), Qt.Key.Key_Z, CTRL)
    assert on_screen(window, qtbot) == whole
    qtbot.keyClick(table(window.segments), Qt.Key.Key_Y, CTRL)
    assert on_screen(window, qtbot) == alone


def test_showing_all_again_is_undone_to_what_was_alone(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    click(window, qtbot, 1)
    press(qtbot, window.segments, "Isolate")
    click(window, qtbot, 2)
    press(qtbot, window.segments, "Isolate")
    assert document.display.isolated == {2}
    press(qtbot, window.segments, "Show All")
    assert document.display.isolated == set()
    assert window.actions_["undo"].text() == "Undo Show all segments"
    for left in ({2}, {1}, set()):
        qtbot.keyClick(window.viewer, Qt.Key.Key_Z, CTRL)
        assert document.display.isolated == left
    assert not document.undo.canUndo()


def test_a_double_click_in_the_picture_and_in_the_list_are_steps_too(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    double_click(window, qtbot, 1, SIZE)
    assert document.display.isolated == {1}
    viewer = window.viewer
    where = viewer.rect().center()
    id = viewer.id_at(where)
    assert id not in (None, 1)
    qtbot.mouseDClick(viewer, Qt.MouseButton.LeftButton, pos=where)
    assert document.display.isolated == {id}
    qtbot.mouseDClick(viewer, Qt.MouseButton.LeftButton, pos=where)
    assert document.display.isolated == set()
    for left in ({id}, {1}, set()):
        qtbot.keyClick(viewer, Qt.Key.Key_Z, CTRL)
        assert document.display.isolated == left


def test_a_double_click_beside_the_picture_is_no_step(window: MainWindow, qtbot: QtBot) -> None:
    viewer = window.viewer
    viewer.zoom(0.5)
    beside = QPoint(2, 2)
    assert viewer.id_at(beside) is None
    qtbot.mouseDClick(viewer, Qt.MouseButton.LeftButton, pos=beside)
    assert window.document.undo.count() == 0


def in_edit_menu(window: MainWindow, id: str) -> QAction:
    (found,) = [action for action in menu_called(window, "Edit").actions() if action is window.actions_[id]]
    return found


def test_isolating_is_in_the_edit_menu_and_is_called_what_it_does(window: MainWindow, qtbot: QtBot) -> None:
    isolate = in_edit_menu(window, "isolate")
    assert isolate.text() == "Isolate"
    click(window, qtbot, 1)
    isolate.trigger()
    assert window.document.display.isolated == {1}
    assert isolate.text() == "Show All"
    click(window, qtbot, 2)
    assert isolate.text() == "Isolate"
    click(window, qtbot, 1)
    assert isolate.text() == "Show All"
    isolate.trigger()
    assert window.document.display.isolated == set()
    assert isolate.text() == "Isolate"


def test_isolating_nothing_says_what_is_missing(window: MainWindow) -> None:
    isolate = in_edit_menu(window, "isolate")
    assert not isolate.isEnabled()
    assert isolate.toolTip() == "Select segments to isolate them"
    window.segments.isolate_selected()
    assert window.viewer.findChild(QLabel, "toast").text() == "Select segments to isolate them."


def test_undo_and_redo_can_be_used_only_when_there_is_something(window: MainWindow, qtbot: QtBot) -> None:
    undo, redo = in_edit_menu(window, "undo"), in_edit_menu(window, "redo")
    assert (undo.isEnabled(), redo.isEnabled()) == (False, False)
    tick(window, qtbot, 1)
    assert (undo.isEnabled(), redo.isEnabled()) == (True, False)
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert (undo.isEnabled(), redo.isEnabled()) == (False, True)
    qtbot.keyClick(window, Qt.Key.Key_Y, CTRL)
    assert (undo.isEnabled(), redo.isEnabled()) == (True, False)
    qtbot.keyClick(window, Qt.Key.Key_W, CTRL)
    qtbot.waitUntil(window.welcome.isVisible, timeout=LONG)
    assert (undo.isEnabled(), redo.isEnabled()) == (False, False)


def test_all_buttons_stay_seen_while_one_is_alone(window: MainWindow, qtbot: QtBot) -> None:
    panel = SegmentsPanel(window.document)
    qtbot.addWidget(panel)
    panel.resize(400, 500)
    with qtbot.waitExposed(panel):
        panel.show()
    undo_commands.isolate(window.document, [1])
    extension = panel.findChild(QToolBar).findChild(QToolButton, "qt_toolbar_ext_button")
    qtbot.waitUntil(lambda: button(panel, "Show All").isVisible())
    assert not extension.isVisible()


# --- keys that a person chose


def test_the_table_does_nothing_on_a_key_that_was_given_away(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    window.actions_.set_keys("hide", ["K"])
    for column in (SIZE, NAME):
        click(window, qtbot, 1, column)
        qtbot.keyClick(table(window.segments), Qt.Key.Key_H)
        assert document.names.hidden == set()
        assert table(window.segments).viewport().findChild(QLineEdit) is None
    click(window, qtbot, 1)
    qtbot.keyClick(table(window.segments), Qt.Key.Key_K)
    assert document.names.hidden == {1}


def test_a_key_that_was_taken_away_does_nothing(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_.set_keys("group", [])
    click(window, qtbot, 1)
    qtbot.keyClick(table(window.segments), Qt.Key.Key_G)
    assert window.findChild(ObjectDialog) is None
    assert hint(window) == (
        "Select segments (click, Ctrl+click) and choose Object > Add to Object… to make an object of them. "
        "It follows them over time."
    )
    window.actions_.set_keys("group", ["Ctrl+G"])
    assert "and press Ctrl+G to make" in hint(window)
    qtbot.keyClick(table(window.segments), Qt.Key.Key_G, CTRL)
    assert window.findChild(ObjectDialog) is not None


def hint(window: MainWindow) -> str:
    return next(label.text() for label in window.objects.findChildren(QLabel) if label.text().startswith("Select"))


def test_f2_begins_a_name_wherever_the_keys_go(window: MainWindow, qtbot: QtBot) -> None:
    click(window, qtbot, 1)
    window.viewer.setFocus()
    qtbot.keyClick(window.viewer, Qt.Key.Key_F2)
    editor = table(window.segments).viewport().findChild(QLineEdit)
    qtbot.keyClicks(editor, "kite")
    # Once more is no new beginning.
    qtbot.keyClick(editor, Qt.Key.Key_F2)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.document.names.names == {1: "kite"}, timeout=LONG)


def test_renaming_goes_by_its_key(window: MainWindow, qtbot: QtBot) -> None:
    view = table(window.segments)
    window.actions_.set_keys("rename", ["Ctrl+T"])
    click(window, qtbot, 1, NAME)
    qtbot.keyClick(view, Qt.Key.Key_F2)
    assert view.viewport().findChild(QLineEdit) is None
    qtbot.keyClick(view, Qt.Key.Key_T, CTRL)
    qtbot.keyClicks(view.viewport().findChild(QLineEdit), "kite\r")
    qtbot.waitUntil(lambda: window.document.names.names == {1: "kite"}, timeout=LONG)


@pytest.fixture
def tree(window: MainWindow, qtbot: QtBot) -> QTreeWidget:
    """The list of objects in front, with one that is highlighted."""
    undo_commands.make_object(window.document, "kite", [1, 2])
    window.document.display.select([1])
    dock = window.objects.parentWidget()
    assert isinstance(dock, QDockWidget)
    dock.raise_()
    tree = window.objects.findChild(QTreeWidget)
    qtbot.waitUntil(lambda: tree.isVisible() and tree.topLevelItemCount() == 1, timeout=LONG)
    tree.setCurrentItem(tree.topLevelItem(0))
    tree.setFocus()
    return tree


def test_the_list_of_objects_goes_by_the_keys_too(window: MainWindow, tree: QTreeWidget, qtbot: QtBot) -> None:
    document = window.document
    window.actions_.set_keys("ungroup", ["Ctrl+D"])
    window.actions_.set_keys("rename", ["Ctrl+T"])
    window.actions_.set_keys("group", ["Ctrl+G"])
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_F2, Qt.Key.Key_G):
        qtbot.keyClick(tree, key)
    assert document.display.members() == {"kite": {1, 2}}
    assert window.findChild(ObjectDialog) is None
    qtbot.keyClick(tree, Qt.Key.Key_D, CTRL)
    assert document.display.members() == {"kite": {2}}
    assert window.objects.removal.text() == "Remove from Object\tCtrl+D"
    qtbot.keyClick(tree, Qt.Key.Key_T, CTRL)
    assert window.findChild(ObjectDialog).windowTitle() == "Rename object"


def test_original_keys_work_again_when_they_are_brought_back(
    window: MainWindow, tree: QTreeWidget, qtbot: QtBot
) -> None:
    window.actions_.set_keys("ungroup", ["Ctrl+D"])
    window.actions_.reset_keys()
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert window.document.display.members() == {"kite": {2}}
    assert window.objects.removal.text() == "Remove from Object\tDel"
    qtbot.keyClick(tree, Qt.Key.Key_F2)
    assert window.findChild(ObjectDialog).windowTitle() == "Rename object"


# --- locks


def picture(widget: QWidget, rect: QRect) -> npt.NDArray[np.int64]:
    """How bright a part of a widget is (H, W)."""
    image = widget.grab(rect).toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width()].astype(np.int64)


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, qapp: QApplication) -> object:
    theme.apply(qapp, request.param)
    yield request.param
    theme.apply(qapp, "system")


@pytest.mark.usefixtures("themed")
@pytest.mark.parametrize("width", [260, 400, 700])
def test_a_lock_is_seen_however_narrow_the_panel_is(story_document: Document, qtbot: QtBot, width: int) -> None:
    panel = SegmentsPanel(story_document)
    qtbot.addWidget(panel)
    panel.resize(width, 400)
    with qtbot.waitExposed(panel):
        panel.show()
    undo_commands.rename(story_document, 1, "a name that is too long for any column that there is")
    undo_commands.make_object(story_document, "kite", [1])
    view = table(panel)
    free = picture(view.viewport(), cell(panel, 1, NAME))
    story_document.edit(Edit("lock", (1,)))
    rect = cell(panel, 1, NAME)
    assert view.viewport().rect().contains(rect)
    locked = picture(view.viewport(), rect)
    changed = np.argwhere(np.abs(locked - free) > 100)
    # The padlock stands at the right edge, as tall as a letter.
    columns, rows = changed[:, 1], changed[:, 0]
    assert rect.width() - 8 <= columns.max() < rect.width()
    body = columns >= rect.width() - 15
    assert np.ptp(rows[body]) >= 8
    # Nothing of the name runs into it.
    ground = np.median(locked)
    assert (np.abs(locked[:, -18:-15] - ground) < 30).all()
    tip = view.model().tip(index_of(panel, 1, NAME))
    assert "locked: the model neither splits nor merges it" in tip


# --- swatches


def squares(widget: QWidget, rect: QRect, colour: QColor) -> int:
    """How many pixels of a part of a widget have just this colour."""
    image = widget.grab(rect).toImage()
    return sum(
        image.pixelColor(x, y).rgb() == colour.rgb() for x in range(image.width()) for y in range(image.height())
    )


@pytest.mark.usefixtures("themed")
def test_colours_are_true_in_a_selected_row(story_document: Document, qtbot: QtBot) -> None:
    panel = SegmentsPanel(story_document)
    qtbot.addWidget(panel)
    panel.resize(700, 400)
    with qtbot.waitExposed(panel):
        panel.show()
    undo_commands.make_object(story_document, "kite", [1])
    viewport = table(panel).viewport()
    for column in (COLOUR, SHOWN):
        rect = cell(panel, 1, column)
        # The box at the left would hide it.
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(rect.right() - 4, rect.center().y()))
        assert story_document.display.selection == {1}
        colour = index_of(panel, 1, column).data(Qt.ItemDataRole.DecorationRole)
        assert squares(viewport, cell(panel, 1, column), colour) >= 150
    # The mark of the object is a smaller one, and round.
    (thing,) = story_document.objects
    assert squares(viewport, cell(panel, 1, NAME), QColor(*thing.colour)) >= 30


@pytest.mark.usefixtures("themed")
def test_the_colour_of_a_highlighted_object_is_true(story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    panel = ObjectsPanel(story_document)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel):
        panel.show()
    tree = panel.findChild(QTreeWidget)
    rect = tree.visualItemRect(tree.topLevelItem(0))
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert panel.current == "kite"
    assert squares(tree.viewport(), rect, QColor(*story_document.objects[0].colour)) >= 150


# --- while it is saved


@pytest.fixture
def saved(window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Where the session is saved to is answered; moving it takes until this is set."""
    go_on, real = threading.Event(), session_saver.move_session
    monkeypatch.setattr(session_saver, "move_session", lambda *paths: go_on.wait(LONG / 1000) and real(*paths))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "mine.scstream"), ""))
    return go_on


def save(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_S, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert window.document.saving


def come_back(window: MainWindow, qtbot: QtBot, go_on: threading.Event) -> None:
    go_on.set()
    qtbot.waitUntil(lambda: not window.document.saving and window.document.state is State.DONE, timeout=LONG)
    qtbot.waitUntil(lambda: window.message.text.startswith("Saved in"), timeout=LONG)
    # Without a window manager, no window is active after the dialog that appears if this takes long.
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=LONG)


def test_boxes_and_names_wait_until_it_is_saved(window: MainWindow, qtbot: QtBot, saved: threading.Event) -> None:
    document, view = window.document, table(window.segments)
    can = picture(view.viewport(), cell(window.segments, 1, SHOWN))
    save(window, qtbot)
    said: list[str] = []
    window.segments.message.connect(said.append)
    cannot = picture(view.viewport(), cell(window.segments, 1, SHOWN))
    # The box is fainter, the colour beside it as it was.
    assert np.ptp(cannot[:, :18]) < 0.6 * np.ptp(can[:, :18])
    np.testing.assert_array_equal(can[:, 20:], cannot[:, 20:])
    tick(window, qtbot, 1)
    double_click(window, qtbot, 1, NAME)
    assert said == ["Wait until the session is saved."]
    assert view.viewport().findChild(QLineEdit) is None
    assert document.names.hidden == set()
    assert document.undo.count() == 0
    assert window.message.text.startswith("Saving in")
    tip = view.model().tip(index_of(window.segments, 1, SHOWN))
    assert tip == "Wait until the session is saved"
    come_back(window, qtbot, saved)
    tick(window, qtbot, 1)
    assert document.session.names.hidden == {1}
    double_click(window, qtbot, 2, NAME)
    qtbot.keyClicks(view.viewport().findChild(QLineEdit), "sea\r")
    qtbot.waitUntil(lambda: document.session.names.names == {2: "sea"}, timeout=LONG)


def test_a_name_that_is_being_typed_is_saved(window: MainWindow, qtbot: QtBot, saved: threading.Event) -> None:
    document, view = window.document, table(window.segments)
    double_click(window, qtbot, 1, NAME)
    editor = view.viewport().findChild(QLineEdit)
    qtbot.keyClicks(editor, "kite")
    qtbot.keyClick(editor, Qt.Key.Key_S, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert document.saving
    come_back(window, qtbot, saved)
    assert document.session.names.names == {1: "kite"}
    assert document.session.path.name == "mine.scstream"
    assert view.model().data(index_of(window.segments, 1, NAME)) == "kite"
    qtbot.keyClick(window.viewer, Qt.Key.Key_Z, CTRL)
    assert document.session.names.names == {}


def test_what_is_isolated_while_it_is_saved_is_undone_afterwards(
    window: MainWindow, qtbot: QtBot, saved: threading.Event
) -> None:
    click(window, qtbot, 1)
    save(window, qtbot)
    press(qtbot, window.segments, "Isolate")
    assert window.document.display.isolated == {1}
    come_back(window, qtbot, saved)
    qtbot.keyClick(window.viewer, Qt.Key.Key_Z, CTRL)
    assert window.document.display.isolated == set()
