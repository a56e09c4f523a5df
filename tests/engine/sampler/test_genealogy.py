"""Ids, events, the family tree, and objects that follow it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scstream.sampler.genealogy import Event, Genealogy, Kind, TrackedObject, follow

NAN = math.nan


def birth(id: int, time: float = 0.0) -> Event:
    return Event(Kind.BIRTH, time, int(time), (id,), NAN, (100.0,))


def split(kept: int, new: int, time: float = 0.0) -> Event:
    return Event(Kind.SPLIT, time, int(time), (kept, new), 5.0, (60.0, 40.0))


def merge(survivor: int, absorbed: int, time: float = 0.0) -> Event:
    return Event(Kind.MERGE, time, int(time), (survivor, absorbed), 2.0, (60.0, 40.0))


def death(id: int, time: float = 0.0) -> Event:
    return Event(Kind.DEATH, time, int(time), (id,), NAN, (0.5,))


def grown(events: Iterable[Event], n_ids: int = 10, capacity: int = 100_000) -> Genealogy:
    tree = Genealogy(capacity)
    for _ in range(n_ids):
        tree.new_id()
    tree.extend(events)
    return tree


# --- events -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [birth(3, 1.5), split(3, 4), merge(4, 3), death(3)], ids=lambda e: e.kind)
def test_event_survives_strict_json(event: Event) -> None:
    text = json.dumps(event.as_dict(), allow_nan=False)
    assert Event.from_dict(json.loads(text)) == event


@pytest.mark.parametrize("change", [{"batch": 2**63}, {"ids": [-(2**63) - 1]}])
def test_numbers_beyond_64_bits_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at most 64 bits"):
        Event.from_dict({**birth(3).as_dict(), **change})


def test_event_of_numpy_values_becomes_plain_json() -> None:
    event = Event(Kind.BIRTH, np.float32(1), np.int64(1), (np.int64(7),), NAN, (np.float32(2),))  # type: ignore[arg-type]
    assert json.loads(json.dumps(event.as_dict()))["ids"] == [7]


def test_events_with_no_ratio_are_equal_and_hash_alike() -> None:
    one, other = birth(1), Event.from_dict(birth(1).as_dict())
    assert one == other
    assert len({one, other}) == 1
    assert one != birth(2)
    assert one != "birth"


@pytest.mark.parametrize(
    ("kind", "ids", "counts", "message"),
    [
        ("split", (1,), (1.0,), "takes 2 ids"),
        ("birth", (1,), (), "takes 1 ids"),
        ("merge", (1, 1), (2.0, 1.0), "two different ids"),
        ("split", (1, 2), (1.0, 2.0), "larger cluster"),
        ("explosion", (1,), (1.0,), "explosion"),
    ],
)
def test_event_that_makes_no_sense_is_refused(
    kind: Kind, ids: tuple[int, ...], counts: tuple[float, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Event(kind, 0.0, 0, ids, NAN, counts)


# --- the tree -----------------------------------------------------------------------------------------


def test_ids_count_up_and_are_never_reused() -> None:
    tree = Genealogy()
    assert [tree.new_id() for _ in range(3)] == [0, 1, 2]
    tree.extend([birth(0), death(0)])
    assert tree.new_id() == 3
    assert tree.n_ids == 4


def test_family_queries() -> None:
    tree = grown([birth(0), birth(1), split(0, 2, 1.0), split(2, 3, 2.0), split(0, 4, 3.0), split(1, 5, 3.0)])
    assert tree.parent(3) == 2
    assert tree.parent(0) is None
    assert tree.ancestors(3) == (2, 0)
    assert tree.ancestors(0) == ()
    assert [tree.ancestor(id) for id in range(6)] == [0, 1, 0, 0, 0, 1]
    assert tree.children(0) == (2, 4)
    assert tree.descendants(0) == (2, 3, 4)
    assert tree.descendants(3) == ()
    assert tree.born(3) == 2.0
    assert tree.live_ids == (0, 1, 2, 3, 4, 5)


def test_merges_and_deaths_end_ids() -> None:
    tree = grown([birth(0), split(0, 1, 1.0), split(0, 2, 1.0), merge(1, 2, 2.0), merge(0, 1, 3.0)])
    assert tree.merged_into(2) == 1
    assert tree.survivor(2) == tree.survivor(1) == tree.survivor(0) == 0
    assert (tree.died(2), tree.died(0)) == (2.0, None)
    assert [tree.alive(id) for id in range(3)] == [True, False, False]
    tree.record(death(0, 4.0))
    assert tree.survivor(2) is None
    assert tree.merged_into(0) is None
    assert tree.live_ids == ()


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        (split(9, 3), KeyError, "never assigned"),
        (split(3, 4), KeyError, "not recorded yet"),
        (split(2, 3), ValueError, "died at time"),
        (merge(0, 2), ValueError, "died at time"),
        (death(2), ValueError, "died at time"),
        (birth(0), ValueError, "never reused"),
        (birth(12), KeyError, "never assigned"),
        (split(0, 1), ValueError, "never reused"),
        (death(0, -1.0), ValueError, "in order of time"),
        (Event(Kind.DEATH, NAN, 0, (0,), NAN, (0.5,)), ValueError, "in order of time"),
    ],
)
def test_impossible_event_is_refused_and_changes_nothing(event: Event, error: type[Exception], message: str) -> None:
    tree = grown([birth(0), split(0, 1), split(0, 2), death(2)], n_ids=5)
    before = tree.state()
    with pytest.raises(error, match=message):
        tree.record(event)
    assert_same_state(tree.state(), before)


def test_shifted_times_are_those_of_a_later_stream() -> None:
    story = [birth(0), split(0, 1, 1.0), death(1, 2.0)]
    tree, later = grown(story), grown([replace(event, time=event.time + 7.0) for event in story])
    tree.shift_time(7.0)
    assert_same_state(tree.state(), later.state())
    with pytest.raises(ValueError, match="in order of time"):
        tree.record(death(0, 8.0))


def test_unknown_id_is_a_key_error() -> None:
    tree = grown([birth(0)])
    assert 0 in tree
    assert 1 not in tree
    for query in (tree.parent, tree.alive, tree.children, tree.descendants, tree.survivor, tree.ancestor):
        with pytest.raises(KeyError, match="not recorded yet"):
            query(1)
        with pytest.raises(KeyError, match="never assigned"):
            query(-1)


def test_forgotten_ancestors_are_bridged() -> None:
    story = [birth(0), split(0, 1), split(1, 2), split(2, 3), death(1), death(2)]
    tree = grown(story, capacity=1)
    with pytest.raises(KeyError, match="was dropped"):
        tree.parent(1)
    assert tree.ancestors(3) == (2, 0)
    assert tree.descendants(0) == (2, 3)
    tree.record(death(0))
    assert tree.ancestors(3) == (0,)
    tree.extend([birth(4), death(4)])
    assert tree.ancestor(3) == 3


def test_a_forgotten_id_cannot_be_born_again() -> None:
    tree = grown([birth(0), death(0)], capacity=0)
    with pytest.raises(ValueError, match="never reused"):
        tree.record(birth(0))


def test_memory_stays_bounded() -> None:
    tree = Genealogy(capacity=50)
    tree.record(birth(tree.new_id()))
    for step in range(2000):
        new = tree.new_id()
        tree.extend([split(0, new, step), death(new, step)])
    arrays = tree.state()
    assert len(arrays["id"]) == 51
    assert sum(array.nbytes for array in arrays.values()) < 4000
    assert tree.descendants(0) == tuple(range(1951, 2001))
    assert len(tree._table["id"]) <= 128


def test_negative_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity must be >= 0, got -1"):
        Genealogy(-1)


# --- a random life against a plain model --------------------------------------------------------------


@st.composite
def lives(draw: st.DrawFn) -> list[Event]:
    """A possible story: births, splits, merges and deaths of ids that are alive."""
    events: list[Event] = []
    live: list[int] = []
    next_id = 0
    for step in range(draw(st.integers(0, 40))):
        kind = draw(st.sampled_from(Kind)) if live else Kind.BIRTH
        if kind is Kind.MERGE and len(live) < 2:
            kind = Kind.SPLIT
        if kind in (Kind.BIRTH, Kind.SPLIT):
            events.append(birth(next_id, step) if kind is Kind.BIRTH else split(_pick(draw, live), next_id, step))
            live.append(next_id)
            next_id += 1
        else:
            last = live.pop(draw(st.integers(0, len(live) - 1)))
            events.append(death(last, step) if kind is Kind.DEATH else merge(_pick(draw, live), last, step))
    return events


def _pick(draw: st.DrawFn, live: list[int]) -> int:
    return live[draw(st.integers(0, len(live) - 1))]


def parents_of(events: list[Event]) -> dict[int, int | None]:
    born = {event.ids[-1]: event for event in events if event.kind in (Kind.BIRTH, Kind.SPLIT)}
    return {id: event.ids[0] if event.kind is Kind.SPLIT else None for id, event in born.items()}


@given(lives())
@settings(max_examples=100)
def test_tree_agrees_with_a_plain_model(events: list[Event]) -> None:
    tree = grown(events, n_ids=50)
    parent = parents_of(events)
    gone = {event.ids[-1] for event in events if event.kind in (Kind.MERGE, Kind.DEATH)}
    assert tree.live_ids == tuple(sorted(set(parent) - gone))
    for id, above in parent.items():
        assert tree.parent(id) == above
        assert tree.children(id) == tuple(sorted(child for child, of in parent.items() if of == id))
        assert set(tree.descendants(id)) == {other for other in parent if id in tree.ancestors(other)}
        survivor = tree.survivor(id)
        assert survivor is None or survivor in tree.live_ids


@given(lives(), st.integers(0, 5))
@settings(max_examples=100)
def test_forgetting_never_breaks_the_living(events: list[Event], capacity: int) -> None:
    everything, tree = grown(events, n_ids=50), grown(events, n_ids=50, capacity=capacity)
    assert tree.live_ids == everything.live_ids
    for id in tree.live_ids:
        remembered = tuple(above for above in everything.ancestors(id) if above in tree)
        assert tree.ancestors(id) == remembered


@given(lives(), st.integers(0, 10))
@settings(max_examples=60)
def test_state_makes_an_exact_round_trip(events: list[Event], capacity: int) -> None:
    half = len(events) // 2
    tree = grown(events[:half], n_ids=50, capacity=capacity)
    copy = Genealogy.from_state(tree.state())
    assert_same_state(copy.state(), tree.state())
    for one in (tree, copy):
        one.extend(events[half:])
    assert_same_state(copy.state(), tree.state())
    assert copy.new_id() == tree.new_id()


def assert_same_state(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype != object
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_state_is_a_copy() -> None:
    tree = grown([birth(0)])
    state = tree.state()
    restored = Genealogy.from_state(state)
    state["parent"][:] = 7
    assert tree.parent(0) is None
    assert restored.parent(0) is None


def test_damaged_state_is_refused() -> None:
    state = grown([birth(0)]).state()
    with pytest.raises(ValueError, match=r"lacks \['parent'\]"):
        Genealogy.from_state({name: array for name, array in state.items() if name != "parent"})
    with pytest.raises(ValueError, match="differ in length"):
        Genealogy.from_state({**state, "born": np.zeros(3)})


# --- objects ------------------------------------------------------------------------------------------


def test_object_follows_a_story() -> None:
    kite = TrackedObject("kite", frozenset({1}))
    split_up = kite.follow([split(1, 5), split(5, 6), split(2, 7)])
    assert split_up.ids == {1, 5, 6}
    swallowed = split_up.follow([merge(2, 5), merge(6, 7), death(1)])
    assert swallowed == TrackedObject("kite", frozenset({6}))
    assert kite.ids == {1}


def test_object_takes_any_set_of_ids() -> None:
    assert TrackedObject("kite", {np.int32(3)}).ids == frozenset({3})  # type: ignore[arg-type]


@given(lives(), st.sets(st.integers(0, 10)))
@settings(max_examples=60)
def test_follow_can_be_cut_anywhere_and_keeps_only_the_living(events: list[Event], members: set[int]) -> None:
    whole = follow(members, events)
    for cut in range(0, len(events), 7):
        assert follow(follow(members, events[:cut]), events[cut:]) == whole
    gone = {event.ids[-1] for event in events if event.kind in (Kind.MERGE, Kind.DEATH)}
    assert not whole & gone
