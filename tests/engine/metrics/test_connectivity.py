"""The number of connected pieces of an id map, against flood filling and labelling id by id."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import ndimage

from scstream.metrics import pieces

MAPS = arrays.arrays(np.int32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 2))


def pieces_by_flood_filling(ids: np.ndarray) -> int:
    unseen = set(np.ndindex(ids.shape))
    found = 0
    while unseen:
        found += 1
        front = [unseen.pop()]
        while front:
            row, column = front.pop()
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if near in unseen and ids[near] == ids[row, column]:
                    unseen.remove(near)
                    front.append(near)
    return found


@given(MAPS)
@settings(max_examples=300)
def test_pieces_are_what_flood_filling_finds(ids: np.ndarray) -> None:
    assert pieces(ids) == pieces_by_flood_filling(ids)
    assert pieces(ids.T) == pieces(ids[::-1]) == pieces(ids)
    assert pieces(np.array([9, 1_000_000, -5])[ids]) == pieces(ids)


@pytest.mark.parametrize("specks", [0.0, 0.05])
def test_pieces_of_a_large_map_are_those_of_its_ids(specks: float) -> None:
    rng = np.random.default_rng(0)
    ids = ndimage.gaussian_filter(rng.standard_normal((20, 120, 170)), (0, 5, 5)).argmax(axis=0)
    ids = np.where(rng.random(ids.shape) < specks, rng.integers(0, 20, ids.shape), ids)
    assert pieces(ids) == sum(ndimage.label(ids == label)[1] for label in np.unique(ids))


def test_pieces_of_simple_maps() -> None:
    board = np.indices((6, 8)).sum(axis=0) % 2
    assert pieces(np.zeros((5, 7), np.uint8)) == 1
    assert pieces(board) == 48
    # A ring and what it encloses, which is no piece of what is outside.
    ring = np.zeros((5, 5), int)
    ring[1:4, 1:4] = 1
    ring[2, 2] = 0
    assert pieces(ring) == 3
    with pytest.raises(ValueError, match="ids must be an image"):
        pieces(np.zeros(4, int))
    with pytest.raises(ValueError, match="ids must be an image"):
        pieces(np.zeros((0, 4), int))
