"""Objects given on the command line: masks, boxes and points on some frames, which become edits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from scstream_app.errors import SourceError, StudioError, reason
from scstream_app.objects import MarkedObject
from scstream_app.objects.mask_files import read_masks
from scstream_app.objects.prompt import Prompt
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import palette
from scstream_app.sources import Source

_NUMBERS = re.compile(r"\s*\d+\s*(,\s*\d+\s*)+")
_NAMED = re.compile(r"([^=/\\]+)=(.+)", re.DOTALL)
#: Largest JSON file of corrections, in bytes.
_LIMIT = 1 << 24
_KINDS = ("painted", "added", "removed")
_KEYS = {"frame", "object", "kind", "mask", "box", "point", "until"}


def read_prompts(specs: Sequence[str], source: Source) -> list[Prompt]:
    """Parse the values of ``--object``: a mask file, a box x,y,w,h or a point x,y, each with an optional NAME= before.

    A mask file with several values gives several objects. Objects without a name are "object" or, if there are several,
    "object 1", "object 2", ...
    """
    found: list[tuple[str, Prompt]] = []
    for spec in specs:
        name, text = _split_name(spec)
        prompts = _prompts(text, source)
        if name and len(prompts) > 1:
            names = [f"{name} {number}" for number in range(1, len(prompts) + 1)]
        else:
            names = [name] * len(prompts)
        found += zip(names, prompts, strict=True)
    named = []
    for number, (name, prompt) in enumerate(found, 1):
        fallback = "object" if len(found) == 1 else f"object {number}"
        named.append(replace(prompt, name=name or fallback))
    _check_names(named)
    return named


def read_corrections(path: Path, source: Source, names: Sequence[str]) -> list[Prompt]:
    """Read the corrections of objects with these names: a folder of masks named by frame, or a JSON file."""
    if not names:
        raise SourceError(f"Cannot use '{path}': there is no object to correct; give one with --object.")
    if path.is_dir():
        return _folder_prompts(path, source, names)
    try:
        if path.stat().st_size > _LIMIT:
            _refuse(path, f"it has more than {_LIMIT} bytes")
        entries = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    except (ValueError, RecursionError):
        _refuse(path, "it is neither a folder of masks nor a JSON file")
    if not isinstance(entries, list):
        _refuse(path, "the JSON file must hold a list of corrections")
    return [_entry_prompt(path, place, entry, source, names) for place, entry in enumerate(entries, 1)]


def with_prompts(
    objects: Sequence[MarkedObject], prompts: Iterable[Prompt], result: FrameResult
) -> tuple[MarkedObject, ...]:
    """The objects after the prompts of a frame, which make new ones or correct those with the same name."""
    changed = {one.name: one for one in objects}
    for prompt in prompts:
        edit = prompt.edit(result)
        if prompt.name in changed:
            known = changed[prompt.name]
            # A run that was killed may have stored the edit already.
            if edit not in known.edits:
                changed[prompt.name] = known.with_edits([*known.edits, edit])
        else:
            changed[prompt.name] = MarkedObject(prompt.name, palette.colour(len(changed)), (edit,))
    return tuple(changed.values())


def _split_name(spec: str) -> tuple[str, str]:
    match = None if Path(spec).exists() else _NAMED.fullmatch(spec)
    return (match[1].strip(), match[2]) if match else ("", spec)


def _prompts(text: str, source: Source) -> list[Prompt]:
    """The prompts of one value, without names."""
    if not _NUMBERS.fullmatch(text) or Path(text).exists():
        masks = read_masks(Path(text), source)
        return [Prompt("", mask=np.asarray(masks == value)) for value in np.unique(masks[masks > 0]).tolist()]
    numbers = [int(number) for number in text.split(",")]
    if len(numbers) == 2:
        return [Prompt("", point=_checked_point(numbers, source, f"'{text}'"))]
    if len(numbers) == 4:
        return [Prompt("", box=_checked_box(numbers, source, f"'{text}'"))]
    raise SourceError(f"Cannot use '{text}': a point is x,y and a box is x,y,width,height.")


def _checked_point(numbers: Sequence[int], source: Source, what: str) -> tuple[int, int]:
    column, row = numbers
    if not (0 <= column < source.width and 0 <= row < source.height):
        raise SourceError(f"Cannot use {what}: the point is outside the frames, {source.width} x {source.height}.")
    return column, row


def _checked_box(numbers: Sequence[int], source: Source, what: str) -> tuple[int, int, int, int]:
    left, top, width, height = numbers
    if width < 1 or height < 1 or left + width > source.width or top + height > source.height:
        raise SourceError(
            f"Cannot use {what}: the box x,y,width,height must lie inside the frames, {source.width} x {source.height}."
        )
    return left, top, width, height


def _check_names(prompts: Sequence[Prompt]) -> None:
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.name.casefold() in seen:
            raise SourceError(f"Two objects are named '{prompt.name}': give them different names, NAME=...")
        seen.add(prompt.name.casefold())
        try:
            MarkedObject.made(prompt.name, (0, 0, 0), 0, ())
        except StudioError as error:
            raise SourceError(f"Cannot use '{prompt.name}': {error}.") from error


def _folder_prompts(folder: Path, source: Source, names: Sequence[str]) -> list[Prompt]:
    """Corrections from images NNNNN.png: the whole mask of one object, or the numbers of several."""
    prompts = []
    for path in sorted(folder.glob("*.png")):
        digits = re.findall(r"\d+", path.stem)
        if not digits:
            continue
        masks = read_masks(path, source, may_be_empty=len(names) == 1)
        values = [1] if len(names) == 1 else np.unique(masks[masks > 0]).tolist()
        if max(values) > len(names):
            _refuse(path, f"it has an object {max(values)}, but there are only {len(names)} objects")
        prompts += [
            Prompt(names[value - 1], int(digits[-1]), mask=np.asarray(masks > 0 if len(names) == 1 else masks == value))
            for value in values
        ]
    if not prompts:
        _refuse(folder, "it contains no PNG image with a frame number in its name")
    return prompts


def _entry_prompt(path: Path, place: int, entry: Any, source: Source, names: Sequence[str]) -> Prompt:
    """One correction of a JSON file."""
    what = f"correction {place} of '{path}'"
    if not isinstance(entry, Mapping) or not set(entry) <= _KEYS:
        raise SourceError(f"Cannot use {what}: it must be a JSON object with the keys {', '.join(sorted(_KEYS))}.")
    name = entry.get("object", names[0] if len(names) == 1 else None)
    if name not in names:
        raise SourceError(f"Cannot use {what}: 'object' must be one of {', '.join(names)}.")
    frame, until = entry.get("frame"), entry.get("until")
    if type(frame) is not int or frame < 0 or not (until is None or (type(until) is int and until > frame)):
        raise SourceError(f"Cannot use {what}: 'frame' and 'until' must be whole numbers, 'until' after 'frame'.")
    kind = entry.get("kind", "painted")
    if kind not in _KINDS:
        raise SourceError(f"Cannot use {what}: 'kind' must be one of {', '.join(_KINDS)}.")
    prompt = Prompt(name, frame, kind, stop=until)
    given = [key for key in ("mask", "box", "point") if key in entry]
    if given == ["mask"] and isinstance(entry["mask"], str):
        return replace(prompt, mask=np.asarray(read_masks(path.parent / entry["mask"], source, may_be_empty=True) > 0))
    if given == ["box"] and _whole_numbers(entry["box"], 4):
        return replace(prompt, box=_checked_box(entry["box"], source, what))
    if given == ["point"] and _whole_numbers(entry["point"], 2):
        return replace(prompt, point=_checked_point(entry["point"], source, what))
    raise SourceError(
        f"Cannot use {what}: give one of 'mask' (a file), 'box' ([x, y, width, height]) and 'point' ([x, y])."
    )


def _whole_numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, list) and len(value) == count and all(type(number) is int and number >= 0 for number in value)
    )


def _refuse(path: Path, why: str) -> NoReturn:
    raise SourceError(f"Cannot use '{path}': {why}.")
