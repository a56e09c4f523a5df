"""Objects of an export, and their tracking along the genealogy of segments."""

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
    """A named object, given by the segments that form it.

    Parameters
    ----------
    name : str
    ids : frozenset of int
        The segments of the object in frame ``since``. If the export starts later, its segments just before the first
        frame of the export.
    since : int
        The frame in which the user marked the object; it does not exist in earlier frames. -1: before all frames.
    """

    name: str
    ids: frozenset[int]
    since: int = -1


class ObjectTracker:
    """Track objects along the genealogy, like `Session.members`. Call `at` once per frame, in order.

    Examples
    --------
    >>> from scstream import Event
    >>> kite = ObjectTracker([ExportObject("kite", frozenset({0}), since=1)])
    >>> split = Event("split", 2.0, 2, (0, 1), 3.0, (60.0, 40.0))
    >>> results = [FrameResult(n, 0.0, None, np.zeros((1, 1), np.int32), (split,), np.empty(0)) for n in range(3)]
    >>> [sorted(kite.at(result)[0].ids) for result in results]
    [[], [0], [0, 1]]
    """

    def __init__(self, objects: Iterable[ExportObject]) -> None:
        objects = tuple(objects)
        self._since = tuple(one.since for one in objects)
        self._objects = tuple(TrackedObject(one.name, one.ids) for one in objects)

    def at(self, result: FrameResult) -> tuple[TrackedObject, ...]:
        """The objects with their ids in this frame; an object that is not marked yet has no ids."""
        # The ids at the frame of marking already include the events of that frame.
        self._objects = tuple(
            tracked.follow(result.events) if result.index > since else tracked
            for tracked, since in zip(self._objects, self._since, strict=True)
        )
        return tuple(
            tracked if result.index >= since else replace(tracked, ids=frozenset())
            for tracked, since in zip(self._objects, self._since, strict=True)
        )

    def members(self, result: FrameResult) -> frozenset[int]:
        """The ids of all objects in this frame; call it instead of `at`."""
        return frozenset().union(*(tracked.ids for tracked in self.at(result)))


def object_index_map(ids: IdMap, objects: Sequence[TrackedObject]) -> npt.NDArray[np.uint8]:
    """Map (H, W) of object numbers: 1 for the first object and so on, else 0. The first object owns shared ids."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    for place in range(len(objects), 0, -1):
        table[[id for id in objects[place - 1].ids if 0 <= id < len(table)]] = place
    return views.look_up(ids, table)
