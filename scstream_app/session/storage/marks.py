"""The user's marks: objects, and names, colours and visibility of segments (objects.json, names.json, masks.png)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import cv2
import numpy as np

from scstream import TrackedObject
from scstream_app.render.image_types import Picture
from scstream_app.session.storage import checks
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.records import FrameRecord

Colour = tuple[int, int, int]

#: Largest objects.json or names.json, in bytes.
LIMIT = 1 << 24
_NAME_LENGTH = 100
_FORBIDDEN = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, slots=True)
class MarkedObject:
    """Named set of segments: a name, a colour, and the ids of its segments on the frame where the user marked it."""

    name: str
    colour: Colour
    frame: int
    ids: frozenset[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozenset(int(id) for id in self.ids))
        _check_text(self.name)
        _check_file_name(self.name)
        _check_colour(self.colour)

    def members(self, records: Iterable[FrameRecord]) -> Iterator[tuple[int, frozenset[int]]]:
        """Yield (frame, ids of the object) for every record; no ids before the object's own frame.

        ``records`` must start at the object's frame or earlier.
        """
        tracked = TrackedObject(self.name, self.ids)
        for record in records:
            if record.index > self.frame:
                tracked = tracked.follow(record.events)
            yield record.index, tracked.ids if record.index >= self.frame else frozenset()

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {"name": self.name, "colour": list(self.colour), "frame": self.frame, "ids": sorted(self.ids)}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Inverse of `as_dict`; checks all values."""
        if not isinstance(values, Mapping):
            raise InvalidData("an object is invalid")
        ids = _ids(checks.listing(values, "ids"))
        colour = _colour(values.get("colour"))
        return cls(checks.text(values, "name", _NAME_LENGTH), colour, checks.integer(values, "frame"), ids)


@dataclass(frozen=True, slots=True)
class Names:
    """Names, colours and visibility that the user gave to single segments, by id."""

    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[int, Colour] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for name in self.names.values():
            _check_text(name)
        for colour in self.colours.values():
            _check_colour(colour)

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
            {_id(key): checks.text(names, key, _NAME_LENGTH) for key in names},
            {_id(key): _colour(colour) for key, colour in colours.items()},
            _ids(checks.listing(values, "hidden")),
        )


def objects_to_json(objects: Sequence[MarkedObject]) -> dict[str, Any]:
    """Content of objects.json."""
    return {"objects": [object_.as_dict() for object_ in objects]}


def objects_from_json(values: Any) -> tuple[MarkedObject, ...]:
    """Inverse of `objects_to_json`; checks all values."""
    if not isinstance(values, Mapping):
        raise InvalidData("objects.json is damaged")
    objects = tuple(MarkedObject.from_dict(entry) for entry in checks.listing(values, "objects", 10_000))
    check_unique(objects)
    return objects


def masks_to_png(masks: Picture, height: int, width: int) -> bytes:
    """Encode masks (H, W) uint8 as PNG."""
    if masks.dtype != np.uint8 or masks.shape != (height, width):
        raise InvalidData(f"masks must be uint8 of shape {(height, width)}, got {masks.dtype} of shape {masks.shape}")
    done, encoded = cv2.imencode(".png", masks)
    if not done:
        raise InvalidData("the masks cannot be encoded")
    return encoded.tobytes()


def masks_from_png(data: bytes, height: int, width: int) -> Picture:
    """Inverse of `masks_to_png`; checks the size."""
    # Check the size in the PNG header first, so that a huge image is rejected before it is decoded.
    if data[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", data[16:24].ljust(8, b"\0")) != (width, height):
        raise InvalidData("masks.png has another size than the frames")
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


def _check_text(name: str) -> None:
    if not 0 < len(name) <= _NAME_LENGTH or not name.isprintable():
        raise InvalidData(f"a name must have 1 to {_NAME_LENGTH} printable characters, got {name!r}")


def _check_file_name(name: str) -> None:
    # Objects are exported under their names.
    if name.strip(" .") != name or _FORBIDDEN & set(name):
        signs = " ".join(sorted(_FORBIDDEN))
        raise InvalidData(
            f"the name of an object must not contain {signs}, nor start or end with a space or full stop; got {name!r}"
        )


def _check_colour(colour: Colour) -> None:
    if len(colour) != 3 or not all(type(level) is int and 0 <= level <= 255 for level in colour):
        raise InvalidData(f"a colour must be three whole numbers from 0 to 255, got {colour!r}")


def _colour(value: Any) -> Colour:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidData("a colour must be three whole numbers from 0 to 255")
    return value[0], value[1], value[2]


def _id(key: str) -> int:
    if not key.isascii() or not key.isdecimal() or len(key) > 10 or int(key) > checks.MAX_INDEX:
        raise InvalidData(f"'{key[:20]}' is not an id")
    return int(key)


def _ids(values: list[Any]) -> frozenset[int]:
    if not all(type(id) is int and 0 <= id <= checks.MAX_INDEX for id in values):
        raise InvalidData("it contains an invalid id")
    return frozenset(values)
