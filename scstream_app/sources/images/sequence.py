"""Image sequence source: folders, patterns and lists of images."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError, reason
from scstream_app.render.image_types import Picture
from scstream_app.sources.images.intensity import Planes
from scstream_app.sources.images.locations import is_regular_file, locate
from scstream_app.sources.images.options import ImageOptions
from scstream_app.sources.images.still import StillSource
from scstream_app.sources.images.tiff import TiffFrames

_DEFAULTS = ImageOptions()
_TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


class Unreadable(SourceError):
    """The file of an image cannot be opened, as opposed to decoded."""


class ImageSequence(StillSource):
    """Images in natural order: frame2.png comes before frame10.png. Their indices follow this order.

    Images are converted to 8-bit RGB, see `StillSource`. They are rotated according to their metadata, and transparency
    is ignored: the stored colours are used. (8-bit TIFF is an exception: OpenCV blends it with black.) A TIFF file with
    several pages is one frame: the maximum over its pages, or the chosen plane.

    Folders and patterns use only regular files of one kind, the most common one, so that results written next to the
    images, such as ids.tif, are not taken as frames. .jpg, .jpeg and .JPG are one kind. Among equally common kinds the
    first by name is used, TIFF last. A list is used as it is.

    An image that cannot be opened counts as damaged. If its folder is missing, or the next image cannot be opened
    either, reading raises `SourceError`: the images were moved or the disk was disconnected.

    Parameters
    ----------
    images : a folder, an image, a pattern such as ``frames/*.png`` or ``frames/%05d.png``, or a list of images.
    options : ImageOptions
    """

    def __init__(self, images: str | Path | Sequence[Path], options: ImageOptions = _DEFAULTS) -> None:
        located = locate(images)
        self.paths, self.name, self.address, self.notes = located.paths, located.name, located.address, located.notes
        self.length = len(self.paths)
        self._plane, self._unreadable = options.plane, 0
        self._noted: set[str] = set()
        self._describe(options)

    @property
    def file_names(self) -> Sequence[str]:
        """See `Source`."""
        return _relative_names(self.paths)

    def _planes(self, index: int) -> Planes:
        return read_planes(self.paths[index], self._plane, self._add_notes)

    def _picture(self, index: int) -> Picture:
        try:
            picture = super()._picture(index)
        except SourceError as error:
            self._unreadable = self._unreadable + 1 if isinstance(error, Unreadable) else 0
            raise
        self._unreadable = 0
        return picture

    def _check_there(self, index: int, error: SourceError) -> None:
        if self._unreadable > 1 or (self._unreadable and not os.path.isdir(self.paths[index].parent)):
            raise SourceError(f"{error} Have the images of '{self.name}' been moved?") from error

    def _add_notes(self, frames: TiffFrames) -> None:
        """Say how a TIFF file is read, unless an earlier one is read in the same way."""
        # Before the notes: another thread reports both, and looks at the notes first.
        self.adjustable += tuple(name for name in frames.adjustable if name not in self.adjustable)
        for note in frames.notes:
            kind = note.replace(frames.path.name, "", 1)
            if kind not in self._noted:
                self._noted.add(kind)
                self.notes += (note,)

    def seek(self, index: int) -> None:
        """See `Source`."""
        super().seek(index)
        self._unreadable = 0


def _relative_names(paths: Sequence[Path]) -> list[str]:
    """Paths relative to their deepest common folder, with forward slashes; absolute ones if they have none."""
    try:
        folder = os.path.commonpath([path.parent for path in paths])
    except ValueError:
        return [path.as_posix() for path in paths]
    return [path.relative_to(folder).as_posix() for path in paths]


def read_planes(
    path: Path, plane: int | None = None, on_tiff: Callable[[TiffFrames], None] = lambda frames: None
) -> Planes:
    """Read the channels of an upright image.

    ``plane`` is that of a TIFF file with several pages; ``on_tiff`` is called with such a file.
    """
    try:
        if not is_regular_file(path):
            raise Unreadable(f"Cannot read '{path}': it is not a regular file.")
        # Not cv2.imread: on Windows it cannot open names outside the system's code page.
        encoded = np.fromfile(path, np.uint8)
    except (OSError, ValueError) as error:
        raise Unreadable(f"Cannot read '{path}': {reason(error)}.") from error
    if encoded[:4].tobytes() in _TIFF_STARTS:
        return _tiff_planes(path, plane, on_tiff)
    decoded = _decoded(encoded)
    if decoded is None:
        raise SourceError(f"Cannot read '{path}': it is not an image or is damaged. Replace or remove it.")
    return [np.ascontiguousarray(decoded[..., ::-1])]


def _tiff_planes(path: Path, plane: int | None, on_tiff: Callable[[TiffFrames], None]) -> Planes:
    frames = TiffFrames(path, plane, projected=True)
    try:
        on_tiff(frames)
        return frames.planes(0)
    finally:
        frames.close()


def _decoded(encoded: Picture) -> npt.NDArray[np.generic] | None:
    if not encoded.size:
        return None
    try:
        return cv2.imdecode(encoded, cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
    except cv2.error:
        return None
