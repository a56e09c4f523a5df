"""Objects of a live source in its recording: other frame numbers, frames that were dropped, and forgotten frames."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png, members_by_frame
from scstream_app.session import FrameRecord
from scstream_app.session.objects.recorded_objects import RecordedObjects
from scstream_app.session.run_summary import RunSummary

FRAMES = 30
#: Frames of the source that are recorded.
RECORDED = [*range(5, 12), *range(14, FRAMES)]


def noted(index: int) -> FrameRecord:
    """Segment 0 splits off 100, 101, ..., one per frame."""
    events = (Event(Kind.SPLIT, float(index), index, (0, 100 + index), 1.0, (5.0, 5.0)),)
    return FrameRecord(index, index / 25, False, 0.0, {}, events, 0, 0, 0, 1, 0)


@pytest.fixture
def summary() -> RunSummary:
    summary = RunSummary()
    summary.extend(noted(index) for index in range(FRAMES))
    return summary


def position(recorded: list[int]) -> Callable[[int], tuple[int, int | None]]:
    def position_of(index: int) -> tuple[int, int | None]:
        place = bisect_left(recorded, index)
        return place, recorded[place] if place < len(recorded) else None

    return position_of


def shown(objects: tuple[MarkedObject, ...], recorded: list[int] = RECORDED) -> list[tuple[frozenset[int], ...]]:
    """Members on every recorded frame, as the recording shows them; its first frame has no events."""
    events: list[tuple[Event, ...]] = [()]
    for before, index in pairwise(recorded):
        events.append(tuple(event for n in range(before + 1, index + 1) for event in noted(n).events))
    frames = [FrameRecord(n, 0.0, False, 0.0, {}, happened, 0, 0, 0, 1, 0) for n, happened in enumerate(events)]
    return [members for _, members in members_by_frame(objects, frames)]


def thing(name: str, *edits: ObjectEdit) -> MarkedObject:
    return MarkedObject(name, (1, 2, 3), edits)


OBJECTS = (
    thing("kite", ObjectEdit("made", 2, {0, 1}), ObjectEdit("removed", 4, {102}), ObjectEdit("removed", 12, {0})),
    thing("sea", ObjectEdit("added", 12, {7}), ObjectEdit("made", 16, {1}), ObjectEdit("added", 20, {8}, stop=24)),
)


def test_the_recording_shows_what_the_source_showed(summary: RunSummary) -> None:
    recorded = RecordedObjects(position(RECORDED))
    found = recorded.translate(OBJECTS, summary)
    assert shown(found) == [summary.members(OBJECTS, index) for index in RECORDED]
    assert recorded.final
    # Edits before the recording are one, on its first frame.
    assert [edit.frame for edit in found[0].edits] == [0, 7]


def test_forgotten_edits_stay_in_the_recording(summary: RunSummary) -> None:
    recorded = RecordedObjects(position(RECORDED))
    objects, before = OBJECTS, [summary.members(OBJECTS, index) for index in RECORDED]
    recorded.translate(objects, summary)
    for index in (8, 18):
        recorded.forget_before(index, summary)
        objects = summary.objects_at(objects, index)
        summary.forget_before(index)
        found = recorded.translate(objects, summary)
        assert shown(found) == before
    assert len(found[0].edits) == 2


def test_an_object_that_changes_later_keeps_its_earlier_frames(summary: RunSummary) -> None:
    recorded = RecordedObjects(position(RECORDED))
    before = shown(recorded.translate(OBJECTS, summary))
    recorded.forget_before(18, summary)
    objects = summary.objects_at(OBJECTS, 18)
    summary.forget_before(18)
    kite, sea = objects
    changed = kite.with_edits([*kite.edits, ObjectEdit("added", 22, {9})])
    renamed = MarkedObject("surf", (9, 9, 9), sea.edits)
    after = shown(recorded.translate((changed, renamed), summary))
    place = RECORDED.index(22)
    assert after[:place] == before[:place]
    assert after[place] == (before[place][0] | {9}, before[place][1])


def test_frames_that_are_not_recorded_yet(summary: RunSummary) -> None:
    recorded_frames = RECORDED[:4]
    recorded = RecordedObjects(position(recorded_frames))
    (found,) = recorded.translate((thing("kite", ObjectEdit("made", 20, {0})),), summary)
    assert not recorded.final
    assert found.edits == (ObjectEdit("made", 4, {0}),)
    recorded_frames.append(22)
    (found,) = recorded.translate((thing("kite", ObjectEdit("made", 20, {0})),), summary)
    assert recorded.final
    assert found.edits == (ObjectEdit("made", 4, {0, 121, 122}),)


def test_a_mask_of_a_dropped_frame_fits_no_other(summary: RunSummary) -> None:
    mask = mask_to_png(np.ones((2, 2), bool))
    painted = ObjectEdit("painted", 12, {1}, mask), ObjectEdit("painted", 16, {1}, mask)
    (found,) = RecordedObjects(position(RECORDED)).translate((thing("kite", *painted),), summary)
    assert found.edits == (ObjectEdit("made", 7, {1}), ObjectEdit("painted", 9, {1}, mask))


def test_a_summary_without_frames(summary: RunSummary) -> None:
    recorded = RecordedObjects(position(RECORDED))
    assert recorded.translate((thing("kite", ObjectEdit("made", 5, {0})),), RunSummary())[0].frame == 0
    assert not recorded.final
