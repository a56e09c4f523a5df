"""How images are read: their range of values, rate and plane, also as text at the end of an address."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from scstream_app.errors import SourceError

#: Ranges (low, high) of values, which become 0 to 255: one for all channels, or one per channel.
Ranges = tuple[tuple[float, float], ...]
#: Text of the range that is measured, and of the one that the data type has.
AUTO, FULL = "auto", "full"

#: How a value of each option is written.
_VALUES = {"range": "LOW:HIGH", "rate": "NUMBER", "plane": "NUMBER"}
_HIGHEST_RATE = 1000.0
_MOST_PLANES = 1 << 24


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """How images are read.

    Parameters
    ----------
    ranges : Ranges or None
        Values that become black and white. Empty: those of the data type. None: measured if the data has more than 8
        bits.
    rate : float or None
        Frames per second; None for the default.
    plane : int or None
        Plane to show if a frame has several, from 0; None for the maximum over all planes.
    """

    ranges: Ranges | None = None
    rate: float | None = None
    plane: int | None = None

    @classmethod
    def parse(cls, range: str = AUTO, rate: str | float | None = None, plane: str | int | None = None) -> Self:
        """Options from the texts of a command line or an address; raises SourceError.

        >>> ImageOptions.parse("100:4000", "12.5")
        ImageOptions(ranges=((100.0, 4000.0),), rate=12.5, plane=None)
        """
        return cls(_ranges(range), _rate(rate), _plane(plane))

    def text(self) -> str:
        """The options as the end of an address; empty if all are default.

        >>> ImageOptions(((0.5, 7.0), (0.0, 9.0)), rate=10.0).text()
        '#range=0.5:7,0:9&rate=10'
        """
        parts = []
        if self.ranges is not None:
            parts.append(f"range={range_text(self.ranges)}")
        if self.rate is not None:
            parts.append(f"rate={_number(self.rate)}")
        if self.plane is not None:
            parts.append(f"plane={self.plane}")
        return f"#{'&'.join(parts)}" if parts else ""


def parse_options(text: str) -> ImageOptions:
    """Inverse of `ImageOptions.text`; raises SourceError."""
    names = [part.partition("=")[0] for part in text.removeprefix("#").split("&") if part]
    if len(set(names)) < len(names):
        raise SourceError(f"Cannot use '{text}': an option is given twice.")
    return ImageOptions.parse(**dict(part.split("=", 1) for part in text.removeprefix("#").split("&") if part))


def address_advice(names: Sequence[str]) -> str:
    """How to set these options in the window.

    >>> address_advice(["range"])
    'To change this, add #range=LOW:HIGH to the address and open it with Open URL.'
    """
    options = "&".join(f"{name}={_VALUES[name]}" for name in names)
    return f"To change this, add #{options} to the address and open it with Open URL."


def command_advice(names: Sequence[str]) -> str:
    """How to set these options on the command line.

    >>> command_advice(["plane", "range"])
    'To change this, use --plane NUMBER and --range LOW:HIGH.'
    """
    return f"To change this, use {' and '.join(f'--{name} {_VALUES[name]}' for name in names)}."


def range_text(ranges: Ranges) -> str:
    """Ranges as LOW:HIGH, separated by commas.

    >>> range_text(((0.0, 4095.0),)), range_text(())
    ('0:4095', 'full')
    """
    return ",".join(f"{_number(low)}:{_number(high)}" for low, high in ranges) or FULL


def _number(value: float) -> str:
    # repr keeps every digit: the same range must give the same pictures.
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _ranges(text: str) -> Ranges | None:
    if text == AUTO:
        return None
    return () if text == FULL else tuple(_range(part) for part in text.split(","))


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(number) for number in text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SourceError(
            f"The range must be auto, full, or LOW:HIGH with LOW below HIGH, for instance 0:4095; got '{text}'."
        )
    return low, high


def _rate(rate: str | float | None) -> float | None:
    if rate is None:
        return None
    try:
        value = float(rate)
    except ValueError:
        value = math.nan
    if not 0.0 < value <= _HIGHEST_RATE:
        raise SourceError(f"The rate must be above 0 and at most {_HIGHEST_RATE:.0f} frames per second, got {rate}.")
    return value


def _plane(plane: str | int | None) -> int | None:
    if plane is None:
        return None
    try:
        value = int(plane)
    except ValueError:
        value = -1
    if not 0 <= value < _MOST_PLANES:
        raise SourceError(f"The plane must be a whole number from 0, got {plane}.")
    return value
