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
from scstream.pixels.starts import NOMINAL_PIXELS, FramePrior, begin_from_many, is_better
from scstream.pixels.tiles import Tiles
from scstream.sampler.sampler import Progress, Sampler

#: The sampler first converges on about this many of the frame's pixels.
_COARSE_PIXELS = 26_000
#: Maximum number of sweeps at each finer resolution: the coarse result is nearly right already. Frames with more pixels
#: than `NOMINAL_PIXELS` get fewer, so that all of them take about as long, but not fewer than the second number.
_REFINING_SWEEPS, _FEWEST_SWEEPS = 150, 8
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
    finest = _tiles(reduced, config, 1)
    number = 0 if earlier is None else earlier.state.batch + 1
    stage = _Stage(frame, config, every, 0 if earlier is None else earlier.genealogy.n_ids)
    strides = _strides(*finest.shape)
    coarse = finest if strides[0] == 1 else _tiles(reduced, config, strides[0])
    sampler = yield from _begin(stage, finest, coarse, time, number)
    for stride in strides[1:]:
        tiles = finest if stride == 1 else _tiles(reduced, config, stride)
        yield from stage.converge(sampler, tiles, _refining_sweeps(math.prod(tiles.shape) // stride**2))
    sampler.finish(finest)
    if mask is not None:
        cut_along(mask, sampler, finest)
    sampler.register_births(earlier)
    return sampler, finest


def _tiles(frame: npt.NDArray[np.uint8], config: VideoParameters, stride: int) -> Tiles:
    return Tiles(frame, config.colour, stride, config.n_threads, config.chroma_noise)


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
    prior = FramePrior(finest.points(), config.prior_detail)
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


def _refining_sweeps(pixels: int) -> int:
    """Maximum number of sweeps over this number of pixels.

    >>> [_refining_sweeps(width * height) for width, height in ((854, 480), (1920, 1080), (3840, 2160))]
    [150, 29, 8]
    """
    return max(_FEWEST_SWEEPS, min(_REFINING_SWEEPS, _REFINING_SWEEPS * NOMINAL_PIXELS // pixels))


def _strides(height: int, width: int) -> list[int]:
    """Strides from coarse to fine: about `_COARSE_PIXELS`, then about `NOMINAL_PIXELS`, then all pixels.

    With the same numbers of pixels at any size, about the same segments are found.

    >>> [_strides(*shape) for shape in ((48, 60), (240, 427), (480, 854), (1080, 1920), (2160, 3840))]
    [[1], [2, 1], [4, 1], [9, 2, 1], [18, 4, 1]]
    """
    pixels = height * width
    strides = (max(1, round(math.sqrt(pixels / n))) for n in (_COARSE_PIXELS, NOMINAL_PIXELS))
    return sorted({*strides, 1}, reverse=True)
