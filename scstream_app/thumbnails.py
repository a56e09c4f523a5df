"""Small pictures of clips, read once and kept in the user's cache folder."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import cv2
import numpy as np
from platformdirs import user_cache_path

from scstream_app.addresses import ONCE, REPEATED, is_remote, join_reading, split_reading
from scstream_app.errors import StudioError
from scstream_app.render.image_types import Picture
from scstream_app.session import SUFFIX, Manifest
from scstream_app.sources import DamagedFrame, Source, open_source

#: Maximum width and height: twice the size in lists, for screens of high resolution.
SIZE = (192, 108)
#: Number of pictures in the cache; the oldest are deleted.
_MOST = 200
#: Damaged frames at the beginning of a clip that are skipped.
_PATIENCE = 5
_QUALITY = 88


def cache_folder() -> Path:
    """Folder of the pictures."""
    return user_cache_path("scstream-studio", appauthor=False) / "thumbnails"


def thumbnail(address: str) -> Picture | None:
    """Small RGB picture of the first frame of a clip or of a session's clip; None if there is none.

    Cameras and addresses of other hosts have none: a host that does not answer would be waited for. Reads files, also
    on mounted drives; do not call on the window's thread.
    """
    if is_remote(address):
        return None
    with suppress(StudioError, OSError, ValueError):
        clip = _clip_of(address)
        if is_remote(clip):
            return None
        first = Path(split_reading(clip)[0].partition("\n")[0])
        status = first.stat()
        key = f"{clip}\0{status.st_mtime_ns}\0{status.st_size}"
        file = cache_folder() / f"{sha256(key.encode(errors='surrogateescape')).hexdigest()}.jpg"
        kept = _read(file)
        return _make(clip, file) if kept is None else kept
    return None


def _clip_of(address: str) -> str:
    """Address of the clip that a session was made of, or that is played as a camera."""
    address = address.removeprefix(ONCE).removeprefix(REPEATED)
    if not address.endswith(SUFFIX):
        return address
    source = Manifest.read(Path(address) / "manifest.json").source
    return join_reading(source.address, source.reading)


def _read(file: Path) -> Picture | None:
    """Kept picture; None if it is missing or damaged."""
    try:
        encoded = np.fromfile(file, np.uint8)
    except OSError:
        return None
    decoded = cv2.imdecode(encoded, cv2.IMREAD_COLOR) if encoded.size else None
    return None if decoded is None else np.ascontiguousarray(decoded[..., ::-1], np.uint8)


def _make(clip: str, file: Path) -> Picture | None:
    with open_source(clip) as source:
        picture = _first_picture(source)
    if picture is None:
        return None
    small = _reduced(picture)
    # Without a writable folder the picture is made again next time.
    with suppress(OSError):
        _write(file, small)
    return small


def _first_picture(source: Source) -> Picture | None:
    for _ in range(_PATIENCE):
        try:
            frame = source.read()
        except DamagedFrame:
            continue
        return None if frame is None else frame.rgb
    return None


def _reduced(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    factor = min(SIZE[0] / width, SIZE[1] / height, 1.0)
    size = max(1, round(factor * width)), max(1, round(factor * height))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _write(file: Path, picture: Picture) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    _, encoded = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    try:
        encoded.tofile(partial)
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
    _delete_oldest(file.parent)


def _delete_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.jpg"), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - _MOST)]:
        file.unlink(missing_ok=True)
