"""The user's marks: objects, and names, colours and visibility of segments (objects.json, names.json, masks.png)."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import cv2
import numpy as np

from scstream_app.objects import Colour, MarkedObject, ObjectEdit
from scstream_app.objects.edits import check_mask_size
from scstream_app.objects.marked_object import MOST_EDITS, NAME_LENGTH, check_colour, check_text
from scstream_app.render.image_types import Picture
from scstream_app.session.storage import checks
from scstream_app.session.storage.files import InvalidData

#: Largest objects.json or names.json, in bytes.
LIMIT = 1 << 24
_MOST_OBJECTS = 10_000
#: Longest text of a mask, in characters; a 4K picture of noise has 1.4 million.
_MASK_LENGTH = 1 << 22
#: Colour type of a PNG image in its header.
_GREY = 0


@dataclass(frozen=True, slots=True)
class Names:
    """Names, colours and visibility that the user gave to single segments, by id."""

    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[int, Colour] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for name in self.names.values():
            check_text(name)
        for colour in self.colours.values():
            check_colour(colour)

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {
            "names": {str(id): name for id, name in sorted(self.names.items())},
            "colours": {str(id): list(colour) for id, colour in sorted(self.colours.items())},
            "hidden": sorted(self.hidden),
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Inverse of `as_dict`; checks all values."""
        names, colours = checks.section(values, "names"), checks.section(values, "colours")
        return cls(
            {parse_id(key): checks.text(names, key, NAME_LENGTH) for key in names},
            {parse_id(key): _colour(colour) for key, colour in colours.items()},
            _ids(checks.listing(values, "hidden")),
        )


def objects_to_json(objects: Sequence[MarkedObject]) -> dict[str, Any]:
    """Content of objects.json."""
    return {
        "objects": [
            {
                "name": object_.name,
                "colour": list(object_.colour),
                "edits": [_edit_to_json(edit) for edit in object_.edits],
            }
            for object_ in objects
        ]
    }


def objects_from_json(values: Any) -> tuple[MarkedObject, ...]:
    """Inverse of `objects_to_json`; checks all values, except that masks have the size of the frames."""
    if not isinstance(values, Mapping):
        raise InvalidData("objects.json is damaged")
    objects = tuple(_object_from_json(entry) for entry in checks.listing(values, "objects", _MOST_OBJECTS))
    check_unique(objects)
    return objects


def _object_from_json(values: Any) -> MarkedObject:
    if not isinstance(values, Mapping):
        raise InvalidData("an object is invalid")
    name, colour = checks.text(values, "name", NAME_LENGTH), _colour(values.get("colour"))
    if "edits" not in values:
        # Written by earlier versions: an object was made once, on one frame.
        return MarkedObject.made(name, colour, checks.integer(values, "frame"), _ids(checks.listing(values, "ids")))
    edits = checks.listing(values, "edits", MOST_EDITS)
    return MarkedObject(name, colour, tuple(_edit_from_json(edit) for edit in edits))


def _edit_to_json(edit: ObjectEdit) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": edit.kind, "frame": edit.frame, "ids": sorted(edit.ids)}
    if edit.stop is not None:
        values["stop"] = edit.stop
    if edit.mask is not None:
        values["mask"] = base64.b64encode(edit.mask).decode("ascii")
    return values


def _edit_from_json(values: Any) -> ObjectEdit:
    if not isinstance(values, Mapping):
        raise InvalidData("an edit of an object is invalid")
    return ObjectEdit(
        checks.text(values, "kind", NAME_LENGTH),
        checks.integer(values, "frame"),
        _ids(checks.listing(values, "ids")),
        _mask(values) if "mask" in values else None,
        checks.optional(values, "stop"),
    )


def _mask(values: Mapping[str, Any]) -> bytes:
    text = checks.text(values, "mask", _MASK_LENGTH)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise InvalidData("the mask of an edit is damaged") from error


def check_masks(objects: Sequence[MarkedObject], shape: tuple[int, int]) -> None:
    """Raise InvalidData if the mask of an edit does not have the size (H, W) of the frames, or is too large to read."""
    for mask in (edit.mask for object_ in objects for edit in object_.edits if edit.mask is not None):
        check_mask_size(mask, shape)
        if len(mask) > _MASK_LENGTH // 4 * 3:
            raise InvalidData(f"a mask takes {len(mask)} bytes, which exceeds the limit of {_MASK_LENGTH // 4 * 3}")


def masks_from_png(data: bytes, height: int, width: int) -> Picture:
    """Decode an image (H, W) of object numbers; checks its size."""
    # Check the size in the PNG header first, so that a huge image is rejected before it is decoded.
    if data[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", data[16:24].ljust(8, b"\0")) != (width, height):
        raise InvalidData("masks.png has another size than the frames")
    # Colours or 16 bits would take up to eight times the memory before they are rejected.
    if len(data) < 26 or data[24] > 8 or data[25] != _GREY:
        raise InvalidData("masks.png is damaged")
    masks = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if masks is None or masks.shape != (height, width) or masks.dtype != np.uint8:
        raise InvalidData("masks.png is damaged")
    return np.asarray(masks, np.uint8)


def check_unique(objects: Sequence[MarkedObject]) -> None:
    """Raise InvalidData if two objects have the same name, ignoring case as some file systems do."""
    seen: set[str] = set()
    for object_ in objects:
        if object_.name.casefold() in seen:
            raise InvalidData(f"there are two objects named '{object_.name}'")
        seen.add(object_.name.casefold())


def _colour(value: Any) -> Colour:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidData("a colour must be three whole numbers from 0 to 255")
    return value[0], value[1], value[2]


def parse_id(key: str) -> int:
    """Return the id that a key of JSON states; raises InvalidData if it is none."""
    if not key.isascii() or not key.isdecimal() or len(key) > 10 or int(key) > checks.MAX_INDEX:
        raise InvalidData(f"'{key[:20]}' is not an id")
    return int(key)


def _ids(values: list[Any]) -> frozenset[int]:
    if not all(type(id) is int and 0 <= id <= checks.MAX_INDEX for id in values):
        raise InvalidData("it contains an invalid id")
    return frozenset(values)
