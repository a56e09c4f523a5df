"""Open a source from an address: a path, pattern, camera or URL."""

from __future__ import annotations

import os
import re
from glob import has_magic
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from urllib.request import url2pathname

from scstream_app.addresses import CAMERA, ONCE, REPEATED, has_number, public_address, split_reading
from scstream_app.errors import SourceError, reason
from scstream_app.sources.base import Source
from scstream_app.sources.camera import Camera
from scstream_app.sources.containers import SCHEMES
from scstream_app.sources.images import (
    IMAGE_SUFFIXES,
    TIFF_SUFFIXES,
    VIDEO_SUFFIXES,
    ImageOptions,
    ImageSequence,
    TiffStack,
    parse_options,
)
from scstream_app.sources.live_clip import LiveClip
from scstream_app.sources.live_stream import LiveStream
from scstream_app.sources.standard_input import STDIN, StandardInput
from scstream_app.sources.video import VideoFile, VideoUrl

_MODE = re.compile(r"(.*)@([1-9][0-9]{0,4})x([1-9][0-9]{0,4})(?:@([0-9]{1,4}(?:\.[0-9]{1,6})?))?")
# Longer numbers cannot be camera numbers.
_CAMERA_DIGITS = 9
_DEFAULTS = ImageOptions()
#: Addresses with passwords and other secrets, by those without, which are all that is stored and shown: these can be
#: opened again as long as the program runs.
_whole: dict[str, str] = {}
_ONLY_IMAGES = "these options are for image sequences and TIFF files"


def open_source(text: str, options: ImageOptions = _DEFAULTS) -> Source:
    """Open the source with the address ``text``; close it after use.

    An existing file or folder takes precedence. Otherwise ``camera:0`` and ``camera:part of its name`` are cameras;
    ``camera:0@1280x720`` requests a size, ``camera:0@1280x720@30`` also a rate. ``live:clip.mp4`` plays a clip as if it
    came from a camera, ``live-loop:clip.mp4`` again and again. ``http://...`` and similar URLs are remote files or live
    streams, ``frames/*.png`` and ``frames/%05d.png`` are patterns, several lines are a list of images, and ``-`` is
    standard input.

    ``options`` say how images are read. They may be part of the address: ``stack.tif#range=0:4095&rate=10``.
    """
    path = os.path.expanduser(text)
    if os.path.exists(path) and text != "-":
        return _from_path(Path(path), options)
    plain, reading = split_reading(text)
    if reading:
        _refuse_options(plain, options, "the options are given twice, in the address and beside it")
        return open_source(plain, parse_options(reading))
    for prefix in (ONCE, REPEATED):
        if text.startswith(prefix):
            return LiveClip(open_source(text.removeprefix(prefix).strip(), options), repeat=prefix == REPEATED)
    if "\n" in text:
        return ImageSequence([Path(line) for line in text.splitlines() if line], options)
    pattern = (has_number(path) or has_magic(path)) and Path(path).suffix.lower() not in VIDEO_SUFFIXES
    if pattern and "://" not in text and not is_camera(text):
        return ImageSequence(path, options)
    if text.lower().startswith("file://"):
        return _from_path(Path(url2pathname(_parts(text).path)), options)
    _refuse_options(text, options, _ONLY_IMAGES)
    return _from_device_or_url(text, path)


def _from_device_or_url(text: str, path: str) -> Source:
    if is_camera(text):
        return _from_camera(text.removeprefix(CAMERA).strip())
    if text == "-":
        return StandardInput()
    if text == STDIN:
        raise SourceError("Cannot read the video again: it came from standard input, and its pictures were not kept.")
    return _from_url(text) if "://" in text else VideoFile(Path(path))


def _refuse_options(text: str, options: ImageOptions, why: str) -> None:
    if options != _DEFAULTS:
        shown = public_address(text) if "://" in text else text
        raise SourceError(f"Cannot open '{shown}' with {options.text().removeprefix('#').replace('&', ', ')}: {why}.")


def is_camera(text: str) -> bool:
    """Whether the address is that of a camera."""
    return text.startswith(CAMERA)


def clip_as_camera(address: str) -> str:
    """Return the address that plays a clip as if it came from a camera, again and again.

    >>> clip_as_camera("/videos/dog.mp4")
    'live-loop:/videos/dog.mp4'
    """
    return f"{REPEATED}{address}"


def same_camera(one: str, other: str) -> bool:
    """Whether two addresses may be one camera, in any mode: a number may belong to any name.

    >>> same_camera("camera:0", "camera:0@640x480"), same_camera("camera:0", "camera:1")
    (True, False)
    >>> same_camera("camera:0", "camera:USB"), same_camera("camera:0", "clip.mp4")
    (True, False)
    """
    if not (is_camera(one) and is_camera(other)):
        return False
    first, second = (_device(text.removeprefix(CAMERA).strip()).casefold() for text in (one, other))
    if first.isdecimal() and second.isdecimal():
        return first == second
    return first.isdecimal() or second.isdecimal() or first in second or second in first


def _device(text: str) -> str:
    """Number or name of a camera without the requested mode."""
    mode = _MODE.fullmatch(text)
    return mode[1].strip() if mode else text


def _from_path(path: Path, options: ImageOptions) -> Source:
    if path.suffix.lower() in TIFF_SUFFIXES and not path.is_dir():
        return TiffStack(path, options)
    if path.is_dir() or path.suffix.lower() in IMAGE_SUFFIXES:
        return ImageSequence(path, options)
    _refuse_options(str(path), options, _ONLY_IMAGES)
    return VideoFile(path)


def _from_camera(text: str) -> Camera:
    mode, device = _MODE.fullmatch(text), _device(text)
    if device.isdecimal() and len(device) > _CAMERA_DIGITS:
        raise SourceError(f"Cannot open camera {device[:_CAMERA_DIGITS]}...: no such camera is connected.")
    number = int(device) if device.isdecimal() else device
    if mode is None:
        return Camera(number)
    return Camera(number, int(mode[2]), int(mode[3]), float(mode[4]) if mode[4] else None)


def _from_url(url: str) -> Source:
    url = _whole.get(url, url)
    parts = _parts(url)
    scheme = parts.scheme.lower()
    if scheme not in SCHEMES:
        raise SourceError(
            f"Cannot open '{public_address(url)}': '{scheme}' is not supported. Supported: {' '.join(sorted(SCHEMES))}."
        )
    # FFmpeg knows schemes in lower case only.
    video = VideoUrl(scheme + url[len(parts.scheme) :])
    _whole.update({public_address(url): url, public_address(video.address): url})
    return LiveStream(video) if video.live else video


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        # A malformed URL may still contain a password.
        raise SourceError(f"Cannot open '{public_address(url)}': it is not a valid URL ({reason(error)}).") from error
