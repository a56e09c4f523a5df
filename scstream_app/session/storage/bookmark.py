"""bookmark.json: where a person left a session, so that it comes back there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import Invalid

NAME = "bookmark.json"
#: Largest file, in bytes.
_LIMIT = 1 << 20
_VIEW_LENGTH = 100
_MOST_SELECTED = 100_000


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The frame on the screen, the view that it was shown in, and the segments that were selected."""

    frame: int
    view: str
    selected: frozenset[int] = frozenset()

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {"frame": self.frame, "view": self.view, "selected": sorted(self.selected)}

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Undo `as_dict`."""
        if not isinstance(values, Mapping):
            raise Invalid("the bookmark makes no sense")
        selected = checks.listing(values, "selected", _MOST_SELECTED)
        ids = frozenset(checks.integer({"id": id}, "id") for id in selected)
        return cls(checks.integer(values, "frame"), checks.text(values, "view", _VIEW_LENGTH), ids)


def read(folder: Path) -> Bookmark | None:
    """The bookmark in a session's folder; None if there is none, or nobody can make sense of it.

    Sessions of earlier versions have none. Nothing is lost without it: it is no reason to say a word.
    """
    try:
        return Bookmark.from_dict(files.parse(files.read(folder / NAME, _LIMIT), NAME))
    except (Invalid, OSError):
        return None


def write(folder: Path, bookmark: Bookmark) -> None:
    """Replace the bookmark in one step, without waiting for the disk: after a power failure there may be none."""
    files.replace(folder / NAME, files.dump(bookmark.as_dict()))
