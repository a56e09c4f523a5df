"""Image sequence source: folders, patterns and lists of images."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from glob import glob, has_magic
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError, reason
from scstream_app.render.image_types import Picture
from scstream_app.sources.base import DamagedFrame, Frame, Source, check_seekable

IMAGE_SUFFIXES = frozenset(
    {".bmp", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
)
VIDEO_SUFFIXES = frozenset(
    ".3gp .asf .avi .flv .gif .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .vob .webm .wmv .y4m".split()
)
#: Frame rate of image sequences, which state none.
IMAGE_RATE = 24.0

# Suffixes of the same kind of image. Any other suffix is a kind of its own.
_KINDS = {".jpe": ".jpg", ".jpeg": ".jpg", ".pbm": ".pnm", ".pgm": ".pnm", ".ppm": ".pnm", ".tiff": ".tif"}


class Unreadable(SourceError):
    """The file of an image cannot be opened, as opposed to decoded."""


class ImageSequence(Source):
    """Images in natural order: frame2.png comes before frame10.png. Their indices follow this order.

    Images are converted to 8-bit RGB: 16-bit values are scaled (v / 257, rounded), floating point is taken as 0 to 1,
    images are rotated according to their metadata, and transparency is ignored: the stored colours are used. (8-bit
    TIFF is an exception: OpenCV blends it with black.)

    Folders and patterns use only regular files of one kind, the most common one, so that results written next to the
    images, such as ids.tif, are not taken as frames. .jpg, .jpeg and .JPG are one kind. Among equally common kinds the
    first by name is used, TIFF last. A list is used as it is.

    An image that cannot be opened counts as damaged. If its folder is missing, or the next image cannot be opened
    either, reading raises `SourceError`: the images were moved or the disk was disconnected.

    Parameters
    ----------
    images : a folder, an image, a pattern such as ``frames/*.png``, or a list of images.
    rate : frames per second.
    """

    def __init__(self, images: str | Path | Sequence[Path], rate: float = IMAGE_RATE) -> None:
        self.paths, self.name, self.address = _locate(images)
        self.rate = rate
        self.length = len(self.paths)
        self.duration = self.length / rate
        self.height, self.width = self._first_size()
        self._next = self._unreadable = 0
        self._closed = False

    @property
    def file_names(self) -> Sequence[str]:
        """See `Source`."""
        return _relative_names(self.paths)

    def read(self) -> Frame | None:
        """See `Source`."""
        index = self._next
        if self._closed or index >= len(self.paths):
            return None
        try:
            rgb = read_image(self.paths[index])
        except SourceError as error:
            self._unreadable = self._unreadable + 1 if isinstance(error, Unreadable) else 0
            self._check_there(self.paths[index], error)
            self._next += 1
            raise DamagedFrame(str(error), index) from error
        self._unreadable = 0
        self._next += 1
        return Frame(index, index / self.rate, rgb)

    def _check_there(self, path: Path, error: SourceError) -> None:
        """Raise `SourceError` if all images are missing, not only this one."""
        if self._unreadable > 1 or (self._unreadable and not os.path.isdir(path.parent)):
            raise SourceError(f"{error} Have the images of '{self.name}' been moved?") from error

    def seek(self, index: int) -> None:
        """See `Source`."""
        check_seekable(self, index)
        self._next, self._unreadable = index, 0

    def close(self) -> None:
        """See `Source`."""
        self._closed = True

    def _first_size(self) -> tuple[int, int]:
        failure: SourceError | None = None
        for path in self.paths:
            try:
                height, width = read_image(path).shape[:2]
            except SourceError as error:
                failure = failure or error
            else:
                return height, width
        assert failure is not None
        raise failure


def _locate(images: str | Path | Sequence[Path]) -> tuple[list[Path], str, str]:
    """The images in order, the display name and the address."""
    if not isinstance(images, str | Path):
        paths = sorted((Path(path).absolute() for path in images), key=natural_order)
        if not paths:
            raise SourceError("Cannot open a list of images: it is empty.")
        return paths, paths[0].parent.name, "\n".join(map(str, paths))
    place = Path(os.path.expanduser(images))
    try:
        return _locate_path(place)
    except (OSError, ValueError) as error:
        raise SourceError(f"Cannot open '{place}': {reason(error)}.") from error


def _locate_path(place: Path) -> tuple[list[Path], str, str]:
    if place.is_file():
        return [place.absolute()], place.name, str(place.absolute())
    if place.is_dir():
        return _in_folder(place), place.resolve().name, str(place.absolute())
    if has_magic(str(place)):
        return _matching(place), f"{place.absolute().parent.name}/{place.name}", str(place.absolute())
    if place.exists():
        raise SourceError(f"Cannot open '{place}': it is not a regular file.")
    raise SourceError(f"Cannot open '{place}': there is no such file or folder.")


def _relative_names(paths: Sequence[Path]) -> list[str]:
    """Paths relative to their deepest common folder, with forward slashes; absolute ones if they have none."""
    try:
        folder = os.path.commonpath([path.parent for path in paths])
    except ValueError:
        return [path.as_posix() for path in paths]
    return [path.relative_to(folder).as_posix() for path in paths]


def _in_folder(folder: Path) -> list[Path]:
    paths = _select_images(folder.iterdir())
    if not paths:
        raise SourceError(f"Cannot open '{folder}': the folder contains no images ({_suffixes()}).")
    return paths


def _matching(pattern: Path) -> list[Path]:
    found = [Path(name) for name in glob(str(pattern), recursive=True)]
    videos = sorted(path.name for path in found if path.suffix.lower() in VIDEO_SUFFIXES)
    if videos:
        raise SourceError(
            f"Cannot open '{pattern}': '{videos[0]}' is a video. Patterns are for images; open videos one by one."
        )
    paths = _select_images(found)
    if not paths:
        raise SourceError(f"Cannot open '{pattern}': no image matches the pattern ({_suffixes()}).")
    return paths


def _select_images(paths: Iterable[Path]) -> list[Path]:
    """The images of the most common kind, in order."""
    found = sorted((path for path in paths if _is_image(path)), key=natural_order)
    count = Counter(map(_kind, found))
    kind = max(count, key=lambda kind: (count[kind], kind != ".tif"), default="")
    return [path for path in found if _kind(path) == kind]


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    return _KINDS.get(suffix, suffix)


def _is_image(path: Path) -> bool:
    """Whether the file is an image by its suffix, and neither hidden nor macOS metadata."""
    visible = not path.name.startswith(".") and "__MACOSX" not in path.parts
    return visible and path.suffix.lower() in IMAGE_SUFFIXES and _is_regular_file(path)


def _is_regular_file(path: Path) -> bool:
    """Whether the path is a regular file; also True for a broken link, which keeps its position in the sequence."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _suffixes() -> str:
    return " ".join(sorted(IMAGE_SUFFIXES))


def natural_order(path: Path) -> tuple[list[list[tuple[int, int | str]]], str]:
    """Sort key that compares runs of digits as numbers; equal numbers (1, 01) fall back on the plain name.

    >>> [path.name for path in sorted(map(Path, ["b10.png", "b9.png", "a11.png"]), key=natural_order)]
    ['a11.png', 'b9.png', 'b10.png']
    """
    return [_split_numbers(part.casefold()) for part in path.parts], str(path)


def _split_numbers(text: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text)]


def read_image(path: Path) -> Picture:
    """Read an image as upright RGB."""
    try:
        if not _is_regular_file(path):
            raise Unreadable(f"Cannot read '{path}': it is not a regular file.")
        # Not cv2.imread: on Windows it cannot open names outside the system's code page.
        encoded = np.fromfile(path, np.uint8)
    except (OSError, ValueError) as error:
        raise Unreadable(f"Cannot read '{path}': {reason(error)}.") from error
    decoded = _decoded(encoded)
    if decoded is None:
        raise SourceError(f"Cannot read '{path}': it is not an image or is damaged. Replace or remove it.")
    return np.asarray(cv2.cvtColor(_to_eight_bits(decoded), cv2.COLOR_BGR2RGB), np.uint8)


def _decoded(encoded: Picture) -> npt.NDArray[np.generic] | None:
    if not encoded.size:
        return None
    try:
        return cv2.imdecode(encoded, cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
    except cv2.error:
        return None


def _to_eight_bits(picture: npt.NDArray[np.generic]) -> Picture:
    if picture.dtype == np.uint16:
        # In 32 bits (v + 128) // 257 is v / 257, rounded.
        return ((picture.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if picture.dtype.kind == "f":
        return np.rint(255.0 * np.nan_to_num(picture.astype(np.float32)).clip(0.0, 1.0)).astype(np.uint8)
    return picture.astype(np.uint8, copy=False)
