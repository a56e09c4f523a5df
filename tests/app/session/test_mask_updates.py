"""Stored masks are brought up to date from the first frame that an edit changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from helpers.fake_source import FakeSource
from helpers.object_clips import mask_files, painted, square_at, unseparated
from scstream import metrics
from scstream_app.objects import MarkedObject
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.session import Session
from scstream_app.session.objects.mask_updates import MaskUpdates
from scstream_app.session.storage.result_merges import ResultMerge
from scstream_app.settings import Settings

RESULTS = unseparated(120)
KITE = painted("kite", 3)
CORRECTED = painted("kite", 3, 110, mask=lambda frame: square_at(frame, row=12 if frame == 3 else 30))


@pytest.fixture
def source() -> FakeSource:
    return FakeSource([one.picture for one in RESULTS])


@pytest.fixture
def session(tmp_path: Path, source: FakeSource) -> Iterator[Session]:
    with Session.create(tmp_path / "a.scstream", source, Settings()) as session:
        for one in RESULTS:
            session.append(one)
        yield session


def update(
    updates: MaskUpdates,
    session: Session,
    source: FakeSource,
    objects: Sequence[MarkedObject],
    cancel: threading.Event | None = None,
) -> tuple[list[int], list[int]]:
    """Store all missing masks; the frames that were tracked, and those whose masks were stored."""
    cancel = cancel or threading.Event()
    missing = updates.missing(session, objects, 0, cancel)
    steps = list(updates.track(session, objects, missing, source, cancel)) if missing else []
    return [index for index, _ in steps], [index for index, stored in steps if stored]


def test_all_frames_get_the_masks_of_the_tracker(session: Session, source: FakeSource) -> None:
    assert update(MaskUpdates(), session, source, [KITE])[1] == list(range(120))
    tracker = ObjectTracker([KITE])
    for one in RESULTS:
        expected, found = tracker.advance(one), session.read_object_masks(one.index, [KITE])
        assert found is not None
        np.testing.assert_array_equal(found.numbers, expected.numbers)
        assert found.confidences == pytest.approx(expected.confidences, abs=1e-4)
    assert metrics.jaccard(found.mask(0), square_at(119)) > 0.85


def test_an_edit_changes_its_frame_and_later_ones(session: Session, source: FakeSource) -> None:
    updates = MaskUpdates()
    update(updates, session, source, [KITE])
    before = mask_files(session)
    # The last state is that of frame 100.
    assert update(updates, session, source, [CORRECTED]) == (list(range(101, 120)), list(range(110, 120)))
    after = mask_files(session)
    assert [index for index in before if before[index] != after[index]] == list(range(110, 120))
    # The next edit is on the same frame.
    again = painted("kite", 3, 110)
    assert update(updates, session, source, [again])[0] == list(range(110, 120))


def test_states_are_lost_with_the_program_but_masks_are_not(session: Session, source: FakeSource) -> None:
    update(MaskUpdates(), session, source, [KITE])
    before = mask_files(session)
    assert update(MaskUpdates(), session, source, [KITE]) == ([], [])
    assert update(MaskUpdates(), session, source, [CORRECTED]) == (list(range(3, 120)), list(range(110, 120)))
    after = mask_files(session)
    assert [index for index in before if before[index] != after[index]] == list(range(110, 120))


def test_masks_of_segments_that_are_merged_meanwhile_are_not_stored(session: Session, source: FakeSource) -> None:
    updates, cancel = MaskUpdates(), threading.Event()
    steps = updates.track(session, [KITE], updates.missing(session, [KITE], 0, cancel), source, cancel)
    assert next(index for index, _ in steps if index == 5) == 5
    session.merges = (ResultMerge(frozenset({0, 1}), 0, None),)
    done = [index for index, _ in steps]
    session.merges = ()
    assert len(done) <= 1
    assert updates.missing(session, [KITE], 0, cancel)[0] <= 7
    assert session.read_object_masks(20, [KITE]) is None


def test_a_name_changes_no_masks(session: Session, source: FakeSource) -> None:
    updates = MaskUpdates()
    update(updates, session, source, [KITE])
    assert update(updates, session, source, [painted("sail", 3)]) == ([], [])


def test_cancelled_work_goes_on_where_it_was(session: Session, source: FakeSource) -> None:
    updates, cancel = MaskUpdates(), threading.Event()
    for index, _ in updates.track(session, [KITE], range(120), source, cancel):
        if index == 60:
            cancel.set()
    assert update(updates, session, source, [KITE])[0] == list(range(61, 120))
