"""Cut segments along the outlines of objects that the user gives as a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.pixels.tiles import Tiles
from scstream.sampler.sampler import Sampler

#: Smallest share of a segment on either side of an outline for the segment to be cut: slivers would not last. The
#: segment with most of an object is cut whatever the share: otherwise the object would have no segment of its own.
_MIN_SHARE = 0.25


def check_mask(mask: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the mask is an array of bool or whole numbers with this shape (H, W)."""
    if not isinstance(mask, np.ndarray) or mask.dtype.kind not in "biu" or mask.shape != shape:
        raise ValueError(f"mask must be an array of bool or whole numbers with the frame's shape {shape}")


def cut_along(mask: npt.NDArray[Any], sampler: Sampler, tiles: Tiles) -> None:
    """Cut every segment that lies partly inside an object in two, along the object's outline.

    Parameters
    ----------
    mask : array (H, W) of bool or whole numbers
        0 on the background, one value for each object.
    sampler : Sampler
        Changed in place, as are the labels of ``tiles``.
    tiles : Tiles
        The last frame.
    """
    rows, columns = (np.arange(n) * full // n for n, full in zip((tiles.rows, tiles.columns), mask.shape, strict=True))
    small = mask[np.ix_(rows, columns)]
    objects = [tiles.tiled(small == value) for value in np.unique(small[small != 0])]
    # A cut along one object leaves less of a segment, and another may then have its share of that.
    while any([_cut(inside, sampler, tiles) for inside in objects]):
        pass


def _cut(inside: npt.NDArray[np.bool_], sampler: Sampler, tiles: Tiles) -> bool:
    """Cut segments along one object, given in the order of the labels; returns whether any was cut."""
    owner = sampler.id_of[tiles.labels]
    counts = np.bincount(owner[inside], minlength=int(sampler.state.ids.max()) + 1)
    most = counts.sum() / 2
    before = len(sampler.id_of)
    for k, id in enumerate(sampler.state.ids.tolist()):
        share = counts[id] / max(sampler.state.current[k, :, 0].sum(), 1.0)
        if share <= 1.0 - _MIN_SHARE and (share >= _MIN_SHARE or counts[id] > most):
            part = inside & (owner == id)
            sampler.id_of = np.append(sampler.id_of, sampler.cut_out(id, tiles.statistics(part)))
            tiles.labels[part] = len(sampler.id_of) - 1
    return len(sampler.id_of) > before
