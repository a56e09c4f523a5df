"""Ranges of hyperparameters and the search in them, the same for every method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc

Parameters = dict[str, Any]

#: Width of the second half of a search, around the best trial of the first half, relative to the whole range.
_NARROW = 0.35


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high."""

    low: float
    high: float
    log: bool = True
    whole: bool = False

    def at(self, share: float) -> float | int:
        """The number at a share in [0, 1] of the range."""
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return round(value) if self.whole else float(f"{value:.4g}")


Space = Mapping[str, Range | Sequence[Any]]


def point_at(space: Space, shares: npt.NDArray[np.float64]) -> Parameters:
    """The hyperparameters at shares in [0, 1] of the ranges; sequences are choices."""
    return {
        name: values.at(share) if isinstance(values, Range) else values[min(int(share * len(values)), len(values) - 1)]
        for (name, values), share in zip(space.items(), shares.tolist(), strict=True)
    }


def search(
    space: Space, first: Parameters, n_trials: int, score: Callable[[Parameters], float]
) -> Iterator[tuple[Parameters, float]]:
    """Try hyperparameters and yield each trial with its score.

    The first trial is ``first``, then half of them spread evenly over the ranges, the others near the best of those.
    """
    yield first, score(first)
    if not space:
        return
    sequence = qmc.Halton(len(space), seed=0)
    best, centre = -math.inf, np.full(len(space), 0.5)
    for trial in range(1, n_trials):
        shares = sequence.random(1)[0]
        if trial > n_trials // 2:
            shares = np.clip(centre + _NARROW * (shares - 0.5), 0.0, 1.0)
        parameters = point_at(space, shares)
        value = score(parameters)
        if value > best:
            best, centre = value, shares
        yield parameters, value
