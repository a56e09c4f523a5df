"""Checks of what a file says: its kind, its range and its size, before anything is done with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scstream_app.session.storage.files import Invalid

#: Larger than any camera's picture, and small enough to be held in memory.
MAX_SIDE = 32_768
MAX_PIXELS = 1 << 27
MAX_INDEX = (1 << 31) - 1


def integer(values: Mapping[str, Any], name: str, low: int = 0, high: int = MAX_INDEX) -> int:
    """A whole number in [low, high]."""
    value = values.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Invalid(f"'{name}' is {_short(value)}, no whole number from {low} to {high}")
    return value


def optional(values: Mapping[str, Any], name: str, low: int = 0, high: int = MAX_INDEX) -> int | None:
    """A whole number, or None."""
    return None if values.get(name) is None else integer(values, name, low, high)


def number(values: Mapping[str, Any], name: str) -> float:
    """A finite number."""
    value = values.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e300 or not math.isfinite(value):
        raise Invalid(f"'{name}' is {_short(value)}, no number")
    return float(value)


def switch(values: Mapping[str, Any], name: str) -> bool:
    """True or false."""
    value = values.get(name)
    if not isinstance(value, bool):
        raise Invalid(f"'{name}' is {_short(value)}, neither true nor false")
    return value


def text(values: Mapping[str, Any], name: str, limit: int = 4096) -> str:
    """A text of a sensible length."""
    value = values.get(name)
    if not isinstance(value, str) or len(value) > limit:
        raise Invalid(f"'{name}' is {_short(value)}, no text of at most {limit} characters")
    return value


def section(values: Any, name: str) -> dict[str, Any]:
    """Names with values."""
    value = values.get(name) if isinstance(values, Mapping) else None
    if not isinstance(value, dict):
        raise Invalid(f"'{name}' is {_short(value)}, not names with values")
    return value


def listing(values: Mapping[str, Any], name: str, limit: int = 1_000_000) -> list[Any]:
    """A list of a sensible length."""
    value = values.get(name)
    if not isinstance(value, list) or len(value) > limit:
        raise Invalid(f"'{name}' is {_short(value)}, no list of at most {limit} entries")
    return value


def size(values: Mapping[str, Any]) -> tuple[int, int]:
    """Height and width of a picture that fits into memory."""
    height, width = (integer(values, side, 1, MAX_SIDE) for side in ("height", "width"))
    if height * width > MAX_PIXELS:
        raise Invalid(f"{width} x {height} pixels are more than the {MAX_PIXELS} that make sense")
    return height, width


def _short(value: Any) -> str:
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
