"""Read the frames of a session together with the masks of its objects: stored ones, or tracked now."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace

from scstream_app.errors import StudioError
from scstream_app.objects import MarkedObject, Membership, member_masks
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.session.session import Session
from scstream_app.sources import Source


@dataclass(frozen=True, slots=True)
class ObjectResults:
    """Frames start, ..., stop - 1 of a session with the masks of its objects.

    Parameters
    ----------
    session : Session
    objects : sequence of MarkedObject
    start : int
    stop : int, optional
    """

    session: Session
    objects: Sequence[MarkedObject]
    start: int = 0
    stop: int | None = None

    @property
    def stored(self) -> bool:
        """Whether the session has the masks of all these frames."""
        return all(self.session.read_object_masks(index, self.objects) is not None for index in self._frames())

    def _frames(self) -> list[int]:
        stop = float("inf") if self.stop is None else self.stop
        return [index for index in self.session.frames.tolist() if self.start <= index < stop]

    def read(self, source: Source | None = None, cancel: threading.Event | None = None) -> Generator[FrameResult]:
        """Yield the frames, with their pictures if there is a ``source``.

        Masks that are not stored are tracked from the first edit on, and stored if the session is open for writing. If
        the session has other objects, their masks stay until all frames are tracked.
        Without a source, objects consist of the segments that `Membership` gives them.
        """
        if not self.objects:
            yield from self.session.results(self.start, self.stop, source)
        elif self.stored:
            for result in self.session.results(self.start, self.stop, source):
                yield replace(result, objects=self.session.read_object_masks(result.index, self.objects))
        elif source is None:
            yield from self._by_members()
        else:
            yield from self._tracked(source, cancel)

    def _by_members(self) -> Generator[FrameResult]:
        membership = Membership(self.objects)
        first = min(self.start, *(one.frame for one in self.objects))
        for record in self.session.records(first, self.start):
            membership.advance(record.index, record.events, record.cut)
        for result in self.session.results(self.start, self.stop):
            members = membership.advance(result.index, result.events, result.cut)
            yield replace(result, objects=member_masks(result.ids, members))

    def _tracked(self, source: Source, cancel: threading.Event | None) -> Generator[FrameResult]:
        first = min(self.start, *(one.frame for one in self.objects))
        with self._staging() as staged, closing(ObjectTracker(self.objects)) as tracker:
            for result in self.session.results(first, self.stop, source):
                if cancel is not None and cancel.is_set():
                    return
                masks = tracker.advance(result)
                self._store(result.index, masks, staged)
                if result.index >= self.start:
                    yield replace(result, objects=masks)
            if staged:
                with suppress(StudioError):
                    self.session.commit_staged_masks()

    @contextmanager
    def _staging(self) -> Iterator[bool]:
        """Whether masks are staged, because the session has other objects; in the end none are left."""
        staged = self.session.writable and self.session.objects != tuple(self.objects)
        try:
            yield staged
        finally:
            if staged:
                with suppress(StudioError):
                    self.session.discard_staged_masks()

    def _store(self, index: int, masks: ObjectMasks, staged: bool) -> None:
        if not self.session.writable:
            return
        try:
            self.session.store_object_masks(index, masks, self.objects, staged=staged)
        except StudioError:
            # The disk is full, or the session was just closed: the masks can be computed again.
            pass
