"""Edits as the user makes them: additions and removals on a frame, joined where possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects import MarkedObject, Membership, ObjectEdit, mask_to_png
from scstream_app.objects.editing import Objects, with_added, with_new, with_removed

FRAMES = 8
#: A part splits off from 0 on frame 3, from 1 on frame 5.
EVENTS = {
    3: [Event(Kind.SPLIT, 3.0, 3, (0, 5), 1.0, (5.0, 5.0))],
    5: [Event(Kind.SPLIT, 5.0, 5, (1, 6), 1.0, (5.0, 5.0))],
}


def members_at(objects: Objects, frame: int) -> tuple[frozenset[int], ...]:
    membership = Membership(objects)
    for index in range(frame + 1):
        membership.advance(index, EVENTS.get(index, ()))
    return membership.ids


def all_members(objects: Objects) -> list[tuple[frozenset[int], ...]]:
    return [members_at(objects, frame) for frame in range(FRAMES)]


def add(objects: Objects, place: int, frame: int, *ids: int) -> Objects:
    return with_added(objects, place, ids, frame, members_at)


def remove(objects: Objects, place: int, frame: int, *ids: int) -> Objects:
    return with_removed(objects, place, ids, frame, members_at)


@pytest.fixture
def kite() -> Objects:
    return (MarkedObject.made("kite", (1, 2, 3), 2, {0, 1}),)


def test_adding_twice_on_a_frame_gives_one_edit(kite: Objects) -> None:
    (added,) = add(add(kite, 0, 4, 2), 0, 4, 3)
    assert added.edits == (*kite[0].edits, ObjectEdit("added", 4, {2, 3}))


def test_removing_twice_on_a_frame_gives_one_edit(kite: Objects) -> None:
    (removed,) = remove(remove(kite, 0, 4, 0), 0, 4, 1)
    assert removed.edits == (*kite[0].edits, ObjectEdit("removed", 4, {0, 1}))


@pytest.mark.parametrize("frame", [2, 4])
def test_adding_and_removing_the_same_segments_changes_nothing(kite: Objects, frame: int) -> None:
    assert remove(add(kite, 0, frame, 2), 0, frame, 2) == kite
    assert add(remove(kite, 0, frame, 1), 0, frame, 1) == kite


def test_changes_on_the_first_frame_change_what_the_object_is_made_of(kite: Objects) -> None:
    (changed,) = remove(add(kite, 0, 2, 2, 3), 0, 2, 0, 3)
    assert changed.edits == (ObjectEdit("made", 2, {1, 2}),)


def test_an_object_of_no_segments_stays(kite: Objects) -> None:
    (empty,) = remove(kite, 0, 2, 0, 1)
    assert empty.edits == (ObjectEdit("made", 2),)


def test_adding_what_is_there_changes_nothing(kite: Objects) -> None:
    assert add(kite, 0, 4, 0, 1, 5) == kite


def test_segments_of_a_mask_are_removed_by_an_edit_of_their_own() -> None:
    painted = ObjectEdit("painted", 2, {0, 1}, mask_to_png(np.ones((2, 2), bool)))
    (changed,) = remove((MarkedObject("kite", (1, 2, 3), (painted,)),), 0, 2, 1)
    assert changed.edits == (painted, ObjectEdit("removed", 2, {1}))


def test_adding_before_the_first_frame_begins_the_object_there(kite: Objects) -> None:
    both = (*kite, MarkedObject.made("sea", (1, 2, 3), 0, {0, 2}))
    early = add(both, 0, 1, 2)
    assert early[0].edits == (ObjectEdit("made", 1, {2}, stop=2), *kite[0].edits)
    assert members_at(early, 1) == ({2}, {0})
    assert all_members(early)[2:] == all_members(both)[2:]
    # Another one joins it, and a later one ends with it.
    early = add(early, 0, 1, 3)
    assert early[0].edits[0] == ObjectEdit("made", 1, {2, 3}, stop=2)
    assert all_members(early)[2:] == all_members(both)[2:]


def test_a_change_before_a_new_beginning_ends_there(kite: Objects) -> None:
    sea = MarkedObject.made("sea", (1, 2, 3), 0, {2})
    begun = (kite[0].with_edits([*kite[0].edits, ObjectEdit("made", 6, {1})]), sea)
    changed = remove(add(begun, 0, 4, 2), 0, 5, 0)
    assert members_at(changed, 5) == ({1, 2, 5, 6}, set())
    assert all_members(changed)[6:] == all_members(begun)[6:]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_last_change_on_a_frame_wins_whatever_the_order_of_the_objects(order: tuple[int, int]) -> None:
    objects = tuple(MarkedObject.made(name, (1, 2, 3), 0, {n}) for n, name in enumerate(("kite", "sea")))
    first, second = order
    for frame in (0, 4):
        changed = add(add(objects, first, frame, 9), second, frame, 9)
        assert 9 in members_at(changed, frame)[second]
        assert 9 not in members_at(changed, frame)[first]


def test_a_new_object_takes_its_segments_from_the_others(kite: Objects) -> None:
    changed = with_new(add(remove(kite, 0, 4, 0), 0, 4, 7), MarkedObject.made("sail", (1, 2, 3), 4, {7, 1}))
    assert members_at(changed, 4) == ({5}, {1, 7})
    assert members_at(changed, 3) == ({0, 1, 5}, set())


CHANGES = st.lists(
    st.tuples(
        st.booleans(), st.integers(0, 2), st.integers(0, FRAMES - 1), st.sets(st.integers(0, 6), min_size=1, max_size=3)
    ),
    max_size=8,
)


@given(st.lists(st.tuples(st.integers(0, FRAMES - 1), st.sets(st.integers(0, 6))), min_size=3, max_size=3), CHANGES)
def test_a_change_shows_on_its_frame_and_never_before(
    begins: list[tuple[int, set[int]]], changes: list[tuple[bool, int, int, set[int]]]
) -> None:
    objects: Objects = ()
    for n, (frame, ids) in enumerate(begins):
        objects = with_new(objects, MarkedObject.made(f"object {n}", (1, 2, 3), frame, ids))
    for adds, place, frame, ids in changes:
        before = all_members(objects)
        objects = (add if adds else remove)(objects, place, frame, *ids)
        after = all_members(objects)
        assert after[:frame] == before[:frame]
        wanted = before[frame][place] | ids if adds else before[frame][place] - ids
        assert after[frame][place] == wanted
        if adds:
            others = [n for n in range(3) if n != place]
            assert [after[frame][n] for n in others] == [before[frame][n] - ids for n in others]
