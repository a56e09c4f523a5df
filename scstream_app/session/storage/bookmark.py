"""bookmark.json: where the user left a session, restored when it is reopened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData

NAME = "bookmark.json"
#: Largest file, in bytes.
_LIMIT = 1 << 20
_VIEW_LENGTH = 100
_MOST_SELECTED = 100_000


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The displayed frame, the view, and the selected segments."""

    frame: int
    view: str
    selected: frozenset[int] = frozenset()

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return {"frame": self.frame, "view": self.view, "selected": sorted(self.selected)}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Inverse of `as_dict`; checks all values."""
        if not isinstance(values, Mapping):
            raise InvalidData("the bookmark is invalid")
        selected = checks.listing(values, "selected", _MOST_SELECTED)
        ids = frozenset(checks.integer({"id": id}, "id") for id in selected)
        return cls(checks.integer(values, "frame"), checks.text(values, "view", _VIEW_LENGTH), ids)


def read(folder: Path) -> Bookmark | None:
    """Read the bookmark of a session folder; None if it is missing or unreadable.

    Sessions of earlier versions have none. A missing bookmark loses nothing, so it is not an error.
    """
    try:
        return Bookmark.from_dict(files.parse(files.read(folder / NAME, _LIMIT), NAME))
    except (InvalidData, OSError):
        return None


def write(folder: Path, bookmark: Bookmark) -> None:
    """Replace the bookmark atomically but without flushing: it may be lost in a power failure."""
    files.replace(folder / NAME, files.dump(bookmark.as_dict()))
