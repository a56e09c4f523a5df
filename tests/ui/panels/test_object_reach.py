"""Edits of objects hold from their frame on, before it, everywhere or there only; all other frames stay, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QComboBox, QToolButton
from pytestqt.qtbot import QtBot

from helpers.object_window import (
    LONG,
    accept,
    choose_reach,
    click_segments,
    go_to,
    halves,
    make_object,
    mask,
    masks,
    open_clip,
)
from scstream_app.objects import ObjectEdit, mask_to_png
from scstream_app.session import Session
from scstream_app.ui.document import undo_commands
from scstream_app.ui.panels.reach_choice import ReachChoice
from scstream_app.ui.qt.toast import Toast
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

COUNT = 24


@pytest.fixture
def clip(window: MainWindow, qtbot: QtBot, finished_session) -> MainWindow:
    """A clip with an object of segments 1 and 2, made on its first frame by mouse and keys."""
    open_clip(window, qtbot, finished_session(halves(COUNT)))
    make_object(window, qtbot, 1, 2)
    return window


def said(window: MainWindow) -> str:
    return window.viewer.findChild(Toast).text()


def test_removing_a_segment_leaves_all_frames_before_it_bit_by_bit(clip: MainWindow, qtbot: QtBot) -> None:
    before = masks(clip, qtbot)
    files = mask_files(clip)
    whole = mask(clip, 20)
    go_to(clip, qtbot, 20)
    click_segments(clip, qtbot, 2)
    qtbot.keyClick(clip, Qt.Key.Key_Delete)
    # At once, before the object is tracked again, the picture shows what it will be there.
    shown = clip.document.display.masks()
    np.testing.assert_array_equal(shown.mask(0), whole & (clip.document.session.ids(20) != 2))
    after = masks(clip, qtbot)
    assert after[:20] == before[:20]
    assert mask_files(clip)[:20] == files[:20]
    np.testing.assert_array_equal(mask(clip, 20), whole & (clip.document.session.ids(20) != 2))
    path, edits = clip.document.session.path, clip.document.objects[0].edits
    clip.document.close()
    with Session.open(path) as session:
        assert session.objects[0].edits == edits == (ObjectEdit("made", 0, {1, 2}), ObjectEdit("removed", 20, {2}))


def mask_files(window: MainWindow) -> list[bytes]:
    return [path.read_bytes() for path in sorted(Path(window.document.session.path, "object_masks").glob("*.mask"))]


def test_a_removal_holds_where_it_was_chosen_to(clip: MainWindow, qtbot: QtBot) -> None:
    before, made = masks(clip, qtbot), clip.document.objects
    for title, frames, words in (
        ("From here on", range(12, COUNT), " from frame 12 on"),
        ("Before", range(12), " on the frames before frame 12"),
        ("Everywhere", range(COUNT), " on all frames"),
        ("This frame only", range(12, 13), " on frame 12 only"),
    ):
        choose_reach(clip, qtbot, title)
        go_to(clip, qtbot, 12)
        click_segments(clip, qtbot, 2)
        qtbot.keyClick(clip, Qt.Key.Key_Delete)
        # A half of the object is much for a leak.
        assert said(clip).startswith(f"Segment 2 removed from object 'object 1'{words}. That is 5")
        after = masks(clip, qtbot)
        assert [index for index in range(COUNT) if after[index] != before[index]] == list(frames)
        assert not mask(clip, frames[0])[clip.document.session.ids(frames[0]) == 2].any()
        qtbot.keyClick(clip, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert clip.document.session.objects == made
        assert masks(clip, qtbot) == before


def test_edits_say_where_a_painted_mask_ends_them(clip: MainWindow, qtbot: QtBot) -> None:
    painted = ObjectEdit("painted", 12, {1, 2}, mask=mask_to_png(clip.document.session.ids(12) == 2))
    clip.document.set_objects([clip.document.objects[0].with_edits([*clip.document.objects[0].edits, painted])])
    go_to(clip, qtbot, 8)
    click_segments(clip, qtbot, 2)
    qtbot.keyClick(clip, Qt.Key.Key_Delete)
    assert said(clip).startswith(
        "Segment 2 removed from object 'object 1' on frames 8 to 11 (on frame 12 it is painted). That is"
    )
    assert clip.document.objects[0].edits[1] == ObjectEdit("removed", 8, {2}, stop=12)
    go_to(clip, qtbot, 11)
    make_object(clip, qtbot, 3)
    assert said(clip) == "Segment 3 added to object 'object 1' on frame 11 only (on frame 12 it is painted)."


def test_an_addition_holds_before_the_frame(clip: MainWindow, qtbot: QtBot) -> None:
    before = masks(clip, qtbot)
    choose_reach(clip, qtbot, "Before")
    go_to(clip, qtbot, 12)
    make_object(clip, qtbot, 3)
    after = masks(clip, qtbot)
    # Segment 3 is born on frame 4.
    assert [index for index in range(COUNT) if after[index] != before[index]] == list(range(4, 12))
    assert said(clip) == "Segment 3 added to object 'object 1' on the frames before frame 12."
    made = clip.document.objects
    go_to(clip, qtbot, 4)
    make_object(clip, qtbot, 3)
    assert clip.document.objects == made
    assert said(clip) == "These segments do not exist before frame 4."


def test_the_choice_is_remembered_and_holds_for_every_button(
    clip: MainWindow, qtbot: QtBot, settings: QSettings
) -> None:
    choose_reach(clip, qtbot, "Everywhere")
    go_to(clip, qtbot, 8)
    click_segments(clip, qtbot, 3)
    (button,) = (found for found in clip.segments.findChildren(QToolButton) if found.text() == "Add to Object…")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    accept(clip, qtbot)
    assert clip.document.session.objects[0].edits == (ObjectEdit("made", 0, {1, 2}), ObjectEdit("added", 4, {3}))
    again = ReachChoice(clip.document)
    qtbot.addWidget(again)
    again.remember(settings)
    assert again.findChild(QComboBox).currentText() == "Everywhere"


def test_what_leaked_into_the_mask_can_be_removed_and_what_it_lost_added(clip: MainWindow, qtbot: QtBot) -> None:
    """The genealogy does not know of either."""
    masks(clip, qtbot)
    objects, session = clip.document.objects, clip.document.session
    wrong = session.read_object_masks(8, objects)
    wrong.numbers[session.ids(8) == 3] = 1
    wrong.numbers[session.ids(8) == 2] = 0
    session.store_object_masks(8, wrong, objects)
    go_to(clip, qtbot, 8)
    qtbot.waitUntil(lambda: clip.document.display.masks().numbers[-1, -1] == 1, timeout=LONG)
    click_segments(clip, qtbot, 3)
    qtbot.keyClick(clip, Qt.Key.Key_Delete)
    assert clip.document.objects[0].edits[-1] == ObjectEdit("removed", 8, {3})
    assert said(clip).startswith("Segment 3 removed from object 'object 1' from frame 8 on.")
    qtbot.keyClick(clip, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    masks(clip, qtbot)
    session.store_object_masks(8, wrong, objects)
    go_to(clip, qtbot, 9)
    go_to(clip, qtbot, 8)
    qtbot.waitUntil(lambda: clip.document.display.masks().numbers[-1, -1] == 1, timeout=LONG)
    click_segments(clip, qtbot, 2)
    qtbot.keyClick(clip, Qt.Key.Key_G)
    accept(clip, qtbot)
    assert clip.document.objects[0].edits[-1] == ObjectEdit("added", 8, {2})


def test_a_segment_with_a_leak_and_a_part_of_the_object_is_named(clip: MainWindow, qtbot: QtBot) -> None:
    masks(clip, qtbot)
    objects, session = clip.document.objects, clip.document.session
    wrong = session.read_object_masks(8, objects)
    # The ground: a row below the object belongs to it, and a piece far from it.
    wrong.numbers[26, 10:16] = 1
    wrong.numbers[36, 2:14] = 1
    session.store_object_masks(8, wrong, objects)
    go_to(clip, qtbot, 8)
    qtbot.waitUntil(lambda: clip.document.display.masks().numbers[36, 2] == 1, timeout=LONG)
    clip.document.display.select([0])
    qtbot.keyClick(clip, Qt.Key.Key_Delete)
    assert said(clip) == (
        "Segment 0 removed from object 'object 1' from frame 8 on. 6 of its 18 pixels were in the main part of it: "
        "to remove only the others, undo and use the eraser."
    )


def test_the_object_made_last_is_highlighted_and_del_removes_from_the_one_that_has_the_segment(
    clip: MainWindow, qtbot: QtBot
) -> None:
    go_to(clip, qtbot, 8)
    click_segments(clip, qtbot, 3)
    undo_commands.make_object(clip.document, "rock", [3])
    assert clip.objects.current == "rock"
    clip.objects.highlight("object 1")
    qtbot.keyClick(clip, Qt.Key.Key_Delete)
    assert said(clip).startswith("Segment 3 removed from object 'rock' from frame 8 on.")
    assert clip.objects.current == "rock"
