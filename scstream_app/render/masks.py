"""Single images that hold values rather than colours: masks and maps of ids."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import numpy.typing as npt

#: Images whose last channel says how opaque a pixel is.
_WITH_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")
#: Images whose values are no colours of a screen.
_FOR_PRINT = ("CMYK", "YCbCr", "LAB", "HSV")
#: How far the channels of a grey may be apart after they were converted.
_NEARLY_GREY = 32
#: An image of more colours is a photograph, not a mask.
_MOST_COLOURS = 255
#: DAVIS marks pixels that belong to nothing in particular with this value.
VOID = 255
#: Greys up to here are numbers of objects; brighter ones are shades of a single mask.
_MOST_NUMBERS = 20


@dataclass(frozen=True, slots=True)
class LabelImage:
    """An image as values.

    Parameters
    ----------
    values : array (H, W) of greys or indices, or (H, W, 3) of colours
        As they are stored; 0 where the image is more transparent than opaque. Where what is opaque is black
        altogether, or a photograph, the mask is the opacity itself: 255 where it is opaque.
    indexed : bool
        Whether the values are places in a colour table.
    """

    values: npt.NDArray[Any]
    indexed: bool

    def objects(self) -> npt.NDArray[np.integer[Any]]:
        """The image as a mask (H, W): 0 for the background, a number for each object.

        Of an indexed image every index is an object, but 255, which is void beside others; of a grey one every level
        up to 20, or else whatever is brighter than half the brightest; of any other every colour but black.
        """
        values = self.values
        if values.ndim == 3 and not (values == values[..., :1]).all():
            return _by_colour(values)
        values = values[..., 0] if values.ndim == 3 else values
        numbers = np.where(values == VOID, 0, values)
        if numbers.any() and (self.indexed or numbers.max() <= _MOST_NUMBERS):
            return np.asarray(numbers)
        # Several shades of grey are a soft edge, or what a lossy format made of two.
        return np.asarray(values > values.max() / 2, np.uint8)


def read_label_image(path: Path) -> LabelImage:
    """The values of an image, of an indexed one the indices rather than the colours.

    Raises OSError if it cannot be read.
    """
    # A pipe or a device would keep the program waiting.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("it is no file but a folder, a pipe or a device")
    try:
        file: Any
        with iio.imopen(path, "r", plugin="pillow") as file:
            mode = file.metadata().get("mode")
            wanted = "P" if mode == "P" else "RGB" if mode in _FOR_PRINT else None
            values = np.asarray(file.read(index=0, mode=wanted))
    except Exception as error:
        # Decoders fail in many ways, and few of their words mean anything to a person.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError("it is no image, or a damaged one") from error
    values = values.astype(np.uint8) if values.dtype == bool else values
    if mode in _FOR_PRINT:
        values = _grey(values)
    return LabelImage(_opaque(values) if mode in _WITH_ALPHA else values, mode == "P")


def _grey(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One channel, if all three tell the same."""
    return values[..., 1] if np.ptp(values, axis=2).max(initial=0) <= _NEARLY_GREY else values


def _by_colour(values: npt.NDArray[Any]) -> npt.NDArray[np.integer[Any]]:
    colours, index = np.unique(values.reshape(-1, 3), axis=0, return_inverse=True)
    painted = colours.any(axis=1)
    number = np.where(painted, np.cumsum(painted), 0)
    return np.asarray(number[index.ravel()].reshape(values.shape[:2]))


def _opaque(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    seen = values[..., -1:] > np.iinfo(values.dtype).max // 2
    shown = np.where(seen, values[..., :-1], 0)
    if not seen.all() and (not shown.any() or _is_photograph(shown)):
        return np.where(seen[..., 0], 255, 0).astype(np.uint8)
    return shown[..., 0] if shown.shape[2] == 1 else shown


def _is_photograph(shown: npt.NDArray[Any]) -> bool:
    return shown.shape[2] == 3 and len(np.unique(shown.reshape(-1, 3), axis=0)) > _MOST_COLOURS
