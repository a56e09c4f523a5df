"""The optical flow between pictures that move by a known distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.flow import flow_both_ways


def textures(*corners: tuple[int, int]) -> list[npt.NDArray[np.uint8]]:
    """Windows of 64 x 96 pixels into one smooth texture, at the given corners (row, column)."""
    noise = ndimage.gaussian_filter(np.random.default_rng(0).standard_normal((90, 120, 3)), (2, 2, 0))
    texture = np.clip(128 + 50 * noise / noise.std(), 0, 255).astype(np.uint8)
    return [np.ascontiguousarray(texture[row : row + 64, column : column + 96]) for row, column in corners]


def test_flow_is_the_motion_along_columns_and_rows() -> None:
    flows = list(flow_both_ways(iter(textures((5, 5), (4, 8), (9, 8)))))
    # The window moves, so the picture moves the other way.
    for (forward, backward), motion in zip(flows, [(-3, 1), (0, -5)], strict=True):
        assert forward.shape == backward.shape == (64, 96, 2)
        np.testing.assert_allclose(np.median(forward, axis=(0, 1)), motion, atol=0.2)
        np.testing.assert_allclose(np.median(backward, axis=(0, 1)), np.negative(motion), atol=0.2)


def test_earlier_pictures_do_not_influence_a_flow() -> None:
    pictures = textures((5, 5), (20, 2), (0, 0), (1, 3))
    *_, (forward, backward) = flow_both_ways(pictures)
    [(alone, back_alone)] = flow_both_ways(pictures[2:])
    np.testing.assert_array_equal(forward, alone)
    np.testing.assert_array_equal(backward, back_alone)


def test_fewer_than_two_pictures_have_no_flow() -> None:
    assert list(flow_both_ways([])) == list(flow_both_ways(textures((0, 0)))) == []


def test_small_pictures_are_refused() -> None:
    with pytest.raises(EvaluationError, match="8 x 40 pixels, and 12 x 12 are needed"):
        list(flow_both_ways([np.zeros((40, 8, 3), np.uint8)]))
