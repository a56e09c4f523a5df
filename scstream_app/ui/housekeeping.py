"""Sessions that nobody saved: which are old, and deleting them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from time import time

from scstream_app.library import Library
from scstream_app.session import PICTURES, SUFFIX
from scstream_app.session.files import Invalid
from scstream_app.session.lock import Lock

_DAY = 86_400.0


def unsaved(library: Library, days: float = 0.0) -> Iterator[Path]:
    """Sessions of the library, but for recordings, that nothing was written to for so many days, and open nowhere."""
    for path in sorted(library.folder.glob(f"*{SUFFIX}")):
        # A recording was made on purpose, and its pictures are nowhere else.
        if (path / PICTURES).exists():
            continue
        try:
            written = max(entry.stat().st_mtime for entry in (path, path / "manifest.json", path / "frames.jsonl"))
            if time() - written < days * _DAY:
                continue
            Lock(path / "lock").release()
        except (Invalid, OSError):
            continue
        yield path


def clear(library: Library, days: float = 0.0) -> int:
    """Delete `unsaved` sessions; how many there were."""
    paths = list(unsaved(library, days))
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
    return len(paths)
