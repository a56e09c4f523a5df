"""Pictures at another size."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from scstream.pixels.scaling import enlarge, scaled_size, shrink


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("shape", [(480, 854), (61, 93), (1, 1)])
def test_shrinking_by_threads_is_shrinking_at_once(shape: tuple[int, int], threads: int) -> None:
    frame = np.random.default_rng(1).integers(0, 256, (*shape, 3)).astype(np.uint8)
    size = scaled_size(shape, 0.5)
    np.testing.assert_array_equal(shrink(frame, size, threads), shrink(frame, size, 1))
    if shape == (480, 854):
        area = cv2.resize(frame, size[::-1], interpolation=cv2.INTER_AREA)
        assert np.abs(shrink(frame, size, threads).astype(int) - area).max() <= 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, bool])
@pytest.mark.parametrize("shape", [(480, 854), (361, 641), (240, 427), (7, 1300)])
def test_enlarging_takes_the_pixel_that_lies_there(shape: tuple[int, int], dtype: type, threads: int) -> None:
    small = (np.random.default_rng(2).integers(0, 90, (240, 427)) % (2 if dtype is bool else 90)).astype(dtype)
    rows, columns = (
        np.floor(np.arange(n) * (m / n) + 1e-9).astype(int) for n, m in zip(shape, small.shape, strict=True)
    )
    large = enlarge(small, shape, threads)
    assert large.dtype == small.dtype
    np.testing.assert_array_equal(large, small[np.ix_(rows, columns)])


def test_nothing_is_done_to_a_picture_of_that_size() -> None:
    picture = np.zeros((4, 5), np.int32)
    assert enlarge(picture, (4, 5), 2) is picture


@pytest.mark.parametrize(("shape", "scale", "size"), [((480, 854), 0.5, (240, 427)), ((3, 1), 0.25, (1, 1))])
def test_a_scaled_picture_has_a_pixel_at_least(shape: tuple[int, int], scale: float, size: tuple[int, int]) -> None:
    assert scaled_size(shape, scale) == size
