"""Find out before the first frame whether the files of an export can be written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from scstream_app.export import atomic_files
from scstream_app.export.exporter import Exporter
from scstream_app.export.job import Job

#: Size of the file that shows whether there is space left, in bytes.
_PROBE_SIZE = 1 << 20


def check_writable(folder: Path, job: Job) -> None:
    """Raise an ExportError if the files of a job cannot be written to the folder.

    Opens the writers of all formats and discards them; removes the folders that this creates.
    """
    missing = [place for place in (folder, *folder.parents) if not os.path.exists(place)]
    there = set() if missing else set(folder.iterdir())
    try:
        Exporter(folder, job).abandon()
        check_space(folder)
    finally:
        with suppress(OSError):
            for made in set(folder.iterdir()) - there:
                _remove_empty(made)
            for place in missing:
                place.rmdir()


def check_space(folder: Path) -> None:
    """Raise an ExportError if nothing can be written to an existing folder, for example because the disk is full."""
    probe = atomic_files.temporary_path(folder / "scstream.probe")
    try:
        probe.write_bytes(bytes(_PROBE_SIZE))
    except OSError as error:
        raise atomic_files.write_error(folder, error) from error
    finally:
        atomic_files.discard(probe)


def _remove_empty(folder: Path) -> None:
    """Remove a folder and the folders in it, as far as they are empty."""
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(place)
