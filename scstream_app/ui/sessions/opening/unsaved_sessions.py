"""Descriptions of the unsaved sessions for the welcome page."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from scstream_app.errors import StudioError
from scstream_app.session.library import Library
from scstream_app.session.storage import files, marks

#: Files that change while a session is in use.
_WRITTEN = ("manifest.json", "frames.jsonl", "objects.json", "names.json")


def describe_unsaved(library: Library) -> list[tuple[str, str]]:
    """Description and path of each unsaved session, the one changed last first.

    Reads files; do not call on the interface thread.
    """
    now = datetime.now()
    found = []
    for text, path in library.unsaved_sessions():
        written = _written(Path(path))
        lines = [f"{text} · {time_text(written, now)}", *_objects(Path(path))]
        found.append((written, "\n".join(lines), path))
    return [(text, path) for _, text, path in sorted(found, reverse=True)]


def time_text(when: datetime, now: datetime) -> str:
    """Format a time for the user.

    >>> time_text(datetime(2026, 3, 1, 9, 5), datetime(2026, 3, 1, 20, 0))
    'today 09:05'
    >>> time_text(datetime(2026, 2, 28, 9, 5), datetime(2026, 3, 1, 20, 0))
    '2026-02-28 09:05'
    """
    return f"today {when:%H:%M}" if when.date() == now.date() else f"{when:%Y-%m-%d %H:%M}"


def _written(path: Path) -> datetime:
    """Time of the last change of a session."""
    last = 0.0
    for name in _WRITTEN:
        # The session may be deleted meanwhile.
        with suppress(OSError):
            last = max(last, (path / name).stat().st_mtime)
    return datetime.fromtimestamp(last)


def _objects(path: Path) -> list[str]:
    """A line with the names of the session's objects; empty if there are none or they cannot be read."""
    file = path / "objects.json"
    with suppress(StudioError, OSError):
        objects = marks.objects_from_json(files.parse(files.read(file, marks.LIMIT), file.name))
        names = ", ".join(marked.name for marked in objects)
        return [f"{'Object' if len(objects) == 1 else 'Objects'}: {names}"] if objects else []
    return []
