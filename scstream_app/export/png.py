"""PNG images as bytes: colours, cut-outs, 16-bit greys, and colour tables, which OpenCV cannot write."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

# Filters help photographs; on flat areas they cost time and bytes.
_FLAT = (cv2.IMWRITE_PNG_COMPRESSION, 3, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE)
# Higher levels take twice the time for a tenth of the bytes.
_PHOTO = (cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP)


def colours(picture: npt.NDArray[np.uint8], flat: bool = False) -> bytes:
    """RGB (H, W, 3) or RGBA (H, W, 4) with straight alpha; ``flat``: mostly areas of one colour."""
    swap = cv2.COLOR_RGBA2BGRA if picture.shape[2] == 4 else cv2.COLOR_RGB2BGR
    return _encode(np.asarray(cv2.cvtColor(picture, swap)), _FLAT if flat else _PHOTO)


def greys(picture: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> bytes:
    """Greys (H, W) of 8 or 16 bits."""
    return _encode(picture, _FLAT)


def indexed(numbers: npt.NDArray[np.uint8], table: npt.NDArray[np.uint8]) -> bytes:
    """Numbers (H, W) that a colour table (256, 3) gives colours to: the pixels stay the numbers themselves."""
    height, width = numbers.shape
    # Every row begins with the number of its filter, here always none.
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = numbers
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", table.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 3)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _encode(picture: npt.NDArray[np.generic], options: Sequence[int]) -> bytes:
    done, encoded = cv2.imencode(".png", np.ascontiguousarray(picture), list(options))
    if not done:
        raise ValueError("the image could not be encoded")
    return encoded.tobytes()
