"""A run at a glance: a few numbers a frame, every event, and how long each segment lived."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream.sampler.genealogy import Kind, follow
from scstream_app.pipeline.edits import colour_after
from scstream_app.session import FrameRecord, MarkedObject
from scstream_app.session.event_log import EventLog

#: What is kept of every frame.
COLUMNS = ("time", "segments", "log_posterior", "churn", "uncertainty", "decode", "engine", "write")
#: Those that may become known only later.
MEASURES = ("churn", "uncertainty")

#: Segments have settled when for so many frames at most this share of the pixels changed their id.
SETTLED_FRAMES, SETTLED_CHURN = 12, 0.1
#: Of all frames those count as uncertain that lie above this percentile.
_UNCERTAIN = 90.0
#: Sets of ids of which it is remembered how far they were followed.
_FOLLOWED = 256


@dataclass(slots=True)
class Life:
    """A segment's life in frames: when it appeared, when it went (None: it lives), and whose part it was."""

    id: int
    born: int
    died: int | None = None
    parent: int | None = None
    merged_into: int | None = None


class RunSummary:
    """Grows frame by frame, in order; kept small enough for hours of video.

    Attributes
    ----------
    frames : sequence of int
        Indices of the frames that are there.
    events : EventLog
        Of (frame, Event) in order, without the births of first frames.
    cuts : list of int
        Frames at which a new scene begins.
    lives : dict of id to Life
    colours : list of (frame, str)
        Frames from which on the colour space is another one.
    filled : sequence of int
        Frames of which something became known later, in the order in which it did.
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

    def __len__(self) -> int:
        return len(self.frames)

    def column(self, name: str) -> npt.NDArray[np.float64]:
        """One of `COLUMNS`, a value a frame; nan where it is not known."""
        return np.array(self._columns[name], np.float64)

    def value(self, name: str, place: int) -> float:
        """One value of a column; see `place`."""
        return self._columns[name][place]

    def tail(self, name: str, start: int) -> npt.NDArray[np.float64]:
        """A column from place ``start`` on; a negative one counts from the end."""
        return np.array(self._columns[name][start:], np.float64)

    def between(self, name: str, start: int, stop: int) -> npt.NDArray[np.float64]:
        """A column from place ``start`` to before place ``stop``."""
        return np.array(self._columns[name][start:stop], np.float64)

    def add(self, record: FrameRecord) -> None:
        """Take in the next frame."""
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
            self._live(index, event)
            if not (first and event.kind in (Kind.BIRTH, Kind.DEATH)):
                self.events.append(index, event)

    def forget_before(self, index: int) -> None:
        """Drop what happened before frame ``index``; a segment that still lives keeps the frame it was born in."""
        count = bisect_left(self.frames, index)
        del self.frames[:count]
        for column in self._columns.values():
            del column[:count]
        self.events.forget_before(index)
        del self.cuts[: bisect_left(self.cuts, index)]
        del self.colours[: max(bisect_right(self.colours, index, key=lambda entry: entry[0]) - 1, 0)]
        self._followed.clear()
        # A parent that is gone is no loss: nothing is drawn of it any more.
        self.lives = {id: life for id, life in self.lives.items() if life.died is None or life.died >= index}

    def extend(self, records: Iterable[FrameRecord]) -> None:
        """Take in frames read back from a session."""
        for record in records:
            self.add(record)

    def fill(self, index: int, measures: Mapping[str, float]) -> None:
        """What has become known of a frame since."""
        place = self.place(index)
        for name, value in measures.items():
            if place is not None and name in MEASURES:
                self._columns[name][place] = value
        if place is not None:
            self.filled.append(index)

    def unmeasured(self, live: bool) -> list[int]:
        """Frames of which churn is not known, or uncertainty, which nobody asks for of a ``live`` source."""
        churn, uncertainty = (np.isnan(self.column(name)) for name in MEASURES)
        # The first frame cannot differ from the one before.
        churn[:1] = False
        unknown = churn if live else churn | uncertainty
        return [self.frames[place] for place in np.flatnonzero(unknown)]

    def _live(self, index: int, event: Event) -> None:
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
        """Ids of frame ``start`` carried along the events to frame ``index``; none is left after a cut.

        It goes on from where the same ids were followed to before, so that frame by frame it costs next to nothing.
        """
        cut = bisect_right(self.cuts, start)
        if cut < len(self.cuts) and self.cuts[cut] <= index:
            # All segments end at a cut, and the events do not list those deaths one by one.
            return frozenset()
        key = frozenset(ids), start
        # What has not happened yet must not be taken for passed.
        index = min(index, self.frames[-1]) if self.frames else start
        known, carried = self._followed.get(key, (start, key[0]))
        if known > index:
            known, carried = key[1], key[0]
        carried = follow(carried, self.happened(known, index))
        if len(self._followed) >= _FOLLOWED and key not in self._followed:
            self._followed.clear()
        self._followed[key] = max(index, start), carried
        return carried

    def carried(self, objects: Iterable[MarkedObject], index: int) -> tuple[MarkedObject, ...]:
        """The same objects without what is before frame ``index``: they begin there as what they have become."""
        return tuple(
            replace(thing, frame=index, ids=self.followed(thing.ids, thing.frame, index))
            if thing.frame < index
            else thing
            for thing in objects
        )

    def happened(self, after: int, last: int) -> Iterator[Event]:
        """Events of the frames after + 1, ..., last."""
        return self.events.between(after, last)

    def colour(self, index: int, first: str) -> str:
        """The colour space that a frame was segmented in, if it was ``first`` at the beginning."""
        place = bisect_right(self.colours, index, key=lambda entry: entry[0])
        return self.colours[place - 1][1] if place else first

    def place(self, index: int) -> int | None:
        """Where in the columns the frame is; None if it is not there."""
        place = bisect_left(self.frames, index)
        return place if place < len(self.frames) and self.frames[place] == index else None

    def settled(self, index: int) -> bool | None:
        """Whether segments had settled by that frame: few pixels changed their id for a while. None: not known yet."""
        place = self.place(index)
        if place is None or place < SETTLED_FRAMES:
            return None
        recent = np.array(self._columns["churn"][place - SETTLED_FRAMES + 1 : place + 1])
        return None if np.isnan(recent).any() else bool((recent <= SETTLED_CHURN).all())

    def uncertain_frames(self) -> list[int]:
        """Where it gets uncertain: of every run of frames among the most uncertain tenth, the worst."""
        values = self.column("uncertainty")
        if not np.isfinite(values).any():
            return []
        above = np.nan_to_num(values, nan=-1.0) > np.nanpercentile(values, _UNCERTAIN)
        edges = np.flatnonzero(np.diff(above.astype(np.int8), prepend=0, append=0))
        runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        return [self.frames[first + int(np.argmax(values[first:last]))] for first, last in runs]

    def next_uncertain(self, index: int) -> int | None:
        """The first of `uncertain_frames` after ``index``."""
        return next((frame for frame in self.uncertain_frames() if frame > index), None)

    def previous_uncertain(self, index: int) -> int | None:
        """The last of `uncertain_frames` before ``index``."""
        return next((frame for frame in reversed(self.uncertain_frames()) if frame < index), None)

    def next_event(self, index: int) -> int | None:
        """The first frame after ``index`` in which something happened."""
        moments = self._moments()
        place = bisect_right(moments, index)
        return moments[place] if place < len(moments) else None

    def previous_event(self, index: int) -> int | None:
        """The last frame before ``index`` in which something happened."""
        moments = self._moments()
        place = bisect_left(moments, index) - 1
        return moments[place] if place >= 0 else None

    def _moments(self) -> list[int]:
        return sorted({*self.events.frames, *self.cuts})
