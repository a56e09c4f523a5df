"""Where frames come from: video files and folders of images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from scstream_app.errors import SourceError, reason

Picture = npt.NDArray[np.uint8]

IMAGE_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
#: Frames a second of a folder of images, which does not say.
IMAGE_RATE = 24.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: its place in the source, its presentation time in seconds, and RGB (H, W, 3)."""

    index: int
    time: float
    rgb: Picture


class Source(Protocol):
    """Something that frames can be read from, as often as one likes.

    ``rate`` is the nominal number of frames a second. ``length`` is the number of frames as far as the source tells:
    a hint for progress bars, None if it does not.
    """

    name: str
    width: int
    height: int
    rate: float
    length: int | None

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """Frames start, start + 1, ... up to but not including stop; whatever was opened is closed at the end."""
        ...


def open_source(text: str) -> Source:
    """The source that a person means by ``text``: a video file or a folder of images."""
    path = Path(text).expanduser()
    if path.is_dir():
        return ImageSequence(path)
    if not path.exists():
        raise SourceError(f"Cannot open '{path}': there is no such file or folder.")
    return VideoFile(path)


# --- video files ------------------------------------------------------------------------------------------


class VideoFile:
    """A video file, in presentation order, turned upright as its metadata asks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        if path.stat().st_size == 0:
            raise SourceError(f"Cannot open '{path}': the file is empty.")
        with _opened(path) as container:
            stream = _video_stream(path, container)
            rate = stream.average_rate or stream.guessed_rate or stream.base_rate
            self.rate = float(rate) if rate else IMAGE_RATE
            self.length = stream.frames or None
            first = next(_decoded(path, container, stream), None)
            if first is None:
                raise SourceError(f"Cannot open '{path}': it holds no frame that can be decoded.")
            self.height, self.width = _upright(first).shape[:2]

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """See `Source`."""
        with _opened(self.path) as container:
            stream = _video_stream(self.path, container)
            stream.thread_type = "AUTO"
            begin = float((stream.start_time or 0) * (stream.time_base or 0))
            decoded = enumerate(_decoded(self.path, container, stream))
            for index, picture in islice(decoded, start, stop):
                time = index / self.rate if picture.pts is None else picture.time - begin
                yield Frame(index, time, _same_size(self, _upright(picture), f"frame {index}"))


def _opened(path: Path) -> av.container.InputContainer:
    try:
        return av.open(path)
    except (av.error.FFmpegError, OSError) as error:
        raise SourceError(
            f"Cannot open '{path}': {reason(error)}. Is it a video? If so, re-encode it as H.264 MP4."
        ) from error


def _video_stream(path: Path, container: av.container.InputContainer) -> VideoStream:
    if not container.streams.video:
        raise SourceError(f"Cannot open '{path}': it holds no video.")
    return container.streams.video[0]


def _decoded(path: Path, container: av.container.InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    count = 0
    try:
        for picture in container.decode(stream):
            yield picture
            count += 1
    except av.error.FFmpegError as error:
        raise SourceError(
            f"Cannot read '{path}' after {count} frames: {reason(error)}. "
            f"The file is damaged there; --frames 0:{count} uses what is whole."
        ) from error


def _upright(picture: VideoFrame) -> Picture:
    """RGB with the rotation of the metadata (counterclockwise, in degrees) applied."""
    rgb = picture.to_ndarray(format="rgb24")
    return np.ascontiguousarray(np.rot90(rgb, round(picture.rotation / 90)), np.uint8)


# --- folders of images ------------------------------------------------------------------------------------


class ImageSequence:
    """The images of a folder, in natural order: frame2.png comes before frame10.png."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self.name = folder.resolve().name
        try:
            names = [path for path in folder.iterdir() if path.suffix.lower() in IMAGE_SUFFIXES]
        except OSError as error:
            raise SourceError(f"Cannot open '{folder}': {reason(error)}.") from error
        self.paths = sorted((path for path in names if not path.name.startswith(".")), key=natural_order)
        if not self.paths:
            kinds = " ".join(sorted(IMAGE_SUFFIXES))
            raise SourceError(f"Cannot open '{folder}': there are no images in this folder ({kinds}).")
        self.rate = IMAGE_RATE
        self.length: int | None = len(self.paths)
        self.height, self.width = _read_image(self.paths[0]).shape[:2]

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """See `Source`."""
        for index, path in islice(enumerate(self.paths), start, stop):
            yield Frame(index, index / self.rate, _same_size(self, _read_image(path), path.name))


def natural_order(path: Path) -> tuple[list[tuple[int, int | str]], str]:
    """Sort key that compares runs of digits as numbers; equal numbers (1, 01) fall back on the plain name.

    >>> [path.name for path in sorted(map(Path, ["b10.png", "b9.png", "a11.png"]), key=natural_order)]
    ['a11.png', 'b9.png', 'b10.png']
    """
    parts = re.split(r"([0-9]+)", path.name.casefold())
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts], path.name


def _read_image(path: Path) -> Picture:
    try:
        # Not cv2.imread: on Windows it cannot open names outside the system's code page.
        encoded = np.fromfile(path, np.uint8)
    except OSError as error:
        raise SourceError(f"Cannot read '{path}': {reason(error)}.") from error
    bgr = cv2.imdecode(encoded, cv2.IMREAD_COLOR) if encoded.size else None
    if bgr is None:
        raise SourceError(f"Cannot read '{path}': it is no image, or a damaged one. Replace it or take it away.")
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)


def _same_size(source: Source, rgb: Picture, which: str) -> Picture:
    height, width = rgb.shape[:2]
    if (height, width) != (source.height, source.width):
        raise SourceError(
            f"Cannot use {which} of '{source.name}': it is {width} x {height}, "
            f"the first frame is {source.width} x {source.height}. All frames must have one size."
        )
    return rgb
