"""Id maps and masks: their types, the check of their sizes, and the number of pixels of each id."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IdMap: TypeAlias = NDArray[np.integer[Any]]
Mask: TypeAlias = NDArray[Any]


def check_images(what: str, a: NDArray[Any], b: NDArray[Any]) -> None:
    """Raise ValueError unless both are images of one size."""
    if a.ndim != 2 or a.size == 0 or a.shape != b.shape:
        raise ValueError(f"{what} must be images of one size, got shapes {a.shape} and {b.shape}")


def two_maps(previous: IdMap, current: IdMap) -> tuple[IdMap, IdMap]:
    """Return two id maps as arrays; they must have the same size."""
    a, b = np.asarray(previous), np.asarray(current)
    check_images("the two id maps", a, b)
    return a, b


def compact(ids: IdMap) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct ids, ascending; index of each pixel's id among them; number of pixels of each id."""
    low, high = int(ids.min()), int(ids.max())
    # A table over the range of ids is faster than sorting the pixels, unless an outlier makes the range huge.
    if high - low > 8 * ids.size:
        labels, code, counts = np.unique(ids, return_inverse=True, return_counts=True)
        return labels.astype(np.int64), code.reshape(ids.shape), counts
    offset = np.subtract(ids, low, dtype=np.int64)
    pixels = np.bincount(offset.ravel())
    present = pixels > 0
    index = np.cumsum(present) - 1
    return np.flatnonzero(present) + low, index.take(offset), pixels[present]
