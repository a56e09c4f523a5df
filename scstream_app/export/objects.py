"""Objects on their way through the frames of an export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scstream import TrackedObject
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap


@dataclass(frozen=True, slots=True)
class ExportObject:
    """A named thing that an export shows.

    Parameters
    ----------
    name : str
    ids : frozenset of int
        The segments that make it up in frame ``since``; where that lies before the export, those just before its
        first frame.
    since : int
        The frame at which it was marked: before it there is no such object. -1 stands for before all frames.
    """

    name: str
    ids: frozenset[int]
    since: int = -1


class Following:
    """Carries objects along the genealogy, as `Session.members` does: call `at` once a frame, in order.

    Examples
    --------
    >>> from scstream import Event
    >>> kite = Following([ExportObject("kite", frozenset({0}), since=1)])
    >>> split = Event("split", 2.0, 2, (0, 1), 3.0, (60.0, 40.0))
    >>> results = [FrameResult(n, 0.0, None, np.zeros((1, 1), np.int32), (split,), np.empty(0)) for n in range(3)]
    >>> [sorted(kite.at(result)[0].ids) for result in results]
    [[], [0], [0, 1]]
    """

    def __init__(self, objects: Iterable[ExportObject]) -> None:
        objects = tuple(objects)
        self._since = tuple(thing.since for thing in objects)
        self._objects = tuple(TrackedObject(thing.name, thing.ids) for thing in objects)

    def at(self, result: FrameResult) -> tuple[TrackedObject, ...]:
        """The objects as they are in this frame; one that is not marked yet has no ids."""
        pairs = tuple(zip(self._objects, self._since, strict=True))
        # What happened in the frame of marking is in the ids already: they were seen in that frame.
        self._objects = tuple(thing.follow(result.events) if result.index > since else thing for thing, since in pairs)
        return tuple(
            thing if result.index >= since else replace(thing, ids=frozenset())
            for thing, since in zip(self._objects, self._since, strict=True)
        )

    def members(self, result: FrameResult) -> frozenset[int]:
        """The ids of all objects in this frame; in place of `at`."""
        return frozenset().union(*(thing.ids for thing in self.at(result)))


def number(ids: IdMap, objects: Sequence[TrackedObject]) -> npt.NDArray[np.uint8]:
    """1 for the first object, 2 for the second and so on (H, W), 0 elsewhere; an id of two belongs to the first."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    for place in range(len(objects), 0, -1):
        table[[id for id in objects[place - 1].ids if 0 <= id < len(table)]] = place
    return views.look_up(ids, table)
