"""Edits with a reach, and edits that are moved, deleted or get another reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.errors import InvalidData
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.objects.editing import Objects
from scstream_app.objects.key_editing import (
    with_added_held,
    with_deleted,
    with_moved,
    with_new_held,
    with_reach,
    with_removed_held,
)
from scstream_app.objects.reach import Reach, Stretch, stretches
from scstream_app.session import FrameRecord
from scstream_app.session.run_summary import RunSummary

FRAMES = 10
CUT = 7


def event(kind: Kind, frame: int, *ids: int) -> Event:
    return Event(kind, float(frame), frame, ids, 1.0, (5.0,) * len(ids))


@pytest.fixture(scope="module")
def run() -> RunSummary:
    """Segments 0, 1 and 2; 3 splits from 0 on frame 3, 4 is born on frame 4; other segments from the cut on."""
    events = {
        0: [event(Kind.BIRTH, 0, id) for id in range(3)],
        3: [event(Kind.SPLIT, 3, 0, 3)],
        4: [event(Kind.BIRTH, 4, 4)],
        CUT: [event(Kind.BIRTH, CUT, id) for id in (7, 8)],
    }
    summary = RunSummary()
    for index in range(FRAMES):
        happened = tuple(events.get(index, ()))
        summary.add(FrameRecord(index, index / 25, index == CUT, 0.0, {}, happened, 0, 0, 0, 3, 0))
    return summary


def members(run: RunSummary, objects: Objects) -> list[tuple[frozenset[int], ...]]:
    return [run.members(objects, frame) for frame in range(FRAMES)]


def kite(*edits: ObjectEdit) -> Objects:
    return (MarkedObject("kite", (1, 2, 3), edits or (ObjectEdit("made", 1, {0, 1}),)),)


def remove(run: RunSummary, objects: Objects, frame: int, reach: Reach, *ids: int) -> Objects:
    return with_removed_held(objects, 0, ids, frame, reach, run, run.members)


def add(run: RunSummary, objects: Objects, frame: int, reach: Reach, *ids: int) -> Objects:
    return with_added_held(objects, 0, ids, frame, reach, run, run.members)


# --- tracing


def test_a_segment_is_traced_back_to_its_birth(run: RunSummary) -> None:
    assert stretches(run, {1}, 5, Reach.BEFORE, 0) == [Stretch(0, frozenset({1}), 5)]
    assert stretches(run, {4}, 6, Reach.BEFORE, 0) == [Stretch(4, frozenset({4}), 6)]
    assert stretches(run, {4}, 4, Reach.BEFORE, 0) == []
    assert stretches(run, {1}, 5, Reach.EVERYWHERE, 2) == [Stretch(2, frozenset({1}))]


def test_a_part_that_was_not_chosen_is_left_out(run: RunSummary) -> None:
    zero = frozenset({0})
    assert stretches(run, {0}, 5, Reach.BEFORE, 0) == [Stretch(0, zero, 3), Stretch(3, zero, 5)]
    assert stretches(run, {0, 3}, 5, Reach.BEFORE, 0) == [Stretch(0, zero, 5)]
    assert stretches(run, {3}, 5, Reach.EVERYWHERE, 0) == [Stretch(3, frozenset({3}))]


def test_no_segment_is_traced_over_a_cut(run: RunSummary) -> None:
    assert stretches(run, {7}, 9, Reach.EVERYWHERE, 0) == [Stretch(CUT, frozenset({7}))]
    assert stretches(run, {7}, CUT, Reach.BEFORE, 0) == []


# --- reach


@pytest.mark.parametrize(
    ("reach", "changed"),
    [
        (Reach.ONWARD, range(5, CUT)),
        (Reach.BEFORE, range(1, 5)),
        (Reach.EVERYWHERE, range(1, CUT)),
        (Reach.FRAME, range(5, 6)),
    ],
)
def test_frames_outside_the_reach_stay(run: RunSummary, reach: Reach, changed: range) -> None:
    before = members(run, kite())
    removed = members(run, remove(run, kite(), 5, reach, 1))
    added = members(run, add(run, kite(), 5, reach, 2))
    for frame in range(FRAMES):
        (own,) = before[frame]
        assert removed[frame] == ((own - {1},) if frame in changed else (own,))
        assert added[frame] == ((own | {2},) if frame in changed else (own,))


def test_other_edits_within_the_reach_do_not_undo_it(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 0, {1}), ObjectEdit("added", 2, {2}), ObjectEdit("made", 4, {0, 2}))
    for reach, first in ((Reach.BEFORE, 6), (Reach.EVERYWHERE, CUT)):
        found = members(run, remove(run, objects, 6, reach, 2))
        assert not any(2 in own for (own,) in found[:first])
        found = members(run, add(run, objects, 6, reach, 1))
        assert all(1 in own for (own,) in found[:first])


def test_segments_are_taken_from_other_objects_within_the_reach(run: RunSummary) -> None:
    sea = MarkedObject("sea", (1, 2, 3), (ObjectEdit("made", 0, {2}), ObjectEdit("removed", 0, {1})))
    objects = (*kite(ObjectEdit("made", 0, {0})), sea.with_edits([*sea.edits, ObjectEdit("added", 3, {2})]))
    found = members(run, add(run, objects, 5, Reach.BEFORE, 2))
    assert [2 in own for own, _ in found] == [2 in other for _, other in members(run, objects)][:5] + [False] * 5
    assert [other for _, other in found] == [frozenset()] * 5 + [{2}] * 2 + [frozenset()] * 3


def test_a_new_object_has_the_reach(run: RunSummary) -> None:
    new = MarkedObject.made("kite", (1, 2, 3), 5, {0, 2})
    (onward,) = with_new_held((), new, Reach.ONWARD, run, run.members)
    assert onward == new
    everywhere = members(run, with_new_held((), new, Reach.EVERYWHERE, run, run.members))
    # Segment 3 was a part of 0 until frame 3, and is not chosen.
    assert everywhere == [({0, 2},)] * CUT + [(frozenset(),)] * 3
    before = members(run, with_new_held((), new, Reach.BEFORE, run, run.members))
    assert before == [({0, 2},)] * 5 + [(frozenset(),)] * 5


def test_nothing_can_be_added_before_its_birth(run: RunSummary) -> None:
    with pytest.raises(InvalidData, match="do not exist before frame 4"):
        add(run, kite(), 4, Reach.BEFORE, 4)


def test_what_the_mask_lost_can_be_added_and_what_leaked_removed(run: RunSummary) -> None:
    lost = with_added_held(kite(), 0, {1}, 5, Reach.ONWARD, run, run.members, frozenset({1}))
    assert lost[0].edits[-1] == ObjectEdit("added", 5, {1})
    leaked = with_removed_held(kite(), 0, {2}, 5, Reach.ONWARD, run, run.members, frozenset({2}))
    assert leaked[0].edits[-1] == ObjectEdit("removed", 5, {2})
    leaked = with_removed_held(kite(), 0, {2}, 5, Reach.BEFORE, run, run.members, frozenset({2}))
    assert leaked[0].edits[-1] == ObjectEdit("removed", 1, {2}, stop=5)


CHANGES = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(0, 1),
        st.integers(0, CUT - 1),
        st.sets(st.integers(0, 2), min_size=1, max_size=2),
        st.sampled_from(list(Reach)),
    ),
    max_size=6,
)


@given(CHANGES)
def test_a_change_holds_within_its_reach_and_nowhere_else(
    run: RunSummary, changes: list[tuple[bool, int, int, set[int], Reach]]
) -> None:
    objects: Objects = (
        MarkedObject.made("kite", (1, 2, 3), 0, {0}),
        MarkedObject.made("sea", (1, 2, 3), 0, {1}),
    )
    for adds, place, frame, ids, reach in changes:
        before = members(run, objects)
        change = with_added_held if adds else with_removed_held
        try:
            objects = change(objects, place, ids, frame, reach, run, run.members)
        except InvalidData:
            assert reach is Reach.BEFORE
            continue
        after = members(run, objects)
        for index in range(FRAMES):
            outside = {
                Reach.ONWARD: index < frame,
                Reach.BEFORE: index >= frame,
                Reach.EVERYWHERE: index >= CUT,
                Reach.FRAME: index != frame,
            }[reach]
            if outside:
                assert after[index] == before[index]
            elif reach is not Reach.ONWARD or index == frame:
                assert ids <= after[index][place] if adds else not ids & after[index][place]


# --- edits that exist


def test_a_moved_edit_follows_the_genealogy(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 1, {0, 1}), ObjectEdit("removed", 2, {0}))
    (moved,) = with_moved(objects, 0, objects[0].edits[1], 5, run)
    assert moved.edits[1] == ObjectEdit("removed", 5, {0, 3})
    (back,) = with_moved((moved,), 0, moved.edits[1], 2, run)
    assert back.edits[1] == ObjectEdit("removed", 2, {0})
    (first,) = with_moved((moved,), 0, moved.edits[0], 0, run)
    assert first.frame == 0


def test_an_edit_of_one_frame_stays_one(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 0, {0}), ObjectEdit("added", 2, {1}, stop=3))
    (moved,) = with_moved(objects, 0, objects[0].edits[1], 4, run)
    assert moved.edits[1] == ObjectEdit("added", 4, {1}, stop=5)


@pytest.mark.parametrize(
    ("edit", "to", "reason"),
    [
        (ObjectEdit("added", 5, {4}), 3, "segment 4 did not exist on frame 3"),
        (ObjectEdit("added", 5, {3, 4}), 2, "segments 3 and 4 did not exist on frame 2"),
        (ObjectEdit("added", 5, {1}), 8, "another scene"),
        (ObjectEdit("added", 5, {1}), 12, "frame 12 is not segmented"),
        (ObjectEdit("added", 1, {1}, stop=3), 4, "holds up to frame 2"),
    ],
)
def test_a_move_that_is_not_possible_is_refused(run: RunSummary, edit: ObjectEdit, to: int, reason: str) -> None:
    objects = kite(ObjectEdit("made", 0, {0}), edit)
    with pytest.raises(InvalidData, match=reason):
        with_moved(objects, 0, objects[0].edits[1], to, run)


def test_a_painted_mask_moves_as_it_is(run: RunSummary) -> None:
    mask = mask_to_png(np.eye(4) > 0)
    objects = kite(ObjectEdit("made", 0, {0}), ObjectEdit("painted", 2, {1}, mask))
    (moved,) = with_moved(objects, 0, objects[0].edits[1], 8, run)
    assert (moved.edits[1].frame, moved.edits[1].mask) == (8, mask)


def test_deleting_the_last_edit_that_gives_deletes_the_object(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 1, {0}), ObjectEdit("removed", 4, {0}))
    assert with_deleted(objects, 0, objects[0].edits[1]) == kite(ObjectEdit("made", 1, {0}))
    assert with_deleted(objects, 0, objects[0].edits[0]) == ()


def test_an_edit_gets_another_reach(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 0, {0, 1}), ObjectEdit("removed", 5, {1}))
    removed = objects[0].edits[1]

    def has_it(reach: Reach) -> list[bool]:
        return [1 in own for (own,) in members(run, with_reach(objects, 0, removed, reach, run, run.members))]

    assert has_it(Reach.FRAME) == [True] * 5 + [False, True] + [False] * 3
    assert has_it(Reach.BEFORE) == [False] * 5 + [True] * 2 + [False] * 3
    assert has_it(Reach.EVERYWHERE) == [False] * FRAMES
    assert with_reach(objects, 0, removed, Reach.ONWARD, run, run.members) == objects


def test_what_an_object_is_made_of_holds_everywhere(run: RunSummary) -> None:
    objects = kite(ObjectEdit("made", 5, {2}), ObjectEdit("added", 6, {1}))
    changed = with_reach(objects, 0, objects[0].edits[0], Reach.EVERYWHERE, run, run.members)
    assert members(run, changed) == [({2},)] * 6 + [({1, 2},)] + [(frozenset(),)] * 3


def test_a_mask_cannot_hold_before_its_frame(run: RunSummary) -> None:
    objects = kite(ObjectEdit("painted", 5, (), mask_to_png(np.eye(4) > 0)))
    with pytest.raises(InvalidData, match="painted mask"):
        with_reach(objects, 0, objects[0].edits[0], Reach.BEFORE, run, run.members)
