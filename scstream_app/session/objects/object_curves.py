"""Area and confidence of every object along a clip, a few bytes per frame and object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import ObjectMasks

#: Up to this number of objects, counting the pixels of each is faster than counting all at once.
_FEW = 8

Values = npt.NDArray[np.float32]


def _no_values() -> Values:
    return np.empty((0, 0), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCurves:
    """Area and confidence of objects on the frames that are tracked.

    Parameters
    ----------
    objects : tuple of MarkedObject
    frames : array (n,) int64
        The tracked frames, in order.
    areas, confidences : arrays (n, number of objects) float32
        In pixels, and from 0 to 1.

    Examples
    --------
    >>> log = CurveLog()
    >>> log.put(4, ObjectMasks(np.array([[0, 1, 1]], np.uint8), (0.5,)))
    >>> curves = log.curves([MarkedObject.made("kite", (230, 160, 0), 0, {3})])
    >>> curves.frames.tolist(), curves.areas.tolist(), curves.place("kite"), curves.place("sea")
    ([4], [[2.0]], 0, None)
    """

    objects: tuple[MarkedObject, ...] = ()
    frames: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    areas: Values = field(default_factory=_no_values)
    confidences: Values = field(default_factory=_no_values)

    def place(self, name: str) -> int | None:
        """Column of the object with this name; None if there is none."""
        return next((place for place, one in enumerate(self.objects) if one.name == name), None)


class CurveLog:
    """Collects area and confidence frame by frame, as masks are stored or found valid.

    Only one thread at a time may use it; `curves` returns a copy for others.
    """

    def __init__(self) -> None:
        self._valid = np.zeros(0, np.bool_)
        self._areas, self._confidences = _no_values(), _no_values()

    def put(self, index: int, masks: ObjectMasks) -> None:
        """Measure the masks of a frame, which are valid."""
        count = len(masks.confidences)
        self._reserve(index + 1, count)
        self._areas[index], self._confidences[index] = 0.0, 0.0
        self._areas[index, :count] = _areas(masks)
        self._confidences[index, :count] = masks.confidences
        self._valid[index] = True

    def mark(self, index: int, valid: bool) -> None:
        """Say whether the masks of a frame are still valid."""
        if index < len(self._valid):
            self._valid[index] = valid

    def curves(self, objects: Sequence[MarkedObject]) -> ObjectCurves:
        """Curves of these objects on the frames whose masks are valid."""
        self._reserve(0, len(objects))
        frames = np.flatnonzero(self._valid)
        columns = slice(len(objects))
        return ObjectCurves(tuple(objects), frames, self._areas[frames, columns], self._confidences[frames, columns])

    def _reserve(self, frames: int, objects: int) -> None:
        height, width = self._areas.shape
        if frames <= height and objects <= width:
            return
        shape = (max(2 * height, frames) if frames > height else height, max(width, objects))
        for name in ("_areas", "_confidences"):
            larger = np.zeros(shape, np.float32)
            larger[:height, :width] = getattr(self, name)
            setattr(self, name, larger)
        valid = np.zeros(shape[0], np.bool_)
        valid[:height] = self._valid
        self._valid = valid


def _areas(masks: ObjectMasks) -> Sequence[int]:
    count = len(masks.confidences)
    if count > _FEW:
        return masks.areas
    return [int(np.count_nonzero(masks.numbers == number)) for number in range(1, count + 1)]
