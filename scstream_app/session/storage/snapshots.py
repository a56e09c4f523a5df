"""models/NNNNNN.npz: the segmenter as it was after frame NNNNNN, to go on from there."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import scstream
from scstream import ModelFileError
from scstream_app.session.storage import files
from scstream_app.session.storage.files import Invalid

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: The segmenter that a run begins with, where that has learnt from another clip.
FIRST = "first.npz"
_NAME = re.compile(r"([0-9]{6,10})\.npz")
_BYTES_LIMIT = 1 << 28
#: Of so many snapshots the earlier ones are thinned out, every second one at a time.
_MOST = 64


class Snapshots:
    """The folder of snapshots of a session.

    Only the newest is needed to resume. The others allow to go back; as a session grows they get sparser, so that
    their number and size stay limited.
    """

    def __init__(self, folder: Path, every: int) -> None:
        self.folder, self.every = folder, every

    def frames(self) -> list[int]:
        """The frames that have one, ascending."""
        files.check_folder(self.folder)
        return sorted(int(match[1]) for name in os.listdir(self.folder) if (match := _NAME.fullmatch(name)))

    def path(self, frame: int) -> Path:
        """The file of a frame's snapshot."""
        return self.folder / f"{frame:06d}.npz"

    def save(self, segmenter: VideoSegmenter, frame: int) -> None:
        """Write the segmenter as it is after the frame."""
        segmenter.save(self.path(frame))
        files.sync_folder(self.folder)
        for superfluous in _superfluous(self.frames(), self.every):
            self.path(superfluous).unlink()

    def load(self, frame: int) -> VideoSegmenter:
        """Read the segmenter of a frame's snapshot."""
        return self._load(self.path(frame))

    def _load(self, path: Path) -> VideoSegmenter:
        _check_archive(path)
        try:
            return scstream.VideoSegmenter.load(path)
        except ModelFileError as error:
            raise Invalid(f"{self.folder.name}/{path.name} is damaged") from error

    def save_first(self, segmenter: VideoSegmenter) -> None:
        """Write the segmenter that a run begins with."""
        segmenter.save(self.folder / FIRST)

    def load_first(self) -> VideoSegmenter | None:
        """Read it; None if the run began with nothing."""
        if not os.path.lexists(self.folder / FIRST):
            return None
        return self._load(self.folder / FIRST)

    def drop_after(self, frame: int) -> None:
        """Remove those of later frames."""
        for later in self.frames():
            if later > frame:
                self.path(later).unlink()

    def clean(self) -> None:
        """Remove whatever a killed process left half-written."""
        for leftover in self.folder.glob(".*.tmp"):
            leftover.unlink()


def _superfluous(frames: list[int], every: int) -> list[int]:
    """All but the first and the last two of a full folder are kept only at every second interval, fourth, ...

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
    """Refuse an archive that would unpack into more than any model takes."""
    try:
        files.check_file(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise Invalid(f"{path.parent.name}/{path.name} is damaged") from error
    if size > _BYTES_LIMIT:
        raise Invalid(f"{path.parent.name}/{path.name} would unpack into {size} bytes, more than makes sense")
