"""Scene cuts: where the picture changes altogether, so that nothing of the old scene goes on.

A frame whose colours differ much from those of the frame before is a candidate; the engine then tries to go on with it,
and if most of the picture changes its name, it is a cut. Both figures depend on nothing but the two frames and the
segmenter, so that a run that was interrupted takes the same decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scstream.metrics import label_churn
from scstream_app.render.image_types import IdMap, Picture

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

#: Share of the colours that must differ. Measured: fast pans and drifting light reach 0.18, cuts begin at 0.27.
CANDIDATE = 0.22
#: Share of the pixels that must change their id. At cuts 0.8 to 1 do by default, 0.56 with coarse settings.
CHURN = 0.5

_PIXELS = 16_384
_BITS = 3

Histogram = npt.NDArray[np.float64]


def histogram(rgb: Picture) -> Histogram:
    """Shares (512,) of the colours, eight levels a channel, in an evenly spaced sample of the pixels."""
    step = max(1, math.isqrt(rgb.shape[0] * rgb.shape[1] // _PIXELS))
    levels = (rgb[::step, ::step] >> (8 - _BITS)).astype(np.int64)
    codes = (levels[..., 0] << (2 * _BITS)) | (levels[..., 1] << _BITS) | levels[..., 2]
    return np.bincount(codes.ravel(), minlength=1 << (3 * _BITS)) / codes.size


def distance(one: Histogram, other: Histogram) -> float:
    """Share of the pixels that would have to change colour to turn one histogram into the other, in [0, 1].

    >>> dark, bright = np.zeros((4, 4, 3), np.uint8), np.full((4, 4, 3), 250, np.uint8)
    >>> distance(histogram(dark), histogram(bright)), distance(histogram(dark), histogram(dark + 5))
    (1.0, 0.0)
    """
    return float(0.5 * np.abs(one - other).sum())


def churn(
    segmenter: VideoSegmenter, before: IdMap, rgb: Picture, time: float, on_preview: Callable[[Preview], None]
) -> float:
    """Share of the pixels that would change their id if the segmenter went on with this frame; it stays as it is."""
    return label_churn(before, segmenter.copy().segment(rgb, time, on_preview))
