"""A synthetic video of moving discs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scstream.checks import check_number
from scstream.streams.common import Batch, Seed, check_sizes, counter, reflect, unit


def disc_video(
    n_frames: int | None,
    shape: tuple[int, int] = (120, 160),
    n_discs: int = 3,
    *,
    speed: float = 2.0,
    noise: float = 4.0,
    seed: Seed = None,
) -> Iterator[Batch]:
    """A video of coloured discs that move over a dark background, cover each other and are reflected at the border.

    Parameters
    ----------
    n_frames : int or None
        Number of frames; None for an endless video.
    shape : (int, int), default=(120, 160)
        Height and width of a frame.
    n_discs : int, default=3
        Number of discs, each in a different colour.
    speed : float, default=2.0
        Distance in pixels that a disc moves per frame, at most the smaller side of a frame.
    noise : float, default=4.0
        Standard deviation of the noise of every pixel, in grey levels.
    seed : int, numpy Generator or None

    Yields
    ------
    frame : ndarray of shape (H, W, 3), uint8
        RGB picture.
    truth : ndarray of shape (H, W)
        0 for the background, i for the i-th disc.

    Examples
    --------
    >>> frame, truth = next(disc_video(10, shape=(60, 80), seed=0))
    >>> frame.shape, frame.dtype, np.unique(truth)
    ((60, 80, 3), dtype('uint8'), array([0, 1, 2, 3]))
    """
    check_sizes(n_frames, height=shape[0], width=shape[1], n_discs=n_discs)
    # A faster disc would leave the frame: it is reflected once at most.
    check_number("speed", speed, 0.0, min(shape))
    check_number("noise", noise, 0.0)
    return _discs(counter(n_frames), shape, n_discs, speed, noise, np.random.default_rng(seed))


def _discs(
    frames: Iterator[int],
    shape: tuple[int, int],
    n_discs: int,
    speed: float,
    noise: float,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    half = np.array(shape) / 2.0
    grid = np.moveaxis(np.indices(shape), 0, -1) + 0.5 - half
    radius = 0.3 * half.min()
    # The hues are evenly spaced around the colour circle.
    phase = 2.0 * np.pi * (np.arange(n_discs)[:, None] / n_discs + np.arange(3) / 3.0)
    colours = np.concatenate([np.full((1, 3), 30.0), 140.0 + 100.0 * np.cos(phase)])
    angle = 2.0 * np.pi * np.arange(n_discs) / n_discs
    centres = 0.5 * half * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    directions = unit(rng.standard_normal((n_discs, 2)))
    for _ in frames:
        truth = np.zeros(shape, np.int64)
        for disc, centre in enumerate(centres, start=1):
            truth[np.square(grid - centre).sum(axis=-1) <= radius**2] = disc
        picture = colours[truth] + noise * rng.standard_normal((*shape, 3))
        yield np.clip(np.rint(picture), 0, 255).astype(np.uint8), truth
        centres, directions = reflect(centres + speed * directions, directions, half)
