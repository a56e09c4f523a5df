"""Sessions that nobody has saved, as the welcome page tells them: several may be of the same clip."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from scstream_app.errors import StudioError
from scstream_app.session.library import Library
from scstream_app.session.storage import files, marks

#: What is written to as long as a session is worked on.
_WRITTEN = ("manifest.json", "frames.jsonl", "objects.json", "names.json")


def unsaved_sessions(library: Library) -> list[tuple[str, str]]:
    """What to say of each session that nobody has saved, the one written to last first, and its path.

    It takes as long as disks do: nothing for the interface's thread.
    """
    now = datetime.now()
    found = []
    for text, path in library.unsaved_sessions():
        written = _written(Path(path))
        lines = [f"{text} · {time_text(written, now)}", *_objects(Path(path))]
        found.append((written, "\n".join(lines), path))
    return [(text, path) for _, text, path in sorted(found, reverse=True)]


def time_text(when: datetime, now: datetime) -> str:
    """When something was, for people.

    >>> time_text(datetime(2026, 3, 1, 9, 5), datetime(2026, 3, 1, 20, 0))
    'today 09:05'
    >>> time_text(datetime(2026, 2, 28, 9, 5), datetime(2026, 3, 1, 20, 0))
    '2026-02-28 09:05'
    """
    return f"today {when:%H:%M}" if when.date() == now.date() else f"{when:%Y-%m-%d %H:%M}"


def _written(path: Path) -> datetime:
    """When something was last written to a session."""
    last = 0.0
    for name in _WRITTEN:
        # It may be deleted just now.
        with suppress(OSError):
            last = max(last, (path / name).stat().st_mtime)
    return datetime.fromtimestamp(last)


def _objects(path: Path) -> list[str]:
    """A line with the names of what was marked in a session; none if nothing was, or nobody can read it."""
    file = path / "objects.json"
    with suppress(StudioError, OSError):
        objects = marks.objects_from_json(files.parse(files.read(file, marks.LIMIT), file.name))
        return [", ".join(thing.name for thing in objects)] if objects else []
    return []
