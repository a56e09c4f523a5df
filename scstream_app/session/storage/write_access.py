"""Whether a session folder can be written to: not on a read-only disk, and not without the permission."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
#: What a session changes in place; all other files are replaced, for which permission to write the folder is enough.
_CHANGED = ("ids.zarr", "models", "frames.jsonl", "statistics.bin", "lock")


def can_write(folder: Path) -> bool:
    """Whether this user can create files in a session folder and change those that are there."""
    places = [place for name in _CHANGED if os.path.lexists(place := folder / name)]
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in places) and _can_create(folder)


def _can_create(folder: Path) -> bool:
    # Only an attempt tells on Windows and on network drives.
    probe = folder / f".{os.getpid()}.partial"
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError as error:
        return error.errno not in _FORBIDDEN
    with suppress(OSError):
        probe.unlink()
    return True
