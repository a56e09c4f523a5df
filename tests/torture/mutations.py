"""Damage to bytes and to JSON values, chosen by a generator of random numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rng = np.random.Generator

#: Values of 32 bits at which sizes and offsets overflow.
_EXTREMES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
#: Bytes at the beginning of a file that are hit more often, since most decisions are made on them.
_HEADER = 256


def damaged(data: bytes, rng: Rng, others: Sequence[bytes] = ()) -> bytes:
    """The data with one to three kinds of damage; ``others`` are files to take parts from."""
    for _ in range(int(rng.integers(1, 4))):
        data = _KINDS[int(rng.integers(len(_KINDS)))](data, rng, others)
    return data


def _range(data: bytes, rng: Rng) -> tuple[int, int]:
    if not data:
        return 0, 0
    start = int(rng.integers(min(len(data), _HEADER) if rng.random() < 0.3 else len(data)))
    longest = max(1, len(data) - start)
    return start, start + int(min(longest, 2 ** rng.uniform(0, np.log2(longest + 1))))


def truncated(data: bytes, rng: Rng, others: Sequence[bytes] = ()) -> bytes:
    """Only the beginning."""
    return data[: int(rng.integers(len(data) + 1))]


def flipped(data: bytes, rng: Rng, others: Sequence[bytes] = ()) -> bytes:
    """Some bits inverted."""
    if not data:
        return data
    changed = np.frombuffer(data, np.uint8).copy()
    count = int(2 ** rng.uniform(0, 6))
    end = min(len(data), _HEADER) if rng.random() < 0.4 else len(data)
    places = rng.integers(0, end, count)
    changed[places] ^= (1 << rng.integers(0, 8, count)).astype(np.uint8)
    return changed.tobytes()


def zeroed(data: bytes, rng: Rng, others: Sequence[bytes] = ()) -> bytes:
    """A range of zeros."""
    start, stop = _range(data, rng)
    return data[:start] + bytes(stop - start) + data[stop:]


def zeroed_tail(data: bytes, rng: Rng, others: Sequence[bytes] = ()) -> bytes:
    """The end replaced by zeros, as after a power failure."""
    start = int(rng.integers(len(data) + 1))
    return data[:start] + bytes(len(data) - start)


def _noisy(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    start, stop = _range(data, rng)
    return data[:start] + rng.bytes(stop - start) + data[stop:]


def _removed(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    start, stop = _range(data, rng)
    return data[:start] + data[stop:]


def _repeated(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    start, stop = _range(data, rng)
    return data[:stop] + data[start:stop] * int(rng.integers(1, 5)) + data[stop:]


def _extreme(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    width = int(rng.choice([1, 2, 4, 8]))
    value = _EXTREMES[int(rng.integers(len(_EXTREMES)))] & (256**width - 1)
    start = int(rng.integers(min(len(data), _HEADER) + 1))
    order: Any = "big" if rng.random() < 0.5 else "little"
    return data[:start] + value.to_bytes(width, order) + data[start + width :]


def _spliced(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    other = others[int(rng.integers(len(others)))] if others else data
    return data[: int(rng.integers(len(data) + 1))] + other[int(rng.integers(len(other) + 1)) :]


def _swapped_header(data: bytes, rng: Rng, others: Sequence[bytes]) -> bytes:
    other = others[int(rng.integers(len(others)))] if others else data
    length = int(rng.choice([4, 8, 16, 64, 256]))
    return other[:length] + data[length:]


_KINDS: tuple[Callable[[bytes, Rng, Sequence[bytes]], bytes], ...] = (
    truncated, flipped, flipped, zeroed, zeroed_tail, _noisy, _removed, _repeated, _extreme, _spliced, _swapped_header,
)  # fmt: skip


# --- JSON

#: Values of wrong types and sizes.
_WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**400, 1e308, -1e308, 0.5, float("nan"), float("inf"),
    "", "x", "../../outside", "/etc/passwd", "\x00", "\ud800", "9" * 5000, [], [[]], {}, [None] * 3, {"a": {"b": []}},
)  # fmt: skip


def damaged_json(value: Any, rng: Rng) -> Any:
    """The value with one part of it replaced by a wrong one, removed, or repeated."""
    value = json.loads(json.dumps(value))
    places = list(_places(value))
    if not places:
        return _wrong(rng)
    holder, key = places[int(rng.integers(len(places)))]
    kind = rng.random()
    if kind < 0.7:
        holder[key] = _wrong(rng)
    elif kind < 0.85:
        del holder[key]
    elif isinstance(holder, list):
        holder.extend([holder[key]] * int(rng.choice([1, 3, 1000])))
    else:
        holder[f"{key}{'x' * int(rng.choice([1, 1000]))}"] = holder[key]
    return value


def _wrong(rng: Rng) -> Any:
    return _WRONG[int(rng.integers(len(_WRONG)))]


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def damaged_json_text(data: bytes, rng: Rng) -> bytes | None:
    """JSON, or lines of JSON, with one value damaged; None if the data is something else."""
    try:
        lines = [json.loads(line) for line in data.splitlines()] if data.count(b"\n") > 1 else [json.loads(data)]
        whole = False
    except ValueError:
        try:
            lines, whole = [json.loads(data)], True
        except ValueError:
            return None
    if not lines:
        return None
    if whole:
        return _dump(damaged_json(lines[0], rng))
    place = int(rng.integers(len(lines)))
    lines[place] = damaged_json(lines[place], rng)
    return b"".join(_dump(line) + b"\n" for line in lines)


def _dump(value: Any) -> bytes:
    # Numbers beyond any type, NaN and lone surrogates are written as they are.
    return json.dumps(value).encode("utf-8", "surrogatepass")
