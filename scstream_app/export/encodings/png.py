"""Encode PNG images: RGB, RGBA, 8- and 16-bit grey, and indexed colour, which OpenCV cannot write."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

# PNG filters help with photographs; on areas of one colour they cost time and bytes.
_FLAT = (cv2.IMWRITE_PNG_COMPRESSION, 3, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE)
# Higher levels take twice the time for a tenth of the bytes.
_PHOTO = (cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP)


def colours(picture: npt.NDArray[np.uint8], flat: bool = False) -> bytes:
    """Encode RGB (H, W, 3) or RGBA (H, W, 4) with straight alpha; ``flat``: mostly areas of one colour."""
    swap = cv2.COLOR_RGBA2BGRA if picture.shape[2] == 4 else cv2.COLOR_RGB2BGR
    return _encode(np.asarray(cv2.cvtColor(picture, swap)), _FLAT if flat else _PHOTO)


def greys(picture: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> bytes:
    """Encode a grey image (H, W) of 8 or 16 bits."""
    return _encode(picture, _FLAT)


def indexed(indices: npt.NDArray[np.uint8], table: npt.NDArray[np.uint8]) -> bytes:
    """Encode indices (H, W) with a colour table (256, 3)."""
    height, width = indices.shape
    # Every row starts with a byte for its filter; 0 means none.
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = indices
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
        raise ValueError("OpenCV cannot encode the image")
    return encoded.tobytes()
