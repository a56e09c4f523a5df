"""ids.zarr: the ids of every frame as one volume (frames, H, W) that other programs open.

The chunks are written and read here, not through zarr, for two reasons. zarr takes four times as long for a frame, most
of it in its event loop. And what a foreign zarr.json asks for is compared with the one layout there is, never obeyed:
no codec, no shape and no data type of somebody else's choosing is ever put to work.
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
from scstream_app.session.storage.files import Invalid

#: The volume's length grows in such steps; it is set exactly when a session is closed.
GROWTH = 256
#: What a pixel of a frame without ids (a damaged one) reads as.
NO_ID = -1

_METADATA = "zarr.json"
_METADATA_LIMIT = 1 << 20
_CHUNK = re.compile(r"([0-9]{1,10})\.0\.0")
# Level 1 packs a frame of 480 x 854 into 40 kB in 2 ms; higher ones take longer for hardly fewer bytes.
_CODEC = Zstd(level=1)


class IdVolume:
    """The folder ids.zarr; a frame's ``position`` is its place in the volume."""

    def __init__(self, folder: Path, height: int, width: int) -> None:
        self.folder, self.height, self.width = folder, height, width
        self.length = 0

    def create(self) -> None:
        """An empty volume."""
        self.folder.mkdir()
        self.resize(0, durable=True)

    def open(self) -> None:
        """Refuse any layout but the one that `create` and `resize` write.

        A zarr.json that a power failure left empty or torn says nothing, and nothing is needed of it: the layout is
        known. Then `length` is 0 until `resize` writes it anew.
        """
        files.check_folder(self.folder)
        path = self.folder / _METADATA
        data = files.read(path, _METADATA_LIMIT)
        try:
            found = files.parse(data, path.name)
        except Invalid:
            self.length = 0
            return
        if not isinstance(found, dict):
            raise Invalid(f"{path.name} is damaged")
        shape = checks.listing(found, "shape", 3)
        self.length = checks.integer({"shape": shape[0] if shape else None}, "shape")
        wanted = self._metadata(self.length)
        # Other programs may note something in the attributes, which are never looked at.
        strange = [key for key in {**wanted, **found} if key != "attributes" and found.get(key) != wanted.get(key)]
        if strange:
            raise Invalid(f"'{strange[0]}' in {self.folder.name}/{path.name} is not as this program writes it")

    def _metadata(self, length: int) -> dict[str, Any]:
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [length, self.height, self.width],
            "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, self.height, self.width]}},
            # Chunks as files of one folder: the other encoding makes three folders a frame.
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
        """Set how many frames other programs see."""
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
        """A frame's ids; Invalid where the chunk is not the one that was written."""
        packed = self._packed(position, size, checksum)
        # The buffer's size is fixed beforehand: a chunk that holds more is refused, and one that holds less shows.
        ids = np.full((self.height, self.width), NO_ID, "<i4")
        try:
            _CODEC.decode(packed, out=ids)
        except (RuntimeError, ValueError) as error:
            raise Invalid(f"{self._name(position)} is damaged") from error
        if ids.min() < 0:
            raise Invalid(f"{self._name(position)} holds no ids of {self.width} x {self.height} pixels")
        return ids.astype(np.int32, copy=False)

    def check(self, position: int, size: int, checksum: int) -> None:
        """Whether the chunk is the one that was written, without unpacking it."""
        self._packed(position, size, checksum)

    def _packed(self, position: int, size: int, checksum: int) -> bytes:
        packed = files.read(self.path(position), limit=8 * self.height * self.width + 1024)
        if len(packed) != size or zlib.crc32(packed) != checksum:
            raise Invalid(f"{self._name(position)} is damaged: its checksum does not match")
        return packed

    def path(self, position: int) -> Path:
        """The file of a frame's chunk."""
        return self.folder / f"{position}.0.0"

    def _name(self, position: int) -> str:
        return f"{self.folder.name}/{self.path(position).name}"

    def drop_from(self, position: int) -> None:
        """Remove chunks from this position on, and whatever a killed process left half-written."""
        with os.scandir(self.folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            match = _CHUNK.fullmatch(name)
            if name.endswith(".partial") or (match and int(match[1]) >= position):
                (self.folder / name).unlink()

    def sync(self, positions: range) -> None:
        """Have these frames on the disk."""
        for position in positions:
            if self.path(position).exists():
                files.sync(self.path(position))
        files.sync_folder(self.folder)
