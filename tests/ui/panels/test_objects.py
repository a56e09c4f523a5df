"""Objects that are named while frames go on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QColorDialog, QDialogButtonBox, QLineEdit, QMenu, QTreeWidget
from pytestqt.qtbot import QtBot

from scstream_app.pipeline.run import Notice
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.tracked_segments import share_of_object
from scstream_app.ui.panels.object_dialog import ObjectDialog
from scstream_app.ui.panels.objects import ObjectsPanel


@pytest.fixture
def panel(story_document: Document, qtbot: QtBot) -> ObjectsPanel:
    panel = ObjectsPanel(story_document)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def go_on(document: Document, qtbot: QtBot, index: int) -> None:
    document.display.show(index)
    qtbot.waitUntil(lambda: document.display.index == index)


def answer(panel: ObjectsPanel, qtbot: QtBot, name: str) -> None:
    dialog = panel.findChild(ObjectDialog)
    line = dialog.findChild(QLineEdit)
    line.selectAll()
    qtbot.keyClicks(line, name)
    ok = dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok)
    qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)


def test_a_split_while_a_name_is_typed_belongs_to_the_object(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    story_document.display.select([1])
    panel.add_selected()
    go_on(story_document, qtbot, 3)
    answer(panel, qtbot, "kite")
    (kite,) = story_document.session.objects
    assert (kite.name, kite.frame, kite.ids) == ("kite", 0, {1})
    assert story_document.display.members() == {"kite": {1, 3}}


def test_an_object_begins_at_the_frame_that_was_seen_when_it_was_asked_for(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    notices: list[Notice] = []
    story_document.noticed.connect(notices.append)
    go_on(story_document, qtbot, 1)
    story_document.display.select([1])
    panel.add_selected()
    go_on(story_document, qtbot, 4)
    answer(panel, qtbot, "kite")
    assert "starts at frame 1" in notices[-1].text
    assert panel.findChild(QTreeWidget).topLevelItem(0).text(4) == "1"
    found = []
    for index in range(5):
        go_on(story_document, qtbot, index)
        found.append(story_document.display.members()["kite"])
    assert found == [frozenset(), {1}, {1, 3}, {1, 3}, {1, 3}]


def test_a_split_while_an_object_is_chosen_comes_to_it(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [2])
    story_document.display.select([1])
    panel.add_selected()
    go_on(story_document, qtbot, 3)
    answer(panel, qtbot, "kite")
    assert story_document.display.members() == {"kite": {1, 2, 3}}
    go_on(story_document, qtbot, 0)
    assert story_document.display.members() == {"kite": {1, 2}}


def test_segments_that_went_meanwhile_make_an_object_of_the_frames_before(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    story_document.display.select([2])
    panel.add_selected()
    go_on(story_document, qtbot, 4)
    with qtbot.waitSignal(story_document.noticed) as heard:
        answer(panel, qtbot, "kite")
    (notice,) = heard.args
    assert isinstance(notice, Notice)
    assert notice.text == "Nothing is left of segment 2 on this frame."
    assert story_document.display.members() == {"kite": frozenset()}
    go_on(story_document, qtbot, 3)
    assert story_document.display.members() == {"kite": {2}}


def test_another_clip_gets_no_object_of_the_one_before(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    path = story_document.session.path
    story_document.display.select([1])
    panel.add_selected()
    with qtbot.waitSignal(story_document.display.shown_changed):
        story_document.open_session(path)
    answer(panel, qtbot, "kite")
    assert story_document.objects == ()


def test_the_matte_has_what_the_object_is_on_the_frame_that_comes(story_document: Document, qtbot: QtBot) -> None:
    go_on(story_document, qtbot, 0)
    undo_commands.make_object(story_document, "kite", [1])
    story_document.display.set_look(view="matte")
    go_on(story_document, qtbot, 3)
    assert story_document.display.shown.look.members == {1, 3}
    go_on(story_document, qtbot, 0)
    assert story_document.display.shown.look.members == {1}


def test_an_object_that_begins_late_says_so(panel: ObjectsPanel, story_document: Document, qtbot: QtBot) -> None:
    notices: list[Notice] = []
    story_document.noticed.connect(notices.append)
    go_on(story_document, qtbot, 3)
    story_document.display.select([1])
    panel.add_selected()
    answer(panel, qtbot, "kite")
    assert "starts here, at frame 3" in notices[-1].text


def test_a_name_that_begins_like_another_is_a_new_object(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "carpet", [0])
    story_document.display.select([1])
    panel.add_selected()
    line = panel.findChild(ObjectDialog).findChild(QLineEdit)
    line.selectAll()
    qtbot.keyClicks(line, "car")
    assert line.text() == "car"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert story_document.display.members() == {"carpet": {0}, "car": {1}}


@pytest.fixture
def kite(panel: ObjectsPanel, story_document: Document) -> None:
    """An object that is highlighted in the list."""
    undo_commands.make_object(story_document, "kite", [1])
    tree = panel.findChild(QTreeWidget)
    tree.setCurrentItem(tree.topLevelItem(0))


def answer_colour(panel: ObjectsPanel) -> None:
    colours = panel.findChild(QColorDialog)
    colours.setCurrentColor(QColor(9, 8, 7))
    colours.accept()


@pytest.mark.usefixtures("kite")
def test_what_is_answered_after_closing_changes_nothing(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    panel.rename_current()
    panel.recolour_current()
    path, before = story_document.session.path, story_document.objects
    story_document.close()
    answer(panel, qtbot, "dog")
    answer_colour(panel)
    with qtbot.waitSignal(story_document.display.shown_changed):
        story_document.open_session(path)
    assert story_document.objects == before


@pytest.mark.usefixtures("kite")
def test_another_document_keeps_its_object_of_the_same_name(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    panel.rename_current()
    panel.recolour_current()
    before = story_document.objects
    with qtbot.waitSignal(story_document.display.shown_changed):
        story_document.open_session(story_document.session.path)
    answer(panel, qtbot, "dog")
    answer_colour(panel)
    assert story_document.objects == before


def test_who_removes_all_segments_is_told_how_to_delete_the_object(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    said: list[str] = []
    panel.message.connect(said.append)
    undo_commands.make_object(story_document, "kite", [0, 1])
    tree = panel.findChild(QTreeWidget)
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualItemRect(tree.topLevelItem(0)).center())
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert story_document.display.members() == {"kite": {0, 1}}
    panel.select_current()
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert story_document.display.members() == {"kite": frozenset()}
    assert said[-1].endswith("to delete 'kite' itself, choose Object > Delete.")
    story_document.undo.undo()
    story_document.display.select([0])
    percent = 100.0 * share_of_object(story_document, "kite", {0})
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert said[-1] == (
        f"Segment 0 removed from object 'kite' from frame 0 on. That is {percent:.0f} % of it on this frame: "
        "to take a part of a segment, undo and use the eraser."
    )


def test_segments_are_taken_out_of_all_their_objects_at_once(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    said: list[str] = []
    panel.message.connect(said.append)
    undo_commands.make_object(story_document, "kite", [0])
    undo_commands.make_object(story_document, "sail", [1])
    panel.highlight(None)
    story_document.display.select([0, 1])
    qtbot.keyClick(panel.findChild(QTreeWidget), Qt.Key.Key_Delete)
    assert story_document.display.members() == {"kite": frozenset(), "sail": frozenset()}
    (text,) = said
    assert text.startswith("Segment 0 removed from object 'kite', segment 1 from object 'sail' from frame 0 on.")
    assert story_document.undo.undoText() == "Remove segments 0 and 1 from 2 objects"
    story_document.undo.undo()
    assert story_document.display.members() == {"kite": {0}, "sail": {1}}


@pytest.mark.parametrize("name", ["kite", "sail"])
def test_what_is_answered_while_it_is_saved_is_not_said_to_be_done(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot, name: str
) -> None:
    said: list[object] = []
    panel.message.connect(said.append)
    story_document.noticed.connect(said.append)
    go_on(story_document, qtbot, 3)
    undo_commands.make_object(story_document, "kite", [0])
    story_document.display.select([1])
    panel.add_selected()
    story_document.set_aside()
    with qtbot.waitSignal(story_document.failed):
        answer(panel, qtbot, name)
    assert said == []
    assert story_document.display.members() == {"kite": {0}}


# --- edits with frames


def all_members(document: Document, qtbot: QtBot) -> list[dict[str, frozenset[int]]]:
    """The members on every frame, as they are shown."""
    found = []
    for index in range(5):
        go_on(document, qtbot, index)
        found.append(document.display.members())
    return found


def test_a_removal_leaves_the_frames_before_it_unchanged(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [0, 1])
    before = all_members(story_document, qtbot)
    made = story_document.objects
    go_on(story_document, qtbot, 3)
    story_document.display.select([1, 3])
    panel.remove_selected()
    removed = story_document.objects
    assert all_members(story_document, qtbot) == [*before[:3], {"kite": {0}}, {"kite": {0}}]
    item = panel.findChild(QTreeWidget).topLevelItem(0)
    assert (item.text(4), item.text(5)) == ("0", "2")
    assert item.toolTip(5) == "Frame 0: made of segments 0 and 1\nFrame 3: segments 1 and 3 removed"
    story_document.undo.undo()
    assert story_document.objects == made == story_document.session.objects
    assert all_members(story_document, qtbot) == before
    story_document.undo.redo()
    assert story_document.objects == removed == story_document.session.objects


def test_an_addition_leaves_the_frames_before_it_unchanged(story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    before = all_members(story_document, qtbot)
    go_on(story_document, qtbot, 3)
    undo_commands.add_to_object(story_document, "kite", [2])
    # Segment 2 is merged into 0 on frame 4.
    assert all_members(story_document, qtbot) == [*before[:3], {"kite": {1, 2, 3}}, {"kite": {1, 3}}]


def test_an_object_begins_earlier_and_stays_as_it_was_later(story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "sea", [0])
    go_on(story_document, qtbot, 3)
    undo_commands.make_object(story_document, "kite", [1])
    before = all_members(story_document, qtbot)
    go_on(story_document, qtbot, 1)
    undo_commands.add_to_object(story_document, "kite", [0])
    early = [before[0], {"sea": frozenset(), "kite": {0}}, {"sea": frozenset(), "kite": {0}}]
    assert all_members(story_document, qtbot) == [*early, *before[3:]]
    assert story_document.objects[1].frame == 1


def test_a_segment_that_comes_to_another_object_leaves_its_own(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    said: list[str] = []
    panel.message.connect(said.append)
    undo_commands.make_object(story_document, "kite", [0, 1])
    go_on(story_document, qtbot, 3)
    story_document.display.select([1])
    panel.add_selected()
    answer(panel, qtbot, "sail")
    assert said == ["Segment 1 added to object 'sail' from frame 3 on; segment 1 is no longer in object 'kite'."]
    assert story_document.display.members() == {"kite": {0, 3}, "sail": {1}}
    go_on(story_document, qtbot, 2)
    assert story_document.display.members() == {"kite": {0, 1, 3}, "sail": frozenset()}


def test_edits_are_read_from_the_session(story_document: Document, qtbot: QtBot) -> None:
    undo_commands.make_object(story_document, "kite", [0, 1])
    go_on(story_document, qtbot, 3)
    undo_commands.remove_from_objects(story_document, {"kite": frozenset({3})})
    before = all_members(story_document, qtbot)
    with qtbot.waitSignal(story_document.display.shown_changed):
        story_document.open_session(story_document.session.path)
    assert all_members(story_document, qtbot) == before


# --- a narrow list


@pytest.mark.usefixtures("kite")
def test_a_narrow_list_keeps_names_readable(panel: ObjectsPanel, story_document: Document, qtbot: QtBot) -> None:
    tree = panel.findChild(QTreeWidget)

    def shown(width: int) -> list[str]:
        panel.resize(width, 300)
        qtbot.waitUntil(lambda: panel.width() == width)
        header = tree.header()
        assert header.sectionSize(0) >= 100
        assert header.length() <= tree.viewport().width()
        return [tree.headerItem().text(column) for column in range(6) if not tree.isColumnHidden(column)]

    assert shown(600) == ["Object", "Segments", "Area", "Confidence", "Since", "Edits"]
    assert shown(340) in (
        ["Object", "Area", "Confidence", "Edits"],
        ["Object", "Segments", "Area", "Confidence", "Edits"],
    )
    assert shown(220) == ["Object", "Confidence"]
    assert tree.topLevelItem(0).toolTip(0).startswith("kite\nOn this frame: 1 segment")
    assert shown(600) == ["Object", "Segments", "Area", "Confidence", "Since", "Edits"]


@pytest.mark.usefixtures("kite")
def test_the_menu_of_an_object_renames_recolours_and_deletes_it(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    tree = panel.findChild(QTreeWidget)
    where = tree.visualItemRect(tree.topLevelItem(0)).center()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(tree.viewport(), QContextMenuEvent(reason, where, tree.viewport().mapToGlobal(where)))
    (menu,) = (found for found in panel.findChildren(QMenu) if found.isVisible())
    titles = [action.text().partition("\t")[0] for action in menu.actions()]
    assert titles == ["Add to Object…", "Remove from Object", "Select Its Segments", "Rename…", "Colour…", "Delete"]
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(menu.actions()[-1]).center())
    assert story_document.session.objects == ()


def test_a_segment_leaves_the_object_that_has_it_and_no_neighbour_whose_mask_touches_it(
    panel: ObjectsPanel, story_document: Document, qtbot: QtBot
) -> None:
    undo_commands.make_object(story_document, "kite", [1])
    undo_commands.make_object(story_document, "sea", [0])
    session, objects = story_document.session, story_document.objects
    qtbot.waitUntil(lambda: all(session.read_object_masks(index, objects) for index in range(5)), timeout=60_000)
    touching = session.read_object_masks(1, objects)
    touching.numbers[session.ids(1) == 1] = [2, 2, *[1] * (int((session.ids(1) == 1).sum()) - 2)]
    session.store_object_masks(1, touching, objects)
    go_on(story_document, qtbot, 1)
    qtbot.waitUntil(lambda: story_document.display.masks().areas == touching.areas, timeout=60_000)
    story_document.display.select([1])
    panel.remove_selected()
    assert [len(one.edits) for one in story_document.objects] == [2, 1]
