"""Motion between frames: known shifts are found, flat pictures stand still."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from scstream import kernels
from scstream.kernels import BLOCK
from scstream.pixels.motion import Motion, find_motion, luminance, luminance_shape, luminance_step
from scstream.threads import queue_of

Frame = npt.NDArray[np.uint8]
Array = npt.NDArray[np.float64]

SIZES = [(240, 426), (480, 854), (720, 1280), (1080, 1920)]


def texture(size: tuple[int, int], seed: int = 0) -> Array:
    """A smooth random picture from 0 to 255; its blobs cover a few pixels at which motion is found."""
    noise = np.random.default_rng(seed).normal(size=size)
    picture = ndimage.gaussian_filter(noise, 1.5 * luminance_step(size), mode="wrap")
    return 255.0 * (picture - picture.min()) / np.ptp(picture)


def grey(picture: Array) -> Frame:
    return np.repeat(np.clip(np.rint(picture), 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def motion_between(old: Frame, new: Frame, threads: int = 2) -> Motion:
    before, after = (luminance(frame, threads) for frame in (old, new))
    return find_motion(after, before, luminance_step(old.shape[:2]), threads)


def interior(motion: Motion, margin: float) -> npt.NDArray[np.float32]:
    """Vectors (n, 2) of the blocks that are at least ``margin`` pixels away from the border."""
    away = int(np.ceil(margin / motion.spacing)) + 1
    return motion.vectors[away:-away, away:-away].reshape(-1, 2)


# --- luminance


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 5), (240, 426), (333, 1001), (720, 1280)], ids=str)
def test_luminance_is_the_mean_of_the_middle_of_each_block(size: tuple[int, int]) -> None:
    frame = np.random.default_rng(1).integers(0, 256, (*size, 3)).astype(np.uint8)
    step = luminance_step(size)
    weighted = frame.astype(np.int64) @ (1, 2, 1)
    rows, columns = (np.arange(n) for n in luminance_shape(size))
    y, x = (np.minimum(step * place + (step - 1) // 2, n - 1) for place, n in zip((rows, columns), size, strict=True))
    below, right = np.minimum(y + 1, size[0] - 1), np.minimum(x + 1, size[1] - 1)
    total = sum(weighted[np.ix_(v, u)] for v in (y, below) for u in (x, right))
    for threads in (1, 3):
        np.testing.assert_array_equal(luminance(frame, threads), (total + 8) // 16)


@pytest.mark.parametrize("size", [(2, 2), (9, 14), (33, 7)], ids=str)
def test_halve_takes_means_of_four(size: tuple[int, int]) -> None:
    picture = np.random.default_rng(2).integers(0, 256, size).astype(np.uint8)
    rows, columns = size[0] // 2, size[1] // 2
    blocks = picture[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2).astype(int)
    np.testing.assert_array_equal(kernels.halve(picture), (blocks.sum(axis=(1, 3)) + 2) // 4)


@pytest.mark.parametrize("size", [(1, 1), (1, 6), (5, 1), (2, 2), (9, 13)], ids=str)
def test_the_median_is_that_of_the_neighbours_there_are(size: tuple[int, int]) -> None:
    motion = np.random.default_rng(3).normal(size=(*size, 2)).astype(np.float32)
    smooth = np.empty_like(motion)
    kernels.median_motion(queue_of(np.arange(size[0] + 1)), motion, np.float32(2.0), smooth)
    for i in range(size[0]):
        for j in range(size[1]):
            near = motion[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2].reshape(-1, 2)
            np.testing.assert_array_equal(smooth[i, j], 2.0 * np.sort(near, axis=0)[len(near) // 2])


# --- known shifts


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("blocks", [(1, -2), (4, 3), (-5, 0), (0, 7)], ids=str)
def test_a_shift_by_whole_pixels_of_the_luminance_is_found_exactly(
    size: tuple[int, int], blocks: tuple[int, int]
) -> None:
    step, picture = luminance_step(size), texture(size)
    shift = step * np.array(blocks)
    motion = motion_between(grey(picture), grey(np.roll(picture, shift, axis=(0, 1))))
    # Vectors lead from the newer frame to the older one.
    assert np.abs(interior(motion, float(np.abs(shift).max())) + shift).max() < 0.6


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("shift", [(3, -2), (7, 11), (-12.5, 4.25), (0.4, -15.75)], ids=str)
def test_a_shift_by_a_fraction_is_found_to_a_fraction(size: tuple[int, int], shift: tuple[float, float]) -> None:
    picture, step = texture(size), luminance_step(size)
    motion = motion_between(grey(picture), grey(ndimage.shift(picture, shift, order=3, mode="grid-wrap")))
    error = np.abs(interior(motion, 16.0) + np.array(shift))
    assert np.median(error) < 0.15 * step
    assert error.max() < 0.4 * step


@pytest.mark.parametrize("size", [(64, 90), (240, 426), (720, 1280)], ids=str)
def test_the_number_of_threads_does_not_matter(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    old, new = (rng.integers(0, 256, (*size, 3)).astype(np.uint8) for _ in range(2))
    alone = motion_between(old, new, threads=1)
    for threads in (2, 4):
        np.testing.assert_array_equal(motion_between(old, new, threads).vectors, alone.vectors)
    assert np.isfinite(alone.vectors).all()
    assert alone.vectors.any()


def test_two_halves_that_move_apart_have_two_motions() -> None:
    picture = texture((240, 426))
    moved = np.concatenate([np.roll(picture[:, :213], -6, axis=1), np.roll(picture[:, 213:], 6, axis=1)], axis=1)
    motion = motion_between(grey(picture), grey(moved))
    columns = (np.arange(motion.vectors.shape[1]) + 0.5) * motion.spacing
    left, right = (motion.vectors[3:-3, abs(columns - middle) < 70] for middle in (106, 319))
    np.testing.assert_allclose(left.reshape(-1, 2).mean(axis=0), (0, 6), atol=0.3)
    np.testing.assert_allclose(right.reshape(-1, 2).mean(axis=0), (0, -6), atol=0.3)


# --- pictures without motion


@pytest.mark.parametrize("size", [(17, 400), (45, 70), (240, 426), (480, 854)], ids=str)
def test_a_constant_picture_stands_still(size: tuple[int, int]) -> None:
    flat = np.full((*size, 3), 77, np.uint8)
    assert not motion_between(flat, flat).vectors.any()
    # Nor is a change of brightness a motion.
    assert not motion_between(flat, flat + np.uint8(20)).vectors.any()


def test_faint_noise_on_a_flat_picture_is_no_motion() -> None:
    rng = np.random.default_rng(5)
    old, new = (np.rint(rng.normal(100.0, 1.0, (240, 426, 3))).astype(np.uint8) for _ in range(2))
    assert np.abs(motion_between(old, new).vectors).max() < 1.0


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (BLOCK - 1, 400), (400, BLOCK - 1)], ids=str)
def test_frames_smaller_than_a_block_have_no_motion(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    old, new = (rng.integers(0, 256, (*size, 3)).astype(np.uint8) for _ in range(2))
    motion = motion_between(old, new)
    assert motion.vectors.shape == (1, 1, 2)
    assert not motion.vectors.any()


@pytest.mark.parametrize("size", [(BLOCK, BLOCK), (BLOCK, 300), (300, BLOCK + 1), (17, 31)], ids=str)
def test_motion_never_leads_out_of_the_picture(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    old, new = (rng.integers(0, 256, (*size, 3)).astype(np.uint8) for _ in range(2))
    vectors = motion_between(old, new).vectors
    assert np.isfinite(vectors).all()
    assert (np.abs(vectors).max(axis=(0, 1)) <= np.array(size) - BLOCK + 0.5).all()


# --- motion of segments


def test_the_motion_of_each_segment_is_that_of_its_blocks() -> None:
    labels = np.zeros((96, 160), np.int32)
    labels[:, 80:] = 1
    vectors = np.zeros((6, 10, 2), np.float32)
    vectors[:, :5], vectors[:, 5:] = (3.0, 0.0), (0.0, -5.0)
    sums = kernels.sum_motion(vectors, 16.0, labels, 3)
    # A vector that leads to the older frame is the motion the other way round.
    np.testing.assert_allclose(sums[0, :2] / sums[0, 2], (-3.0, 0.0), atol=0.7)
    np.testing.assert_allclose(sums[1, :2] / sums[1, 2], (0.0, 5.0), atol=0.7)
    assert not sums[2].any()
    assert sums[:, 2].sum() <= 6 * 10 * 16
