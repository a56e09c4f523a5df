"""Colours that belong to an id for ever."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

#: Degrees. The least regular turn there is: any run of successive ids is spread evenly around the circle.
_GOLDEN_ANGLE = 180.0 * (3.0 - np.sqrt(5.0))
# Neighbours in the circle of hues are 8, 13, 21, 34, 55, ... ids apart: cycles of 4 and 3 set nearly all of them apart.
_LIGHTNESS = np.array([0.68, 0.82, 0.54, 0.75])
_CHROMA = np.array([0.16, 0.10, 0.13])

# Oklab to linear sRGB (Ottosson 2020): equal steps look about equally large.
_OKLAB_TO_LMS = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_LMS_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def colours(n: int) -> npt.NDArray[np.uint8]:
    """RGB (n, 3) of ids 0 to n - 1; an id has the same colour in every call.

    >>> bool((colours(10) == colours(1000)[:10]).all())
    True
    """
    return _table(1 << max(n - 1, 255).bit_length())[:n]


@cache
def _table(n: int) -> npt.NDArray[np.uint8]:
    id = np.arange(n)
    hue = np.deg2rad(id * _GOLDEN_ANGLE % 360.0)
    chroma = _CHROMA[id % len(_CHROMA)]
    lightness = _LIGHTNESS[id % len(_LIGHTNESS)]
    oklab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    linear = np.clip((oklab @ _OKLAB_TO_LMS.T) ** 3 @ _LMS_TO_RGB.T, 0.0, 1.0)
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    table: npt.NDArray[np.uint8] = np.rint(255.0 * rgb).astype(np.uint8)
    table.setflags(write=False)
    return table
