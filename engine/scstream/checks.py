"""Checks of user input. Errors name the parameter, the value and what is allowed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Bound of the values of points. All of float32 lies within it, and sums of their fourth powers stay within float64.
MAX_VALUE = 1e60
#: Bound of a batch's total weight: beyond it, float64 cannot count single points.
MAX_WEIGHT = 2.0**53


def check_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, strict: bool = False) -> None:
    """Raise ValueError unless the value is a finite number in [low, high], or in (low, high] if ``strict``."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not _finite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    number = float(value)
    if number < low or number > high or (strict and number == low):
        above = f"{'>' if strict else '>='} {low:g}"
        span = above if math.isinf(high) else f"{above} and at most {high:g}"
        raise ValueError(f"{name} must be {span}, got {value!r}")


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def check_integer(name: str, value: Any, low: int, high: int = 2**63 - 1) -> None:
    """Raise ValueError unless the value is a whole number in [low, high]."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not low <= int(value) <= high:
        raise ValueError(f"{name} must be a whole number >= {low}, got {value!r}")


def check_time(time: float | None, last: float | None) -> float:
    """Return the time of the next batch: checked to be after the last one's; if None one unit later, 0 at first."""
    if time is not None:
        check_number("time", time)
    moment = (0.0 if last is None else last + 1.0) if time is None else float(time)
    # Near 1e16 and beyond, one unit is lost by rounding.
    if last is not None and moment <= last:
        raise ValueError(f"time must increase: the last batch came at {last:g}, got {time!r}")
    return moment


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    known = sorted(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {known}, got {value!r}")


def is_bounded(values: Array) -> bool:
    """Whether all values are numbers between -MAX_VALUE and MAX_VALUE; takes no longer than np.isfinite."""
    return bool(-MAX_VALUE <= values.min(initial=0.0) and values.max(initial=0.0) <= MAX_VALUE)


def check_bounded(X: Any) -> None:
    """Raise ValueError, with column and value, unless all values of X (N, D), dense or CSR, are bounded."""
    values = X if isinstance(X, np.ndarray) else X.data
    if is_bounded(values):
        return
    place = int(np.argmax(np.abs(values)))
    column = place % X.shape[1] if isinstance(X, np.ndarray) else int(X.indices[place])
    raise ValueError(
        f"X must have values between -{MAX_VALUE:g} and {MAX_VALUE:g}, got {values.flat[place]:g} in column {column}"
    )


def check_weight(weight: Any, n: int) -> Array:
    """Return weights (n,) of points as floats, checked to be neither negative nor too large; ones if None."""
    if weight is None:
        return np.ones(n)
    w = np.atleast_1d(numeric("sample_weight", weight))
    if w.shape != (n,):
        raise ValueError(f"sample_weight must have one weight for each of the {n} points, got shape {w.shape}")
    if (w < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {w.min():g}")
    with np.errstate(over="ignore"):
        total = w.sum()
    if total > MAX_WEIGHT:
        raise ValueError(f"sample_weight must sum to at most 2**53, got weights of up to {w.max():g}")
    return np.ascontiguousarray(w)


def check_frame(frame: Any) -> None:
    """Raise TypeError or ValueError unless the frame is an array (H, W, 3) of uint8 with at least one pixel."""
    if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
        kind = frame.dtype if isinstance(frame, np.ndarray) else type(frame).__name__
        raise TypeError(f"a frame must be an array of uint8, got {kind}")
    if frame.ndim != 3 or frame.shape[2] != 3 or 0 in frame.shape:
        raise ValueError(f"a frame must have shape (H, W, 3), got {frame.shape}")


def scalar(name: str, value: Any) -> float:
    """Return the value, a finite number or an array that holds one without dimensions, as a float."""
    array = numeric(name, value)
    if array.ndim:
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(array)


def numeric(name: str, value: Any) -> Array:
    """Return the value as a new array of finite floats."""
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric, got {value!r}") from error
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {value!r}")
    return array
