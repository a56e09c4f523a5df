"""merges.json: segments that the user merged in the result of a run; ids.zarr and the other files stay as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scstream_app.errors import reason
from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData

NAME = "merges.json"
_LIMIT = 1 << 22
_MOST_MERGES = 10_000
_MOST_IDS = 100_000


@dataclass(frozen=True, slots=True)
class ResultMerge:
    """Segments that count as one.

    Parameters
    ----------
    ids : frozenset of int
        The segments, as they are after all earlier merges of the list.
    into : int
        One of them, whose id all get.
    frame : int, optional
        The first frame on which they count as one; None: on all frames.
    """

    ids: frozenset[int]
    into: int
    frame: int | None = None

    def __post_init__(self) -> None:
        if len(self.ids) < 2 or self.into not in self.ids:
            raise InvalidData(f"a merge takes two segments or more, one of which survives, got {sorted(self.ids)}")

    def holds(self, index: int) -> bool:
        """Whether the segments count as one on a frame."""
        return self.frame is None or self.frame <= index


def read(folder: Path) -> tuple[ResultMerge, ...]:
    """Read the merges of a session folder; none if there is no file."""
    if not os.path.lexists(folder / NAME):
        return ()
    values = files.parse(files.read(folder / NAME, _LIMIT), NAME)
    if not isinstance(values, Mapping):
        raise InvalidData(f"{NAME} is damaged")
    return tuple(_parse(entry) for entry in checks.listing(values, "merges", _MOST_MERGES))


def _parse(values: Any) -> ResultMerge:
    if not isinstance(values, Mapping):
        raise InvalidData(f"a merge in {NAME} is invalid")
    ids = frozenset(checks.integer({"id": id}, "id") for id in checks.listing(values, "ids", _MOST_IDS))
    return ResultMerge(ids, checks.integer(values, "into"), checks.optional(values, "frame"))


def write(folder: Path, merges: Sequence[ResultMerge]) -> None:
    """Replace the file atomically, and flush it to disk."""
    entries = [{"frame": merge.frame, "into": merge.into, "ids": sorted(merge.ids)} for merge in merges]
    files.replace(folder / NAME, files.dump({"merges": entries}), durable=True)


def rename_unreadable(folder: Path) -> str:
    """Rename the file if it cannot be read, and return a message about it; otherwise return an empty string."""
    try:
        read(folder)
    except InvalidData as error:
        # A link is no damage but an attack.
        files.check_file(folder / NAME)
        return f"Cannot read {NAME}: {reason(error)}. It was renamed to {files.rename_damaged(folder / NAME).name}."
    return ""
