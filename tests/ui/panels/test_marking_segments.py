"""Marking segments: names, colours, what is hidden, and objects. All of it can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QDialogButtonBox, QLineEdit, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from helpers.segments_table import cell, click, column, ids, show, table, tips
from scstream_app.session import MarkedObject, Names, Session
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import NAME, POSITION, SHOWN

pytestmark = pytest.mark.slow


# --- what is done to segments


def test_a_name_typed_into_the_table_can_be_undone(
    panel: SegmentsPanel, story_document: Document, qtbot: QtBot
) -> None:
    view = table(panel)
    place = column(panel, POSITION)[ids(panel).index(1)]
    for act in (qtbot.mouseClick, qtbot.mouseDClick):
        act(view.viewport(), Qt.MouseButton.LeftButton, pos=cell(panel, 1, NAME))
    editor = view.viewport().findChild(QLineEdit)
    assert editor.text() == ""
    qtbot.keyClicks(editor, "ki")
    # A frame that comes meanwhile leaves it alone.
    show(story_document, qtbot, 1)
    qtbot.waitUntil(lambda: column(panel, POSITION)[ids(panel).index(1)] != place)
    qtbot.keyClicks(editor, "te")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: column(panel, NAME)[ids(panel).index(1)] == "kite")
    assert story_document.session.names.names == {1: "kite"}
    story_document.undo.undo()
    assert column(panel, NAME)[ids(panel).index(1)] == "segment 1"
    story_document.undo.redo()
    assert story_document.names.names == {1: "kite"}
    story_document.display.select([1])
    panel.rename_selected()
    assert [editor.text() for editor in view.viewport().findChildren(QLineEdit) if editor.isVisible()] == ["kite"]


def test_h_and_the_box_hide_and_show(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    click(qtbot, panel, 1)
    qtbot.keyClick(table(panel), Qt.Key.Key_H)
    assert story_document.names.hidden == {1}
    states = dict(zip(ids(panel), column(panel, SHOWN, Qt.ItemDataRole.CheckStateRole), strict=True))
    assert Qt.CheckState(states[1]) is Qt.CheckState.Unchecked
    qtbot.keyClick(table(panel), Qt.Key.Key_H)
    assert story_document.names.hidden == set()
    story_document.undo.undo()
    assert story_document.names.hidden == {1}
    view = table(panel)
    rect = view.visualRect(view.model().index(ids(panel).index(2), SHOWN))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 10, rect.center().y()))
    assert story_document.names.hidden == {1, 2}


def test_recolouring_asks_and_can_be_undone(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    before = column(panel, SHOWN, Qt.ItemDataRole.DecorationRole)
    story_document.display.select([0, 1])
    panel.recolour_selected()
    dialog = panel.findChild(QColorDialog)
    dialog.setCurrentColor(QColor(1, 2, 3))
    dialog.accept()
    assert dict(story_document.names.colours) == {0: (1, 2, 3), 1: (1, 2, 3)}
    swatches = dict(zip(ids(panel), column(panel, SHOWN, Qt.ItemDataRole.DecorationRole), strict=True))
    assert swatches[0] == swatches[1] == QColor(1, 2, 3)
    story_document.undo.undo()
    assert column(panel, SHOWN, Qt.ItemDataRole.DecorationRole) == before


def test_isolating_twice_shows_everything_again(panel: SegmentsPanel, story_document: Document) -> None:
    story_document.display.select([1])
    panel.isolate_selected()
    assert story_document.display.isolated == {1}
    panel.isolate_selected()
    assert story_document.display.isolated == set()


def test_a_name_that_makes_no_sense_is_refused(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    model = table(panel).model()
    with qtbot.waitSignal(story_document.failed) as caught:
        assert not model.setData(model.index(0, NAME), "a\tb")
    assert "printable" in caught.args[0]
    assert story_document.names == Names()
    assert story_document.undo.count() == 0


def test_edits_of_a_finished_model_are_requested(panel: SegmentsPanel, story_document: Document, qtbot: QtBot) -> None:
    requested: list[str] = []
    panel.edit_requested.connect(requested.append)
    story_document.display.select([0, 1])
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    panel.split_selected()
    panel.toggle_locked()
    assert requested == ["merge", "split", "lock"]
    assert story_document.undo.count() == 0
    assert story_document.pending.locked == set()


def test_tips_say_what_is_missing(panel: SegmentsPanel, objects: ObjectsPanel, story_document: Document) -> None:
    assert tips(panel) == {
        "Hide": "Select segments to hide them",
        "Isolate": "Select segments to isolate them",
        "Merge": "Select two segments or more to merge them (Ctrl+click adds one)",
        "Split": "Select one segment to split it",
        "Add to Object…": "Select segments to add them to an object",
        "Colour…": "Select segments to choose their colour",
        "Rename": "Select one segment to rename it",
        "Lock": "Select segments to lock them",
    }
    assert tips(objects)["Rename…"] == "Highlight an object in the list to rename it"
    story_document.display.select([0, 1])
    assert set(tips(panel)) == {"Rename"}
    assert tips(objects)["Remove from Object"] == "There is no object yet"


# --- objects


def rows_of(panel: ObjectsPanel) -> list[tuple[str, ...]]:
    tree = panel.findChild(QTreeWidget)
    items = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return [tuple(item.text(n) for n in (0, 1, 4, 5)) for item in items]


def answer(qtbot: QtBot, panel: QWidget, text: str | None = None) -> None:
    dialog = panel.findChild(ObjectDialog)
    if text is not None:
        line = dialog.findChild(QLineEdit)
        line.selectAll()
        qtbot.keyClicks(line, text)
    qtbot.mouseClick(
        dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok), Qt.MouseButton.LeftButton
    )
    qtbot.waitUntil(lambda: panel.findChild(ObjectDialog) is None)


def test_an_object_made_of_the_selection_follows_a_split(
    panel: SegmentsPanel,
    objects: ObjectsPanel,
    story_document: Document,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The colours of the story change from frame to frame, so that nothing can be tracked by its colours.
    monkeypatch.setattr(Session, "store_object_masks", lambda *_: None)
    click(qtbot, panel, 1)
    qtbot.keyClick(table(panel), Qt.Key.Key_G)
    answer(qtbot, panel)
    assert rows_of(objects) == [("object 1", "1", "0", "1")]
    show(story_document, qtbot, 3)
    qtbot.waitUntil(lambda: rows_of(objects) == [("object 1", "2", "0", "1")])
    tree = objects.findChild(QTreeWidget)
    place = tree.visualItemRect(tree.topLevelItem(0)).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    # A click only highlights the object: segments that it selected could be removed by mistake.
    assert not story_document.display.selection
    assert objects.current == "object 1"
    objects.select_current()
    assert story_document.display.selection == {1, 3}
    assert story_document.session.objects[0].ids == {1}
    story_document.undo.undo()
    assert rows_of(objects) == []
    story_document.undo.redo()
    assert rows_of(objects) == [("object 1", "2", "0", "1")]


def test_segments_come_to_an_object_and_go(objects: ObjectsPanel, story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    tree = objects.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))
    story_document.display.select([2])
    qtbot.keyClick(tree, Qt.Key.Key_G)
    # The highlighted one is offered.
    answer(qtbot, objects)
    assert rows_of(objects) == [("kite", "2", "0", "1")]
    assert story_document.objects[0].ids == {1, 2}
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert story_document.objects[0].ids == {1}
    story_document.undo.undo()
    assert story_document.objects[0].ids == {1, 2}


def test_a_part_that_is_taken_out_later_leaves_the_object_from_that_frame_on(
    objects: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    show(story_document, qtbot, 3)
    story_document.display.select([3])
    objects.remove_selected()
    assert story_document.display.members() == {"kite": {1}}
    assert rows_of(objects) == [("kite", "1", "0", "2")]
    story_document.display.select([0])
    undo_commands.add_to_object(story_document, "kite", [0])
    assert story_document.display.members() == {"kite": {0, 1}}
    show(story_document, qtbot, 2)
    assert story_document.display.members() == {"kite": {1, 3}}


def test_members_from_events_equal_those_of_the_session(story_document: Document, qtbot: QtBot) -> None:
    things = [
        MarkedObject.made("a", (0, 0, 0), 0, frozenset({1})),
        MarkedObject.made("b", (0, 0, 0), 1, frozenset({0, 2})),
    ]
    story_document.set_objects(things)
    for index in range(5):
        show(story_document, qtbot, index)
        told = dict(story_document.session.members(things))[index]
        assert dict(zip(["a", "b"], told, strict=True)) == story_document.display.members()


def test_objects_are_renamed_recoloured_and_deleted(
    objects: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    undo_commands.make_object(story_document, "sea", [0])
    tree = objects.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))
    objects.rename_current()
    dialog = objects.findChild(ObjectDialog)
    line = dialog.findChild(QLineEdit)
    line.selectAll()
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    qtbot.keyClicks(line, "Sea")
    assert not ok.isEnabled()
    line.clear()
    qtbot.keyClicks(line, "a/b")
    assert not ok.isEnabled()
    answer(qtbot, objects, "surfer")
    assert [row[0] for row in rows_of(objects)] == ["surfer", "sea"]
    objects.recolour_current()
    colours = objects.findChild(QColorDialog)
    colours.setCurrentColor(QColor(9, 8, 7))
    colours.accept()
    assert story_document.objects[0].colour == (9, 8, 7)
    objects.delete_current()
    assert [thing.name for thing in story_document.session.objects] == ["sea"]
    for _ in range(3):
        story_document.undo.undo()
    assert [thing.name for thing in story_document.session.objects] == ["kite", "sea"]


def test_objects_of_another_scene_are_gone(open_results: Callable[..., Document], qtbot: QtBot) -> None:
    results = story((48, 64))
    results[3] = replace(results[3], cut=True)
    document = open_results(results)
    undo_commands.make_object(document, "kite", [1])
    show(document, qtbot, 3)
    assert document.display.members() == {"kite": set()}


def test_marks_are_in_the_session_when_it_is_opened_again(
    panel: SegmentsPanel, story_document: Document, tmp_path: Path
) -> None:
    undo_commands.rename(story_document, 0, "sea")
    undo_commands.make_object(story_document, "kite", [1])
    with Session.open(story_document.session.path) as session:
        assert session.names == Names(names={0: "sea"})
        assert [thing.name for thing in session.objects] == ["kite"]
