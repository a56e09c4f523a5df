"""Masks of objects on frames that the user has just painted, until the tracker stores them."""

from __future__ import annotations

from collections.abc import Sequence

from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import ObjectMasks

#: Number of masks that are kept: those of the last strokes, and of their undoing.
_KEPT = 8


class ExpectedMasks:
    """What the tracker will find on painted frames, known at once because an object there is what the user painted."""

    def __init__(self) -> None:
        self._masks: dict[tuple[int, tuple[MarkedObject, ...]], ObjectMasks] = {}

    def note(self, objects: Sequence[MarkedObject], index: int, masks: ObjectMasks) -> None:
        """Keep the masks of these objects on a frame; the oldest ones are forgotten."""
        self._masks[index, tuple(objects)] = masks
        while len(self._masks) > _KEPT:
            del self._masks[next(iter(self._masks))]

    def find(self, objects: Sequence[MarkedObject], index: int) -> ObjectMasks | None:
        """Return the masks of these objects on a frame; None if they are unknown."""
        return self._masks.get((index, tuple(objects))) if self._masks else None

    def clear(self) -> None:
        """Forget all masks."""
        self._masks.clear()
