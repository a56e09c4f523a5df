"""What a clip of several is: its source, its options, and the folder that its results go to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path

from scstream_app.addresses import CAMERA, ONCE, REPEATED, absolute_address, has_number, public_address, split_reading
from scstream_app.errors import SettingsError
from scstream_app.export import ExportOptions
from scstream_app.session.library import file_stem, plain_name
from scstream_app.settings import Settings
from scstream_app.sources import IMAGE_SUFFIXES, ImageOptions


@dataclass(frozen=True, slots=True)
class Clip:
    """A source, everything that its results depend on, and the folder ``out`` that they are written to."""

    address: str
    out: Path
    settings: Settings
    options: ExportOptions
    reading: ImageOptions
    start: int = 0
    stop: int | None = None
    overwrite: bool = False

    @property
    def name(self) -> str:
        """The name of the clip's folder, which no other clip of the command has."""
        return self.out.name

    @property
    def report_path(self) -> Path:
        """The report of a finished clip, a file beside its folder: it is written last, so the files are complete."""
        return self.out.with_name(f"{self.name}.json")


def are_several_clips(addresses: Sequence[str]) -> bool:
    """Whether the addresses are clips of their own; several images are one clip.

    >>> are_several_clips(["a.mp4", "b.mp4"]), are_several_clips(["a.mp4"]), are_several_clips(["1.png", "2.png"])
    (True, False, False)
    """
    return len(addresses) > 1 and not any(map(_is_image, addresses))


def clip_addresses(addresses: Sequence[str]) -> list[str]:
    """Addresses that are valid in every working folder; raises SettingsError if a clip is live or given twice."""
    for address in addresses:
        if address == "-" or address.startswith((CAMERA, ONCE, REPEATED)):
            raise SettingsError(f"'{address}' is live: segment it alone, without --workers and --scheduler")
    absolute = [absolute_address(address) for address in addresses]
    for place, address in enumerate(absolute):
        if address in absolute[:place]:
            raise SettingsError(f"'{public_address(addresses[place])}' is given twice")
    return absolute


def folder_names(addresses: Iterable[str]) -> list[str]:
    """A name for the folder of each clip: that of its source, with a number if the name is taken.

    >>> folder_names(["day1/cat.mp4", "day2/cat.mp4", "dog.mov"])
    ['cat', 'cat-2', 'dog']
    """
    names: list[str] = []
    # Names that differ in capitals are the same file on some systems.
    taken: set[str] = set()
    for address in addresses:
        stem = file_stem(plain_name(address))
        name, number = stem, 1
        while {name.casefold(), f"{name}.json".casefold()} & taken:
            number += 1
            name = f"{stem}-{number}"
        taken |= {name.casefold(), f"{name}.json".casefold()}
        names.append(name)
    return names


def _is_image(address: str) -> bool:
    """Whether the address is one image file; a pattern is a clip."""
    plain, _ = split_reading(address)
    path = os.path.expanduser(plain)
    if os.path.splitext(path)[1].lower() not in IMAGE_SUFFIXES or os.path.isdir(path) or "://" in plain:
        return False
    return os.path.exists(path) or not (has_number(path) or has_magic(path))
