"""statistics.bin: statistics of every live segment in every frame, one compact record each."""

from __future__ import annotations

import zlib
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.pixels.statistics import STATISTICS, scale_covariance
from scstream_app.session.storage import files
from scstream_app.session.storage.files import InvalidData, Unwritten

Rows = npt.NDArray[np.void]

_UPPER = np.triu_indices(STATISTICS["covariance"].shape[0])
_PLAIN = ("share", "born", "red", "green", "blue", "row", "column")

#: Record of one segment in one frame. Single precision is enough for plots and tables.
RECORD = np.dtype(
    [
        ("id", "<i4"),
        ("pixels", "<i4"),
        ("age", "<i4"),
        ("share", "<f4"),
        ("born", "<f8"),
        ("red", "<f4"),
        ("green", "<f4"),
        ("blue", "<f4"),
        ("row", "<f4"),
        ("column", "<f4"),
        ("covariance", "<f4", (len(_UPPER[0]),)),
    ]
)


class Units(Enum):
    """Units of rows and columns in the stored covariances, as the manifest describes them.

    New sessions use pixels. A session of an earlier version keeps its normalised units, also when it is resumed.
    """

    PIXELS = "upper triangle, row by row: three colours, row, column (in pixels)"
    NORMALISED = "upper triangle, row by row: three colours, row / height, column / width"

    def pixel(self, height: int, width: int) -> tuple[float, float]:
        """Height and width of a pixel of a frame, in these units."""
        return (1.0, 1.0) if self is Units.PIXELS else (1.0 / height, 1.0 / width)


def description(units: Units) -> dict[str, Any]:
    """Layout of the file for the manifest, so that other programs can read it."""
    fields = [[name, RECORD[name].base.str, list(RECORD[name].shape)] for name in RECORD.names or ()]
    return {"record": fields, "covariance": units.value}


def described_units(values: Any) -> Units:
    """Units of a file with this description in the manifest."""
    for units in Units:
        if values == description(units):
            return units
    raise InvalidData("its statistics have a layout that this program does not support")


def pack(rows: Rows, pixel: tuple[float, float]) -> bytes:
    """Convert rows of `VideoSegmenter.statistics_` to records; ``pixel`` is that of the session's `Units`."""
    records = np.empty(len(rows), RECORD)
    for name in ("id", "pixels", "age", *_PLAIN):
        records[name] = rows[name]
    records["covariance"] = scale_covariance(rows["covariance"], pixel)[:, *_UPPER]
    return records.tobytes()


def unpack(data: bytes, pixel: tuple[float, float]) -> Rows:
    """Inverse of `pack`, up to rounding."""
    records = np.frombuffer(data, RECORD)
    rows = np.zeros(len(records), STATISTICS)
    for name in ("id", "pixels", "age", *_PLAIN):
        rows[name] = records[name]
    rows["covariance"][:, *_UPPER] = records["covariance"]
    rows["covariance"][:, *_UPPER[::-1]] = records["covariance"]
    rows["covariance"] = scale_covariance(rows["covariance"], 1.0 / np.array(pixel))
    return rows


def read(path: Path, first: int, count: int, checksum: int, pixel: tuple[float, float]) -> Rows:
    """Read the records first, ..., first + count - 1; ``pixel`` as in `pack`."""
    rows = unpack(_packed(path, first, count, checksum), pixel)
    if any((rows[name] < 0).any() for name in ("id", "pixels", "age")) or not np.isfinite(rows["share"]).all():
        raise InvalidData(f"{path.name} contains invalid records")
    return rows


def check(path: Path, first: int, count: int, checksum: int) -> None:
    """Raise InvalidData if the records differ from those that were written, `Unwritten` if they are zeros."""
    _packed(path, first, count, checksum)


def _packed(path: Path, first: int, count: int, checksum: int) -> bytes:
    files.check_file(path)
    with open(path, "rb") as file:
        file.seek(first * RECORD.itemsize)
        data = file.read(count * RECORD.itemsize)
    if len(data) != count * RECORD.itemsize or zlib.crc32(data) != checksum:
        kind = Unwritten if data and files.is_unwritten(data) else InvalidData
        raise kind(f"{path.name} is damaged: a checksum does not match")
    return data
