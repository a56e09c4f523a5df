"""Tests of segmenting again from a frame on: model edits after the end, marks carried over, and the way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QDialog,
    QLabel,
    QPushButton,
    QRadioButton,
    QTableView,
    QToolButton,
)
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.dialogs import answering
from helpers.held_worker import Holding
from scstream_app.objects import ObjectEdit
from scstream_app.pipeline.edits import Edit
from scstream_app.session import PICTURES, Names, Session
from scstream_app.ui.compare.comparison_window import ComparisonWindow
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.state import State
from scstream_app.ui.sessions.rerun import mark_transfer
from scstream_app.ui.sessions.rerun.rerun import BACK, COMPARE
from scstream_app.ui.window.main_window import MainWindow

pytestmark = pytest.mark.slow

LONG = 60_000
COUNT = 8
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """Window with a segmented clip of eight frames, which shows frame 4."""
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(COUNT))))
    done(window, qtbot)
    show(window, qtbot, 4)
    return window


def done(window: MainWindow, qtbot: QtBot, but: Path | None = None) -> Session:
    """Wait until all frames are segmented, in another session than ``but``."""
    document = window.document

    def ready() -> bool:
        session = document.session
        return document.state is State.DONE and session.path != but and len(document.summary) == COUNT

    qtbot.waitUntil(ready, timeout=LONG)
    return document.session


def show(window: MainWindow, qtbot: QtBot, index: int) -> None:
    window.document.display.show(index)
    qtbot.waitUntil(lambda: window.document.display.index == index, timeout=LONG)


def select(window: MainWindow, qtbot: QtBot, *ids: int) -> None:
    """Click segments in the table."""
    table = window.segments.findChild(QTableView)
    qtbot.waitUntil(lambda: all(table.model().row(id) is not None for id in ids), timeout=LONG)
    for n, id in enumerate(ids):
        place = table.visualRect(table.model().index(table.model().row(id), 2)).center()
        held = CTRL if n else Qt.KeyboardModifier.NoModifier
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, held, place)
    assert window.document.display.selection == set(ids)


def bar_text(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.message.findChildren(QLabel) if label.text())


def bar_button(window: MainWindow, text: str) -> QToolButton:
    return next(button for button in window.message.findChildren(QToolButton) if button.text() == text)


def same_before(one: Path, other: Path, frame: int) -> bool:
    first, second = Session.open(one), Session.open(other)
    return all(
        np.array_equal(first.ids(index), second.ids(index))
        and np.array_equal(first.statistics(index), second.statistics(index))
        and first.record(index) == second.record(index)
        for index in range(frame)
    )


def test_a_split_on_a_finished_clip_segments_the_rest_again(opened: MainWindow, qtbot: QtBot) -> None:
    old = opened.document.session.path
    whole = int(opened.document.display.shown.result.statistics["id"][0])
    select(opened, qtbot, whole)
    with answering(qtbot, "From This Frame On") as asked:
        qtbot.keyClick(opened, Qt.Key.Key_M, ALT)
    assert f"Split segment {whole} and segment frame 4 and all later ones again?" in asked[0]
    new = done(opened, qtbot, but=old)
    assert same_before(old, new.path, 4)
    edits = [(record.index, edit.kind) for record in new.edited_records(COUNT) for edit in record.edits]
    assert edits[:2] == [(4, "lock"), (4, "split")]
    assert any(event.ids[0] == whole for event in new.record(4).events)
    assert Session.open(old).manifest.complete
    assert f"Split segment {whole} from frame 4 on" in bar_text(opened)
    # The way back is a button, and the old run has lost nothing.
    qtbot.mouseClick(bar_button(opened, BACK), Qt.MouseButton.LeftButton)
    assert done(opened, qtbot, but=new.path).path == old
    assert not opened.message.isVisible()
    assert new.path.exists()


def test_it_waits_until_a_dialog_is_closed(opened: MainWindow, qtbot: QtBot) -> None:
    old, dialog = opened.document.session, QDialog(opened)
    opened.actions_["restart_here"].trigger()
    dialog.open()
    qtbot.waitUntil(lambda: opened.rerun._free._action is not None, timeout=LONG)
    assert opened.document.session is old
    dialog.close()
    assert same_before(old.path, done(opened, qtbot, but=old.path).path, 4)


def test_no_means_no(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.document.session
    select(opened, qtbot, int(opened.document.display.shown.result.statistics["id"][0]))
    with answering(qtbot, "Cancel"):
        qtbot.keyClick(opened, Qt.Key.Key_M, ALT)
    assert opened.document.session is session


def test_undo_goes_back_to_the_run_before(opened: MainWindow, qtbot: QtBot) -> None:
    old = opened.document.session.path
    opened.actions_["restart_here"].trigger()
    new = done(opened, qtbot, but=old).path
    assert opened.actions_["undo"].text() == "Undo Segment again from frame 4 on"
    np.testing.assert_array_equal(Session.open(new).ids(COUNT - 1), Session.open(old).ids(COUNT - 1))
    qtbot.keyClick(opened, Qt.Key.Key_Z, CTRL)
    assert done(opened, qtbot, but=new).path == old


def test_settings_apply_from_the_frame_shown_on(opened: MainWindow, qtbot: QtBot) -> None:
    old = opened.document.session.path
    box = next(box for box in opened.controls.findChildren(QAbstractSpinBox) if box.accessibleName() == "Sweeps")
    box.selectAll()
    qtbot.keyClicks(box, "3")
    assert "segments this frame and all later ones again" in opened.controls.findChild(QLabel, "message").text()
    button = next(one for one in opened.controls.findChildren(QPushButton) if one.text() == "Apply from this frame on")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    new = done(opened, qtbot, but=old)
    assert [(record.index, record.edits) for record in new.edited_records(COUNT)] == [
        (4, (Edit("change", values={"sweeps": 3}),))
    ]
    assert same_before(old, new.path, 4)
    assert opened.document.settings.sweeps == 3
    qtbot.mouseClick(bar_button(opened, COMPARE), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: opened.findChild(ComparisonWindow) is not None, timeout=LONG)
    assert opened.findChild(ComparisonWindow).second == old


@pytest.mark.parametrize("frame", [0, COUNT - 1])
def test_settings_apply_from_the_first_and_from_the_last_frame_on(opened: MainWindow, qtbot: QtBot, frame: int) -> None:
    old = opened.document.session.path
    show(opened, qtbot, frame)
    opened.controls.apply_requested.emit(Edit("restart", values={"detail": 4.0}))
    new = done(opened, qtbot, but=old)
    assert [(record.index, record.cut) for record in new.edited_records(COUNT)] == [(frame, frame > 0)]
    assert same_before(old, new.path, frame)


def test_marks_are_carried_over(opened: MainWindow, qtbot: QtBot) -> None:
    document = opened.document
    old = document.session.path
    ids = sorted(document.summary.lives)
    undo_commands.rename(document, ids[0], "sea")
    undo_commands.make_object(document, "kite", [ids[0]])
    show(opened, qtbot, 6)
    undo_commands.add_to_object(document, "kite", [ids[1]])
    kite = document.objects[0]
    show(opened, qtbot, 4)
    opened.actions_["restart_here"].trigger()
    new = done(opened, qtbot, but=old)
    assert document.names == Names({ids[0]: "sea"})
    # The edit of frame 6 comes back when frame 6 is there.
    qtbot.waitUntil(lambda: document.objects == (kite,), timeout=LONG)
    qtbot.waitUntil(lambda: not Session.open(new.path).branch_point.waiting, timeout=LONG)
    assert Session.open(new.path).objects == (kite,)
    assert ObjectEdit("added", 6, {ids[1]}) in kite.edits
    # Marks that came over are no step of the user: one Ctrl+Z goes back.
    assert opened.actions_["undo"].text() == "Undo Segment again from frame 4 on"
    qtbot.keyClick(opened, Qt.Key.Key_Z, CTRL)
    assert done(opened, qtbot, but=new.path).path == old
    assert document.objects == (kite,)


def test_marks_are_carried_over_if_the_run_ends_meanwhile(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, old = opened.document, opened.document.session.path
    ids = sorted(document.summary.lives)
    undo_commands.make_object(document, "kite", [ids[0]])
    for frame in (5, 7):
        show(opened, qtbot, frame)
        undo_commands.make_object(document, f"thing {frame}", [ids[1]])
    marked = document.objects
    going_on, match = Event(), mark_transfer._match

    def match_late(*given: object) -> object:
        assert going_on.wait(LONG / 1000.0)
        return match(*given)

    monkeypatch.setattr(mark_transfer, "_match", match_late)
    holding = Holding(document.run.worker, 6)
    show(opened, qtbot, 4)
    opened.actions_["restart_here"].trigger()
    qtbot.waitUntil(lambda: len(document.summary) == 6 and document.session.path != old, timeout=LONG)
    qtbot.waitUntil(lambda: opened.mark_transfer._busy, timeout=LONG)
    holding.release()
    done(opened, qtbot, but=old)
    going_on.set()
    qtbot.waitUntil(lambda: {one.name for one in document.objects} == {one.name for one in marked}, timeout=LONG)


def test_a_missing_source_leaves_the_run_as_it_is(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    session = opened.document.session
    (tmp_path / "clip.mp4").unlink()
    opened.actions_["restart_here"].trigger()
    qtbot.waitUntil(lambda: "clip.mp4" in bar_text(opened), timeout=LONG)
    assert opened.document.session is session
    assert sorted((tmp_path / "library").iterdir()) == [session.path]


def test_a_run_from_a_frame_on_that_is_closed_resumes_with_its_edit(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document, old = opened.document, opened.document.session.path
    Holding(document.run.worker, 6)
    opened.rerun.change_settings(Edit("change", values={"sweeps": 2}))
    qtbot.waitUntil(lambda: document.session is not None and document.session.path != old, timeout=LONG)
    new = document.session.path
    qtbot.waitUntil(lambda: len(document.summary) == 6, timeout=LONG)
    opened.actions_["close"].trigger()
    qtbot.waitUntil(lambda: opened.welcome.unsaved.count() == 2, timeout=LONG)
    assert Session.open(old).manifest.complete
    opened.opening.open_session(new)
    done(opened, qtbot)
    assert [record.index for record in Session.open(new).edited_records(COUNT)] == [4]
    assert document.settings.sweeps == 2


def test_a_running_clip_can_be_segmented_again_from_an_earlier_frame(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document = window.document
    Holding(document.run.worker, 5)
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(COUNT))))
    qtbot.waitUntil(lambda: len(document.summary) == 5, timeout=LONG)
    old = document.session.path
    show(window, qtbot, 2)
    window.actions_["restart_here"].trigger()
    new = done(window, qtbot, but=old)
    assert same_before(old, new.path, 2)
    assert not Session.open(old).manifest.complete
    assert len(Session.open(old)) >= 5


def test_one_frame_is_segmented_during_a_pause(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    document, action = window.document, window.actions_["segment_one"]
    Holding(document.run.worker, 2)
    window.open_address(str(write_video(tmp_path / "clip.mp4", moving_square(COUNT))))
    qtbot.waitUntil(lambda: len(document.summary) == 2, timeout=LONG)
    assert not action.isEnabled()
    assert action.statusTip() == "Pause the segmentation first"
    qtbot.keyClick(window, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    show(window, qtbot, 0)
    for count in (3, 4):
        qtbot.keyClick(window, Qt.Key.Key_Period, CTRL)
        qtbot.waitUntil(lambda count=count: document.display.index == count - 1, timeout=LONG)
        assert (len(document.summary), document.state) == (count, State.PAUSED)
    qtbot.keyClick(window, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    done(window, qtbot)
    assert action.statusTip() == "No segmentation is running"


def test_a_merge_in_the_model_segments_again(opened: MainWindow, qtbot: QtBot) -> None:
    old = opened.document.session
    ids = sorted(opened.document.display.shown.result.statistics["id"].tolist())[:2]
    select(opened, qtbot, *ids)
    qtbot.keyClick(opened, Qt.Key.Key_M)
    dialog = QApplication.activeModalWidget()
    model = dialog.findChildren(QRadioButton)[-1]
    qtbot.mouseClick(model, Qt.MouseButton.LeftButton, pos=QPoint(8, model.height() // 2))
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    new = done(opened, qtbot, but=old.path)
    assert same_before(old.path, new.path, 4)
    assert len(set(new.statistics(4)["id"].tolist()) & set(ids)) == 1
    assert opened.actions_["undo"].text() == f"Undo Merge segments {ids[0]} and {ids[1]} from frame 4 on"


def test_an_export_that_has_begun_meanwhile_is_not_broken_off(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened.document.session
    opened.actions_["restart_here"].trigger()
    with monkeypatch.context() as patched:
        patched.setattr(opened.document, "exporting", 1)
        qtbot.waitUntil(lambda: "an export has begun" in bar_text(opened), timeout=LONG)
    assert opened.document.session is session
    qtbot.waitUntil(lambda: len(opened.library.sessions()) == 1, timeout=LONG)


def test_a_segment_of_the_first_frame_changes_from_the_second_on(opened: MainWindow, qtbot: QtBot) -> None:
    old = opened.document.session.path
    show(opened, qtbot, 0)
    opened.document.display.select(opened.document.display.shown.result.statistics["id"][:1].tolist())
    with answering(qtbot, "From This Frame On"):
        opened.actions_["lock"].trigger()
    new = done(opened, qtbot, but=old)
    assert [record.index for record in new.edited_records(COUNT)] == [1]


def test_a_recording_says_why_it_cannot_go_back(opened: MainWindow, qtbot: QtBot) -> None:
    session = opened.document.session
    session.manifest = replace(session.manifest, source=replace(session.manifest.source, address=PICTURES))
    opened.document.state_changed.emit()
    action = opened.actions_["restart_here"]
    assert not action.isEnabled()
    whole = "A recording can only be segmented again as a whole: choose Segmentation > Segment Again"
    assert action.statusTip() == whole
    select(opened, qtbot, *sorted(opened.document.display.shown.result.statistics["id"].tolist())[:2])
    qtbot.keyClick(opened, Qt.Key.Key_M)
    dialog = QApplication.activeModalWidget()
    assert any(label.text() == f"{whole}." for label in dialog.findChildren(QLabel))
    assert [button.isEnabled() for button in dialog.findChildren(QRadioButton)] == [True, True, False]
    dialog.reject()
