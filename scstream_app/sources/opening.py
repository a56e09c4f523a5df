"""The source that a person means by a text."""

from __future__ import annotations

import os
from glob import has_magic
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from scstream_app.errors import SourceError
from scstream_app.sources.base import Source
from scstream_app.sources.camera import Camera
from scstream_app.sources.containers import SCHEMES, without_password
from scstream_app.sources.images import IMAGE_SUFFIXES, ImageSequence
from scstream_app.sources.video import VideoFile, VideoUrl

_CAMERA = "camera:"


def open_source(text: str) -> Source:
    """The source that a person means by ``text``; it should be closed after use.

    A file or folder that exists always wins. Otherwise ``camera:0`` and ``camera:part of its name`` are cameras,
    ``http://...`` and the like are network streams, ``frames/*.png`` is a pattern, and lines are a list of images.
    """
    path = os.path.expanduser(text)
    if os.path.exists(path):
        return _from_path(Path(path))
    if text.startswith(_CAMERA):
        device = text.removeprefix(_CAMERA).strip()
        return Camera(int(device) if device.isdecimal() else device)
    if "\n" in text:
        return ImageSequence([Path(line) for line in text.splitlines() if line])
    if "://" in text:
        return _from_url(text)
    return ImageSequence(path) if has_magic(path) else VideoFile(Path(path))


def _from_path(path: Path) -> Source:
    return ImageSequence(path) if path.is_dir() or path.suffix.lower() in IMAGE_SUFFIXES else VideoFile(path)


def _from_url(url: str) -> Source:
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    if scheme == "file":
        return _from_path(Path(url2pathname(parts.path)))
    if scheme not in SCHEMES:
        raise SourceError(
            f"Cannot open '{without_password(url)}': '{scheme}' is not supported. "
            f"These are: {' '.join(sorted(SCHEMES))}."
        )
    return VideoUrl(url)
