"""Segmentation of a first frame, from coarse to fine."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.pixels.mask_cut import cut_along
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.scaling import enlarge, reduce_frame
from scstream.pixels.starts import FramePrior, begin_from_many, is_better
from scstream.pixels.tiles import Tiles
from scstream.sampler.sampler import Progress, Sampler

#: The sampler first converges on about this many of the frame's pixels.
_COARSE_PIXELS = 26_000
#: Maximum number of sweeps at each finer resolution: the coarse result is nearly right already.
_REFINING_SWEEPS = 150
#: Sweeps after which a start from many segments is compared with that from one.
_TRIAL_SWEEPS = 40


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
    reduced = reduce_frame(frame, config.scale, config.n_threads)
    finest = Tiles(reduced, config.colour, 1, config.n_threads)
    number = 0 if earlier is None else earlier.state.batch + 1
    stage = _Stage(frame, config, every, 0 if earlier is None else earlier.genealogy.n_ids)
    strides = _strides(*finest.shape)
    coarse = finest if strides[0] == 1 else Tiles(reduced, config.colour, strides[0], config.n_threads)
    sampler = yield from _begin(stage, finest, coarse, time, number)
    for stride in strides[1:]:
        tiles = finest if stride == 1 else Tiles(reduced, config.colour, stride, config.n_threads)
        yield from stage.converge(sampler, tiles, _REFINING_SWEEPS)
    sampler.finish(finest)
    if mask is not None:
        cut_along(mask, sampler, finest)
    sampler.register_births(earlier)
    return sampler, finest


@dataclass(frozen=True, slots=True)
class _Stage:
    """Sweeps over a first frame, with previews whose ids begin at ``first_id``."""

    frame: npt.NDArray[np.uint8]
    config: VideoParameters
    every: int
    first_id: int

    def converge(self, sampler: Sampler, tiles: Tiles, limit: int) -> Generator[Preview, None, None]:
        """Sweep until the sampler converges, or ``limit`` times, but never more often than the parameters allow."""
        for progress in sampler.converge(tiles, min(limit, self.config.max_init_sweeps)):
            if progress.sweep % self.every == 0 or progress.converged:
                ids = enlarge(tiles.ids(sampler.id_of), self.frame.shape[:2], self.config.n_threads)
                yield Preview(ids + self.first_id if self.first_id else ids, progress, tiles.stride, self.frame)


def _begin(stage: _Stage, finest: Tiles, coarse: Tiles, time: float, number: int) -> Generator[Preview, None, Sampler]:
    """Return a sampler that has converged on the coarse pixels, from one segment or from many.

    Some pictures cannot be segmented by splitting one segment: if brightness rises from left to right in steps, all
    steps together explain the pixels better than two halves do. Others have details that a start from many misses.
    """
    config = stage.config
    prior = FramePrior(finest.points(), config.detail)
    component = prior.component(math.prod(finest.shape))
    one = Sampler.begin(config, component, coarse, time, number)
    yield from stage.converge(one, coarse, config.max_init_sweeps)
    many = begin_from_many(config, prior, component, coarse, time, number)
    tiles = coarse.copy()
    for _ in many.converge(tiles, min(_TRIAL_SWEEPS, config.max_init_sweeps)):
        pass
    if not is_better(many, one, coarse):
        return one
    yield from stage.converge(many, coarse, _REFINING_SWEEPS)
    return many


def _strides(height: int, width: int) -> list[int]:
    """Strides from coarse to fine, each a quarter of the one before, down to 1."""
    strides = [1]
    while height * width / strides[0] ** 2 > 2 * _COARSE_PIXELS:
        strides.insert(0, strides[0] * 4)
    return strides
