"""A frame of two runs, drawn for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from scstream_app.evaluation.frame_agreement import FrameAgreement, compare_ids
from scstream_app.render import views
from scstream_app.render.image_types import IdMap, Picture
from scstream_app.render.palette import RGB, Colouring

#: Views in which runs can be compared, with their titles.
COMPARED_VIEWS = {name: views.view(name).title for name in ("overlay", "mean_colour", "boundaries")}

_DIFFERENT: RGB = (255, 130, 0)
#: Brightness of the grey picture under the differences, and opacity of their colour.
_GREY, _TINT = 0.6, 0.7


@dataclass(frozen=True, slots=True)
class FramePair:
    """A frame and its segments in two runs."""

    index: int
    rgb: Picture
    first: IdMap
    second: IdMap
    agreement: FrameAgreement

    @classmethod
    def of(cls, index: int, rgb: Picture, first: IdMap, second: IdMap) -> FramePair:
        """Compare the two id maps of a frame."""
        return cls(index, rgb, first, second, compare_ids(first, second))


@dataclass(frozen=True, slots=True)
class ComparedFrame:
    """Pictures (H, W, 3) of a frame: in the first run, in the second run, and where they differ."""

    pair: FramePair
    view: str
    first: Picture
    second: Picture
    difference: Picture


def draw(pair: FramePair, view: str, opacity: float, colouring: Colouring) -> ComparedFrame:
    """Draw a frame of both runs in a view. Segments of the second run have the colours of their partners."""
    pictures = [
        views.draw(view, views.Scene(pair.rgb, ids, opacity=opacity, colouring=colouring))
        for ids in (pair.first, _partner_ids(pair))
    ]
    return ComparedFrame(pair, view, pictures[0], pictures[1], _difference(pair))


def _partner_ids(pair: FramePair) -> IdMap:
    """The second id map with the ids of the partners; segments without a partner have ids that the first has not."""
    unused = max(int(pair.first.max()) + 1, 0)
    highest = int(pair.second.max())
    table = np.arange(highest + 2, dtype=np.int32) + unused
    # Pixels without a segment have the id -1, the last entry.
    table[-1] = -1
    for second, first in pair.agreement.matches.items():
        if second >= 0:
            table[second] = first
    return table[pair.second]


def _difference(pair: FramePair) -> Picture:
    grey = cv2.cvtColor(cv2.convertScaleAbs(pair.rgb, alpha=_GREY), cv2.COLOR_RGB2GRAY)
    ground = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB), np.uint8)
    tint = np.full_like(ground, _DIFFERENT)
    mixed = np.asarray(cv2.addWeighted(ground, 1.0 - _TINT, tint, _TINT, 0.0), np.uint8)
    return np.asarray(cv2.copyTo(mixed, pair.agreement.differs.view(np.uint8), ground), np.uint8)
