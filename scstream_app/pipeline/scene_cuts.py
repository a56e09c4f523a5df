"""Scene cut detection.

A frame whose colour histogram differs much from that of the previous frame is a candidate. A copy of the segmenter then
segments it without smoothing and steadiness, which would keep the ids of the scene before; if most pixels change their
id, the frame is a cut. Both measures depend only on the two frames and the segmenter, so a resumed run makes the same
decisions.
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

#: Smallest `distance` of a candidate. Measured: fast pans and changing light reach 0.18, cuts start at 0.27.
CANDIDATE = 0.22
#: Smallest `churn` of a cut. Measured at cuts: 0.8 to 1 with default settings, 0.56 with coarse ones.
CHURN = 0.5

_PIXELS = 16_384
_BITS = 3

Histogram = npt.NDArray[np.float64]


def histogram(rgb: Picture) -> Histogram:
    """Colour histogram (512,) with eight levels per channel over a regular sample of the pixels; sums to 1."""
    step = max(1, math.isqrt(rgb.shape[0] * rgb.shape[1] // _PIXELS))
    levels = (rgb[::step, ::step] >> (8 - _BITS)).astype(np.int64)
    codes = (levels[..., 0] << (2 * _BITS)) | (levels[..., 1] << _BITS) | levels[..., 2]
    return np.bincount(codes.ravel(), minlength=1 << (3 * _BITS)) / codes.size


def distance(one: Histogram, other: Histogram) -> float:
    """Total variation distance of two histograms, in [0, 1]: the share of pixels in different bins.

    >>> dark, bright = np.zeros((4, 4, 3), np.uint8), np.full((4, 4, 3), 250, np.uint8)
    >>> distance(histogram(dark), histogram(bright)), distance(histogram(dark), histogram(dark + 5))
    (1.0, 0.0)
    """
    return float(0.5 * np.abs(one - other).sum())


def is_cut(
    segmenter: VideoSegmenter,
    before: IdMap,
    colours: tuple[Histogram, Histogram],
    rgb: Picture,
    time: float,
    on_preview: Callable[[Preview], None],
) -> bool:
    """Return whether a frame starts a new scene: its colours jump, and most pixels would change their id.

    ``before`` holds the ids of the frame before, ``colours`` the histograms of that frame and of this one.
    """
    return distance(*colours) >= CANDIDATE and churn(segmenter, before, rgb, time, on_preview) >= CHURN


def churn(
    segmenter: VideoSegmenter, before: IdMap, rgb: Picture, time: float, on_preview: Callable[[Preview], None]
) -> float:
    """Share of the pixels that would change their id if the segmenter continued with this frame.

    The segmenter itself does not change: a copy without smoothing and steadiness segments the frame.
    """
    trial = segmenter.copy().set_params(smoothing=0.0, steadiness=0.0)
    # Without steadiness the past fades sooner, and a frame that is segmented like a first one has new ids only.
    return label_churn(before, trial.segment(rgb, None if trial.has_faded(time) else time, on_preview))
