"""Lock of an output folder: two exports into one folder would delete each other's unfinished files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from scstream_app.errors import ExportError
from scstream_app.export import atomic_files
from scstream_app.file_lock import FileLock, Locked, check_free, lock_if_possible

_NAME = ".scstream-export.lock"


class FolderLock:
    """Exclusive right to export to a folder, held until `release`; creates the folder if necessary.

    Raises ExportError if another export has the right. On a drive without locks it has no effect.
    """

    def __init__(self, folder: Path) -> None:
        self._lock: FileLock | None = None
        atomic_files.make_folder(folder)
        try:
            self._lock = lock_if_possible(folder / _NAME, temporary=True)
        except Locked as error:
            raise _taken(folder, error) from error
        except OSError as error:
            raise atomic_files.write_error(folder, error) from error

    def release(self) -> None:
        """Release the lock and delete its file."""
        if self._lock is not None:
            with suppress(OSError):
                self._lock.release()
            self._lock = None


def check_folder_free(folder: Path) -> None:
    """Raise ExportError if an export to the folder is going on; creates nothing."""
    try:
        check_free(folder / _NAME)
    except Locked as error:
        raise _taken(folder, error) from error
    except OSError:
        # The export itself reports it.
        pass


def _taken(folder: Path, error: Locked) -> ExportError:
    return ExportError(f"Cannot write to '{folder}': {error}. Wait until it has finished, or choose another folder.")
