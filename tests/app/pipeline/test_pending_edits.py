"""Pending edits: what the window asks for stays queued until the run has made it, refused it, or will never come."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.pending_edits import ModelState, PendingEdits
from scstream_app.settings import Settings

LOCK, SPLIT = Edit("lock", (1,)), Edit("split", (4,))
SLOWER = Edit("change", values={"decay": 1.0})
PATH, ADDRESS = Path("a.scstream"), "a.mp4"


@pytest.fixture
def pending() -> PendingEdits:
    return PendingEdits(Settings())


def close_session(pending: PendingEdits) -> None:
    pending.close_session(Settings(), PATH, ADDRESS, "a.mp4")


def test_edits_can_be_withdrawn_until_the_run_has_taken_them(pending: PendingEdits) -> None:
    pending.add(LOCK)
    assert pending.take() == (LOCK,)
    pending.add(LOCK)
    assert pending.withdraw(LOCK)
    assert not pending.withdraw(LOCK)
    assert pending.take() == (LOCK,)


def test_equal_edits_are_settled_one_at_a_time(pending: PendingEdits) -> None:
    for _ in range(3):
        pending.add(SPLIT)
    pending.settle([SPLIT])
    assert pending.take() == (SPLIT, SPLIT)
    assert pending.clear() == [SPLIT, SPLIT]
    assert pending.take() == ()


def test_the_expected_model_does_not_change_when_an_edit_is_made(pending: PendingEdits) -> None:
    pending.add(LOCK)
    pending.add(SLOWER)
    before = pending.expected
    assert (before.locked, before.settings.decay) == ({1}, 1.0)
    pending.settle([LOCK])
    assert pending.expected == before
    pending.settle([SLOWER])
    assert pending.expected == before


def test_a_refused_edit_is_no_longer_expected(pending: PendingEdits) -> None:
    pending.add(LOCK)
    assert pending.discard(LOCK)
    assert pending.locked == frozenset()
    assert not pending.discard(LOCK)


def test_edits_of_the_program_are_made_but_not_expected(pending: PendingEdits) -> None:
    pending.add(SLOWER, by_user=False)
    assert pending.take() == (SLOWER,)
    assert pending.expected == ModelState(Settings())
    pending.settle([SLOWER])
    assert pending.expected == ModelState(Settings())
    pending.add(SLOWER, by_user=False)
    assert not pending.discard(SLOWER)
    pending.add(SLOWER, by_user=False)
    assert pending.clear() == []


def test_edits_of_a_closed_session_are_queued_again_when_it_opens(pending: PendingEdits) -> None:
    pending.add(LOCK)
    pending.take()
    close_session(pending)
    assert pending.locked == frozenset()
    assert pending.start(PATH) is None
    assert pending.locked == {1}
    assert pending.withdraw(LOCK)


def test_an_edit_made_after_the_session_was_closed_is_not_made_twice(pending: PendingEdits) -> None:
    pending.add(LOCK)
    pending.add(SPLIT)
    pending.take()
    close_session(pending)
    # The frame that was under way.
    pending.settle([LOCK])
    assert pending.locked == frozenset()
    assert pending.start(PATH) is None
    assert pending.take() == (SPLIT,)


def test_edits_of_a_closed_session_are_returned_when_another_clip_opens(pending: PendingEdits) -> None:
    pending.add(LOCK)
    close_session(pending)
    # Closing again, with nothing open, forgets nothing.
    pending.close(Settings())
    dropped = pending.start(Path("b.scstream"), "b.mp4")
    assert dropped is not None
    assert (dropped.name, dropped.edits) == ("a.mp4", [LOCK])
    assert pending.take() == ()
    assert pending.start(PATH) is None
    assert pending.take() == ()


def test_edits_are_dropped_without_notice_when_their_source_starts_anew(pending: PendingEdits) -> None:
    pending.add(LOCK)
    close_session(pending)
    assert pending.start(Path("b.scstream"), ADDRESS) is None
    assert pending.take() == ()


def test_edits_of_a_moved_session_stay_and_can_be_withdrawn_again(pending: PendingEdits) -> None:
    pending.add(LOCK)
    pending.take()
    assert pending.start(Path("b.scstream"), moved=True) is None
    assert pending.locked == {1}
    assert pending.withdraw(LOCK)


def test_no_edit_is_lost_between_two_threads(pending: PendingEdits) -> None:
    edits = [Edit("lock", (id,)) for id in range(500)]
    made: list[Edit] = []

    def work() -> None:
        while len(made) < len(edits):
            taken = pending.take()
            pending.settle(taken)
            made.extend(taken)

    worker = threading.Thread(target=work)
    worker.start()
    for edit in edits:
        pending.add(edit)
    worker.join(60.0)
    assert made == edits
    assert pending.locked == set(range(500))


def test_edits_survive_a_session_that_is_closed_before_it_was_open_again(pending: PendingEdits) -> None:
    pending.add(LOCK)
    close_session(pending)
    pending.start(PATH)
    # Closed before the run reported its model: the document has no session yet.
    pending.close(Settings())
    assert pending.take() == ()
    assert pending.start(PATH) is None
    assert pending.take() == (LOCK,)


def test_a_cancelled_run_leaves_no_model_behind(pending: PendingEdits) -> None:
    pending.set_model(ModelState(Settings(), frozenset({3})))
    pending.start(PATH, ADDRESS)
    assert pending.locked == frozenset()
