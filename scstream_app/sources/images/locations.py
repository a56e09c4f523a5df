"""Find the images of a folder, a pattern or a list, in natural order."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import escape, glob, has_magic
from itertools import pairwise
from pathlib import Path

from scstream_app.addresses import NUMBER, has_number
from scstream_app.errors import SourceError, reason
from scstream_app.plural import counted

IMAGE_SUFFIXES = frozenset(
    {".bmp", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
)
VIDEO_SUFFIXES = frozenset(
    ".3gp .asf .avi .flv .gif .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .vob .webm .wmv .y4m".split()
)
TIFF_SUFFIXES = frozenset({".tif", ".tiff"})

# Suffixes of the same kind of image. Any other suffix is a kind of its own.
_KINDS = {".jpe": ".jpg", ".jpeg": ".jpg", ".pbm": ".pnm", ".pgm": ".pnm", ".ppm": ".pnm", ".tiff": ".tif"}


@dataclass(frozen=True, slots=True)
class Located:
    """Images in order, their display name and address, and remarks for the user."""

    paths: list[Path]
    name: str
    address: str
    notes: tuple[str, ...] = ()


def locate(images: str | Path | Sequence[Path]) -> Located:
    """Find the images of a folder, a pattern or a list, or a single image."""
    if not isinstance(images, str | Path):
        return _listed(images)
    place = Path(os.path.expanduser(images))
    try:
        return _located(place)
    except (OSError, ValueError) as error:
        raise SourceError(f"Cannot open '{place}': {reason(error)}.") from error


def sequence_of(image: Path) -> str:
    """The address of the images among which an image is: its folder or, if others would be used there, its kind.

    The kind is a pattern such as ``FOLDER/*.png``.
    """
    folder = image.absolute().parent
    try:
        paths, _ = _select_images(folder.iterdir())
    except OSError:
        return str(folder)
    if any(_kind(path) == _kind(image) for path in paths[:1]):
        return str(folder)
    return f"{escape(str(folder))}{os.sep}*{escape(image.suffix)}"


def _listed(images: Sequence[Path]) -> Located:
    paths = sorted((Path(path).absolute() for path in images), key=natural_order)
    if not paths:
        raise SourceError("Cannot open a list of images: it is empty.")
    for path in paths:
        if path.suffix.lower() in VIDEO_SUFFIXES:
            raise SourceError(f"Cannot open '{path}' in a list of images: it is a video. Open videos one by one.")
        if path.is_dir():
            raise SourceError(f"Cannot open '{path}' in a list of images: it is a folder. Open folders one by one.")
    return Located(paths, paths[0].parent.name, "\n".join(map(str, paths)))


def _located(place: Path) -> Located:
    address = str(place.absolute())
    if place.is_file():
        return Located([place.absolute()], place.name, address)
    if place.is_dir():
        paths, notes = _in_folder(place)
        return Located(paths, place.resolve().name, address, notes)
    name = f"{place.absolute().parent.name}/{place.name}"
    if has_number(place.name):
        paths, notes = _numbered(place)
        return Located(paths, name, address, notes)
    if has_magic(str(place)):
        paths, notes = _matching(place)
        return Located(paths, name, address, notes)
    if place.exists():
        raise SourceError(f"Cannot open '{place}': it is not a regular file.")
    raise SourceError(f"Cannot open '{place}': there is no such file or folder.")


def _in_folder(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    paths, notes = _select_images(folder.iterdir())
    if not paths:
        raise SourceError(f"Cannot open '{folder}': the folder contains no images ({_suffixes()}).")
    return paths, notes


def _matching(pattern: Path) -> tuple[list[Path], tuple[str, ...]]:
    found = [Path(name) for name in glob(str(pattern), recursive=True)]
    videos = sorted(path.name for path in found if path.suffix.lower() in VIDEO_SUFFIXES)
    if videos:
        raise SourceError(
            f"Cannot open '{pattern}': '{videos[0]}' is a video. Patterns are for images; open videos one by one."
        )
    paths, notes = _select_images(found)
    if not paths:
        raise SourceError(f"Cannot open '{pattern}': no image matches the pattern ({_suffixes()}).")
    return paths, notes


def _numbered(pattern: Path) -> tuple[list[Path], tuple[str, ...]]:
    """Images whose names are the pattern with a number, in the order of the numbers, and a remark about gaps."""
    if not pattern.parent.is_dir():
        raise SourceError(f"Cannot open '{pattern}': there is no folder '{pattern.parent}'.")
    expression = _number_expression(pattern)
    found = {}
    for path in pattern.parent.iterdir():
        match = expression.fullmatch(path.name)
        # Another number of digits than the pattern writes is a different name: %03d means 007 and 1000, not 0007.
        if match and _is_image(path) and _with_number(pattern.name, int(match[1])) == path.name:
            found[int(match[1])] = path.absolute()
    if not found:
        raise SourceError(f"Cannot open '{pattern}': no image matches the pattern ({_suffixes()}).")
    numbers = sorted(found)
    gap = next((before for before, after in pairwise(numbers) if after > before + 1), None)
    paths = [found[number] for number in numbers]
    if gap is None:
        return paths, ()
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    name = _with_number(pattern.name, gap + 1)
    return paths, (f"{missing} of the numbered images are missing, the first is '{name}'. The others are used.",)


def _number_expression(pattern: Path) -> re.Pattern[str]:
    parts, numbers, place = [], 0, 0
    for match in NUMBER.finditer(pattern.name):
        numbers += not match[2]
        parts += [re.escape(pattern.name[place : match.start()]), "%" if match[2] else r"([0-9]{1,18})"]
        place = match.end()
    if numbers > 1:
        raise SourceError(f"Cannot open '{pattern}': the name of a numbered pattern must contain one number.")
    return re.compile("".join([*parts, re.escape(pattern.name[place:])]))


def _with_number(name: str, number: int) -> str:
    return NUMBER.sub(lambda match: "%" if match[2] else f"{number:0{match[1] or 1}d}", name)


def _select_images(paths: Iterable[Path]) -> tuple[list[Path], tuple[str, ...]]:
    """The images of the most common kind, in order, and a remark about those of other kinds."""
    found = sorted((path for path in paths if _is_image(path)), key=natural_order)
    count = Counter(map(_kind, found))
    kind = max(count, key=lambda kind: (count[kind], kind != ".tif"), default="")
    used = [path for path in found if _kind(path) == kind]
    others = [counted(number, f"{other} image") for other, number in count.most_common() if other != kind]
    if not others:
        return used, ()
    return used, (f"Only the {kind} images ({len(used)}) are used, not those of other kinds: {', '.join(others)}.",)


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    return _KINDS.get(suffix, suffix)


def _is_image(path: Path) -> bool:
    """Whether the file is an image by its suffix, and neither hidden nor macOS metadata."""
    visible = not path.name.startswith(".") and "__MACOSX" not in path.parts
    return visible and path.suffix.lower() in IMAGE_SUFFIXES and is_regular_file(path)


def is_regular_file(path: Path) -> bool:
    """Whether the path is a regular file; also True for a broken link, which keeps its position in the sequence."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _suffixes() -> str:
    return " ".join(sorted(IMAGE_SUFFIXES))


def natural_order(path: Path) -> tuple[list[list[tuple[int, int | str]]], str]:
    """Sort key that compares runs of digits as numbers; equal numbers (1, 01) fall back on the plain name.

    >>> [path.name for path in sorted(map(Path, ["b10.png", "b9.png", "a11.png"]), key=natural_order)]
    ['a11.png', 'b9.png', 'b10.png']
    """
    return [_split_numbers(part.casefold()) for part in path.parts], str(path)


def _split_numbers(text: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text)]
