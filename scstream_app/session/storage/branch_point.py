"""branch.json: where a run continues another one, the edits that make the difference, and marks that wait."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from scstream_app.errors import SettingsError
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.edits import Edit
from scstream_app.session.storage import checks, files, marks
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.marks import Names

NAME = "branch.json"
_LIMIT = 2 * marks.LIMIT
_MOST_EDITS = 10_000


@dataclass(frozen=True, slots=True)
class WaitingMarks:
    """Marks of segments in the run before that the new run has not reached yet.

    Parameters
    ----------
    names : Names
        Names, colours and visibility, by the ids of the run before.
    frames : mapping of int to int
        For each of these ids, the frame on which its segment is to be found.
    objects : tuple of MarkedObject
        Objects with only those edits that wait.
    order : tuple of str
        Names of all objects of the run before, in their order.
    """

    names: Names = field(default_factory=Names)
    frames: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    objects: tuple[MarkedObject, ...] = ()
    order: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.frames or self.objects)

    @property
    def first(self) -> int | None:
        """The first frame that a mark waits for."""
        edits = (edit.frame for one in self.objects for edit in one.edits)
        return min((*self.frames.values(), *edits), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {
            "names": self.names.as_dict(),
            "frames": {str(id): frame for id, frame in sorted(self.frames.items())},
            **marks.objects_to_json(self.objects),
            "order": list(self.order),
        }

    @classmethod
    def from_dict(cls, values: Any, shape: tuple[int, int]) -> Self:
        """Inverse of `as_dict`; checks all values."""
        objects = marks.objects_from_json(values)
        marks.check_masks(objects, shape)
        frames = checks.section(values, "frames")
        order = checks.listing(values, "order", 10_000)
        if not all(isinstance(name, str) for name in order):
            raise InvalidData("'order' must be a list of names")
        names = Names.from_dict(checks.section(values, "names"))
        found = {marks.parse_id(key): checks.integer(frames, key) for key in frames}
        if not {*names.names, *names.colours, *names.hidden} <= found.keys():
            raise InvalidData("a name in branch.json has no frame")
        return cls(names, found, objects, tuple(order))


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """Where a run continues another one.

    Parameters
    ----------
    parent : str
        Path of the session with the run before.
    frame : int
        The first frame that is segmented again.
    edits : tuple of Edit
        Edits of the model before that frame.
    waiting : WaitingMarks
    """

    parent: str
    frame: int
    edits: tuple[Edit, ...] = ()
    waiting: WaitingMarks = field(default_factory=WaitingMarks)

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {
            "parent": self.parent,
            "frame": self.frame,
            "edits": [edit.as_dict() for edit in self.edits],
            "waiting": self.waiting.as_dict(),
        }

    @classmethod
    def from_dict(cls, values: Any, shape: tuple[int, int]) -> Self:
        """Inverse of `as_dict`; checks all values. ``shape`` is the height and width of the frames."""
        if not isinstance(values, Mapping):
            raise InvalidData(f"{NAME} is damaged")
        try:
            edits = tuple(Edit.from_dict(edit) for edit in checks.listing(values, "edits", _MOST_EDITS))
        except SettingsError as error:
            raise InvalidData(f"an edit in {NAME} is invalid") from error
        waiting = WaitingMarks.from_dict(checks.section(values, "waiting"), shape)
        return cls(checks.text(values, "parent"), checks.integer(values, "frame"), edits, waiting)


def read(folder: Path, shape: tuple[int, int]) -> BranchPoint | None:
    """Read the file of a session folder; None if there is none."""
    path = folder / NAME
    if not os.path.lexists(path):
        return None
    return BranchPoint.from_dict(files.parse(files.read(path, _LIMIT), NAME), shape)


def write(folder: Path, point: BranchPoint) -> None:
    """Replace the file atomically, and flush it to disk."""
    files.replace(folder / NAME, files.dump(point.as_dict()), durable=True)
