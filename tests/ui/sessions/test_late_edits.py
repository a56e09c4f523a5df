"""Tests of merging on a finished clip: the dialog, the merge in the result, undo, and what panels and exports see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QRadioButton, QTableView
from pytestqt.qtbot import QtBot

from helpers.export_scenes import story
from scstream.sampler.genealogy import Kind
from scstream_app.errors import SessionError
from scstream_app.objects import ObjectEdit
from scstream_app.session import Session
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.document.workers.segmentation_worker import Opened, read_session
from scstream_app.ui.sessions.rerun import result_merging
from scstream_app.ui.sessions.rerun.merge_dialog import MergeDialog
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot, finished_session: Callable[..., Path]) -> MainWindow:
    """Five frames, of which frame 3 is shown: segment 1 split at frame 2 into 1 and 3, and 0 absorbs 2 at frame 4."""
    window.opening.open_session(finished_session(story((48, 64))))
    document = window.document
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    document.display.show(3)
    qtbot.waitUntil(lambda: document.display.index == 3 and rows(window) == {0, 1, 2, 3}, timeout=LONG)
    return window


def rows(window: MainWindow) -> set[int]:
    """Ids in the table of segments."""
    model = window.segments.findChild(QTableView).model()
    return {model.id(row) for row in range(model.rowCount())}


def select(window: MainWindow, qtbot: QtBot, *ids: int) -> None:
    table = window.segments.findChild(QTableView)
    for n, id in enumerate(ids):
        place = table.visualRect(table.model().index(table.model().row(id), 2)).center()
        held = CTRL if n else Qt.KeyboardModifier.NoModifier
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, held, place)


def ask(window: MainWindow, qtbot: QtBot, *ids: int) -> MergeDialog:
    """Select segments, press M, and return the dialog."""
    select(window, qtbot, *ids)
    qtbot.keyClick(window, Qt.Key.Key_M)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, MergeDialog)
    return dialog


def choose(dialog: QDialog, qtbot: QtBot, text: str) -> None:
    button = next(one for one in dialog.findChildren(QRadioButton) if text in one.text().replace("&", ""))
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(8, button.height() // 2))
    accept(dialog, qtbot)


def accept(dialog: QDialog, qtbot: QtBot) -> None:
    window = dialog.parentWidget()
    button = next(one for one in dialog.findChildren(QPushButton) if one.text() == "Merge")
    with qtbot.waitActive(window, timeout=LONG):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        window.activateWindow()


def test_the_default_merges_in_the_result_from_this_frame_on(window: MainWindow, qtbot: QtBot) -> None:
    document, session = window.document, window.document.session
    before = [session.ids(index) for index in range(5)]
    accept(ask(window, qtbot, 1, 3), qtbot)
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    assert document.display.selection == {1}
    assert document.display.shown.result.ids.max() == 2
    assert window.timeline.marks.ticks[Kind.MERGE].frames.tolist() == [3, 4]
    assert document.summary.column("segments").tolist() == [3, 3, 4, 3, 2]
    again = Session.open(session.path)
    for index in range(5):
        expected = np.where(before[index] == 3, 1, before[index]) if index >= 3 else before[index]
        np.testing.assert_array_equal(again.ids(index), expected)
    assert window.actions_["undo"].text() == "Undo Merge segments 1 and 3 in the result from frame 3 on"
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2, 3}, timeout=LONG)
    assert window.timeline.marks.ticks[Kind.MERGE].frames.tolist() == [4]
    np.testing.assert_array_equal(Session.open(session.path).ids(4), before[4])


def test_on_all_frames_earlier_ones_change_as_well(window: MainWindow, qtbot: QtBot) -> None:
    choose(ask(window, qtbot, 1, 3), qtbot, "all frames")
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    assert Session.open(window.document.session.path).ids(2).max() == 2
    assert window.timeline.marks.ticks[Kind.SPLIT].frames.tolist() == []


def test_the_way_is_remembered(window: MainWindow, qtbot: QtBot, settings: QSettings) -> None:
    choose(ask(window, qtbot, 1, 3), qtbot, "all frames")
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    dialog = ask(window, qtbot, 0, 2)
    assert dialog.way == "result everywhere"
    dialog.reject()
    assert settings.value("merge/way") == "result everywhere"


def test_edits_of_objects_follow_the_merge(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    undo_commands.make_object(document, "kite", [3])
    accept(ask(window, qtbot, 1, 3), qtbot)
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    assert document.objects[0].edits == (ObjectEdit("made", 3, {1}),)
    assert document.display.members() == {"kite": {1}}
    # Masks that were tracked with other segments are made again.
    square = story((48, 64))[3].ids
    wanted = np.isin(square, (1, 3))

    def tracked() -> bool:
        masks = document.session.read_object_masks(3, document.objects)
        return masks is not None and bool((masks.mask(0) == wanted).mean() > 0.97)

    qtbot.waitUntil(tracked, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert document.objects[0].edits == (ObjectEdit("made", 3, {3}),)


def test_segments_of_another_frame_are_refused(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    document.display.select({1, 3})
    document.display.show(0)
    qtbot.waitUntil(lambda: document.display.index == 0, timeout=LONG)
    qtbot.keyClick(window, Qt.Key.Key_M)
    accept(QApplication.activeModalWidget(), qtbot)
    texts = [label.text() for label in window.message.findChildren(QLabel)]
    assert "Segment 3 is not on this frame: go to a frame that has all selected segments." in texts
    assert document.session.merges == ()
    assert document.undo.count() == 0


def test_a_merge_that_cannot_be_written_is_not_shown(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scstream_app.session.storage.result_merges.write", full)
    accept(ask(window, qtbot, 1, 3), qtbot)
    assert any("No space left on device" in label.text() for label in window.message.findChildren(QLabel))
    assert rows(window) == {0, 1, 2, 3}
    assert window.document.undo.count() == 0


def test_objects_that_cannot_be_written_leave_the_result_as_it_was(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.document
    undo_commands.make_object(document, "kite", [3])
    before = document.objects

    def full(*_args: object) -> None:
        raise SessionError("No space left on device.")

    monkeypatch.setattr(document, "set_objects", full)
    accept(ask(window, qtbot, 1, 3), qtbot)
    assert any("No space left on device" in label.text() for label in window.message.findChildren(QLabel))
    assert document.session.merges == ()
    assert document.objects == before


def test_frames_that_are_segmented_while_others_are_read_stay(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_three(session: Session, cancel: Event) -> Opened:
        summary = RunSummary()
        summary.extend(session.records(0, 3))
        return replace(read_session(session, cancel), summary=summary)

    monkeypatch.setattr(result_merging, "read_session", read_three)
    accept(ask(window, qtbot, 1, 3), qtbot)
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    assert list(window.document.summary.frames) == [0, 1, 2, 3, 4]


def test_the_merge_holds_from_the_frame_at_which_it_was_asked_for(window: MainWindow, qtbot: QtBot) -> None:
    document = window.document
    dialog = ask(window, qtbot, 1, 3)
    # Playback goes on behind the dialog.
    document.display.show(4)
    qtbot.waitUntil(lambda: document.display.index == 4, timeout=LONG)
    accept(dialog, qtbot)
    assert [merge.frame for merge in document.session.merges] == [3]


def test_a_merge_is_shown_although_the_session_is_moved_meanwhile(window: MainWindow, qtbot: QtBot) -> None:
    document, going_on = window.document, Event()
    window._lists.do(going_on.wait, what="Waiting")
    accept(ask(window, qtbot, 1, 3), qtbot)
    path = document.session.path
    document.set_aside()
    qtbot.waitUntil(lambda: not document.run.closing, timeout=LONG)
    moved = path.rename(path.with_name("moved.scstream"))
    going_on.set()
    qtbot.waitUntil(lambda: not window._lists.under_way, timeout=LONG)
    document.open_session(moved, moved=True)
    qtbot.waitUntil(lambda: rows(window) == {0, 1, 2}, timeout=LONG)
    assert document.summary.column("segments").tolist() == [3, 3, 4, 3, 2]
