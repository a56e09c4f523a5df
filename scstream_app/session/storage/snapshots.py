"""models/NNNNNN.npz: snapshot of the segmenter after frame NNNNNN, written by `VideoSegmenter.save`, to resume from."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import scstream
from scstream import ModelFileError
from scstream_app.errors import reason
from scstream_app.session.storage import files
from scstream_app.session.storage.files import InvalidData

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: The segmenter that a run starts with, if it was trained on another clip.
FIRST = "first.npz"
_NAME = re.compile(r"([0-9]{6,10})\.npz")
_BYTES_LIMIT = 1 << 28
#: Maximum number of snapshots; beyond it every second one of the earlier snapshots is deleted.
_MOST = 64


class Snapshots:
    """The folder of a session's snapshots.

    Resuming needs only the newest one. The others allow going back; as a session grows they get sparser, so that
    their number and size stay limited.
    """

    def __init__(self, folder: Path, every: int) -> None:
        self.folder, self.every = folder, every

    def frames(self) -> list[int]:
        """Frames that have a snapshot, ascending."""
        files.check_folder(self.folder)
        return sorted(int(match[1]) for name in os.listdir(self.folder) if (match := _NAME.fullmatch(name)))

    def path(self, frame: int) -> Path:
        """Path of the snapshot of a frame."""
        return self.folder / f"{frame:06d}.npz"

    def save(self, segmenter: VideoSegmenter, frame: int) -> None:
        """Save the segmenter as the snapshot of the frame, and delete superfluous snapshots."""
        segmenter.save(self.path(frame))
        files.sync_folder(self.folder)
        for superfluous in _superfluous(self.frames(), self.every):
            self.path(superfluous).unlink()

    def load(self, frame: int) -> VideoSegmenter:
        """Load the snapshot of a frame."""
        return self._load(self.path(frame))

    def _load(self, path: Path) -> VideoSegmenter:
        _check_archive(path)
        try:
            return scstream.VideoSegmenter.load(path)
        except ModelFileError as error:
            raise InvalidData(f"{self.folder.name}/{path.name} is damaged") from error

    def save_first(self, segmenter: VideoSegmenter) -> None:
        """Save the segmenter that a run starts with."""
        segmenter.save(self.folder / FIRST)

    def load_first(self) -> VideoSegmenter | None:
        """Load the segmenter that the run started with; None if it started untrained."""
        if not os.path.lexists(self.folder / FIRST):
            return None
        return self._load(self.folder / FIRST)

    def drop_after(self, frame: int) -> None:
        """Remove the snapshots of later frames."""
        for later in self.frames():
            if later > frame:
                self.path(later).unlink()

    def clean(self) -> None:
        """Remove partial files of a killed process."""
        for leftover in self.folder.glob(".*.tmp"):
            leftover.unlink()


def _superfluous(frames: list[int], every: int) -> list[int]:
    """Snapshots to delete if there are too many: keeps the first, the last two, and every 2nd (4th, ...) of the others.

    >>> _superfluous(list(range(0, 650, 10)), 10)[:3], _superfluous(list(range(0, 640, 10)), 10)
    ([10, 30, 50], [])
    """
    step, kept = 1, frames
    while len(kept) > _MOST:
        step *= 2
        kept = [f for n, f in enumerate(frames) if n == 0 or n >= len(frames) - 2 or (f // every) % step == 0]
        if step > frames[-1]:
            break
    return sorted(set(frames) - set(kept))


def _check_archive(path: Path) -> None:
    """Raise InvalidData for an archive that would unpack to more than the size of any model.

    A file that cannot be opened raises OSError instead: it may be whole.
    """
    name = f"{path.parent.name}/{path.name}"
    files.check_file(path)
    try:
        file = open(path, "rb")
    except OSError as error:
        raise OSError(error.errno, f"{name} cannot be read: {reason(error)}") from error
    try:
        with file, zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InvalidData(f"{name} is damaged") from error
    if size > _BYTES_LIMIT:
        raise InvalidData(f"{name} unpacks to {size} bytes, more than {_BYTES_LIMIT}")
