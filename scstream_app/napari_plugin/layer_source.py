"""LayerSource: the frames of an image layer as a source."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture
from scstream_app.sources import DamagedFrame, Frame, Source
from scstream_app.sources.base import check_seekable

#: Frames per second of a layer, which states none.
RATE = 24.0


class LayerSource(Source):
    """Frames of an image, or of images along a first axis, as 8-bit RGB.

    Parameters
    ----------
    name : str
    data : array-like (H, W) or (frames, H, W), with ``rgb`` also (..., 3) or (..., 4)
        Sliced frame by frame, so it may be a dask array.
    rgb : bool
        Whether the last axis is that of the colours.
    limits : tuple of float
        Values of black and white of a grey image. Colours go from 0 to 1 if they are floating point, otherwise to the
        largest value of their type. Values that are not finite are black.

    Attributes
    ----------
    shape : tuple of int
        Number of frames, height and width.
    """

    def __init__(self, name: str, data: Any, rgb: bool, limits: tuple[float, float]) -> None:
        self.name, self.address = name, name
        self._rgb = rgb
        self._check(tuple(data.shape), np.dtype(data.dtype))
        self._data = data[None] if data.ndim == 2 + rgb else data
        self.shape: tuple[int, int, int] = self._data.shape[:3]
        self.length, self.height, self.width = self.shape
        self.rate = RATE
        self._low, self._high = _range_of(np.dtype(data.dtype)) if rgb else limits
        self._next = 0
        self._closed = False

    def _check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        axes = len(shape) - self._rgb
        if axes not in (2, 3):
            raise SourceError(
                f"Cannot segment '{self.name}': it has {axes} dimensions, but must have 2, or 3 with frames first. "
                "Choose one channel or one plane."
            )
        if 0 in shape:
            raise SourceError(f"Cannot segment '{self.name}': it is empty, of shape {shape}.")
        if dtype.kind not in "buif":
            raise SourceError(f"Cannot segment '{self.name}': its values must be real numbers, got {dtype}.")

    def read(self) -> Frame | None:
        """See `Source`."""
        index = self._next
        if self._closed or index >= self.shape[0]:
            return None
        try:
            values = np.asarray(self._data[index])
        except Exception as error:
            # The array may come from any file or computation, and raise anything.
            raise SourceError(f"Cannot read frame {index} of '{self.name}': {error}.") from error
        self._next += 1
        if not np.isfinite(values).any():
            raise DamagedFrame("it has no finite values", index)
        grey_or_rgb = eight_bits(values, self._low, self._high)
        rgb = grey_or_rgb[..., :3] if self._rgb else np.repeat(grey_or_rgb[..., None], 3, axis=2)
        return Frame(index, index / self.rate, np.ascontiguousarray(rgb))

    def seek(self, index: int) -> None:
        """See `Source`."""
        check_seekable(self, index)
        self._next = index

    def close(self) -> None:
        """See `Source`."""
        self._closed = True


def _range_of(dtype: np.dtype[Any]) -> tuple[float, float]:
    return (0.0, float(np.iinfo(dtype).max)) if dtype.kind in "ui" else (0.0, 1.0)


def eight_bits(values: npt.NDArray[Any], low: float, high: float) -> Picture:
    """Stretch values so that ``low`` becomes 0 and ``high`` 255; values that are not finite become 0.

    >>> eight_bits(np.array([0.0, 1.0, 3.0, np.nan]), 1.0, 2.0).tolist()
    [0, 0, 255, 0]
    """
    if values.dtype == np.uint8 and (low, high) == (0, 255):
        return values
    span = high - low if high > low else 1.0
    shares = (values.astype(np.float64) - low) / span
    finite = np.nan_to_num(shares, nan=0.0, posinf=0.0, neginf=0.0)
    return np.asarray(np.rint(255.0 * np.clip(finite, 0.0, 1.0)), np.uint8)
