"""The error of the chroma channels that segments allow for, so that they do not follow the blocks of a codec."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from scstream import VideoSegmenter
from scstream.pixels.colour import from_public_axes
from scstream.pixels.tiles import Tiles

Frame = npt.NDArray[np.uint8]
BLOCK = 16


def blocky(seed: int = 0, height: int = 192, width: int = 256) -> Frame:
    """A smooth grey picture, a bit noisy, whose chroma is that of its block, off by up to a level."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    grey = 110.0 + 30.0 * np.sin(x / 41.0) + 25.0 * np.cos(y / 29.0 + x / 97.0) + rng.normal(0.0, 3.0, (height, width))
    blocks = rng.integers(-1, 2, (height // BLOCK, width // BLOCK, 2)).repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
    red, blue = blocks[..., 0], blocks[..., 1]
    picture = np.stack([grey + red, grey - red - blue, grey + blue], axis=2)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def on_block_edges(ids: npt.NDArray[np.int32]) -> float:
    """Share of the steps from one segment to another, from left to right, that lie between two blocks."""
    changes = (ids[:, 1:] != ids[:, :-1]).sum(axis=0)
    return float(changes[BLOCK - 1 :: BLOCK].sum() / changes.sum())


@pytest.mark.parametrize("seed", [0, 1])
def test_segments_do_not_follow_the_blocks_of_a_codec(seed: int) -> None:
    frame = blocky(seed)
    bare, default, smooth = (
        on_block_edges(VideoSegmenter(seed=seed, smoothing=smoothing).segment(frame)) for smoothing in (0.0, 1.0, 4.0)
    )
    assert bare > 0.9
    assert default < 0.5
    # By chance: one column in sixteen.
    assert smooth < 0.15


def test_statistics_are_those_of_pixels_with_errors() -> None:
    """On average over many frames with random errors of the chroma."""
    rng, noise, n = np.random.default_rng(3), 0.02, 400
    frame = rng.integers(60, 200, (16, 16, 3), np.uint8)
    everything = np.ones((1, 256), bool)
    given = Tiles(frame, chroma_noise=noise).statistics(everything)
    points = Tiles(frame).points()
    found = np.zeros_like(given)
    for _ in range(n):
        x = points.copy()
        x[:, 2:4] += rng.normal(0.0, noise, (256, 2))
        found += np.concatenate([[256.0], x.sum(axis=0), (x.T @ x)[np.tril_indices(5)]]) / n
    error = 3.0 * noise * np.sqrt(256.0 / n) * np.abs(points).max() * 2.0
    np.testing.assert_allclose(found, given, atol=error)
    plain = Tiles(frame).statistics(everything)
    assert np.flatnonzero(given != plain).tolist() == [11, 15]


def test_statistics_of_segments_include_the_error() -> None:
    frame = np.full((24, 32, 3), 90, np.uint8)
    segmenter = VideoSegmenter(seed=0, smoothing=4.0)
    segmenter.segment(frame)
    covariance = segmenter.statistics_["covariance"][0]
    _, own = from_public_axes(np.zeros(5), covariance, "rgb")
    np.testing.assert_allclose(np.diag(own)[2:], [(3.0 / 255.0) ** 2, (3.0 / 255.0) ** 2, 0.0], atol=1e-9)


def test_the_error_follows_a_change_of_the_smoothing() -> None:
    frame = np.full((24, 32, 3), 90, np.uint8)
    segmenter = VideoSegmenter(seed=0, steadiness=0.0, decay=50.0)
    segmenter.segment(frame)
    segmenter.set_params(smoothing=0.0)
    segmenter.segment(frame)
    covariance = segmenter.statistics_["covariance"][0]
    np.testing.assert_allclose(covariance[:3, :3], 0.0, atol=1e-9)
