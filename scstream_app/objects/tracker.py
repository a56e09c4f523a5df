"""Track all objects of a clip: their edits on the frames that the user marked, evidence in between."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

import numpy as np

from scstream_app.errors import InvalidData
from scstream_app.objects.edits import Mask, ObjectEdit, mask_from_png
from scstream_app.objects.marked_object import MarkedObject
from scstream_app.objects.membership import edits_in_order
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.joint_evidence import Scores, advance
from scstream_app.objects.tracking.pixel_evidence import PixelEvidence
from scstream_app.objects.tracking.track import Track
from scstream_app.objects.tracking.weights import Weights
from scstream_app.objects.tracking.working_frame import ReducedPicture, WorkingFrame
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.render.image_types import Picture

#: Largest number of objects: masks hold their numbers in bytes.
MOST_OBJECTS = 255


@dataclass(frozen=True, slots=True)
class _Tracked:
    """An object after a frame: its track, and its mask in the full picture."""

    track: Track
    mask: Mask


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What can be found out about a frame before it is segmented.

    Parameters
    ----------
    picture : ReducedPicture
    motion : Motion
        From the picture to that of the frame before.
    evidence : list of (_Tracked, PixelEvidence)
        All objects on the frame before, and the evidence for their pixels on this one.
    """

    picture: ReducedPicture
    motion: Motion
    evidence: list[tuple[_Tracked, PixelEvidence]]


#: The objects of one version; None: not marked yet, or gone with a cut.
_Version = tuple[_Tracked | None, ...]


class ObjectTracker:
    """Masks of objects, frame by frame. Call `advance` once for each frame, in order.

    An edit replaces or changes the mask of its object on its frame, and tracking goes on from there. A pixel belongs to
    at most one object: an edit takes its pixels from all others, elsewhere the clearer one wins. All objects end at a
    cut, until a later edit. No edit changes frames before its own; from the ``stop`` of an edit on, everything is as if
    it had not been made.

    Parameters
    ----------
    objects : iterable of MarkedObject
    weights : Weights
        Weights of the sources of evidence.
    """

    # As in `Membership`, edits with an end make several versions necessary: `_versions` maps a frame to the objects
    # from there on. Versions share the tracks in which they do not differ.

    def __init__(self, objects: Iterable[MarkedObject], weights: Weights | None = None) -> None:
        self.objects = tuple(objects)
        if len(self.objects) > MOST_OBJECTS:
            raise InvalidData(f"at most {MOST_OBJECTS} objects can be tracked, got {len(self.objects)}")
        self._weights = weights or Weights()
        self._edits = edits_in_order(self.objects)
        self._applied = 0
        stops = {edit.stop for _, edit in self._edits if edit.stop is not None}
        self._versions: dict[int, _Version] = dict.fromkeys((-1, *sorted(stops)), (None,) * len(self.objects))
        self._grey: Picture | None = None
        self._ahead: tuple[Picture, Future[_Prepared]] | None = None
        self._pool: ThreadPoolExecutor | None = None

    @property
    def first(self) -> int | None:
        """The first frame with an edit; None without objects."""
        return self._edits[0][1].frame if self._edits else None

    def copy(self, objects: Iterable[MarkedObject] | None = None) -> Self:
        """An independent tracker that continues with identical results.

        With ``objects``, it continues with these, whose edits up to the last frame must be those of its own objects.
        """
        twin = type(self)(self.objects if objects is None else objects, self._weights)
        twin._applied, twin._grey = self._applied, self._grey
        count = len(twin.objects)
        # Many copies may be kept: they must not hold the picture and the segments of their frame.
        settled = {id(one): replace(one, track=one.track.with_newest()) for one in self._tracks()}
        now = next(iter(self._versions))
        # Later edits may end at other frames: before those apply, the version that holds from such a frame on is the
        # one that holds just before.
        for since in sorted({now, *(stop for stop in twin._versions if stop > now)}):
            version = self._versions[max(known for known in self._versions if known <= since)]
            tracked = [None if one is None else settled[id(one)] for one in version[:count]]
            twin._versions[since] = (*tracked, *[None] * (count - len(version)))
        twin._versions = {since: version for since, version in sorted(twin._versions.items()) if since >= now}
        return twin

    def prepare(self, picture: Picture) -> None:
        """Begin to look for the objects in the next picture on a thread, while the engine segments it."""
        tracks = self._tracks()
        if self._grey is None or not tracks:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "scstream-objects")
        self._ahead = picture, self._pool.submit(_look_ahead, self._grey, picture, tracks, self._weights)

    def close(self) -> None:
        """End the thread that `prepare` started."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def advance(self, result: FrameResult) -> ObjectMasks:
        """Track all objects to the next frame, which must have its picture."""
        if result.cut:
            self._versions = dict.fromkeys(self._versions, (None,) * len(self.objects))
        if self._tracks():
            frame = self._follow(result)
        else:
            frame, self._grey = None, None
        if self._applied < len(self._edits) and self._edits[self._applied][1].frame <= result.index:
            frame = frame or WorkingFrame.of(ReducedPicture.of(result.picture), result.ids)
            self._apply_edits(frame, result.index)
            self._grey = frame.picture.grey
        self._drop_versions(result.index)
        return _masks(next(iter(self._versions.values())), result.ids.shape)

    def _tracks(self) -> list[_Tracked]:
        """All different tracks of all versions."""
        return list({id(one): one for version in self._versions.values() for one in version if one}.values())

    def _follow(self, result: FrameResult) -> WorkingFrame:
        prepared = self._prepared(result.picture)
        frame = WorkingFrame.of(prepared.picture, result.ids)
        moved = {}
        for one, pixels in prepared.evidence:
            track, scores = advance(pixels, frame, result.events, self._weights)
            if scores.cut_off:
                # It grew faster than it moved.
                wider = PixelEvidence.of(
                    pixels.track, prepared.picture, prepared.motion, self._weights, everywhere=True
                )
                track, scores = advance(wider, frame, result.events, self._weights)
            moved[id(one)] = track, scores
        for since, version in self._versions.items():
            found = [None if one is None else moved[id(one)] for one in version]
            self._versions[since] = _exclusive(version, found)
        self._grey = frame.picture.grey
        return frame

    def _prepared(self, picture: Picture) -> _Prepared:
        assert self._grey is not None
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] is picture:
            return ahead[1].result()
        return _look_ahead(self._grey, picture, self._tracks(), self._weights)

    def _apply_edits(self, frame: WorkingFrame, index: int) -> None:
        while self._applied < len(self._edits) and self._edits[self._applied][1].frame <= index:
            place, edit = self._edits[self._applied]
            self._applied += 1
            for since, version in self._versions.items():
                if edit.stop is None or since < edit.stop:
                    self._versions[since] = _edited(version, place, edit, frame)

    def _drop_versions(self, index: int) -> None:
        current = max(since for since in self._versions if since <= index)
        self._versions = {since: version for since, version in self._versions.items() if since >= current}


def track_objects(results: Generator[FrameResult], tracker: ObjectTracker) -> Generator[FrameResult]:
    """Yield the results with the masks of their objects."""
    with closing(results), closing(tracker):
        for result in results:
            yield replace(result, objects=tracker.advance(result))


def _look_ahead(before: Picture, picture: Picture, tracks: Iterable[_Tracked], weights: Weights) -> _Prepared:
    """Look for objects in a picture; ``before`` is the reduced one of the frame that they were tracked to."""
    small = ReducedPicture.of(picture)
    motion = Motion.between(before, small.grey)
    return _Prepared(small, motion, [(one, PixelEvidence.of(one.track, small, motion, weights)) for one in tracks])


def _exclusive(version: _Version, found: Sequence[tuple[Track, Scores] | None]) -> _Version:
    """The objects after a frame, where each pixel belongs to the one with the largest score."""
    alive = [entry for entry in found if entry is not None]
    if len(alive) < 2:
        return tuple(None if entry is None else _Tracked(entry[0], entry[1].mask) for entry in found)
    everywhere = [None if entry is None else entry[1].everywhere for entry in found]
    best = np.maximum.reduce([scores for scores in everywhere if scores is not None])
    total = np.maximum(sum(track.shares for track, _ in alive), 1.0)
    owner = np.full(best.shape, -1, np.int32)
    for place, scores in enumerate(everywhere):
        if scores is not None:
            owner[(scores == best) & (best > 0) & (owner < 0)] = place
    return tuple(
        None
        if entry is None
        else _Tracked(replace(entry[0], shares=(entry[0].shares / total).astype(np.float32)), owner == place)
        for place, entry in enumerate(found)
    )


def _edited(version: _Version, place: int, edit: ObjectEdit, frame: WorkingFrame) -> _Version:
    """The objects after an edit of the one at ``place``."""
    region = _region(edit, frame)
    changed = list(version)
    before = version[place]
    if edit.replaces or before is None:
        mask = region if edit.gives else np.zeros_like(region)
    else:
        mask = before.mask | region if edit.gives else before.mask & ~region
    # What consists of given segments is tracked like a mask; segments that are added or removed stay so.
    decided = {} if edit.replaces else dict.fromkeys(edit.ids, edit.gives)
    changed[place] = _Tracked(Track.begin(mask, frame, None if before is None else before.track, decided), mask)
    for other, one in enumerate(version):
        if other != place and one is not None and edit.gives and (one.mask & region).any():
            rest = one.mask & ~region
            changed[other] = _Tracked(Track.begin(rest, frame, one.track), rest)
    return tuple(changed)


def _region(edit: ObjectEdit, frame: WorkingFrame) -> Mask:
    """The pixels (H, W) that an edit names."""
    if edit.mask is not None:
        return mask_from_png(edit.mask, (frame.ids.shape[0], frame.ids.shape[1]))
    return np.isin(frame.ids, np.fromiter(edit.ids, np.int32, len(edit.ids)))


def _masks(version: _Version, shape: tuple[int, ...]) -> ObjectMasks:
    found = [one.mask.view(np.uint8) * np.uint8(place + 1) for place, one in enumerate(version) if one is not None]
    numbers = reduce(np.maximum, found) if found else np.zeros(shape, np.uint8)
    return ObjectMasks(numbers, tuple(0.0 if one is None else one.track.confidence for one in version))
