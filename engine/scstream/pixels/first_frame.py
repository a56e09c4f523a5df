"""Segmentation of a first frame, from coarse to fine."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.components import PixelGaussian
from scstream.kernels import PIXEL_D
from scstream.pixels.mask_cut import cut_along
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.scaling import enlarge, reduce_frame
from scstream.pixels.tiles import Tiles
from scstream.sampler.sampler import Progress, Sampler

#: The sampler first converges on about this many of the frame's pixels.
_COARSE_PIXELS = 26_000
#: Maximum number of sweeps at each finer resolution: the coarse result is nearly right already.
_REFINING_SWEEPS = 150


@dataclass(frozen=True, slots=True)
class Preview:
    """Intermediate result for a first frame.

    Parameters
    ----------
    ids : array (H, W) int32
        Segment ids, which are not final.
    progress : Progress
        State of the sampler.
    stride : int
        Every ``stride``-th pixel in x and y has been used.
    frame : array (H, W, 3) uint8
    """

    ids: npt.NDArray[np.int32]
    progress: Progress
    stride: int
    frame: npt.NDArray[np.uint8]


def segment_first(
    frame: npt.NDArray[np.uint8],
    config: VideoParameters,
    time: float,
    every: int = 10,
    mask: npt.NDArray[Any] | None = None,
    earlier: Sampler | None = None,
) -> Generator[Preview, None, tuple[Sampler, Tiles]]:
    """Segment a first frame; yields previews and returns the sampler and the frame's tiles.

    Parameters
    ----------
    frame : array (H, W, 3) uint8
    config : VideoParameters
    time : float
    every : int
        Sweeps between two previews.
    mask : array (H, W), optional
        Cut segments along the outlines of these objects; see `cut_along`.
    earlier : Sampler, optional
        Sampler of the frames before a restart: ids and genealogy continue from it.
    """
    shape = frame.shape[:2]
    reduced = reduce_frame(frame, config.scale, config.n_threads)
    finest = Tiles(reduced, config.colour, 1, config.n_threads)
    first_id = 0 if earlier is None else earlier.genealogy.n_ids
    sampler: Sampler | None = None
    for stride in _strides(round(shape[0] * config.scale), round(shape[1] * config.scale)):
        tiles = finest if stride == 1 else Tiles(reduced, config.colour, stride, config.n_threads)
        limit = config.max_init_sweeps
        if sampler is None:
            number = 0 if earlier is None else earlier.state.batch + 1
            sampler = Sampler.begin(config, _prior(finest, config.detail), tiles, time, number)
        else:
            limit = min(_REFINING_SWEEPS, limit)
        for progress in sampler.converge(tiles, limit):
            if progress.sweep % every == 0 or progress.converged:
                ids = enlarge(tiles.ids(sampler.id_of), shape, config.n_threads)
                yield Preview(ids + first_id if first_id else ids, progress, stride, frame)
    assert sampler is not None
    sampler.finish(finest)
    if mask is not None:
        cut_along(mask, sampler, finest)
    sampler.register_births(earlier)
    return sampler, finest


def _strides(height: int, width: int) -> list[int]:
    """Strides from coarse to fine, each a quarter of the one before, down to 1."""
    strides = [1]
    while height * width / strides[0] ** 2 > 2 * _COARSE_PIXELS:
        strides.insert(0, strides[0] * 4)
    return strides


def _prior(tiles: Tiles, detail: float) -> PixelGaussian:
    """Prior from the first frame: its mean, twice its colours' covariance, position variances of 0.1, over detail."""
    points = tiles.points()
    # As products of matrices: np.mean and np.cov take five times as long.
    mean = np.full(len(points), 1.0 / len(points)) @ points
    covariance = points.T @ points / len(points) - np.outer(mean, mean)
    psi = np.diag(np.full(PIXEL_D, 0.1 / detail))
    # Half a grey level keeps the prior proper on a picture of one colour.
    psi[2:, 2:] = 2.0 / detail * covariance[2:, 2:] + np.eye(3) * (0.5 / 255.0) ** 2
    return PixelGaussian(kappa=1.0, m=mean, nu=5.0, psi=psi).bind(points[:1], np.ones(1))
