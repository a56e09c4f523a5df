"""Compact list of events with the frames they happened in: hours of video have hundreds of thousands of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import overload

import numpy as np

from scstream import Event
from scstream.sampler.genealogy import Kind

_KINDS = tuple(Kind)
_PLACE = {kind: place for place, kind in enumerate(_KINDS)}
_NO_ID = -1

Entry = tuple[int, Event]


class EventLog(Sequence[Entry]):
    """Sequence of (frame, Event) in frame order, stored as columns of about sixty bytes per entry.

    Indexing creates a new Event on every access.

    Attributes
    ----------
    frames : sequence of int
        The frame of each entry.
    forgotten : int
        Number of earlier entries that `forget_before` has dropped.

    Examples
    --------
    >>> log = EventLog()
    >>> log.append(7, Event(Kind.SPLIT, 7.0, 7, (3, 12), 41.5, (900.0, 120.0)))
    >>> log[0][1].ids
    (3, 12)
    """

    def __init__(self) -> None:
        self.frames = array("q")
        self.forgotten = 0
        self._kinds = array("b")
        self._batches = array("q")
        self._times, self._ratios = array("d"), array("d")
        self._ids = array("q"), array("q")
        self._counts = array("d"), array("d")

    def __len__(self) -> int:
        return len(self.frames)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        n = 1 if self._ids[1][place] == _NO_ID else 2
        ids = tuple(column[place] for column in self._ids[:n])
        counts = tuple(column[place] for column in self._counts[:n])
        event = Event(self.kind(place), self._times[place], self._batches[place], ids, self._ratios[place], counts)
        return self.frames[place], event

    def append(self, frame: int, event: Event) -> None:
        """Append an event; ``frame`` must not precede the frame of the last entry."""
        self.frames.append(frame)
        self._kinds.append(_PLACE[event.kind])
        self._batches.append(event.batch)
        self._times.append(event.time)
        self._ratios.append(event.log_hastings)
        self._ids[0].append(event.ids[0])
        self._counts[0].append(event.counts[0])
        two = len(event.ids) == 2
        self._ids[1].append(event.ids[1] if two else _NO_ID)
        self._counts[1].append(event.counts[1] if two else 0.0)

    def kind(self, place: int) -> Kind:
        """Kind of the event at ``place``."""
        return _KINDS[self._kinds[place]]

    def matching(self, kinds: Collection[Kind], ids: Collection[int] | None = None, first: int = 0) -> list[int]:
        """Return the positions, from ``first`` on, of events of these kinds that concern any of these segments.

        Without ``ids``, the events of all segments match.
        """
        found = np.isin(np.array(self._kinds[first:]), [_PLACE[kind] for kind in kinds])
        if ids is not None:
            wanted = list(ids)
            found &= np.any([np.isin(np.array(column[first:]), wanted) for column in self._ids], axis=0)
        places: list[int] = (np.flatnonzero(found) + first).tolist()
        return places

    def forget_before(self, frame: int) -> None:
        """Drop the entries of all frames before ``frame``."""
        count = bisect_left(self.frames, frame)
        for column in (self._kinds, self._batches, self._times, self._ratios, *self._ids, *self._counts, self.frames):
            del column[:count]
        self.forgotten += count

    def between(self, after: int, last: int) -> Iterator[Event]:
        """Yield the events of frames after + 1, ..., last."""
        return (self[n][1] for n in range(bisect_right(self.frames, after), bisect_right(self.frames, last)))
