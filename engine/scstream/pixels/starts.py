"""The start of a first frame: the prior, a sampler that starts from many segments, and when that is better."""

from __future__ import annotations

import math

import numpy as np

from scstream.components import PixelGaussian
from scstream.components.base import Array
from scstream.components.second_moments import square_places
from scstream.kernels import PIXEL_D
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.tiles import Tiles
from scstream.sampler.sampler import Sampler
from scstream.sampler.soft_clustering import SoftClustering
from scstream.sampler.sweep import counter_rng, log_posterior

#: Number of pixels, 854 x 480, at which the prior has its nominal weight.
NOMINAL_PIXELS = 409_920
#: Pixels that a start from many segments is found on, and pieces that it begins with.
_SAMPLE = 2000
_PIECES = 96
_ITERATIONS = 5
#: The start from many must have a log posterior that is higher by so much for each pixel and segment. Two starts that
#: differ by less are two of many results that are equally good.
_MARGIN = 0.0015
#: The start's random generator has a number that no sweep has.
_START_SWEEP = 2**33


class FramePrior:
    """Prior of segments, from the first frame.

    Colours have twice the frame's covariance and positions a variance of 0.1, both divided by ``detail``, and weigh as
    much as a number of pixels that is proportional to the frame's: the number of segments hardly depends on the size.

    Parameters
    ----------
    points : array (N, 5)
        All pixels of the frame.
    detail : float
    """

    def __init__(self, points: Array, detail: float) -> None:
        # As products of matrices: np.mean and np.cov take five times as long.
        self._mean = np.full(len(points), 1.0 / len(points)) @ points
        covariance = points.T @ points / len(points) - np.outer(self._mean, self._mean)
        self._psi = np.diag(np.full(PIXEL_D, 0.1 / detail))
        self._psi[2:, 2:] = 2.0 / detail * covariance[2:, 2:]

    def component(self, n_pixels: int) -> PixelGaussian:
        """Return the component for frames, or samples of one, with this number of pixels."""
        weight = n_pixels / NOMINAL_PIXELS
        psi = weight * self._psi
        # Half a grey level keeps the prior proper on a picture of one colour.
        psi[2:, 2:] += np.eye(3) * (0.5 / 255.0) ** 2
        return PixelGaussian(kappa=weight, m=self._mean, nu=5.0, psi=psi).bind(self._mean[None], np.ones(1))


def begin_from_many(
    config: VideoParameters, prior: FramePrior, component: PixelGaussian, tiles: Tiles, time: float, number: int = 0
) -> Sampler:
    """Return a sampler with many segments that were found on a sample of a frame's pixels.

    Parameters as in `Sampler.begin`; ``prior`` gives the sample's component.
    """
    rng = counter_rng(config.seed, number, _START_SWEEP)
    points = tiles.points()
    n = min(len(points), _SAMPLE)
    points = points[np.sort(rng.choice(len(points), n, replace=False))]
    # A pixel stands for a cell of positions and colours. Without the spread in it flat areas would have no variance,
    # and all of them together would be more probable than each for itself.
    points += rng.uniform(-0.5, 0.5, points.shape) * _cell(tiles)
    sample = prior.component(n)
    soft = SoftClustering(sample, points, np.ones(n), config.log_alpha)
    S = soft.merge_down(soft.seed(_PIECES, rng), _ITERATIONS)
    return Sampler.begin_with(config, component, S * (math.prod(tiles.shape) / n), time, number)


def is_better(many: Sampler, one: Sampler, tiles: Tiles) -> bool:
    """Whether a start from many segments is clearly more probable than one from a single segment."""
    gain = _log_posterior(many, tiles) - _log_posterior(one, tiles)
    return gain > _MARGIN * len(one.state.ids) * math.prod(tiles.shape)


def _log_posterior(sampler: Sampler, tiles: Tiles) -> float:
    """Log posterior of segments whose pixels are spread over their cells."""
    total = sampler.state.total
    total[..., square_places(PIXEL_D)] += total[..., :1] * np.square(_cell(tiles)) / 12.0
    return log_posterior(sampler.component, total, sampler.config.log_alpha)


def _cell(tiles: Tiles) -> Array:
    """Width (5,) of the cell that a pixel stands for, in rows, columns and grey levels."""
    return np.array([1.0 / tiles.rows, 1.0 / tiles.columns, *(1.0 / 255.0,) * 3])
