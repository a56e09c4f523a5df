"""Read npz archives of unknown origin: what they declare is checked before any memory is allocated for it."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

#: Most memory that the arrays of an archive may take, in bytes, or in sizes of the file if that is more: a small file
#: must not fill the memory. All count as 8 bytes per number, into which they are converted.
MAX_BYTES, _MOST_TIMES = 1 << 30, 16
_MAX_ARRAYS = 1000
# Others may need gigabytes for their dictionaries.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

Arrays = dict[str, npt.NDArray[Any]]


class TooLarge(ValueError):
    """The archive would take more memory than any model needs."""


def read_arrays(file: IO[bytes]) -> Arrays:
    """Read all arrays of an npz archive; raises ValueError, `TooLarge` or BadZipFile for any other file."""
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > _MAX_ARRAYS:
            raise TooLarge(f"it has {len(entries)} arrays, and {_MAX_ARRAYS} are the most")
        check_size((_declared_size(archive, entry) for entry in entries), file.seek(0, os.SEEK_END))
        arrays = {}
        for entry in entries:
            with archive.open(entry) as member:
                arrays[entry.filename.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
        return arrays


def check_size(counts: Iterable[int], file_size: int) -> None:
    """Raise `TooLarge` if arrays with these numbers of entries take too much memory for a file of this size."""
    size, most = 8 * sum(counts), max(MAX_BYTES, _MOST_TIMES * file_size)
    if size > most:
        raise TooLarge(f"its arrays would take {size} bytes, and {most} are the most")


def _declared_size(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Number of entries of an array according to its header, which must agree with the size in the archive."""
    name = entry.filename[:60]
    if not name.endswith(".npy"):
        raise ValueError(f"'{name}' is not an array")
    if entry.compress_type not in _COMPRESSIONS:
        raise ValueError(f"'{name}' has an unknown compression")
    with archive.open(entry) as member:
        version = np.lib.format.read_magic(member)
        if version not in _HEADERS:
            raise ValueError(f"'{name}' has an unknown version")
        shape, _, kind = _HEADERS[version](member)
        begin = member.tell()
    if kind.hasobject:
        raise ValueError(f"'{name}' is not an array of numbers")
    if any(length < 0 for length in shape) or entry.file_size - begin != math.prod(shape) * kind.itemsize:
        raise ValueError(f"'{name}' does not have the size that it declares")
    # An array of long texts has few entries.
    return math.prod(shape) * max(1, math.ceil(kind.itemsize / 8))
