"""What segmentation gives for one frame, as pipeline, session, renderer and writers hand it on."""

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
class FrameResult:
    """A segmented frame.

    Parameters
    ----------
    index : int
        The frame's place in its source.
    time : float
        Its presentation time in seconds.
    rgb : array (H, W, 3) uint8, or None
        The picture; None when it is read back from a session whose source is not at hand.
    ids : array (H, W) int32
    events : tuple of Event
        Births, splits, merges and deaths in this frame.
    statistics : structured array, one row per live segment
        As `VideoSegmenter.statistics_`.
    log_posterior : float
    cut : bool
        Whether the model started afresh here, with new ids only: at a new scene, at a change of size, or because a
        person asked for it.
    milliseconds : mapping
        Time of each stage: "decode", "engine", ...
    edits : tuple of Edit
        What a person did to the model just before this frame.
    captured : float
        When a live source handed the picture over, by `time.monotonic`; nan for others.
    measures : mapping
        What was found out about the frame besides, by name: "churn" (share of pixels that changed their id),
        "uncertainty" (its mean). Whoever measures puts it there.
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

    @property
    def picture(self) -> Picture:
        """The frame's RGB; an error where there is none."""
        if self.rgb is None:
            raise ValueError(f"frame {self.index} was read without its picture")
        return self.rgb

    @property
    def nbytes(self) -> int:
        """Bytes that it keeps in memory, but for a few."""
        return self.ids.nbytes + self.statistics.nbytes + (0 if self.rgb is None else self.rgb.nbytes)
