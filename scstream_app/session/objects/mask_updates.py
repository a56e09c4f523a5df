"""Bring the stored masks of a session's objects up to date, from the last valid state of the tracker on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np

from scstream_app.objects import MarkedObject
from scstream_app.objects.fingerprint import fingerprint
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.objects.tracker_states import TrackerStates
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.session.objects.object_curves import CurveLog
from scstream_app.session.relabelling import Relabelling
from scstream_app.session.session import Session
from scstream_app.sources import Source

#: Frames between two states of the tracker.
_EVERY = 50


class MaskUpdates:
    """Tracks the objects of one session after every change of their edits, and stores the masks that change.

    It remembers which stored masks are valid, and states of the tracker. Only one thread at a time may use it.

    Attributes
    ----------
    log : CurveLog
        Area and confidence of the objects on all frames with valid masks.
    """

    def __init__(self) -> None:
        self.log = CurveLog()
        self._valid: dict[int, str] = {}
        self._states = TrackerStates()

    def missing(
        self, session: Session, objects: Sequence[MarkedObject], start: int, cancel: threading.Event
    ) -> list[int]:
        """Frames from ``start`` on that have no valid masks; some are left out after ``cancel``."""
        frames = session.frames
        found = []
        for index in frames[frames >= start].tolist():
            if cancel.is_set():
                break
            valid = self._is_valid(session, objects, index)
            self.log.mark(index, valid)
            if not valid:
                found.append(index)
        return found

    def _is_valid(self, session: Session, objects: Sequence[MarkedObject], index: int) -> bool:
        wanted = fingerprint(objects, index) + session.relabelling.token(index)
        if self._valid.get(index) != wanted:
            masks = session.read_object_masks(index, objects)
            if masks is None:
                return False
            self._valid[index] = wanted
            self.log.put(index, masks)
        return True

    def track(
        self,
        session: Session,
        objects: Sequence[MarkedObject],
        missing: Sequence[int],
        source: Source,
        cancel: threading.Event,
    ) -> Iterator[tuple[int, bool]]:
        """Store the masks of the ``missing`` frames.

        Yields every frame that is tracked, some of which may only lead to the missing ones, and whether its masks were
        stored. Ends early after ``cancel``.
        """
        first_edit = min(one.frame for one in objects)
        # Masks of merges that the user changes meanwhile must not count as valid.
        labels = session.relabelling
        yield from self._store_empty(session, objects, [index for index in missing if index < first_edit], labels)
        wanted = {index for index in missing if index >= first_edit}
        if not wanted:
            return
        first, last = min(wanted), max(wanted)
        self._states.drop_unusable(objects)
        index, tracker = self._states.latest(objects, first) or (first_edit - 1, ObjectTracker(objects))
        with closing(tracker):
            for result in session.results(index + 1, last + 1, source):
                if cancel.is_set() or session.relabelling is not labels:
                    break
                if result.index == first:
                    # The next edit is often on the same frame as this one.
                    self._states.note(index, tracker)
                masks = tracker.advance(result)
                index = result.index
                if index in wanted:
                    self._store(session, index, masks, objects, labels)
                if index % _EVERY == 0:
                    self._states.keep(index, tracker)
                yield index, index in wanted
            self._states.note(index, tracker)

    def _store_empty(
        self, session: Session, objects: Sequence[MarkedObject], frames: Sequence[int], labels: Relabelling
    ) -> Iterator[tuple[int, bool]]:
        """Store the masks of frames before all edits."""
        source = session.manifest.source
        nothing = ObjectMasks(np.zeros((source.height, source.width), np.uint8), (0.0,) * len(objects))
        for index in frames:
            self._store(session, index, nothing, objects, labels)
            yield index, True

    def _store(
        self,
        session: Session,
        index: int,
        masks: ObjectMasks,
        objects: Sequence[MarkedObject],
        labels: Relabelling,
    ) -> None:
        session.store_object_masks(index, masks, objects, labels)
        self._valid[index] = fingerprint(objects, index) + labels.token(index)
        self.log.put(index, masks)
