"""objects.json and names.json on the disk and in memory: looked up often, written at once, never lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from scstream_app.errors import reason
from scstream_app.session.storage import files, marks
from scstream_app.session.storage.files import Invalid
from scstream_app.session.storage.marks import MarkedObject, Names

Marks = TypeVar("Marks")


class MarkFiles:
    """What a person marked in a session.

    A file that cannot be read raises `Invalid` when it is asked for, and only then. Setting holds ``lock``, which is
    never held for anything that takes longer than writing one of the two files.
    """

    def __init__(self, folder: Path) -> None:
        self.lock = threading.RLock()
        self._objects = _MarkFile[tuple[MarkedObject, ...]](
            folder / "objects.json", (), marks.objects_to_json, marks.objects_from_json
        )
        self._names = _MarkFile(folder / "names.json", Names(), Names.as_dict, Names.from_dict)

    def create(self) -> None:
        """Files without any marks."""
        self._objects.set(())
        self._names.set(Names())

    def check(self) -> None:
        """Refuse what is neither whole nor damaged but somebody's trap."""
        self._objects.check()
        self._names.check()

    def own(self) -> tuple[str, ...]:
        """From now on nobody else writes them: put aside what cannot be read; says what that was."""
        return tuple(text for file in (self._objects, self._names) if (text := file.own()))

    @property
    def objects(self) -> tuple[MarkedObject, ...]:
        """Named groups of segments."""
        return self._objects.get()

    @objects.setter
    def objects(self, objects: tuple[MarkedObject, ...]) -> None:
        marks.check_unique(objects)
        with self.lock:
            self._objects.set(objects)

    @property
    def names(self) -> Names:
        """Names, colours and visibility of single segments."""
        return self._names.get()

    @names.setter
    def names(self, names: Names) -> None:
        with self.lock:
            self._names.set(names)


class _MarkFile(Generic[Marks]):
    """One of the files. What it held when it was last read or written, and how the file looked then."""

    def __init__(self, path: Path, nothing: Marks, dump: Callable[[Marks], Any], parse: Callable[[Any], Marks]) -> None:
        self.path = path
        self._nothing, self._dump, self._parse = nothing, dump, parse
        self._known: tuple[Marks, tuple[int, ...] | None] | None = None

    def get(self) -> Marks:
        """What it holds; it is read again only if it was replaced."""
        known = self._known
        if known is not None and (known[1] is None or known[1] == self._looks()):
            return known[0]
        # Looked at first: if it is replaced meanwhile, it will look different next time.
        looks = self._looks()
        held = self._read()
        self._known = held, looks
        return held

    def _looks(self) -> tuple[int, ...]:
        info = files.check_file(self.path)
        return info.st_ino, info.st_mtime_ns, info.st_size

    def _read(self) -> Marks:
        return self._parse(files.parse(files.read(self.path, marks.LIMIT), self.path.name))

    def set(self, value: Marks) -> None:
        """Write it, to stay there whatever happens."""
        files.replace(self.path, files.dump(self._dump(value)), durable=True)
        self._known = value, None

    def own(self) -> str:
        """Rely on nobody else writing it. A file that cannot be read is put aside, which is then said."""
        try:
            self._known = self._read(), None
        except Invalid as error:
            kept = f"it is kept as {files.put_aside(self.path).name}" if self.path.exists() else "nothing is left of it"
            self.set(self._nothing)
            return f"{self.path.name} cannot be read ({reason(error)}); {kept}."
        return ""

    def check(self) -> None:
        """Refuse a link: that is no damage but somebody's doing."""
        if os.path.lexists(self.path):
            files.check_file(self.path)
