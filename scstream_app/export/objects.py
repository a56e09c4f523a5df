"""Objects on their way through the frames of an export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from scstream import TrackedObject
from scstream_app import render
from scstream_app.results import FrameResult, IdMap


class Following:
    """Carries objects along the genealogy: call `at` once a frame, in order.

    Parameters
    ----------
    objects : iterable of TrackedObject
        As they are just before the first frame.

    Examples
    --------
    >>> from scstream import Event
    >>> kite = Following([TrackedObject("kite", frozenset({0}))])
    >>> split = Event("split", 1.0, 1, (0, 1), 3.0, (60.0, 40.0))
    >>> result = FrameResult(1, 0.04, None, np.zeros((1, 1), np.int32), (split,), np.empty(0))
    >>> sorted(kite.at(result)[0].ids)
    [0, 1]
    """

    def __init__(self, objects: Iterable[TrackedObject]) -> None:
        self._objects = tuple(objects)

    def at(self, result: FrameResult) -> tuple[TrackedObject, ...]:
        """The objects as they are in this frame."""
        self._objects = tuple(thing.follow(result.events) for thing in self._objects)
        return self._objects

    def members(self, result: FrameResult) -> frozenset[int]:
        """The ids of all objects in this frame; in place of `at`."""
        return frozenset().union(*(thing.ids for thing in self.at(result)))


def number(ids: IdMap, objects: Sequence[TrackedObject]) -> npt.NDArray[np.uint8]:
    """1 for the first object, 2 for the second and so on (H, W), 0 elsewhere; an id of two belongs to the first."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    for place in range(len(objects), 0, -1):
        table[[id for id in objects[place - 1].ids if 0 <= id < len(table)]] = place
    return render.look_up(ids, table)
