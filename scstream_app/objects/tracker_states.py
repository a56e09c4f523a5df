"""Copies of a tracker after some of the frames, from which tracking goes on when later edits change."""

from __future__ import annotations

from collections.abc import Sequence

from scstream_app.objects.edits import ObjectEdit
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.objects.tracker import ObjectTracker

_MOST_NOTED = 4


class TrackerStates:
    """Trackers as they were after some frames.

    Parameters
    ----------
    most : int
        Largest number of states that `keep` keeps. If there are more, every other one is dropped.

    Examples
    --------
    >>> kite = MarkedObject.made("kite", (230, 160, 0), 3, {4})
    >>> later = kite.with_edits([*kite.edits, ObjectEdit("removed", 20, {4})])
    >>> states = TrackerStates()
    >>> states.keep(10, ObjectTracker([kite]))
    >>> states.keep(30, ObjectTracker([kite]))
    >>> states.latest([later], 40)[0], states.latest([kite], 40)[0], states.latest([kite], 10)
    (10, 30, None)
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._trackers: dict[int, ObjectTracker] = {}
        self._noted: dict[int, ObjectTracker] = {}

    def keep(self, index: int, tracker: ObjectTracker) -> None:
        """Keep a copy of a tracker, whose last frame is ``index``."""
        self._trackers[index] = tracker.copy()
        if len(self._trackers) > self._most:
            frames = sorted(self._trackers)
            for frame in frames[-2::-2]:
                del self._trackers[frame]

    def note(self, index: int, tracker: ObjectTracker) -> None:
        """Keep a copy of a tracker as `keep` does, but only until a few others are noted."""
        self._noted.pop(index, None)
        self._noted[index] = tracker.copy()
        if len(self._noted) > _MOST_NOTED:
            del self._noted[next(iter(self._noted))]

    def latest(self, objects: Sequence[MarkedObject], before: int) -> tuple[int, ObjectTracker] | None:
        """The latest state before a frame that these objects lead to: its own frame and a tracker for the objects."""
        states = {**self._trackers, **self._noted}
        usable = [frame for frame, state in states.items() if frame < before and _is_usable(state, frame, objects)]
        return (max(usable), states[max(usable)].copy(objects)) if usable else None

    def drop_unusable(self, objects: Sequence[MarkedObject]) -> None:
        """Drop the states that these objects do not lead to."""
        for states in (self._trackers, self._noted):
            for frame in [frame for frame, state in states.items() if not _is_usable(state, frame, objects)]:
                del states[frame]


def _is_usable(tracker: ObjectTracker, frame: int, objects: Sequence[MarkedObject]) -> bool:
    return _edits_until(tracker.objects, frame) == _edits_until(objects, frame)


def _edits_until(objects: Sequence[MarkedObject], frame: int) -> list[list[ObjectEdit]]:
    """The edits of each object up to a frame, without the last objects if they have none."""
    edits = [[edit for edit in one.edits if edit.frame <= frame] for one in objects]
    while edits and not edits[-1]:
        edits.pop()
    return edits
