"""Colour palettes: each id has a fixed colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

RGB = tuple[int, int, int]
Colours = npt.NDArray[np.uint8]

#: Golden angle in degrees: spreads the hues of any range of successive ids evenly around the circle.
_GOLDEN_ANGLE = 180.0 * (3.0 - np.sqrt(5.0))
# Ids with neighbouring hues differ by 8, 13, 21, 34, 55, ...; cycles of length 4 and 3 give nearly all of them
# different lightness or chroma.
_LIGHTNESS = np.array([0.68, 0.82, 0.54, 0.75])
_CHROMA = np.array([0.16, 0.10, 0.13])

#: Plastic number: steps of its inverse powers fill a square evenly, as golden-angle steps fill a circle.
_PLASTIC = 1.324717957244746
_SAFE_LIGHTNESS = (0.30, 0.96)
_SAFE_BLUE, _SAFE_YELLOW, _SAFE_RED = 0.19, 0.17, 0.045

# Oklab to linear sRGB (Ottosson 2020). Oklab is perceptually uniform: equal steps look about equally large.
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


def colours(n: int, name: str = "vivid") -> Colours:
    """RGB colours (n, 3) of ids 0 to n - 1 in the named palette; an id has the same colour for every n.

    >>> bool((colours(10) == colours(1000)[:10]).all())
    True
    """
    check(name)
    return _table(1 << max(n - 1, 255).bit_length(), name)[:n]


def colour(id: int, name: str = "vivid") -> RGB:
    """RGB colour of an id in the named palette."""
    red, green, blue = (int(level) for level in colours(id + 1, name)[id])
    return red, green, blue


def check(name: str) -> None:
    """Raise ValueError if no palette has this name."""
    if name not in PALETTES:
        raise ValueError(f"palette must be one of {', '.join(PALETTES)}, got {name!r}")


@dataclass(frozen=True, slots=True)
class Colouring:
    """Colours in which the ids are drawn.

    Parameters
    ----------
    name : str
        One of `PALETTES`.
    own : mapping of id to RGB
        Colours that the user chose for single segments.
    hidden : frozenset of int
        Hidden segments, drawn without a tint.

    Examples
    --------
    >>> Colouring(own={1: (255, 0, 0)}).table(3)[1].tolist()
    [255, 0, 0]
    """

    name: str = "vivid"
    own: Mapping[int, RGB] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        check(self.name)

    def table(self, n: int) -> Colours:
        """RGB colours (n, 3) of ids 0 to n - 1."""
        table = colours(n, self.name)
        chosen = {id: rgb for id, rgb in self.own.items() if 0 <= id < n}
        if chosen:
            table = table.copy()
            table[list(chosen)] = list(chosen.values())
        return table


@cache
def _table(n: int, name: str) -> Colours:
    oklab = PALETTES[name](np.arange(n))
    linear = np.clip(_linear(oklab), 0.0, 1.0)
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    table: Colours = np.rint(255.0 * rgb).astype(np.uint8)
    table.setflags(write=False)
    return table


def _linear(oklab: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Linear sRGB of Oklab colours (n, 3); outside [0, 1] if a colour is out of gamut."""
    linear: npt.NDArray[np.float64] = (oklab @ _OKLAB_TO_LMS.T) ** 3 @ _LMS_TO_RGB.T
    return linear


def _vivid(id: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Oklab colours with hues all around the circle and a few levels of lightness."""
    hue = np.deg2rad(id * _GOLDEN_ANGLE % 360.0)
    chroma = _CHROMA[id % len(_CHROMA)]
    lightness = _LIGHTNESS[id % len(_LIGHTNESS)]
    return np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)


def _safe(id: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Oklab colours for red-green colour blindness: they differ in lightness and from blue to yellow."""
    dark, light = _SAFE_LIGHTNESS
    lightness = dark + (light - dark) * ((0.5 + id / _PLASTIC) % 1.0)
    warmth = 2.0 * ((0.5 + id / _PLASTIC**2) % 1.0) - 1.0
    red = _SAFE_RED * np.cos(np.deg2rad(id * _GOLDEN_ANGLE))
    oklab = np.stack([lightness, red, np.where(warmth < 0.0, _SAFE_BLUE, _SAFE_YELLOW) * warmth], axis=1)
    return _into_gamut(oklab)


def _into_gamut(oklab: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Reduce the chroma of colours out of gamut; clipping would change their lightness, which distinguishes them."""
    for _ in range(60):
        linear = _linear(oklab)
        outside = ((linear < -1e-4) | (linear > 1.0 + 1e-4)).any(axis=1)
        if not outside.any():
            break
        oklab[outside, 1:] *= 0.95
    return oklab


#: The palettes by name: functions from ids to Oklab colours.
PALETTES: Mapping[str, Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]]] = MappingProxyType(
    {"vivid": _vivid, "safe": _safe}
)
