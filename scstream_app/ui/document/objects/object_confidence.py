"""Area and confidence of one object where it exists, and its frames of low confidence."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream_app.objects import MarkedObject
from scstream_app.session.objects.object_curves import ObjectCurves, Values

#: Confidences below this count as low.
LOW = 0.7
#: How far the confidence must rise after a minimum, and fall again, until the next minimum counts as another one; and
#: the same among confidences none of which is low.
_RISE, SLIGHT_RISE = 0.1, 0.02


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCurve:
    """Area and confidence of an object on the frames that are tracked.

    Parameters
    ----------
    frames : array (n,) int64
    areas : array (n,) float32
    confidences : array (n,) float32
        nan where the object does not exist: before its first edit, or after a scene cut.
    """

    frames: npt.NDArray[np.int64]
    areas: Values
    confidences: Values

    def at(self, frame: int) -> float:
        """The confidence on a frame; nan if the object is not tracked or does not exist there."""
        place = int(self.frames.searchsorted(frame))
        known = place < len(self.frames) and self.frames[place] == frame
        return float(self.confidences[place]) if known else math.nan

    def low_frames(self, below: float = LOW, rise: float = _RISE) -> list[int]:
        """The minima of low confidence; a run of low frames without a clear rise in between has one.

        Parameters
        ----------
        below : float
            Confidences below this are low.
        rise : float
            How far the confidence must rise after a minimum, and fall again, until the next minimum counts.

        Examples
        --------
        >>> values = np.array([1.0, 0.9, 0.5, 0.4, 0.45, 0.4, 0.8, 0.6, 0.9], np.float32)
        >>> ObjectCurve(np.arange(10, 19), values, values).low_frames()
        [13, 17]
        """
        found: list[int] = []
        lowest, place, since = np.inf, -1, np.inf
        for here, value in enumerate(np.nan_to_num(self.confidences, nan=np.inf).tolist()):
            if value < min(lowest, below, since - rise):
                lowest, place = value, here
            elif place >= 0 and value >= lowest + rise:
                found.append(place)
                lowest, place, since = np.inf, -1, value
            since = max(since, value) if place < 0 else since
        found += [place] if place >= 0 else []
        return [int(self.frames[place]) for place in found]


def confidence_text(value: float) -> str:
    """A confidence as per cent; empty if it is unknown. On frames that the user edited it is no estimate.

    >>> confidence_text(0.874), confidence_text(1.0), confidence_text(float("nan"))
    ('87 %', 'edited', '')
    """
    if math.isnan(value):
        return ""
    return "edited" if value >= 1.0 else f"{min(round(100.0 * value), 99)} %"


def curve_of(curves: ObjectCurves, object_: MarkedObject, cuts: Sequence[int]) -> ObjectCurve:
    """Curve of an object; without frames if it is not tracked yet."""
    place = curves.place(object_.name)
    if place is None:
        nothing = np.empty(0, np.float32)
        return ObjectCurve(np.empty(0, np.int64), nothing, nothing)
    confidences = np.full(len(curves.frames), np.nan, np.float32)
    for start, stop in _ranges(object_, cuts):
        inside = slice(*np.searchsorted(curves.frames, [start, stop]).tolist())
        confidences[inside] = curves.confidences[inside, place]
    return ObjectCurve(curves.frames, curves.areas[:, place], confidences)


def _ranges(object_: MarkedObject, cuts: Sequence[int]) -> list[tuple[int, int]]:
    """Frames at which the object exists: from each edit that gives it something to its end or the next cut."""
    never = np.iinfo(np.int64).max
    found = []
    for edit in object_.edits:
        if edit.gives:
            cut = bisect_right(cuts, edit.frame)
            ends = never if edit.stop is None else edit.stop
            found.append((edit.frame, min(ends, cuts[cut]) if cut < len(cuts) else ends))
    return found
