"""Genealogy of clusters: ids that are never reused, events that relate them, and objects made of several ids."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_NONE = -1
_COLUMNS = {"id": np.int64, "parent": np.int64, "merged": np.int64, "born": np.float64, "died": np.float64}


class Kind(StrEnum):
    """What happened to a cluster."""

    BIRTH = "birth"
    SPLIT = "split"
    MERGE = "merge"
    DEATH = "death"


_N_IDS = {Kind.BIRTH: 1, Kind.SPLIT: 2, Kind.MERGE: 2, Kind.DEATH: 1}


@dataclass(frozen=True, slots=True)
class Event:
    """One birth, split, merge or death.

    Parameters
    ----------
    kind : Kind or str
        "birth", "split", "merge" or "death".
    time : float
        Time of the batch in which it happened.
    batch : int
        Index of that batch.
    ids : tuple of int
        birth ``(id,)``, split ``(kept, new)``, merge ``(survivor, absorbed)``, death ``(id,)``.
        The larger cluster of a split or merge comes first: its id survives.
    log_hastings : float
        Log Hastings ratio of the accepted move; nan for a birth or a death.
    counts : tuple of float
        Weighted counts, parallel to `ids`.

    Examples
    --------
    >>> event = Event(Kind.SPLIT, time=3.0, batch=3, ids=(0, 1), log_hastings=12.5, counts=(70.0, 30.0))
    >>> event.as_dict()["kind"]
    'split'
    >>> Event.from_dict(event.as_dict()) == event
    True
    """

    kind: Kind
    time: float
    batch: int
    ids: tuple[int, ...]
    log_hastings: float
    counts: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        expected = _N_IDS[self.kind]
        if len(self.ids) != expected or len(self.counts) != expected:
            raise ValueError(f"a {self.kind} takes {expected} ids and counts, got ids={self.ids}, counts={self.counts}")
        if expected == 2 and self.ids[0] == self.ids[1]:
            raise ValueError(f"a {self.kind} takes two different ids, got {self.ids}")
        if expected == 2 and self.counts[0] < self.counts[1]:
            raise ValueError(f"the larger cluster of a {self.kind} must come first, got counts={self.counts}")

    def _key(self) -> tuple[object, ...]:
        ratio = None if math.isnan(self.log_hastings) else self.log_hastings
        return self.kind, self.time, self.batch, self.ids, ratio, self.counts

    # A generated __eq__ would make every birth differ from its own copy, because nan != nan.
    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def as_dict(self) -> dict[str, Any]:
        """Return the event as a dictionary that JSON can encode; a nan ratio becomes None."""
        ratio = float(self.log_hastings)
        return {
            "kind": str(self.kind),
            "time": float(self.time),
            "batch": int(self.batch),
            "ids": [int(i) for i in self.ids],
            "log_hastings": None if math.isnan(ratio) else ratio,
            "counts": [float(c) for c in self.counts],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the event that `as_dict` encoded."""
        ratio = values["log_hastings"]
        for number in (values["batch"], *values["ids"]):
            if not -(2**63) <= int(number) < 2**63:
                raise ValueError(f"batches and ids have at most 64 bits, got {number}")
        return cls(
            kind=Kind(values["kind"]),
            time=float(values["time"]),
            batch=int(values["batch"]),
            ids=tuple(int(i) for i in values["ids"]),
            log_hastings=math.nan if ratio is None else float(ratio),
            counts=tuple(float(c) for c in values["counts"]),
        )


class Genealogy:
    """Parents, children, births, deaths and merges of all clusters of a stream.

    Parameters
    ----------
    capacity : int, default=100_000
        Maximum number of dead ids to keep. Beyond it the ids that died first are dropped, and their children become
        children of the dropped id's parent.

    Attributes
    ----------
    live_ids : tuple of int
        Ids alive now, ascending.
    n_ids : int
        Number of ids assigned so far.

    Examples
    --------
    One cluster is born, splits, and its child splits in turn:

    >>> tree = Genealogy()
    >>> a, b, c = tree.new_id(), tree.new_id(), tree.new_id()
    >>> tree.record(Event(Kind.BIRTH, 0.0, 0, (a,), float("nan"), (100.0,)))
    >>> tree.record(Event(Kind.SPLIT, 1.0, 1, (a, b), 9.0, (60.0, 40.0)))
    >>> tree.record(Event(Kind.SPLIT, 2.0, 2, (b, c), 5.0, (30.0, 10.0)))
    >>> tree.ancestors(c), tree.ancestor(c), tree.descendants(a)
    ((1, 0), 0, (1, 2))

    The grandchild is merged into its parent, which then dies:

    >>> tree.record(Event(Kind.MERGE, 3.0, 3, (b, c), 2.0, (35.0, 5.0)))
    >>> tree.merged_into(c), tree.survivor(c), tree.live_ids
    (1, 1, (0, 1))
    >>> tree.record(Event(Kind.DEATH, 4.0, 4, (b,), float("nan"), (0.5,)))
    >>> tree.survivor(c), tree.died(b), tree.live_ids
    (None, 4.0, (0,))
    """

    def __init__(self, capacity: int = 100_000) -> None:
        if capacity < 0:
            raise ValueError(f"capacity must be >= 0, got {capacity}")
        self.capacity = int(capacity)
        self._next = 0
        self._now = -math.inf
        self._pending: set[int] = set()
        # Columns, one row per kept id, because dropping an id scans all parents. Unused rows hold -1.
        self._table: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, kind in _COLUMNS.items()}
        self._slot: dict[int, int] = {}
        self._free: list[int] = []
        self._live: set[int] = set()
        self._dead: deque[int] = deque()

    # -- writing -------------------------------------------------------------------------------------

    def new_id(self) -> int:
        """Assign the next id. Record it afterwards with a birth or as the new id of a split, or `discard` it."""
        new = self._next
        self._next += 1
        self._pending.add(new)
        return new

    def discard(self, id: int) -> None:
        """Forget an assigned id that is not recorded yet. It is not assigned again."""
        self._pending.discard(id)

    def record(self, event: Event) -> None:
        """Record one event. If it is invalid, raise ValueError or KeyError and change nothing."""
        if not event.time >= self._now:
            raise ValueError(f"events must be recorded in order of time: got {event.time} after {self._now}")
        first, last = int(event.ids[0]), int(event.ids[-1])
        match event.kind:
            case Kind.BIRTH:
                self._check_new(event, first)
                self._add(first, _NONE, event.time)
            case Kind.SPLIT:
                self._check_alive(event, first)
                self._check_new(event, last)
                self._add(last, first, event.time)
            case Kind.MERGE:
                self._check_alive(event, first)
                self._check_alive(event, last)
                self._end(last, first, event.time)
            case Kind.DEATH:
                self._check_alive(event, first)
                self._end(first, _NONE, event.time)
        self._now = float(event.time)

    def extend(self, events: Iterable[Event]) -> None:
        """Record several events, in order."""
        for event in events:
            self.record(event)

    def shift_time(self, offset: float) -> None:
        """Add an offset to all recorded times."""
        self._now += offset
        self._table["born"] += offset
        self._table["died"] += offset

    # -- reading -------------------------------------------------------------------------------------

    @property
    def live_ids(self) -> tuple[int, ...]:
        """Ids alive now, ascending."""
        return tuple(sorted(self._live))

    @property
    def n_ids(self) -> int:
        """Number of ids assigned so far."""
        return self._next

    def __contains__(self, id: object) -> bool:
        return id in self._slot

    def alive(self, id: int) -> bool:
        """Whether the cluster is alive."""
        self._slot_of(id)
        return id in self._live

    def born(self, id: int) -> float:
        """Time of the birth, or of the split that created the id."""
        return float(self._table["born"][self._slot_of(id)])

    def died(self, id: int) -> float | None:
        """Time of the death, or of the merge that absorbed the id; None while it is alive."""
        time = float(self._table["died"][self._slot_of(id)])
        return None if math.isnan(time) else time

    def parent(self, id: int) -> int | None:
        """Id that it was split from; None if it was born."""
        return _optional(self._table["parent"][self._slot_of(id)])

    def ancestors(self, id: int) -> tuple[int, ...]:
        """Parent, grandparent and so on, nearest first."""
        chain = []
        above = self.parent(id)
        while above is not None:
            chain.append(above)
            above = self.parent(above)
        return tuple(chain)

    def ancestor(self, id: int) -> int:
        """First of its ancestors; the id itself if it has no parent."""
        return (int(id), *self.ancestors(id))[-1]

    def children(self, id: int) -> tuple[int, ...]:
        """Ids split directly from it, ascending."""
        self._slot_of(id)
        return tuple(np.sort(self._table["id"][self._table["parent"] == id]).tolist())

    def descendants(self, id: int) -> tuple[int, ...]:
        """Ids split from it, directly or indirectly, ascending."""
        self._slot_of(id)
        order = np.argsort(self._table["parent"], kind="stable")
        parents, ids = self._table["parent"][order], self._table["id"][order]
        found: list[int] = []
        todo = [int(id)]
        while todo:
            above = todo.pop()
            start, stop = np.searchsorted(parents, [above, above + 1])
            children = ids[start:stop].tolist()
            found += children
            todo += children
        return tuple(sorted(found))

    def merged_into(self, id: int) -> int | None:
        """Id that absorbed it in a merge; None if none did."""
        return _optional(self._table["merged"][self._slot_of(id)])

    def survivor(self, id: int) -> int | None:
        """Live id that it is now part of, following merges; None if that id died."""
        current: int | None = int(id)
        while current is not None and not self.alive(current):
            current = self.merged_into(current)
        return current

    # -- saving --------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the genealogy as plain arrays, for saving; `from_state` restores it exactly."""
        slots = [self._slot[id] for id in sorted(self._slot)]
        return {
            **{name: column[slots] for name, column in self._table.items()},
            "dead": np.array(self._dead, np.int64),
            "pending": np.array(sorted(self._pending), np.int64),
            "next_id": np.array(self._next, np.int64),
            "capacity": np.array(self.capacity, np.int64),
            "now": np.array(self._now, np.float64),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        """Return the genealogy that `state` encoded."""
        missing = {*_COLUMNS, "dead", "pending", "next_id", "capacity", "now"} - set(state)
        if missing:
            raise ValueError(f"the genealogy's state lacks {sorted(missing)}")
        if len({len(state[name]) for name in _COLUMNS}) != 1:
            raise ValueError("the genealogy's columns differ in length: the state is damaged")
        tree = cls(int(state["capacity"]))
        tree._next = int(state["next_id"])
        tree._now = float(state["now"])
        tree._pending = set(state["pending"].tolist())
        tree._dead = deque(state["dead"].tolist())
        tree._table = {name: np.array(state[name], kind) for name, kind in _COLUMNS.items()}
        tree._slot = {id: slot for slot, id in enumerate(tree._table["id"].tolist())}
        tree._live = set(tree._slot) - set(tree._dead)
        return tree

    # -- rows ----------------------------------------------------------------------------------------

    def _slot_of(self, id: int) -> int:
        slot = self._slot.get(id)
        if slot is None:
            raise KeyError(self._why_unknown(id))
        return slot

    def _write(self, slot: int, *row: float) -> None:
        for column, value in zip(self._table.values(), row, strict=True):
            column[slot] = value

    def _why_unknown(self, id: int) -> str:
        if not 0 <= id < self._next:
            return f"id {id} was never assigned: ids so far are 0 to {self._next - 1}"
        if id in self._pending:
            return f"id {id} was assigned, but its birth is not recorded yet"
        return f"id {id} was dropped: only the last {self.capacity} dead ids are kept"

    def _check_new(self, event: Event, id: int) -> None:
        if id in self._pending:
            return
        if not 0 <= id < self._next:
            raise KeyError(self._why_unknown(id))
        raise ValueError(f"{event.kind} of id {id}, which was born earlier: ids are never reused")

    def _check_alive(self, event: Event, id: int) -> None:
        died = self.died(id)
        if died is not None:
            raise ValueError(f"{event.kind} of id {id}, which died at time {died}")

    def _add(self, id: int, parent: int, time: float) -> None:
        if not self._free:
            self._grow()
        slot = self._free.pop()
        self._write(slot, id, parent, _NONE, time, math.nan)
        self._slot[id] = slot
        self._live.add(id)
        self._pending.discard(id)

    def _end(self, id: int, merged: int, time: float) -> None:
        slot = self._slot_of(id)
        self._table["merged"][slot] = merged
        self._table["died"][slot] = time
        self._live.remove(id)
        self._dead.append(id)
        if len(self._dead) > self.capacity:
            self._drop(self._dead.popleft())

    def _drop(self, id: int) -> None:
        # No merge link points to it: the ids that it absorbed died earlier, so they are dropped already.
        slot = self._slot.pop(id)
        parents = self._table["parent"]
        parents[parents == id] = parents[slot]
        self._write(slot, *[_NONE] * len(_COLUMNS))
        self._free.append(slot)

    def _grow(self) -> None:
        used = len(self._table["id"])
        size = max(64, 2 * used)
        for name, column in self._table.items():
            self._table[name] = np.concatenate([column, np.full(size - used, _NONE, column.dtype)])
        self._free = list(range(size - 1, used - 1, -1))


def _optional(id: np.int64) -> int | None:
    return None if id == _NONE else int(id)


def follow(members: Iterable[int], events: Iterable[Event]) -> frozenset[int]:
    """Return a set of ids updated by events, in order.

    The new id of a split joins if its parent is a member; ids that are absorbed or die leave. After a merge the
    surviving id is therefore a member if and only if it was one before.

    Examples
    --------
    >>> split = Event(Kind.SPLIT, 1.0, 1, (4, 9), 3.0, (60.0, 40.0))
    >>> merge = Event(Kind.MERGE, 2.0, 2, (7, 4), 3.0, (80.0, 60.0))
    >>> sorted(follow({4}, [split])), sorted(follow({4}, [split, merge]))
    ([4, 9], [9])
    """
    ids = {int(id) for id in members}
    for event in events:
        match event.kind:
            case Kind.SPLIT:
                if event.ids[0] in ids:
                    ids.add(int(event.ids[1]))
            case Kind.MERGE | Kind.DEATH:
                ids.discard(int(event.ids[-1]))
    return frozenset(ids)


@dataclass(frozen=True, slots=True)
class TrackedObject:
    """An object that the user has marked: a name and its current ids.

    Parameters
    ----------
    name : str
    ids : frozenset of int

    Examples
    --------
    >>> kite = TrackedObject("kite", frozenset({4}))
    >>> kite = kite.follow([Event(Kind.SPLIT, 1.0, 1, (4, 9), 3.0, (60.0, 40.0))])
    >>> kite.name, sorted(kite.ids)
    ('kite', [4, 9])
    """

    name: str
    ids: frozenset[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozenset(int(id) for id in self.ids))

    def follow(self, events: Iterable[Event]) -> Self:
        """Return the object after the events; see the function `follow`."""
        return replace(self, ids=follow(self.ids, events))
