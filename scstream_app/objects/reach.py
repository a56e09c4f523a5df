"""Reach of an edit: the frames at which it holds, and the segments that it names on them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Protocol

from scstream_app.errors import InvalidData


class Reach(StrEnum):
    """The frames at which an edit of a frame holds."""

    ONWARD = "onward"
    BEFORE = "before"
    EVERYWHERE = "everywhere"
    FRAME = "frame"


class Lifetime(Protocol):
    """Birth of a segment, and the segment that it split from."""

    @property
    def id(self) -> int: ...
    @property
    def born(self) -> int: ...
    @property
    def parent(self) -> int | None: ...


class History(Protocol):
    """What tracing segments depends on; a `RunSummary` has it."""

    @property
    def frames(self) -> Sequence[int]:
        """Frames that are segmented."""

    @property
    def cuts(self) -> Sequence[int]:
        """Frames at which a new scene begins."""

    @property
    def lives(self) -> Mapping[int, Lifetime]:
        """Lifetime of every segment."""

    def followed(self, ids: Iterable[int], start: int, index: int, /) -> frozenset[int]:
        """Ids that segments of frame ``start`` have in a later frame."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Segments over a range of frames: ``ids`` on frame ``start``, then along the genealogy until ``stop``."""

    start: int
    ids: frozenset[int]
    stop: int | None = None


def stretches(history: History, ids: Collection[int], frame: int, reach: Reach, first: int) -> list[Stretch]:
    """Where segments of a frame are within the reach of an edit.

    A segment is traced back to its birth, never to the one that it split from: that one has other pixels as well. Parts
    that split off a segment before ``frame`` and are not among ``ids`` are left out from their birth on.

    Parameters
    ----------
    history : History
    ids : collection of int
    frame : int
    reach : Reach
    first : int
        First frame of the reaches BEFORE and EVERYWHERE; the beginning of the scene if it is later than that.

    Returns
    -------
    list of Stretch
        In the order of the frames; empty if no segment existed before ``frame`` and the reach is BEFORE.
    """
    chosen = frozenset(ids)
    if reach is Reach.ONWARD:
        return [Stretch(frame, chosen)]
    if reach is Reach.FRAME:
        return [Stretch(frame, chosen, frame + 1)]
    start = max(first, scene_start(history, frame))
    bounds = {start, *_changes(history, chosen, start, frame)} if start < frame else set()
    found = [
        Stretch(begin, known, end)
        for begin, end in pairwise(sorted({*bounds, frame}))
        if (known := _alive(history, chosen, begin))
    ]
    if reach is Reach.BEFORE:
        return found
    if not found or frame in bounds:
        return [*found, Stretch(frame, chosen)]
    return [*found[:-1], replace(found[-1], stop=None)]


def scene_start(history: History, frame: int) -> int:
    """First frame of the scene that a frame belongs to."""
    cuts = history.cuts
    before = bisect_right(cuts, frame)
    beginning = history.frames[0] if len(history.frames) else frame
    return max(cuts[before - 1], beginning) if before else beginning


def moved(history: History, ids: Collection[int], frame: int, to: int) -> frozenset[int]:
    """Segments of a frame on another one, along the genealogy.

    Raises
    ------
    InvalidData
        If the other frame lies beyond a scene cut, or before the birth of a segment.
    """
    chosen = frozenset(ids)
    if scene_start(history, to) != scene_start(history, frame):
        raise InvalidData(f"frame {to} is in another scene than frame {frame}, with other segments")
    if to >= frame:
        return history.followed(chosen, frame, to)
    known = _alive(history, chosen, to)
    unborn = sorted(id for id in chosen - known if not _descends(history, id, known))
    if unborn:
        raise InvalidData(
            f"{'segments' if len(unborn) > 1 else 'segment'} {_listed(unborn)} did not exist on frame {to}"
        )
    return known


def _changes(history: History, chosen: frozenset[int], start: int, frame: int) -> set[int]:
    """Frames after ``start`` at which the chosen segments are not what those before have become."""
    return {
        life.born
        for life in history.lives.values()
        if start < life.born <= frame and (life.id in chosen) != (life.parent in chosen)
    }


def _alive(history: History, chosen: frozenset[int], frame: int) -> frozenset[int]:
    """The chosen segments that were born by a frame."""
    lives = history.lives
    return frozenset(id for id in chosen if id not in lives or lives[id].born <= frame)


def _descends(history: History, id: int, known: frozenset[int]) -> bool:
    """Whether a segment split from one of those known, directly or not."""
    life = history.lives.get(id)
    while life is not None and life.parent is not None:
        if life.parent in known:
            return True
        life = history.lives.get(life.parent)
    return False


def _listed(ids: Sequence[int]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, ids[:-1])), str(ids[-1])]))
