"""The segments of objects on the frames of an export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from scstream import TrackedObject
from scstream_app.objects import MarkedObject, Membership
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap


class ObjectTracker:
    """Compute the segments of objects frame by frame; see `Membership`. Call `at` once per frame, in order.

    If the export does not start at the first frame, edits of earlier frames must give the segments just before its
    start: see `Membership.collapsed`.

    Examples
    --------
    >>> from scstream import Event
    >>> kite = ObjectTracker([MarkedObject.made("kite", (230, 160, 0), 1, {0})])
    >>> split = Event("split", 2.0, 2, (0, 1), 3.0, (60.0, 40.0))
    >>> results = [FrameResult(n, 0.0, None, np.zeros((1, 1), np.int32), (split,), np.empty(0)) for n in range(3)]
    >>> [sorted(kite.at(result)[0].ids) for result in results]
    [[], [0], [0, 1]]
    """

    def __init__(self, objects: Iterable[MarkedObject]) -> None:
        self._membership = Membership(objects)

    def at(self, result: FrameResult) -> tuple[TrackedObject, ...]:
        """The objects with their ids in this frame; an object that does not exist yet has no ids."""
        members = self._membership.advance(result.index, result.events, result.cut)
        return tuple(
            TrackedObject(object_.name, ids) for object_, ids in zip(self._membership.objects, members, strict=True)
        )

    def members(self, result: FrameResult) -> frozenset[int]:
        """The ids of all objects in this frame; call it instead of `at`."""
        return frozenset().union(*(tracked.ids for tracked in self.at(result)))


def object_index_map(ids: IdMap, objects: Sequence[TrackedObject]) -> npt.NDArray[np.uint8]:
    """Map (H, W) of object numbers: 1 for the first object and so on, else 0."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    for place, tracked in enumerate(objects, 1):
        table[[id for id in tracked.ids if 0 <= id < len(table)]] = place
    return views.look_up(ids, table)
