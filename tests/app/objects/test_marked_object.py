"""Objects, their edits, and the masks of painted ones."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from scstream_app.errors import InvalidData, SessionError
from scstream_app.objects import MarkedObject, ObjectEdit, mask_from_png, mask_size, mask_to_png


@pytest.mark.parametrize("shape", [(1, 1), (48, 64), (7, 13)])
def test_a_mask_is_read_back(shape: tuple[int, int]) -> None:
    mask = np.random.default_rng(0).random(shape) < 0.5
    np.testing.assert_array_equal(mask_from_png(mask_to_png(mask), shape), mask)


def test_a_mask_takes_one_bit_per_pixel() -> None:
    data = mask_to_png(np.random.default_rng(0).random((100, 200)) < 0.5)
    assert len(data) < 100 * 200 / 8 * 1.1
    # Bit depth and colour type (grey) in the header.
    assert data[24:26] == b"\x01\x00"
    assert mask_size(data) == (100, 200)


@pytest.mark.parametrize("mask", [np.zeros((4, 4), np.uint8), np.zeros((2, 2, 2), bool), np.zeros((0, 4), bool)])
def test_other_arrays_are_no_masks(mask: np.ndarray) -> None:
    with pytest.raises(InvalidData, match="boolean image"):
        mask_to_png(mask)


def header(width: int, height: int) -> bytes:
    content = b"IHDR" + struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + content + struct.pack(">I", zlib.crc32(content))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a PNG"),
        (b"GIF89a" + bytes(40), "not a PNG"),
        (mask_to_png(np.ones((4, 6), bool))[:20], "not a PNG"),
        (mask_to_png(np.ones((5, 6), bool)), "is 6 x 5, the frames are 6 x 4"),
        (header(1 << 30, 1 << 30), "the frames are 6 x 4"),
        (header(6, 4), "damaged"),
        (mask_to_png(np.ones((4, 6), bool))[:40], "damaged"),
    ],
)
def test_damaged_masks_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        mask_from_png(data, (4, 6))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("drawn", 0), "must be one of made, added, removed, painted, got 'drawn'"),
        (("made", -1), "must be >= 0, got -1"),
        (("added", 4, {1}, None, 4), "an edit of frame 4 cannot end at frame 4"),
        (("painted", 4), "must have a mask"),
        (("made", 4, {1}, b"mask"), "no other edit can have one"),
    ],
)
def test_invalid_edits_are_refused(values: tuple[object, ...], message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        ObjectEdit(*values)


def test_edits_are_kept_in_the_order_of_their_frames() -> None:
    given = [ObjectEdit("removed", 7, {1}), ObjectEdit("added", 7, {2}), ObjectEdit("made", 3, {1})]
    kite = MarkedObject("kite", (1, 2, 3), tuple(given))
    assert kite.edits == (given[2], given[0], given[1])
    assert (kite.frame, kite.ids) == (3, {1})


def test_an_object_without_edits_is_refused() -> None:
    with pytest.raises(SessionError, match="1 to 10000 edits, got 0"):
        MarkedObject("kite", (1, 2, 3), ())
