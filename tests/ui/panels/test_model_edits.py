"""Edits of the model while frames are segmented: merges, splits and locks, and how they are undone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from helpers.clips import moving_square, write_video
from helpers.held_worker import pause_after_each
from helpers.segments_table import column, ids, shown, table, tips
from scstream.sampler.genealogy import Kind
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.run import Notice
from scstream_app.settings import Settings
from scstream_app.ui.document import undo_commands
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.segments import SegmentsPanel
from scstream_app.ui.panels.segments_items import LOCKED, NAME

pytestmark = pytest.mark.slow

LONG = 60_000


@pytest.fixture
def running(document: Document, qtbot: QtBot, tmp_path: Path) -> Iterator[Document]:
    """A document that waits in the midst of a clip."""
    document.set_settings(Settings(max_init_sweeps=20, threads=1))
    clip = write_video(tmp_path / "clip.mp4", moving_square(40))
    pause_after_each(document.run.worker)
    document.progressed.connect(lambda: document.pause(True))
    document.open_source(str(clip), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.PAUSED and is_segmented(document), timeout=LONG)
    yield document
    document.pause(False)


def is_segmented(document: Document) -> bool:
    """Whether segments are shown, not the picture alone."""
    return document.display.shown is not None and len(document.display.shown.result.statistics) > 0


def advance(document: Document, qtbot: QtBot) -> None:
    """Let at least one frame be segmented that has not begun yet, and wait again."""

    def has_advanced(before: int) -> bool:
        if len(document.summary) > before:
            return True
        # Again and again: it may be paused once more for the frame before.
        document.pause(False)
        return False

    for _ in range(2):
        qtbot.waitUntil(partial(has_advanced, len(document.summary)), timeout=LONG)


def test_merging_by_key_reaches_the_model_and_is_undone_by_a_split(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    pair = ids(panel)[:2]
    running.display.select(pair)
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    assert running.undo.undoText() == f"Merge {undo_commands.segments_text(pair)} (undone by a split)"
    advance(running, qtbot)
    merges = [event for _, event in running.summary.events if event.kind is Kind.MERGE]
    assert set(merges[0].ids) == set(pair)
    running.undo.undo()
    assert "cannot be reversed" in notices[-1].text
    advance(running, qtbot)
    splits = [event for _, event in running.summary.events if event.kind is Kind.SPLIT]
    assert merges[0].ids[0] in {event.ids[0] for event in splits}
    # Doing it again merges what the two have become.
    running.undo.redo()
    advance(running, qtbot)
    assert sum(event.kind is Kind.MERGE for _, event in running.summary.events) >= 2


def test_tips_say_how_many_segments_are_wanted(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    assert tips(panel)["Split"] == "Select one segment to split it"
    running.display.select(ids(panel)[:1])
    assert tips(panel) == {"Merge": "Select two segments or more to merge them (Ctrl+click adds one)"}


def test_while_the_first_frame_settles_the_panel_does_not_claim_that_there_is_nothing(
    document: Document, qtbot: QtBot, tmp_path: Path
) -> None:
    document.set_settings(Settings(max_init_sweeps=200, threads=1))
    panel = shown(SegmentsPanel(document), qtbot)
    count = panel.findChild(QLabel, "count")
    told, drafts = list[str](), list[str]()

    def look() -> None:
        told.append(count.text())
        if document.preview is not None and document.display.shown is not None:
            drafts.append(count.text())

    for signal in (document.state_changed, document.previewed, document.display.shown_changed):
        signal.connect(look)
    document.open_source(str(write_video(tmp_path / "clip.mp4", moving_square(6))), tmp_path / "a.scstream")
    qtbot.waitUntil(lambda: document.state is State.DONE, timeout=LONG)
    assert any(text.startswith("Analysing first frame… ") and text.endswith(" segments so far") for text in drafts)
    assert "0 segments" not in told
    qtbot.waitUntil(lambda: count.text() == f"{len(ids(panel))} segments")


def test_splitting_is_undone_by_a_merge_and_locking_by_unlocking(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    sent: list[Edit] = []
    edit = running.edit
    running.edit = lambda wanted: (sent.append(wanted), edit(wanted))[1]  # type: ignore[method-assign]
    first = ids(panel)[0]
    running.display.select([first])
    qtbot.keyClick(table(panel), Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    advance(running, qtbot)
    parts = [event.ids for _, event in running.summary.events if event.kind is Kind.SPLIT and event.ids[0] == first]
    assert parts
    new = parts[0][1]
    running.undo.undo()
    assert running.pending.locked == set()
    panel.toggle_locked()
    assert column(panel, NAME, LOCKED)[ids(panel).index(first)]
    advance(running, qtbot)
    running.undo.undo()
    assert running.pending.locked == set()
    assert sent[:3] == [Edit("lock", (first,)), Edit("split", (first,)), Edit("lock", (new,))]
    # The lock of the new part may have been withdrawn in time.
    assert sent[3] in (Edit("unlock", (first, new)), Edit("unlock", (first,)))
    assert sent[4:] == [
        Edit("merge", parts[0]),
        Edit("lock", (first,)),
        Edit("unlock", (first,)),
    ]


def test_what_the_model_has_not_heard_of_is_withdrawn_and_can_be_wished_again(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    pair = ids(panel)[:2]
    undo_commands.merge(running, pair)
    running.undo.undo()
    assert "is undone; it had not reached the model yet" in notices[-1].text
    advance(running, qtbot)
    assert not any(edit for record in running.session.records() for edit in record.edits)
    running.undo.redo()
    advance(running, qtbot)
    made = [edit for record in running.session.records() for edit in record.edits]
    assert [(edit.kind, set(edit.ids)) for edit in made] == [("lock", set(pair)), ("merge", set(pair))]


@pytest.fixture
def odd(running: Document, qtbot: QtBot) -> tuple[int, int]:
    """Two segments so different that the model would divide them again: the largest and the one most unlike it."""
    rows = running.display.shown.result.statistics
    colours = np.stack([rows[name] for name in ("red", "green", "blue")], axis=1)
    large = int(rows["pixels"].argmax())
    other = int(np.abs(colours - colours[large]).sum(axis=1).argmax())
    return int(rows["id"][large]), int(rows["id"][other])


def splits_of(document: Document, id: int) -> list[tuple[int, ...]]:
    return [event.ids for _, event in document.summary.events if event.kind is Kind.SPLIT and event.ids[0] == id]


def run_on(document: Document, qtbot: QtBot, frames: int) -> None:
    for _ in range(frames):
        advance(document, qtbot)


def test_what_was_merged_by_hand_stays_one(running: Document, qtbot: QtBot, odd: tuple[int, int]) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    said: list[str] = []
    panel.message.connect(said.append)
    running.display.select(odd)
    qtbot.keyClick(table(panel), Qt.Key.Key_M)
    assert said == [
        f"{undo_commands.segments_text(odd).capitalize()} become one from the next frame on, and stay locked."
    ]
    run_on(running, qtbot, 6)
    (merge,) = (e for _, e in running.summary.events if e.kind is Kind.MERGE and set(e.ids) == set(odd))
    assert splits_of(running, merge.ids[0]) == []
    # The model goes on for all the others with one id locked that is no longer there.
    assert running.pending.locked == set(odd)
    there = f"segment {merge.ids[0]}", True
    qtbot.waitUntil(lambda: there in zip(column(panel, NAME), column(panel, NAME, LOCKED), strict=True), timeout=LONG)


def test_both_parts_of_a_split_by_hand_are_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    said: list[str] = []
    panel.message.connect(said.append)
    first = ids(panel)[0]
    running.display.select([first])
    qtbot.keyClick(table(panel), Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert said == [f"Segment {first} is split from the next frame on, and stays locked."]
    assert running.pending.locked == {first}
    run_on(running, qtbot, 6)
    ((_, part),) = splits_of(running, first)
    assert running.pending.locked == {first, part}
    assert not [e for _, e in running.summary.events if e.kind is Kind.MERGE and {first, part} & set(e.ids)]


def test_undoing_a_merge_unlocks_only_what_it_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    first, second = ids(panel)[:2]
    undo_commands.set_locked(running, [first], True)
    undo_commands.merge(running, [first, second])
    assert running.pending.locked == {first, second}
    running.undo.undo()
    assert running.pending.locked == {first}
    running.undo.redo()
    assert running.pending.locked == {first, second}
    advance(running, qtbot)
    running.undo.undo()
    assert running.pending.locked == {first}
    advance(running, qtbot)
    assert running.pending.locked == {first}


def test_what_cannot_be_split_is_not_left_locked(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    first, second = ids(panel)[:2]
    # Before the split has its turn there is nothing left of the smaller one.
    running.edit(Edit("merge", (first, second)))
    undo_commands.split(running, [first, second])
    assert running.pending.locked == {first, second}
    advance(running, qtbot)
    assert "Cannot split" in notices[-1].text
    assert running.pending.locked == set()
    before = sum(event.kind is Kind.MERGE for _, event in running.summary.events)
    running.undo.undo()
    assert "There is nothing to undo" in notices[-1].text
    advance(running, qtbot)
    assert sum(event.kind is Kind.MERGE for _, event in running.summary.events) == before


def test_a_lock_that_is_withdrawn_is_not_shown(running: Document, qtbot: QtBot) -> None:
    undo_commands.set_locked(running, [0], True)
    assert running.pending.locked == {0}
    running.undo.undo()
    assert running.pending.locked == set()


def test_what_the_model_did_stays_when_it_has_ended(running: Document, qtbot: QtBot) -> None:
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    undo_commands.set_locked(running, [0], True)

    def has_ended() -> bool:
        if running.state is State.DONE:
            return True
        running.pause(False)
        return False

    qtbot.waitUntil(has_ended, timeout=LONG)
    running.undo.undo()
    assert notices[-1].text == "All frames are segmented: 'Lock segment 0' cannot be undone any more."
    assert running.pending.locked == {0}
    assert running.undo.count() == 0


def test_a_merge_that_is_forgotten_is_not_undone_where_nothing_is_left_of_it(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    largest, *_, second, third = ids(panel)
    undo_commands.merge(running, [second, third])
    advance(running, qtbot)
    (merge,) = (e for _, e in running.summary.events if e.kind is Kind.MERGE and set(e.ids) == {second, third})
    running.edit(Edit("merge", (largest, merge.ids[0])))
    run_on(running, qtbot, 2)
    running.forget_before(running.summary.frames[-1])
    running.undo.undo()
    told = (
        f"The merge of {undo_commands.segments_text([second, third])} cannot be undone: the segment is no longer there."
    )
    assert notices[-1].text == told


def test_a_split_that_is_forgotten_says_that_it_cannot_be_undone(running: Document, qtbot: QtBot) -> None:
    panel = shown(SegmentsPanel(running), qtbot)
    notices: list[Notice] = []
    running.noticed.connect(notices.append)
    first = ids(panel)[0]
    undo_commands.split(running, [first])
    run_on(running, qtbot, 3)
    assert splits_of(running, first)
    running.forget_before(running.summary.frames[-1])
    running.undo.undo()
    told = f"The split of segment {first} cannot be undone: it is too long ago to know its parts."
    assert notices[-1].text == told
    assert running.undo.count() == 0
    assert running.pending.locked == set()
