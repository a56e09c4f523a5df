"""objects.json and names.json: what a person said about segments."""

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
from scstream_app.session.storage.files import Invalid
from scstream_app.session.storage.records import FrameRecord

Colour = tuple[int, int, int]

#: Largest objects.json or names.json, in bytes.
LIMIT = 1 << 24
_NAME_LENGTH = 100
_FORBIDDEN = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, slots=True)
class MarkedObject:
    """Segments that a person put together: a name, a colour, and the ids that made it up on the frame of marking."""

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
        """Its ids on every frame of ``records``, which begin no later than its own frame. Before that it has none."""
        tracked = TrackedObject(self.name, self.ids)
        for record in records:
            if record.index > self.frame:
                tracked = tracked.follow(record.events)
            yield record.index, tracked.ids if record.index >= self.frame else frozenset()

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {"name": self.name, "colour": list(self.colour), "frame": self.frame, "ids": sorted(self.ids)}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Undo `as_dict`."""
        if not isinstance(values, Mapping):
            raise Invalid("an object makes no sense")
        ids = _ids(checks.listing(values, "ids"))
        colour = _colour(values.get("colour"))
        return cls(checks.text(values, "name", _NAME_LENGTH), colour, checks.integer(values, "frame"), ids)


@dataclass(frozen=True, slots=True)
class Names:
    """Names, colours and visibility that a person gave to single segments, by id."""

    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[int, Colour] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for name in self.names.values():
            _check_text(name)
        for colour in self.colours.values():
            _check_colour(colour)

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {
            "names": {str(id): name for id, name in sorted(self.names.items())},
            "colours": {str(id): list(colour) for id, colour in sorted(self.colours.items())},
            "hidden": sorted(self.hidden),
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Undo `as_dict`."""
        names, colours = checks.section(values, "names"), checks.section(values, "colours")
        return cls(
            {_id(key): checks.text(names, key, _NAME_LENGTH) for key in names},
            {_id(key): _colour(colour) for key, colour in colours.items()},
            _ids(checks.listing(values, "hidden")),
        )


def objects_to_json(objects: Sequence[MarkedObject]) -> dict[str, Any]:
    """What objects.json holds."""
    return {"objects": [thing.as_dict() for thing in objects]}


def objects_from_json(values: Any) -> tuple[MarkedObject, ...]:
    """Undo `objects_to_json`."""
    if not isinstance(values, Mapping):
        raise Invalid("objects.json is damaged")
    objects = tuple(MarkedObject.from_dict(entry) for entry in checks.listing(values, "objects", 10_000))
    check_unique(objects)
    return objects


def masks_to_png(masks: Picture, height: int, width: int) -> bytes:
    """What masks.png holds."""
    if masks.dtype != np.uint8 or masks.shape != (height, width):
        raise Invalid(f"masks must be uint8 of shape {(height, width)}, got {masks.dtype} of shape {masks.shape}")
    done, encoded = cv2.imencode(".png", masks)
    if not done:
        raise Invalid("the masks cannot be encoded")
    return encoded.tobytes()


def masks_from_png(data: bytes, height: int, width: int) -> Picture:
    """Undo `masks_to_png`."""
    # The size stands at a fixed place: a picture that claims to be huge is refused before it is decoded.
    if data[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", data[16:24].ljust(8, b"\0")) != (width, height):
        raise Invalid("masks.png does not have the size of the frames")
    masks = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if masks is None or masks.shape != (height, width) or masks.dtype != np.uint8:
        raise Invalid("masks.png is damaged")
    return np.asarray(masks, np.uint8)


def check_unique(objects: Sequence[MarkedObject]) -> None:
    """Objects are told apart by their names, also where a disk does not tell A from a."""
    seen: set[str] = set()
    for thing in objects:
        if thing.name.casefold() in seen:
            raise Invalid(f"there are two objects named '{thing.name}'")
        seen.add(thing.name.casefold())


def _check_text(name: str) -> None:
    if not 0 < len(name) <= _NAME_LENGTH or not name.isprintable():
        raise Invalid(f"a name has 1 to {_NAME_LENGTH} characters, all of them visible; got {name!r}")


def _check_file_name(name: str) -> None:
    # Objects are exported under their names.
    if name.strip(" .") != name or _FORBIDDEN & set(name):
        signs = " ".join(sorted(_FORBIDDEN))
        raise Invalid(f"an object's name has no space or full stop at its ends and none of {signs}; got {name!r}")


def _check_colour(colour: Colour) -> None:
    if len(colour) != 3 or not all(type(level) is int and 0 <= level <= 255 for level in colour):
        raise Invalid(f"a colour is three whole numbers from 0 to 255, got {colour!r}")


def _colour(value: Any) -> Colour:
    if not isinstance(value, list) or len(value) != 3:
        raise Invalid("a colour is three whole numbers from 0 to 255")
    return value[0], value[1], value[2]


def _id(key: str) -> int:
    if not key.isascii() or not key.isdecimal() or len(key) > 10 or int(key) > checks.MAX_INDEX:
        raise Invalid(f"'{key[:20]}' is no id")
    return int(key)


def _ids(values: list[Any]) -> frozenset[int]:
    if not all(type(id) is int and 0 <= id <= checks.MAX_INDEX for id in values):
        raise Invalid("there are ids that are none")
    return frozenset(values)
