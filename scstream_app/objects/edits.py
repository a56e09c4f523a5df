"""One edit of an object: what the user made of it, added, removed or painted on a frame."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.errors import InvalidData

#: Kinds of edits; "made" and "painted" replace the segments of an object.
KINDS = ("made", "added", "removed", "painted")

_SIGNATURE = b"\x89PNG\r\n\x1a\n"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ObjectEdit:
    """A change of an object's segments, valid from its frame on.

    Parameters
    ----------
    kind : str
        "made": the object consists of these segments; "added", "removed": it gets or loses them; "painted": it
        consists of the pixels of a mask.
    frame : int
        The first frame at which the edit holds.
    ids : frozenset of int
        The segments on that frame. For a painted edit, those that the mask mostly covers.
    mask : bytes, optional
        The mask of a painted edit as PNG; see `mask_to_png`.
    stop : int, optional
        The first frame at which the edit no longer holds: from there on, everything is as if it had not been made.
        None: it holds to the end.

    Examples
    --------
    >>> edit = ObjectEdit("added", 20, frozenset({4, 7}))
    >>> edit.gives, edit.replaces, edit.without({7})
    (True, False, ObjectEdit(kind='added', frame=20, ids=frozenset({4}), mask=None, stop=None))
    """

    kind: str
    frame: int
    ids: frozenset[int] = frozenset()
    mask: bytes | None = None
    stop: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozenset(int(id) for id in self.ids))
        if self.kind not in KINDS:
            raise InvalidData(f"an edit of an object must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.frame < 0:
            raise InvalidData(f"the frame of an edit must be >= 0, got {self.frame}")
        if self.stop is not None and self.stop <= self.frame:
            raise InvalidData(f"an edit of frame {self.frame} cannot end at frame {self.stop}")
        if (self.mask is not None) != (self.kind == "painted"):
            raise InvalidData("a painted edit must have a mask, and no other edit can have one")

    @property
    def gives(self) -> bool:
        """Whether the object gets segments."""
        return self.kind != "removed"

    @property
    def replaces(self) -> bool:
        """Whether the segments replace those that the object had before."""
        return self.kind in ("made", "painted")

    def with_ids(self, ids: Collection[int]) -> Self:
        """The edit with other segments."""
        return replace(self, ids=frozenset(ids))

    def without(self, ids: Collection[int]) -> Self:
        """The edit without these segments."""
        return self.with_ids(self.ids - frozenset(ids))


def mask_to_png(mask: Mask) -> bytes:
    """Encode a mask (H, W) as a PNG image with one bit per pixel.

    Examples
    --------
    >>> mask = np.eye(3, 5) > 0
    >>> mask_size(mask_to_png(mask)), bool((mask_from_png(mask_to_png(mask), (3, 5)) == mask).all())
    ((3, 5), True)
    """
    if mask.dtype != np.bool_ or mask.ndim != 2 or not mask.size:
        raise InvalidData(f"a mask must be a boolean image, got {mask.dtype} of shape {mask.shape}")
    done, encoded = cv2.imencode(".png", mask.astype(np.uint8) * 255, [cv2.IMWRITE_PNG_BILEVEL, 1])
    if not done:
        raise InvalidData("the mask cannot be encoded")
    return encoded.tobytes()


def mask_size(data: bytes) -> tuple[int, int]:
    """Height and width of an encoded mask, read from its header."""
    if data[:8] != _SIGNATURE or len(data) < 24:
        raise InvalidData("a mask is not a PNG image")
    width, height = struct.unpack(">II", data[16:24])
    return int(height), int(width)


def mask_from_png(data: bytes, shape: tuple[int, int]) -> Mask:
    """Decode a mask (H, W) of the given shape; inverse of `mask_to_png`."""
    # Check the size in the PNG header first, so that a huge image is rejected before it is decoded.
    check_mask_size(data, shape)
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
    if image is None or image.shape != shape:
        raise InvalidData("a mask is damaged")
    return np.asarray(image > 0)


def check_mask_size(data: bytes, shape: tuple[int, int]) -> None:
    """Raise InvalidData unless the header of an encoded mask states this shape."""
    found = mask_size(data)
    if found != shape:
        raise InvalidData(f"a mask is {found[1]} x {found[0]}, the frames are {shape[1]} x {shape[0]}")
