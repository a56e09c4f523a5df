"""Summary of a run: a few numbers per frame, all events, and the lifetime of every segment."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream.sampler.genealogy import Kind, follow
from scstream_app.objects import MarkedObject, Membership
from scstream_app.pipeline.edits import colour_after
from scstream_app.session import FrameRecord
from scstream_app.session.event_log import EventLog

#: Values stored for every frame.
COLUMNS = ("time", "segments", "log_posterior", "churn", "uncertainty", "decode", "engine", "write")
#: The columns that may be filled in later.
MEASURES = ("churn", "uncertainty")

#: Segments have settled when at most this share of the pixels changed their id in each of the last SETTLED_FRAMES.
SETTLED_FRAMES, SETTLED_CHURN = 12, 0.1
#: Frames above this percentile of the uncertainty count as uncertain.
_UNCERTAIN = 90.0
#: Sizes of the caches of `RunSummary.followed` and `RunSummary.members`.
_FOLLOWED, _MEMBERSHIPS = 256, 16
#: Frames between two memberships that are cached for the same objects.
_KEPT_EVERY = 64


@dataclass(slots=True)
class Life:
    """Lifetime of a segment in frames.

    ``died`` is None while it is alive. ``parent`` is the segment that it split from, ``merged_into`` the one that
    absorbed it.
    """

    id: int
    born: int
    died: int | None = None
    parent: int | None = None
    merged_into: int | None = None


class RunSummary:
    """Numbers per frame, events and segment lifetimes of a run, compact enough for hours of video.

    Frames are added in order.

    Attributes
    ----------
    frames : sequence of int
        Indices of the frames.
    events : EventLog
        (frame, Event) in order, without births and deaths in the first frame of a scene.
    cuts : list of int
        Frames at which a new scene begins.
    lives : dict of id to Life
    colours : list of (frame, str)
        Changes of the colour space, each with the frame from which it applies.
    filled : sequence of int
        Frames whose measures were added later, in the order of `fill`.
    """

    def __init__(self) -> None:
        self.frames = array("q")
        self.events = EventLog()
        self.cuts: list[int] = []
        self.lives: dict[int, Life] = {}
        self.colours: list[tuple[int, str]] = []
        self.filled = array("q")
        self._columns = {name: array("d") for name in COLUMNS}
        self._followed: dict[tuple[frozenset[int], int], tuple[int, frozenset[int]]] = {}
        self._memberships: dict[tuple[MarkedObject, ...], list[Membership]] = {}

    def __len__(self) -> int:
        return len(self.frames)

    def column(self, name: str) -> npt.NDArray[np.float64]:
        """One of `COLUMNS`: a value per frame, nan where it is unknown."""
        return np.array(self._columns[name], np.float64)

    def value(self, name: str, place: int) -> float:
        """One value of a column at a `place`."""
        return self._columns[name][place]

    def tail(self, name: str, start: int) -> npt.NDArray[np.float64]:
        """Column from place ``start`` on; a negative start counts from the end."""
        return np.array(self._columns[name][start:], np.float64)

    def between(self, name: str, start: int, stop: int) -> npt.NDArray[np.float64]:
        """Column from place ``start`` up to but not including ``stop``."""
        return np.array(self._columns[name][start:stop], np.float64)

    def add(self, record: FrameRecord) -> None:
        """Add the next frame."""
        index = record.index
        self.frames.append(index)
        times: Mapping[str, float] = record.milliseconds
        values = {
            "time": record.time,
            "segments": float(record.rows),
            "log_posterior": record.log_posterior,
            **{name: record.measures.get(name, math.nan) for name in MEASURES},
            **{stage: times.get(stage, math.nan) for stage in ("decode", "engine", "write")},
        }
        for name, column in self._columns.items():
            column.append(values[name])
        if record.cut:
            self.cuts.append(index)
        colour = colour_after(record.edits, "")
        if colour:
            self.colours.append((index, colour))
        first = len(self.frames) == 1 or record.cut
        for event in record.events:
            self._update_lives(index, event)
            if not (first and event.kind in (Kind.BIRTH, Kind.DEATH)):
                self.events.append(index, event)

    def forget_before(self, index: int) -> None:
        """Drop everything before frame ``index``; segments that are still alive keep their frame of birth."""
        count = bisect_left(self.frames, index)
        del self.frames[:count]
        for column in self._columns.values():
            del column[:count]
        self.events.forget_before(index)
        del self.cuts[: bisect_left(self.cuts, index)]
        del self.colours[: max(bisect_right(self.colours, index, key=lambda entry: entry[0]) - 1, 0)]
        self._followed.clear()
        self._memberships.clear()
        # Dropping a dead parent does no harm: no view draws it any more.
        self.lives = {id: life for id, life in self.lives.items() if life.died is None or life.died >= index}

    def extend(self, records: Iterable[FrameRecord]) -> None:
        """Add frames that were read from a session."""
        for record in records:
            self.add(record)

    def fill(self, index: int, measures: Mapping[str, float]) -> None:
        """Set the measures of a frame that was added before; unknown frames are ignored."""
        place = self.place(index)
        for name, value in measures.items():
            if place is not None and name in MEASURES:
                self._columns[name][place] = value
        if place is not None:
            self.filled.append(index)

    def unmeasured(self, live: bool) -> list[int]:
        """Frames whose churn is unknown, or, unless the source is ``live``, whose uncertainty is unknown."""
        churn, uncertainty = (np.isnan(self.column(name)) for name in MEASURES)
        # The first frame has no churn: there is no frame before it.
        churn[:1] = False
        unknown = churn if live else churn | uncertainty
        return [self.frames[place] for place in np.flatnonzero(unknown)]

    def _update_lives(self, index: int, event: Event) -> None:
        first, last = event.ids[0], event.ids[-1]
        match event.kind:
            case Kind.BIRTH:
                self.lives[first] = Life(first, index)
            case Kind.SPLIT:
                self.lives[last] = Life(last, index, parent=first)
            case Kind.MERGE:
                self._end(last, index, first)
            case Kind.DEATH:
                self._end(first, index, None)

    def _end(self, id: int, index: int, merged_into: int | None) -> None:
        life = self.lives.setdefault(id, Life(id, index))
        life.died, life.merged_into = index, merged_into

    def followed(self, ids: Iterable[int], start: int, index: int) -> frozenset[int]:
        """Ids that the segments ``ids`` of frame ``start`` have in frame ``index``, after all splits and merges.

        The result is empty after a scene cut. It is computed from the cached result of the last call with the same ids,
        so following them frame by frame is cheap.
        """
        cut = bisect_right(self.cuts, start)
        if cut < len(self.cuts) and self.cuts[cut] <= index:
            # All segments die at a cut; `events` does not list these deaths.
            return frozenset()
        key = frozenset(ids), start
        # Later events are still unknown, so the cache must not go beyond the last frame.
        index = min(index, self.frames[-1]) if self.frames else start
        known, current = self._followed.get(key, (start, key[0]))
        if known > index:
            known, current = key[1], key[0]
        current = follow(current, self.events_between(known, index))
        if len(self._followed) >= _FOLLOWED and key not in self._followed:
            self._followed.clear()
        self._followed[key] = max(index, start), current
        return current

    def members(self, objects: tuple[MarkedObject, ...], index: int) -> tuple[frozenset[int], ...]:
        """Ids of every object in frame ``index``; see `Membership`."""
        return self._membership(objects, index).ids if objects else ()

    def objects_at(self, objects: Iterable[MarkedObject], index: int) -> tuple[MarkedObject, ...]:
        """The objects with the edits up to frame ``index`` replaced by the ids that the objects have there."""
        objects = tuple(objects)
        if all(object_.frame >= index for object_ in objects):
            return objects
        return self._membership(objects, index).collapsed()

    def _membership(self, objects: tuple[MarkedObject, ...], index: int) -> Membership:
        """Membership of the objects in a frame.

        It goes on from the last one before it that is cached, so that neighbouring frames are cheap.
        """
        known = self._memberships.pop(objects, [])
        # Later events are still unknown, so the cache must not go beyond the last frame.
        last = min(index, self.frames[-1]) if self.frames else -1
        place = bisect_right(known, last, key=lambda membership: membership.index)
        found = known[place - 1] if place else Membership(objects)
        if place < len(known) or found.index % _KEPT_EVERY == 0:
            found = found.copy()
        elif place:
            # The newest one goes on.
            known.pop()
        first = min((object_.frame for object_ in objects), default=index)
        after = max(found.index, first - 1)
        # Events can be followed in one go as long as no edit and no cut comes between them.
        cuts = [frame for frame in self.cuts if after < frame <= last]
        kept = range(after - after % _KEPT_EVERY + _KEPT_EVERY, last + 1, _KEPT_EVERY)
        for frame in sorted({*cuts, *found.edited_frames(last), *kept, last} if last > found.index else ()):
            found.advance(frame, self.events_between(after, frame), frame in cuts)
            after = max(after, frame)
            if frame in kept and (not known or frame > known[-1].index):
                known.append(found.copy())
        if not known or found.index > known[-1].index:
            known.append(found)
        if len(self._memberships) >= _MEMBERSHIPS:
            del self._memberships[next(iter(self._memberships))]
        self._memberships[objects] = known
        if found.index < index:
            found = found.copy()
            found.advance(index)
        return found

    def events_between(self, after: int, last: int) -> Iterator[Event]:
        """Yield the events of frames after + 1, ..., last."""
        return self.events.between(after, last)

    def colour(self, index: int, first: str) -> str:
        """Colour space of a frame; ``first`` is the one at the start of the run."""
        place = bisect_right(self.colours, index, key=lambda entry: entry[0])
        return self.colours[place - 1][1] if place else first

    def place(self, index: int) -> int | None:
        """Position of a frame in the columns; None if the frame is missing."""
        place = bisect_left(self.frames, index)
        return place if place < len(self.frames) and self.frames[place] == index else None

    def settled(self, index: int) -> bool | None:
        """Whether few pixels changed their id in the last `SETTLED_FRAMES` frames; None if that is unknown."""
        place = self.place(index)
        if place is None or place < SETTLED_FRAMES:
            return None
        recent = np.array(self._columns["churn"][place - SETTLED_FRAMES + 1 : place + 1])
        return None if np.isnan(recent).any() else bool((recent <= SETTLED_CHURN).all())

    def uncertain_frames(self) -> list[int]:
        """The most uncertain frame of each stretch of frames that belong to the most uncertain tenth."""
        values = self.column("uncertainty")
        if not np.isfinite(values).any():
            return []
        above = np.nan_to_num(values, nan=-1.0) > np.nanpercentile(values, _UNCERTAIN)
        edges = np.flatnonzero(np.diff(above.astype(np.int8), prepend=0, append=0))
        runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        return [self.frames[first + int(np.argmax(values[first:last]))] for first, last in runs]

    def next_uncertain(self, index: int) -> int | None:
        """First of the `uncertain_frames` after ``index``; None if there is none."""
        return next((frame for frame in self.uncertain_frames() if frame > index), None)

    def previous_uncertain(self, index: int) -> int | None:
        """Last of the `uncertain_frames` before ``index``; None if there is none."""
        return next((frame for frame in reversed(self.uncertain_frames()) if frame < index), None)

    def next_event(self, index: int) -> int | None:
        """First frame after ``index`` with an event or a cut; None if there is none."""
        frames = self._event_frames()
        place = bisect_right(frames, index)
        return frames[place] if place < len(frames) else None

    def previous_event(self, index: int) -> int | None:
        """Last frame before ``index`` with an event or a cut; None if there is none."""
        frames = self._event_frames()
        place = bisect_left(frames, index) - 1
        return frames[place] if place >= 0 else None

    def _event_frames(self) -> list[int]:
        return sorted({*self.events.frames, *self.cuts})
