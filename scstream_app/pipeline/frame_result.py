"""FrameResult: the segmentation of one frame and its objects, passed between pipeline, session, views and export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.pipeline.edits import Edit
from scstream_app.render.image_types import IdMap, Picture

_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ObjectMasks:
    """The objects of one frame.

    Parameters
    ----------
    numbers : array (H, W) uint8
        1 on the first object, 2 on the second, ..., 0 elsewhere.
    confidences : tuple of float
        How clear each object is, from 0 to 1: 1 where the user marked it, 0 if it is lost; nan if it was not measured.

    Examples
    --------
    >>> masks = ObjectMasks(np.array([[0, 2, 2]], np.uint8), (0.0, 1.0))
    >>> masks.areas, masks.mask(1).tolist()
    ((0, 2), [[False, True, True]])
    """

    numbers: npt.NDArray[np.uint8]
    confidences: tuple[float, ...]

    @property
    def areas(self) -> tuple[int, ...]:
        """Number of pixels of each object."""
        # np.bincount would first convert all numbers to 64 bits.
        return tuple(int(np.count_nonzero(self.mask(place))) for place in range(len(self.confidences)))

    def mask(self, place: int) -> npt.NDArray[np.bool_]:
        """Mask (H, W) of the object at ``place``."""
        return np.asarray(self.numbers == place + 1)


@dataclass(frozen=True, slots=True)
class FrameResult:
    """A segmented frame.

    Parameters
    ----------
    index : int
        Index of the frame in its source.
    time : float
        Presentation time in seconds.
    rgb : array (H, W, 3) uint8, or None
        The picture; None if it was read from a session without its source.
    ids : array (H, W) int32
    events : tuple of Event
        Births, splits, merges and deaths in this frame.
    statistics : structured array, one row per live segment
        As `VideoSegmenter.statistics_`.
    log_posterior : float
    cut : bool
        Whether the model restarted at this frame, with new ids: at a scene cut, a change of size, after a gap, or at
        the user's request.
    milliseconds : mapping
        Time of each stage: "decode", "engine", ...
    edits : tuple of Edit
        The user's edits of the model just before this frame.
    captured : float
        Time (`time.monotonic`) at which a live source delivered the picture; nan for other sources.
    measures : mapping
        Measures of the frame by name, empty until it is measured: "churn" (share of pixels that changed their id) and
        "uncertainty" (mean over the frame).
    objects : ObjectMasks, optional
        The user's objects; None if there are none or they were not tracked.
    """

    index: int
    time: float
    rgb: Picture | None
    ids: IdMap
    events: tuple[Event, ...]
    statistics: npt.NDArray[np.void]
    log_posterior: float = float("nan")
    cut: bool = False
    milliseconds: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    edits: tuple[Edit, ...] = ()
    captured: float = math.nan
    measures: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    objects: ObjectMasks | None = None

    @property
    def picture(self) -> Picture:
        """The frame's RGB picture; raises ValueError if there is none."""
        if self.rgb is None:
            raise ValueError(f"frame {self.index} was read without its picture")
        return self.rgb

    @property
    def nbytes(self) -> int:
        """Approximate size in memory in bytes."""
        return self.ids.nbytes + self.statistics.nbytes + (0 if self.rgb is None else self.rgb.nbytes)
