"""Open a source from an address: a path, pattern, camera or URL."""

from __future__ import annotations

import os
import re
from glob import has_magic
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from urllib.request import url2pathname

from scstream_app.errors import SourceError, reason
from scstream_app.sources.addresses import CAMERA, ONCE, REPEATED, public_address
from scstream_app.sources.base import Source
from scstream_app.sources.camera import Camera
from scstream_app.sources.containers import SCHEMES
from scstream_app.sources.images import IMAGE_SUFFIXES, ImageSequence
from scstream_app.sources.live_clip import LiveClip
from scstream_app.sources.live_stream import LiveStream
from scstream_app.sources.video import VideoFile, VideoUrl

_MODE = re.compile(r"(.*)@([1-9][0-9]{0,4})x([1-9][0-9]{0,4})(?:@([0-9]{1,4}(?:\.[0-9]{1,6})?))?")
# Longer numbers cannot be camera numbers.
_CAMERA_DIGITS = 9


def open_source(text: str) -> Source:
    """Open the source with the address ``text``; close it after use.

    An existing file or folder takes precedence. Otherwise ``camera:0`` and ``camera:part of its name`` are cameras;
    ``camera:0@1280x720`` requests a size, ``camera:0@1280x720@30`` also a rate. ``live:clip.mp4`` plays a clip as if it
    came from a camera, ``live-loop:clip.mp4`` again and again. ``http://...`` and similar URLs are remote files or live
    streams, ``frames/*.png`` is a pattern, and several lines are a list of images.
    """
    path = os.path.expanduser(text)
    if os.path.exists(path):
        return _from_path(Path(path))
    if is_camera(text):
        return _from_camera(text.removeprefix(CAMERA).strip())
    for prefix in (ONCE, REPEATED):
        if text.startswith(prefix):
            return LiveClip(open_source(text.removeprefix(prefix).strip()), repeat=prefix == REPEATED)
    if "\n" in text:
        return ImageSequence([Path(line) for line in text.splitlines() if line])
    if "://" in text:
        return _from_url(text)
    return ImageSequence(path) if has_magic(path) else VideoFile(Path(path))


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


def _from_path(path: Path) -> Source:
    return ImageSequence(path) if path.is_dir() or path.suffix.lower() in IMAGE_SUFFIXES else VideoFile(path)


def _from_camera(text: str) -> Camera:
    mode, device = _MODE.fullmatch(text), _device(text)
    if device.isdecimal() and len(device) > _CAMERA_DIGITS:
        raise SourceError(f"Cannot open camera {device[:_CAMERA_DIGITS]}...: no such camera is connected.")
    number = int(device) if device.isdecimal() else device
    if mode is None:
        return Camera(number)
    return Camera(number, int(mode[2]), int(mode[3]), float(mode[4]) if mode[4] else None)


def _from_url(url: str) -> Source:
    parts = _parts(url)
    scheme = parts.scheme.lower()
    if scheme == "file":
        return _from_path(Path(url2pathname(parts.path)))
    if scheme not in SCHEMES:
        raise SourceError(
            f"Cannot open '{public_address(url)}': '{scheme}' is not supported. Supported: {' '.join(sorted(SCHEMES))}."
        )
    video = VideoUrl(url)
    return LiveStream(video) if video.live else video


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        # A malformed URL may still contain a password.
        raise SourceError(f"Cannot open '{public_address(url)}': it is not a valid URL ({reason(error)}).") from error
