"""Read and write objects.json and names.json: cached in memory, and flushed to disk on every change."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from scstream_app.errors import reason
from scstream_app.objects import MarkedObject
from scstream_app.session.storage import files, marks
from scstream_app.session.storage.files import InvalidData
from scstream_app.session.storage.marks import Names

Marks = TypeVar("Marks")


class MarkFiles:
    """The user's marks in a session.

    ``shape`` is the height and width of the frames, which masks must have. An unreadable file raises `InvalidData` when
    its marks are accessed, not before. Setting marks holds ``lock``, which is never held for longer than it takes to
    write one of the two files.
    """

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        self.lock = threading.RLock()
        self._shape = shape
        self._objects = _MarkFile[tuple[MarkedObject, ...]](
            folder / "objects.json", (), marks.objects_to_json, self._parse_objects
        )
        self._names = _MarkFile(folder / "names.json", Names(), Names.as_dict, Names.from_dict)

    def _parse_objects(self, values: Any) -> tuple[MarkedObject, ...]:
        objects = marks.objects_from_json(values)
        marks.check_masks(objects, self._shape)
        return objects

    def create(self, objects: tuple[MarkedObject, ...] = (), names: Names | None = None) -> None:
        """Write files with these marks."""
        self._objects.set(objects)
        self._names.set(names or Names())

    def check(self) -> None:
        """Raise InvalidData if one of the files is a link: that is no damage but an attack."""
        self._objects.check()
        self._names.check()

    def claim(self) -> tuple[str, ...]:
        """Become the only writer: read both files, rename unreadable ones, and return a message for each of those."""
        return tuple(text for file in (self._objects, self._names) if (text := file.claim()))

    @property
    def objects(self) -> tuple[MarkedObject, ...]:
        """Named groups of segments."""
        return self._objects.get()

    @objects.setter
    def objects(self, objects: tuple[MarkedObject, ...]) -> None:
        marks.check_unique(objects)
        marks.check_masks(objects, self._shape)
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
    """One of the files, with a cache of its content.

    ``_known`` holds the content and the file's fingerprint when it was read; the fingerprint is None if no other
    process can write the file.
    """

    def __init__(self, path: Path, nothing: Marks, dump: Callable[[Marks], Any], parse: Callable[[Any], Marks]) -> None:
        self.path = path
        self._nothing, self._dump, self._parse = nothing, dump, parse
        self._known: tuple[Marks, tuple[int, ...] | None] | None = None

    def get(self) -> Marks:
        """Content of the file; read again only if the file was replaced."""
        known = self._known
        if known is not None and (known[1] is None or known[1] == self._fingerprint()):
            return known[0]
        # Taken before reading: if the file is replaced meanwhile, the next call notices.
        fingerprint = self._fingerprint()
        content = self._read()
        self._known = content, fingerprint
        return content

    def _fingerprint(self) -> tuple[int, ...]:
        info = files.check_file(self.path)
        return info.st_ino, info.st_mtime_ns, info.st_size

    def _read(self) -> Marks:
        return self._parse(files.parse(files.read(self.path, marks.LIMIT), self.path.name))

    def set(self, value: Marks) -> None:
        """Write the content and flush it to disk."""
        data = files.dump(self._dump(value))
        if len(data) > marks.LIMIT:
            raise InvalidData(f"{self.path.name} would have {len(data)} bytes, the limit is {marks.LIMIT}")
        files.replace(self.path, data, durable=True)
        self._known = value, None

    def claim(self) -> str:
        """Become the only writer; an unreadable file is renamed and reported in the returned message."""
        try:
            self._known = self._read(), None
        except InvalidData as error:
            kept = f" It was renamed to {files.rename_damaged(self.path).name}." if self.path.exists() else ""
            self.set(self._nothing)
            return f"Cannot read {self.path.name}: {reason(error)}.{kept}"
        return ""

    def check(self) -> None:
        """Raise InvalidData if the file is a link."""
        if os.path.lexists(self.path):
            files.check_file(self.path)
