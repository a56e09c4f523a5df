"""Membership: which segments every object has on each frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects import MarkedObject, Membership, ObjectEdit, members_by_frame

FRAMES = 12


@dataclass(frozen=True)
class Frame:
    index: int
    events: tuple[Event, ...] = ()
    cut: bool = False


def split(index: int, whole: int, part: int) -> Event:
    return Event(Kind.SPLIT, float(index), index, (whole, part), 1.0, (5.0, 5.0))


def merge(index: int, survivor: int, absorbed: int) -> Event:
    return Event(Kind.MERGE, float(index), index, (survivor, absorbed), 1.0, (5.0, 5.0))


def frames(*events: Event, cuts: tuple[int, ...] = (), count: int = FRAMES) -> list[Frame]:
    return [Frame(n, tuple(event for event in events if event.batch == n), n in cuts) for n in range(count)]


def thing(name: str, *edits: ObjectEdit) -> MarkedObject:
    return MarkedObject(name, (1, 2, 3), edits)


def edit(kind: str, frame: int, *ids: int, stop: int | None = None) -> ObjectEdit:
    return ObjectEdit(kind, frame, frozenset(ids), b"a picture" if kind == "painted" else None, stop)


def followed(objects: list[MarkedObject], clip: list[Frame]) -> list[tuple[set[int], ...]]:
    return [tuple(map(set, members)) for _, members in members_by_frame(objects, clip)]


# --- edits


def test_a_removal_leaves_the_frames_before_it_unchanged() -> None:
    clip = frames(split(2, 0, 5))
    kite = thing("kite", edit("made", 0, 0))
    before = followed([kite], clip)
    after = followed([kite.with_edits([*kite.edits, edit("removed", 4, 5)])], clip)
    assert after[:4] == before[:4]
    assert after[4:] == [({0},)] * 8


def test_an_addition_follows_the_genealogy_from_its_frame_on() -> None:
    clip = frames(split(2, 3, 4), split(6, 3, 7), merge(8, 9, 3))
    kite = thing("kite", edit("made", 0, 0), edit("added", 5, 3))
    assert followed([kite], clip) == [({0},)] * 5 + [({0, 3},)] + [({0, 3, 7},)] * 2 + [({0, 7},)] * 4


def test_events_of_the_frame_of_an_edit_come_before_it() -> None:
    clip = frames(split(3, 0, 1))
    assert followed([thing("kite", edit("made", 3, 0))], clip)[3] == ({0},)
    assert followed([thing("kite", edit("made", 2, 0))], clip)[3] == ({0, 1},)


@pytest.mark.parametrize("kind", ["made", "painted"])
def test_a_new_beginning_replaces_all_segments(kind: str) -> None:
    kite = thing("kite", edit("made", 0, 0, 1), edit(kind, 5, 2))
    assert followed([kite], frames()) == [({0, 1},)] * 5 + [({2},)] * 7


def test_edits_of_one_frame_apply_in_order() -> None:
    kite = thing("kite", edit("made", 0, 0), edit("added", 3, 1, 2), edit("removed", 3, 2, 0))
    assert followed([kite], frames())[3] == ({1},)


def test_nothing_is_left_after_a_restart_until_the_next_edit() -> None:
    kite = thing("kite", edit("made", 0, 0), edit("added", 7, 9))
    assert followed([kite], frames(cuts=(4,))) == [({0},)] * 4 + [(set(),)] * 3 + [({9},)] * 5


def test_an_edit_on_the_frame_of_a_restart_holds() -> None:
    assert followed([thing("kite", edit("made", 4, 9))], frames(cuts=(4,)))[4] == ({9},)


def test_an_edit_of_a_frame_that_is_missing_applies_before_the_events_after_it() -> None:
    clip = [frame for frame in frames(split(4, 0, 1)) if frame.index not in (2, 3)]
    kite = thing("kite", edit("made", 0, 7), edit("made", 3, 0))
    assert followed([kite], clip)[:3] == [({7},), ({7},), ({0, 1},)]


# --- several objects


def test_a_segment_given_to_one_object_is_taken_from_the_others() -> None:
    kite, sail = thing("kite", edit("made", 0, 0, 1)), thing("sail", edit("made", 5, 1))
    clip = frames(split(7, 1, 2))
    assert followed([kite, sail], clip) == [({0, 1}, set())] * 5 + [({0}, {1})] * 2 + [({0}, {1, 2})] * 5


def test_the_later_of_two_objects_wins_on_the_same_frame() -> None:
    kite, sail = thing("kite", edit("made", 0, 0, 1)), thing("sail", edit("made", 0, 1))
    assert followed([kite, sail], frames())[0] == ({0}, {1})
    assert followed([sail, kite], frames())[0] == (set(), {0, 1})


def test_a_new_part_belongs_to_the_object_of_its_whole_alone() -> None:
    kite, early = thing("kite", edit("made", 0, 0)), thing("early", edit("made", 0, 1))
    assert followed([kite, early], frames(split(2, 0, 1)))[2] == ({0, 1}, set())


# --- edits for a range


def test_what_was_added_for_a_range_goes_at_its_end_with_its_parts() -> None:
    kite = thing("kite", edit("made", 0, 0), edit("added", 3, 1, stop=8))
    clip = frames(split(5, 1, 2))
    assert followed([kite], clip) == [({0},)] * 3 + [({0, 1},)] * 2 + [({0, 1, 2},)] * 3 + [({0},)] * 4


def test_what_was_removed_for_a_range_comes_back_with_its_parts() -> None:
    kite = thing("kite", edit("made", 0, 0, 1), edit("removed", 3, 1, stop=8))
    clip = frames(split(5, 1, 2))
    assert followed([kite], clip) == [({0, 1},)] * 3 + [({0},)] * 5 + [({0, 1, 2},)] * 4


def test_what_was_added_for_a_range_stays_if_it_was_added_again() -> None:
    kite = thing("kite", edit("made", 0, 0), edit("added", 3, 1, stop=8), edit("added", 5, 1))
    assert followed([kite], frames())[8] == ({0, 1},)


def test_a_range_gives_back_what_it_took_from_another_object() -> None:
    kite, sail = thing("kite", edit("made", 0, 0, 1)), thing("sail", edit("painted", 3, 1, stop=8))
    clip = frames(split(5, 1, 2))
    assert followed([kite, sail], clip)[5:9] == [({0}, {1, 2})] * 3 + [({0, 1, 2}, set())]


# --- against a computation from scratch


def from_scratch(objects: list[MarkedObject], clip: list[Frame], last: int) -> tuple[set[int], ...]:
    """The owner of every segment on a frame, computed with those edits only that hold there."""
    owner: dict[int, int] = {}
    for frame in clip:
        if frame.index > last:
            break
        if frame.cut:
            owner = {}
        for event in frame.events:
            owner.pop(event.ids[-1], None)
            if event.kind is Kind.SPLIT and event.ids[0] in owner:
                owner[event.ids[1]] = owner[event.ids[0]]
        for turn in range(FRAMES):
            for place, object_ in enumerate(objects):
                here = [each for each in object_.edits if each.frame == frame.index]
                if turn < len(here) and (here[turn].stop is None or here[turn].stop > last):
                    _apply(owner, place, here[turn])
    return tuple({id for id, place in owner.items() if place == n} for n in range(len(objects)))


def _apply(owner: dict[int, int], place: int, one: ObjectEdit) -> None:
    if one.kind in ("made", "painted", "removed"):
        leaving = one.ids if one.kind == "removed" else set(owner)
        for id in [id for id in owner if id in leaving and owner[id] == place]:
            del owner[id]
    if one.kind != "removed":
        owner.update(dict.fromkeys(one.ids, place))


@st.composite
def clips(draw: st.DrawFn) -> list[Frame]:
    alive, unused, clip = [0, 1, 2, 3], iter(range(4, 1000)), []
    for index in range(FRAMES):
        events: list[Event] = []
        cut = draw(st.integers(0, 11)) == 0
        if cut:
            alive = [next(unused), next(unused)]
        for kind in draw(st.lists(st.sampled_from(["split", "merge", "death"]), max_size=2)):
            events += _happen(draw, kind, index, alive, unused)
        clip.append(Frame(index, tuple(events), cut))
    return clip


def _happen(draw: st.DrawFn, kind: str, index: int, alive: list[int], unused: Iterator[int]) -> list[Event]:
    if kind == "split" and alive:
        whole = draw(st.sampled_from(alive))
        alive.append(next(unused))
        return [split(index, whole, alive[-1])]
    if kind == "merge" and len(alive) > 1:
        survivor, absorbed = draw(st.permutations(alive))[:2]
        alive.remove(absorbed)
        return [merge(index, survivor, absorbed)]
    if kind == "death" and alive:
        id = alive.pop(draw(st.integers(0, len(alive) - 1)))
        return [Event(Kind.DEATH, float(index), index, (id,), float("nan"), (1.0,))]
    return []


@st.composite
def edits(draw: st.DrawFn) -> ObjectEdit:
    frame = draw(st.integers(0, FRAMES - 1))
    length = draw(st.none() | st.integers(1, 6))
    kind = draw(st.sampled_from(["made", "added", "removed", "painted"]))
    return edit(kind, frame, *draw(st.sets(st.integers(0, 9), max_size=4)), stop=length and frame + length)


OBJECTS = st.lists(st.lists(edits(), min_size=1, max_size=5), min_size=1, max_size=3).map(
    lambda lists: [thing(f"object {n}", *each) for n, each in enumerate(lists)]
)


@given(OBJECTS, clips())
def test_every_frame_is_what_the_edits_that_hold_there_make_of_it(
    objects: list[MarkedObject], clip: list[Frame]
) -> None:
    assert followed(objects, clip) == [from_scratch(objects, clip, frame.index) for frame in clip]


SWAPPED = [
    thing("kite", edit("made", 0, 0), edit("made", 2, 1, stop=9)),
    thing("sail", edit("made", 0, 1), edit("made", 2, 0, stop=7)),
]


@given(OBJECTS, clips(), st.integers(0, FRAMES - 1))
@example(SWAPPED, frames(), 4)
def test_collapsed_objects_have_the_same_segments_later(
    objects: list[MarkedObject], clip: list[Frame], index: int
) -> None:
    whole, part = followed(objects, clip), Membership(objects)
    for frame in clip[: index + 1]:
        part.advance(frame.index, frame.events, frame.cut)
    collapsed = list(part.collapsed())
    assert followed(collapsed, clip[index:]) == whole[index:]
    assert followed(collapsed, clip[index + 1 :]) == whole[index + 1 :]
    assert all(each.frame >= index for each in collapsed)


def test_an_object_that_is_made_where_others_collapse_keeps_its_mask() -> None:
    kite, sail = thing("kite", edit("made", 0, 0)), thing("sail", edit("painted", 4, 1))
    membership = Membership([kite, sail])
    membership.advance(4)
    assert membership.collapsed() == (thing("kite", edit("made", 4, 0)), sail)


def test_a_copy_goes_on_by_itself() -> None:
    membership = Membership([thing("kite", edit("made", 0, 0), edit("added", 3, 1, stop=8))])
    membership.advance(2)
    twin = membership.copy()
    assert twin.advance(9, [split(9, 0, 5)]) == ({0, 5},)
    assert membership.ids == ({0},)
    assert membership.advance(3) == ({0, 1},)
