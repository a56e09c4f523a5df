"""Convert values of any type and range to 8-bit RGB, with the same range for all frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture
from scstream_app.sources.images.options import Ranges

#: One plane of a frame: (H, W) grey, or (H, W, 3) RGB.
Plane = npt.NDArray[np.generic]
Planes = Sequence[Plane]

#: Colours of the channels of a microscope, in ImageJ's order; more channels begin again.
CHANNEL_COLOURS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0))
#: Number of frames that are sampled, spread evenly over the sequence.
SAMPLED_FRAMES = 16
#: Percentiles of the sampled values that become black and white.
PERCENTILES = (0.1, 99.9)
_SAMPLED_PIXELS = 1 << 16


def sampled_frames(length: int) -> list[int]:
    """Frames that `measure_ranges` is given.

    >>> sampled_frames(3), len(sampled_frames(1000))
    ([0, 1, 2], 16)
    """
    places = np.linspace(0, length - 1, min(length, SAMPLED_FRAMES)).round()
    return [int(place) for place in np.unique(places)]


def is_deep(planes: Planes) -> bool:
    """Whether values have more than 8 bits, so that they need a range."""
    return any(plane.dtype not in (np.uint8, np.bool_) for plane in planes)


def has_data(planes: Planes) -> bool:
    """Whether any value is a number; floating point marks missing values by NaN."""
    return any(plane.dtype.kind != "f" or not np.isnan(plane).all() for plane in planes)


def measure_ranges(frames: Iterable[Planes]) -> Ranges:
    """Percentiles of the finite values of each channel over the sampled frames.

    If the percentiles coincide, as on a black sky with a few stars, minimum and maximum are used.
    """
    samples: list[list[npt.NDArray[np.float64]]] = []
    whole = True
    for planes in frames:
        samples = samples or [[] for _ in planes]
        for sample, plane in zip(samples, planes, strict=False):
            sample.append(_sample(plane))
            whole &= plane.dtype.kind != "f"
    return tuple(_range(np.concatenate(sample), whole) for sample in samples)


def _sample(plane: Plane) -> npt.NDArray[np.float64]:
    rows, columns = plane.shape[:2]
    step = int(np.ceil(np.sqrt(rows * columns / _SAMPLED_PIXELS))) or 1
    values = plane[::step, ::step].astype(np.float64).ravel()
    return values[np.isfinite(values)]


def _range(values: npt.NDArray[np.float64], whole: bool) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, high = (float(value) for value in np.percentile(values, PERCENTILES))
    if low >= high:
        low, high = float(values.min()), float(values.max())
    # Round numbers are easier to read and to type.
    rounded = (float(np.floor(low)), float(np.ceil(high))) if whole else (float(f"{low:.5g}"), float(f"{high:.5g}"))
    low, high = rounded if rounded[0] < rounded[1] else (low, high)
    return (low, high) if low < high else (low, low + max(1.0, abs(low)))


def to_rgb(planes: Planes, ranges: Ranges) -> Picture:
    """RGB picture of a frame: grey, RGB, or the sum of its channels in `CHANNEL_COLOURS`.

    ``ranges`` has one entry per channel, or is empty for the range of the data type.
    """
    scaled = [
        to_eight_bits(plane, ranges[channel] if channel < len(ranges) else None) for channel, plane in enumerate(planes)
    ]
    if len(scaled) > 1:
        return _composite(scaled)
    only = scaled[0]
    if only.ndim == 3:
        return np.ascontiguousarray(only)
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(only), cv2.COLOR_GRAY2RGB), np.uint8)


def _composite(channels: Sequence[Picture]) -> Picture:
    total = np.zeros((*channels[0].shape, 3), np.uint16)
    for number, channel in enumerate(channels):
        for part, used in enumerate(CHANNEL_COLOURS[number % len(CHANNEL_COLOURS)]):
            if used:
                total[..., part] += channel
    return np.minimum(total, 255).astype(np.uint8)


def to_eight_bits(plane: npt.NDArray[Any], limits: tuple[float, float] | None) -> Picture:
    """Scale values so that ``limits`` become 0 and 255; None for the range of the data type, 0 to 1 for floats.

    NaN becomes 0.
    """
    kind = plane.dtype
    if kind == np.bool_:
        return plane.astype(np.uint8) * np.uint8(255)
    if kind == np.uint8 and limits is None:
        return plane.astype(np.uint8, copy=False)
    if limits is None:
        limits = (0.0, 1.0) if kind.kind == "f" else (float(np.iinfo(kind).min), float(np.iinfo(kind).max))
    if kind.kind in "iu" and kind.itemsize <= 2:
        # A table of all values is several times faster than arithmetic on every pixel. Negative values are bit patterns
        # above the positive ones.
        native = kind.newbyteorder("=")
        return np.take(_table(native, limits), plane.astype(native).view(f"u{kind.itemsize}"))
    return _scaled(plane.astype(np.float64), limits)


@lru_cache(maxsize=16)
def _table(kind: np.dtype[np.generic], limits: tuple[float, float]) -> Picture:
    """8-bit value of every bit pattern of an integer type of 8 or 16 bits."""
    patterns = np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}")
    return _scaled(patterns.view(kind).astype(np.float64), limits)


def _scaled(values: npt.NDArray[np.float64], limits: tuple[float, float]) -> Picture:
    low, high = limits
    # Extreme values overflow to infinity, which is clipped.
    with np.errstate(over="ignore", invalid="ignore"):
        share = (values - low) / (high - low)
    return np.rint(255.0 * np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0).clip(0.0, 1.0)).astype(np.uint8)
