"""Which segments every object has on each frame: its edits, and the genealogy in between."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol, Self

import numpy as np

from scstream import Event
from scstream.sampler.genealogy import Kind, follow
from scstream_app.objects.edits import ObjectEdit
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.render import views
from scstream_app.render.image_types import IdMap

#: The segments of every object, in the order of the objects.
Members = tuple[frozenset[int], ...]


class SegmentedFrame(Protocol):
    """What membership depends on: a `FrameResult` or a record of a session."""

    @property
    def index(self) -> int:
        """Index of the frame."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Births, splits, merges and deaths in this frame."""

    @property
    def cut(self) -> bool:
        """Whether the model restarted at this frame, with new ids."""


class Membership:
    """Segments of all objects, frame by frame.

    From one frame to the next, an object follows the genealogy: parts of its segments belong to it, and the larger
    segment of a merge decides. A restart empties all objects. Then the edits of the frame apply.

    A segment belongs to at most one object: an edit that gives it to one takes it from all others. On one frame, the
    first edits of all objects apply in the order of the objects, then the second ones, and so on; later ones win. From
    the frame ``stop`` of an edit on, all objects are as if it had not been made. No edit changes frames before its own.

    Parameters
    ----------
    objects : sequence of MarkedObject

    Attributes
    ----------
    objects : tuple of MarkedObject
    index : int
        The last frame, -1 at the beginning.

    Examples
    --------
    >>> kite = MarkedObject.made("kite", (230, 160, 0), 1, {0})
    >>> kite = kite.with_edits([*kite.edits, ObjectEdit("removed", 3, {1})])
    >>> split = Event("split", 2.0, 2, (0, 1), 3.0, (60.0, 40.0))
    >>> membership = Membership([kite])
    >>> for index, events in enumerate([(), (), (split,), ()]):
    ...     print(index, [sorted(ids) for ids in membership.advance(index, events)])
    0 [[]]
    1 [[0]]
    2 [[0, 1]]
    3 [[0]]
    """

    # Edits with an end make several versions of the members necessary: `_versions` maps a frame to the members from
    # there on, in which edits that have ended by that frame never took part. The first one holds now.

    def __init__(self, objects: Iterable[MarkedObject]) -> None:
        self.objects = tuple(objects)
        self.index = -1
        self._edits = edits_in_order(self.objects)
        self._applied = 0
        stops = {edit.stop for _, edit in self._edits if edit.stop is not None}
        nothing: Members = (frozenset(),) * len(self.objects)
        self._versions = dict.fromkeys((-1, *sorted(stops)), nothing)

    @property
    def ids(self) -> Members:
        """The segments of every object on the last frame."""
        return next(iter(self._versions.values()))

    def copy(self) -> Self:
        """An independent copy, to advance on its own."""
        twin = type(self).__new__(type(self))
        twin.objects, twin.index = self.objects, self.index
        twin._edits, twin._applied = self._edits, self._applied
        twin._versions = dict(self._versions)
        return twin

    def advance(self, index: int, events: Iterable[Event] = (), restarted: bool = False) -> Members:
        """Go on to a later frame and return the segments of every object.

        Frames may be left out if they are neither restarts nor `edited_frames`. Edits of frames that do not exist apply
        before the events.

        Parameters
        ----------
        index : int
            The frame.
        events : iterable of Event
            Its events, and before them those of the frames that were left out.
        restarted : bool
            Whether the model restarted at this frame, with new ids.
        """
        self._apply_edits(index)
        events = tuple(events)
        if restarted or events:
            for since, members in self._versions.items():
                self._versions[since] = tuple(_followed(ids, events, restarted) for ids in members)
        self._apply_edits(index + 1)
        self.index = index
        self._drop_versions()
        return self.ids

    def edited_frames(self, last: int) -> list[int]:
        """Frames after the present one, up to ``last``, that have edits."""
        frames = []
        for _, edit in islice(self._edits, self._applied, None):
            if edit.frame > last:
                break
            frames.append(edit.frame)
        return frames

    def _apply_edits(self, stop: int) -> None:
        """Apply the edits of frames before ``stop`` that were not applied yet."""
        while self._applied < len(self._edits) and self._edits[self._applied][1].frame < stop:
            place, edit = self._edits[self._applied]
            self._applied += 1
            for since, members in self._versions.items():
                if edit.stop is None or since < edit.stop:
                    self._versions[since] = _after(members, place, edit)

    def _drop_versions(self) -> None:
        """Drop the versions that later ones have replaced."""
        if len(self._versions) == 1:
            return
        current = max(since for since in self._versions if since <= self.index)
        for since in [since for since in self._versions if since < current]:
            del self._versions[since]

    def collapsed(self) -> tuple[MarkedObject, ...]:
        """The objects with the edits up to the last frame replaced by the segments that the objects have there.

        On later frames the result has the same segments. An object gets one edit at the last frame, and one more for
        every frame at which other edits end that change its segments.

        Examples
        --------
        >>> kite = MarkedObject.made("kite", (230, 160, 0), 1, {0})
        >>> kite = kite.with_edits([*kite.edits, ObjectEdit("added", 3, {1}), ObjectEdit("removed", 9, {0})])
        >>> membership = Membership([kite])
        >>> members = membership.advance(5)
        >>> [(edit.kind, edit.frame, sorted(edit.ids)) for edit in membership.collapsed()[0].edits]
        [('made', 5, [0, 1]), ('removed', 9, [0])]
        """
        return tuple(self._collapsed(place, object_) for place, object_ in enumerate(self.objects))

    def _collapsed(self, place: int, object_: MarkedObject) -> MarkedObject:
        past = [edit for edit in object_.edits if edit.frame <= self.index]
        later = object_.edits[len(past) :]
        versions = [members[place] for members in self._versions.values()]
        if not past or (past[0].frame == self.index and len(past) == 1 and all(ids == past[0].ids for ids in versions)):
            return object_
        if all(ids == versions[0] for ids in versions):
            return object_.with_edits([ObjectEdit("made", self.index, versions[0]), *later])
        # The version that holds to the end comes first, then those of shorter ranges, which replace it for a while.
        stops = (*list(self._versions)[1:], None)
        layers = [ObjectEdit("made", self.index, ids, stop=stop) for ids, stop in zip(versions, stops, strict=True)]
        return object_.with_edits([*reversed(layers), *later])


def members_by_frame(
    objects: Sequence[MarkedObject], frames: Iterable[SegmentedFrame]
) -> Iterator[tuple[int, Members]]:
    """Yield (index, segments of every object) for each frame.

    ``frames`` must begin at the first edit or earlier, for the events before it to be followed.
    """
    membership = Membership(objects)
    for frame in frames:
        yield frame.index, membership.advance(frame.index, frame.events, frame.cut)


def edits_in_order(objects: Sequence[MarkedObject]) -> list[tuple[int, ObjectEdit]]:
    """All edits in the order in which they apply, each with the place of its object."""
    found = []
    for place, object_ in enumerate(objects):
        turns: dict[int, int] = defaultdict(int)
        for edit in object_.edits:
            found.append((edit.frame, turns[edit.frame], place, edit))
            turns[edit.frame] += 1
    found.sort(key=lambda entry: entry[:3])
    return [(place, edit) for _, _, place, edit in found]


def _followed(ids: frozenset[int], events: tuple[Event, ...], restarted: bool) -> frozenset[int]:
    if restarted or not ids:
        return frozenset()
    # An edit may name an id that did not exist on its frame: a part belongs to the object of its whole alone.
    parts = {event.ids[1] for event in events if event.kind is Kind.SPLIT}
    return follow(ids - parts, events)


def _after(members: Members, place: int, edit: ObjectEdit) -> Members:
    """The members after an edit of the object at ``place``."""
    changed = list(members)
    if edit.gives:
        changed = [ids - edit.ids for ids in changed]
    own = frozenset() if edit.replaces else members[place]
    changed[place] = own | edit.ids if edit.gives else own - edit.ids
    return tuple(changed)


def member_masks(ids: IdMap, members: Members) -> ObjectMasks:
    """Masks of objects that consist of whole segments.

    >>> member_masks(np.array([[4, 7, 9]], np.int32), (frozenset({9}), frozenset({4, 5}))).numbers.tolist()
    [[2, 0, 1]]
    """
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    for place, own in enumerate(members, 1):
        table[[id for id in own if 0 <= id < len(table)]] = place
    return ObjectMasks(views.look_up(ids, table), (math.nan,) * len(members))
