"""Cryptomatte layers: id mattes by which compositing programs pick things by name.

A layer stores, for every pixel, the id of what is there and how much of the pixel it covers. The id is a hash of a
name, as the bits of a 32-bit float; a manifest in the metadata lists the names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

_FRACTION_BITS = 23


def channels(
    layer: str, things: npt.NDArray[np.integer], names: Mapping[int, str]
) -> dict[str, npt.NDArray[np.float32]]:
    """The channels of a layer with one thing per pixel.

    Parameters
    ----------
    layer : str
        Name of the layer.
    things : array (H, W) of int
        The thing at every pixel.
    names : mapping of int to str
        Names of the things; pixels of things without a name are empty.

    Returns
    -------
    dict of str to array (H, W) float32
        Red is the id, green its coverage. Blue and alpha are for a second thing in the pixel, of which there is none.
    """
    found, places = np.unique(things, return_inverse=True)
    hashes = np.array([name_hash(names[thing]) if thing in names else 0 for thing in found.tolist()], np.uint32)
    ids = hashes.view(np.float32)[places].reshape(things.shape)
    empty = np.zeros(things.shape, np.float32)
    return {
        f"{layer}00.R": ids,
        f"{layer}00.G": (ids != 0.0).astype(np.float32),
        f"{layer}00.B": empty,
        f"{layer}00.A": empty,
    }


def metadata(layer: str, names: Mapping[int, str]) -> dict[str, str]:
    """The attributes of a file that declare a layer and the names in it."""
    key = f"cryptomatte/{_murmur(layer):08x}"[: len("cryptomatte/") + 7]
    manifest = {name: f"{name_hash(name):08x}" for name in names.values()}
    return {
        f"{key}/name": layer,
        f"{key}/hash": "MurmurHash3_32",
        f"{key}/conversion": "uint32_to_float32",
        f"{key}/manifest": json.dumps(manifest, ensure_ascii=False, separators=(",", ":")),
    }


def name_hash(name: str) -> int:
    """The bits of a name's id: its hash, changed where these would be the bits of zero, infinity or not a number.

    >>> f"{name_hash('hello'):08x}"
    '248bfa47'
    """
    bits = _murmur(name)
    exponent = bits >> _FRACTION_BITS & 255
    return bits ^ 1 << _FRACTION_BITS if exponent in (0, 255) else bits


@cache
def _murmur(name: str) -> int:
    # Import scikit-learn only when needed: that takes longer than a short export.
    from sklearn.utils import murmurhash3_32

    return int(murmurhash3_32(name.encode(), positive=True))
