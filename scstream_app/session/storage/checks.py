"""Check values read from JSON files: type, range and size. Each check returns the value or raises InvalidData."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scstream_app.session.storage.files import InvalidData

#: Limits of a picture: larger than that of any camera, and small enough for memory.
MAX_SIDE = 32_768
MAX_PIXELS = 1 << 27
MAX_INDEX = (1 << 31) - 1


def integer(values: Mapping[str, Any], name: str, low: int = 0, high: int = MAX_INDEX) -> int:
    """Integer in [low, high]."""
    value = values.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidData(f"'{name}' must be a whole number from {low} to {high}, got {_short(value)}")
    return value


def optional(values: Mapping[str, Any], name: str, low: int = 0, high: int = MAX_INDEX) -> int | None:
    """Integer in [low, high], or None."""
    return None if values.get(name) is None else integer(values, name, low, high)


def number(values: Mapping[str, Any], name: str) -> float:
    """Finite number."""
    value = values.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e300 or not math.isfinite(value):
        raise InvalidData(f"'{name}' must be a number, got {_short(value)}")
    return float(value)


def switch(values: Mapping[str, Any], name: str) -> bool:
    """Boolean."""
    value = values.get(name)
    if not isinstance(value, bool):
        raise InvalidData(f"'{name}' must be true or false, got {_short(value)}")
    return value


def text(values: Mapping[str, Any], name: str, limit: int = 4096) -> str:
    """String of at most ``limit`` characters."""
    value = values.get(name)
    if not isinstance(value, str) or len(value) > limit:
        raise InvalidData(f"'{name}' must be a text of at most {limit} characters, got {_short(value)}")
    return value


def section(values: Any, name: str) -> dict[str, Any]:
    """JSON object (dict)."""
    value = values.get(name) if isinstance(values, Mapping) else None
    if not isinstance(value, dict):
        raise InvalidData(f"'{name}' must be a JSON object, got {_short(value)}")
    return value


def listing(values: Mapping[str, Any], name: str, limit: int = 1_000_000) -> list[Any]:
    """List of at most ``limit`` entries."""
    value = values.get(name)
    if not isinstance(value, list) or len(value) > limit:
        raise InvalidData(f"'{name}' must be a list of at most {limit} entries, got {_short(value)}")
    return value


def size(values: Mapping[str, Any]) -> tuple[int, int]:
    """Height and width of a picture, within `MAX_SIDE` and `MAX_PIXELS`."""
    height, width = (integer(values, side, 1, MAX_SIDE) for side in ("height", "width"))
    if height * width > MAX_PIXELS:
        raise InvalidData(f"{width} x {height} pixels exceed the limit of {MAX_PIXELS}")
    return height, width


def _short(value: Any) -> str:
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
