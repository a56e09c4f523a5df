"""prompts.json: corrections of objects on frames that are still to be segmented."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scstream_app.objects import mask_from_png, mask_to_png
from scstream_app.objects.edits import Mask
from scstream_app.objects.marked_object import NAME_LENGTH
from scstream_app.objects.prompt import Prompt
from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData

NAME = "prompts.json"
_LIMIT = 1 << 28
_KINDS = ("painted", "added", "removed")
#: Longest text of a mask, in characters.
_MASK_LENGTH = 1 << 22


def write(folder: Path, prompts: Sequence[Prompt]) -> None:
    """Replace the file atomically, and flush it to disk; without prompts, remove it."""
    if not prompts:
        (folder / NAME).unlink(missing_ok=True)
        return
    data = files.dump({"prompts": [_entry(prompt) for prompt in prompts]})
    if len(data) > _LIMIT:
        raise InvalidData(f"{NAME} would have {len(data)} bytes, the limit is {_LIMIT}")
    files.replace(folder / NAME, data, durable=True)


def _entry(prompt: Prompt) -> dict[str, Any]:
    given: dict[str, Any]
    if prompt.mask is not None:
        given = {"mask": base64.b64encode(mask_to_png(prompt.mask)).decode("ascii")}
    elif prompt.box is not None:
        given = {"box": list(prompt.box)}
    else:
        given = {"point": list(prompt.point or ())}
    return {"object": prompt.name, "frame": prompt.frame, "kind": prompt.kind, "until": prompt.stop, **given}


def read(folder: Path, shape: tuple[int, int]) -> tuple[Prompt, ...]:
    """Read the prompts of a session whose frames have this height and width; none if there is no file."""
    if not os.path.lexists(folder / NAME):
        return ()
    values = files.parse(files.read(folder / NAME, _LIMIT), NAME)
    if not isinstance(values, Mapping):
        raise InvalidData(f"{NAME} is damaged")
    return tuple(_parse(entry, shape) for entry in checks.listing(values, "prompts"))


def _parse(entry: Any, shape: tuple[int, int]) -> Prompt:
    kind = entry.get("kind") if isinstance(entry, Mapping) else None
    if kind not in _KINDS:
        raise InvalidData(f"a correction in {NAME} is invalid")
    mask = _mask(entry, shape) if "mask" in entry else None
    box = point = None
    if mask is None and "box" in entry:
        left, top, width, height = _numbers(entry, "box", 4)
        if not (width and height and left + width <= shape[1] and top + height <= shape[0]):
            raise InvalidData(f"a box in {NAME} is outside the frames")
        box = left, top, width, height
    elif mask is None:
        column, row = _numbers(entry, "point", 2)
        if column >= shape[1] or row >= shape[0]:
            raise InvalidData(f"a point in {NAME} is outside the frames")
        point = column, row
    frame, name = checks.integer(entry, "frame"), checks.text(entry, "object", NAME_LENGTH)
    return Prompt(name, frame, kind, mask, box, point, checks.optional(entry, "until", frame + 1))


def _mask(entry: Mapping[str, Any], shape: tuple[int, int]) -> Mask:
    try:
        return mask_from_png(base64.b64decode(checks.text(entry, "mask", _MASK_LENGTH), validate=True), shape)
    except ValueError as error:
        raise InvalidData(f"a mask in {NAME} is damaged") from error


def _numbers(entry: Mapping[str, Any], name: str, count: int) -> list[int]:
    numbers = checks.listing(entry, name, count)
    if len(numbers) != count:
        raise InvalidData(f"'{name}' in {NAME} must have {count} numbers")
    return [checks.integer({name: number}, name, 0, checks.MAX_SIDE) for number in numbers]
