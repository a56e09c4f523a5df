"""Query the sizes and rates of a camera from the Linux kernel (Video4Linux)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

# Structures of linux/videodev2.h; x marks reserved or unused bytes.
_FORMAT = struct.Struct("II36xI16x")  # index, type (1: video capture), pixel format
_SIZE = struct.Struct("IIIII24x")  # index, pixel format, kind (1: discrete), width, height
_INTERVAL = struct.Struct("IIIIIII24x")  # index, pixel format, width, height, kind, numerator, denominator
_CAPTURE = _DISCRETE = 1


def _request(number: int, layout: struct.Struct) -> int:
    """The kernel's _IOWR('V', number, layout)."""
    return 3 << 30 | layout.size << 16 | ord("V") << 8 | number


ENUM_FORMATS = _request(2, _FORMAT)
ENUM_SIZES = _request(74, _SIZE)
ENUM_INTERVALS = _request(75, _INTERVAL)

Ioctl = Callable[[int, int, bytearray], object]


def modes(node: Path, ioctl: Ioctl | None = None) -> set[tuple[int, int, float]]:
    """All (width, height, frames per second) that the camera lists; empty if it lists only ranges or nothing."""
    try:
        handle = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return set()
    try:
        return set(_modes(handle, ioctl or _system_ioctl()))
    finally:
        os.close(handle)


def _system_ioctl() -> Ioctl:
    """The system's ioctl. Imported here because other systems have none, and doctest imports this module there too."""
    from fcntl import ioctl

    return ioctl


def _modes(handle: int, ioctl: Ioctl) -> Iterator[tuple[int, int, float]]:
    for _, _, pixels in _enumerate(handle, ioctl, ENUM_FORMATS, _FORMAT, _CAPTURE):
        for _, _, kind, width, height in _enumerate(handle, ioctl, ENUM_SIZES, _SIZE, pixels):
            if kind == _DISCRETE:
                for rate in _rates(handle, ioctl, pixels, width, height):
                    yield width, height, rate


def _rates(handle: int, ioctl: Ioctl, pixels: int, width: int, height: int) -> Iterator[float]:
    for entry in _enumerate(handle, ioctl, ENUM_INTERVALS, _INTERVAL, pixels, width, height):
        kind, numerator, denominator = entry[4:]
        if kind == _DISCRETE and numerator:
            yield round(denominator / numerator, 3)


def _enumerate(
    handle: int, ioctl: Ioctl, request: int, layout: struct.Struct, *question: int
) -> Iterator[tuple[int, ...]]:
    """Yield the kernel's answers for index 0, 1, ... until there are no more."""
    index = 0
    while True:
        entry = bytearray(layout.size)
        struct.pack_into(f"{1 + len(question)}I", entry, 0, index, *question)
        try:
            ioctl(handle, request, entry)
        except OSError:
            return
        yield layout.unpack(entry)
        index += 1
