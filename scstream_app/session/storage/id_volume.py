"""ids.zarr: the ids of all frames as one zarr volume (frames, H, W) that other programs can open.

This module reads and writes the chunks without the zarr library, for two reasons. zarr takes four times as long for a
frame, most of it in its event loop. And it would use whatever codec, shape and data type a foreign zarr.json names,
whereas this module accepts only the one layout that it writes.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs.zstd import Zstd  # type: ignore[import-untyped]

from scstream_app.render.image_types import IdMap
from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData, Unwritten

#: Step in which the length of the volume grows; closing the session sets the exact length.
GROWTH = 256
#: Id of the pixels of a damaged frame, which has no ids.
NO_ID = -1

_METADATA = "zarr.json"
_METADATA_LIMIT = 1 << 20
_CHUNK = re.compile(r"([0-9]{1,10})\.0\.0")
# Level 1 compresses a frame of 480 x 854 to 40 kB in 2 ms; higher levels take longer for hardly fewer bytes.
_CODEC = Zstd(level=1)


class IdVolume:
    """The folder ids.zarr. ``position`` is the index of a frame along the first axis of the volume."""

    def __init__(self, folder: Path, height: int, width: int) -> None:
        self.folder, self.height, self.width = folder, height, width
        self.length = 0

    def create(self) -> None:
        """Create an empty volume."""
        self.folder.mkdir()
        self.resize(0, durable=True)

    def open(self) -> None:
        """Read the length; raises InvalidData for any layout but the one that `create` and `resize` write.

        An empty or truncated zarr.json, as a power failure leaves it, is accepted, because the layout is known anyway.
        `length` is then 0 until `resize` rewrites the file.
        """
        files.check_folder(self.folder)
        path = self.folder / _METADATA
        data = files.read(path, _METADATA_LIMIT)
        try:
            found = files.parse(data, path.name)
        except InvalidData:
            self.length = 0
            return
        if not isinstance(found, dict):
            raise InvalidData(f"{path.name} is damaged")
        shape = checks.listing(found, "shape", 3)
        self.length = checks.integer({"shape": shape[0] if shape else None}, "shape")
        wanted = self._metadata(self.length)
        # Other programs may add attributes; this program does not use them.
        wrong = [key for key in {**wanted, **found} if key != "attributes" and found.get(key) != wanted.get(key)]
        if wrong:
            raise InvalidData(f"'{wrong[0]}' in {self.folder.name}/{path.name} differs from the supported layout")

    def _metadata(self, length: int) -> dict[str, Any]:
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [length, self.height, self.width],
            "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, self.height, self.width]}},
            # Stores all chunks in one folder; the default encoding creates three folders per frame.
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
            "fill_value": NO_ID,
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
            ],
            "attributes": {},
            "storage_transformers": [],
        }

    def resize(self, length: int, durable: bool = False) -> None:
        """Set the number of frames that other programs see."""
        files.replace(self.folder / _METADATA, files.dump(self._metadata(length)), durable)
        self.length = length

    def write(self, position: int, ids: IdMap) -> tuple[int, int]:
        """Write a frame's ids; returns the chunk's size in bytes and its checksum."""
        if position >= self.length:
            self.resize((position // GROWTH + 1) * GROWTH)
        packed = bytes(_CODEC.encode(np.ascontiguousarray(ids, "<i4")))
        files.write_new(self.path(position), packed)
        return len(packed), zlib.crc32(packed)

    def read(self, position: int, size: int, checksum: int) -> IdMap:
        """Read the ids of a frame; raises InvalidData if the chunk differs from the one that was written."""
        packed = self._packed(position, size, checksum)
        # The buffer has a fixed size: a longer chunk raises, and a shorter one leaves negative ids, detected below.
        ids = np.full((self.height, self.width), NO_ID, "<i4")
        try:
            _CODEC.decode(packed, out=ids)
        except (RuntimeError, ValueError) as error:
            raise InvalidData(f"{self._name(position)} is damaged") from error
        if ids.min() < 0:
            raise InvalidData(f"{self._name(position)} does not hold the ids of {self.width} x {self.height} pixels")
        return ids.astype(np.int32, copy=False)

    def check(self, position: int, size: int, checksum: int) -> None:
        """Raise InvalidData if the chunk differs from the one that was written, `Unwritten` if it is empty or zeros.

        Does not decompress it.
        """
        self._packed(position, size, checksum)

    def _packed(self, position: int, size: int, checksum: int) -> bytes:
        packed = files.read(self.path(position), limit=8 * self.height * self.width + 1024)
        if len(packed) != size or zlib.crc32(packed) != checksum:
            kind = Unwritten if files.is_unwritten(packed) else InvalidData
            raise kind(f"{self._name(position)} is damaged: its checksum does not match")
        return packed

    def path(self, position: int) -> Path:
        """Path of the chunk of a frame."""
        return self.folder / f"{position}.0.0"

    def _name(self, position: int) -> str:
        return f"{self.folder.name}/{self.path(position).name}"

    def drop_from(self, position: int) -> None:
        """Remove the chunks from this position on, and partial files of a killed process."""
        with os.scandir(self.folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            match = _CHUNK.fullmatch(name)
            if name.endswith(".partial") or (match and int(match[1]) >= position):
                (self.folder / name).unlink()

    def sync(self, positions: range) -> None:
        """Flush the chunks of these frames to disk."""
        for position in positions:
            if self.path(position).exists():
                files.sync(self.path(position))
        files.sync_folder(self.folder)
