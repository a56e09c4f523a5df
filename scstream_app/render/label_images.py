"""Read label images: masks and id maps stored as image files."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import numpy.typing as npt

#: Image modes with an alpha channel.
_WITH_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")
#: Image modes that are converted to RGB first.
_CONVERTED_MODES = ("CMYK", "YCbCr", "LAB", "HSV")
#: Largest difference between the channels of a grey pixel after conversion.
_NEARLY_GREY = 32
#: An image with more colours is a photograph, not a mask.
_MOST_COLOURS = 255
#: Value of pixels that DAVIS excludes from the evaluation.
VOID = 255
#: Grey images with values up to this one hold object numbers; brighter ones are a single mask.
_MOST_GREY_LABELS = 20


@dataclass(frozen=True, slots=True)
class LabelImage:
    """Image whose values are labels.

    Parameters
    ----------
    values : array (H, W) of grey values or indices, or (H, W, 3) of colours
        The stored values; 0 where the image is more transparent than opaque. If the opaque part is completely black or
        a photograph, the alpha channel is the mask: 255 where the image is opaque.
    indexed : bool
        Whether the values are indices of a colour table.
    """

    values: npt.NDArray[Any]
    indexed: bool

    def objects(self) -> npt.NDArray[np.integer[Any]]:
        """Convert to a mask (H, W): 0 for the background, a number for each object.

        In an indexed image every index is an object, except 255 (void) if there are others. A grey image with values
        up to 20 holds object numbers; any other grey image is one object, where it is brighter than half its maximum.
        In a colour image every colour but black is an object.
        """
        values = self.values
        if values.ndim == 3 and not (values == values[..., :1]).all():
            return _label_by_colour(values)
        values = values[..., 0] if values.ndim == 3 else values
        numbers = np.where(values == VOID, 0, values)
        if numbers.any() and (self.indexed or numbers.max() <= _MOST_GREY_LABELS):
            return np.asarray(numbers)
        # Other grey levels are soft edges or compression artefacts.
        return np.asarray(values > values.max() / 2, np.uint8)


def read_label_image(path: Path) -> LabelImage:
    """Read an image as labels; of an indexed image the indices, not the colours.

    Raises OSError if it cannot be read.
    """
    # A pipe or a device would block.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("it is not a regular file")
    try:
        file: Any
        with iio.imopen(path, "r", plugin="pillow") as file:
            mode = file.metadata().get("mode")
            wanted = "P" if mode == "P" else "RGB" if mode in _CONVERTED_MODES else None
            values = np.asarray(file.read(index=0, mode=wanted))
    except Exception as error:
        # Decoders raise many kinds of errors with messages that do not help the user.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError("it is not an image or is damaged") from error
    values = values.astype(np.uint8) if values.dtype == bool else values
    if mode in _CONVERTED_MODES:
        values = _single_channel(values)
    return LabelImage(_apply_alpha(values) if mode in _WITH_ALPHA else values, mode == "P")


def _single_channel(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A single channel (H, W) if the image is nearly grey."""
    return values[..., 1] if np.ptp(values, axis=2).max(initial=0) <= _NEARLY_GREY else values


def _label_by_colour(values: npt.NDArray[Any]) -> npt.NDArray[np.integer[Any]]:
    colours, index = np.unique(values.reshape(-1, 3), axis=0, return_inverse=True)
    painted = colours.any(axis=1)
    number = np.where(painted, np.cumsum(painted), 0)
    return np.asarray(number[index.ravel()].reshape(values.shape[:2]))


def _apply_alpha(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    seen = values[..., -1:] > np.iinfo(values.dtype).max // 2
    shown = np.where(seen, values[..., :-1], 0)
    if not seen.all() and (not shown.any() or _is_photograph(shown)):
        return np.where(seen[..., 0], 255, 0).astype(np.uint8)
    return shown[..., 0] if shown.shape[2] == 1 else shown


def _is_photograph(shown: npt.NDArray[Any]) -> bool:
    return shown.shape[2] == 3 and len(np.unique(shown.reshape(-1, 3), axis=0)) > _MOST_COLOURS
