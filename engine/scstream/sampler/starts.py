"""The start of a stream of points: hyperparameters that depend on the first batch, and the best of several starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scstream.components.base import Array, Component
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points, Rows
from scstream.sampler.sampler import Sampler
from scstream.sampler.soft_clustering import SoftClustering
from scstream.sampler.sweep import counter_rng, sum_subclusters

#: A batch of this many points is large.
_LARGE_BATCH = 4000
#: Points on which candidates for the component are compared in a small batch. With fewer than about ten points in each
#: cluster, a single cluster looks best.
_CANDIDATE_POINTS = 1000
#: Points of a large batch on which candidates and starts are compared: clusters that overlap are told apart only by
#: many points. If they are too few for the clusters that are found, starts are tried on the larger number.
_MANY_POINTS, _MOST_POINTS = 16_000, 2**15
#: A start needs this many pieces for each cluster that it finds, and this many points for each piece.
_PIECES_PER_CLUSTER = 2
_POINTS_PER_PIECE = 32
#: Pieces that a start begins with in a large batch; in a smaller one there are fewer.
_PIECES = 126
#: Starts from many clusters in a small batch. A large one has a single start: others lead to much the same clusters.
_STARTS = 3
#: Iterations between two rounds of merges.
_ITERATIONS = 10
#: Starts whose evidence differs by less, in nats, are equally good.
_EQUAL = 10.0
#: Differences of the evidence, in nats, that may be rounding errors.
_ROUNDING = 1e-3
#: Nats by which the start from one must be better than that from many.
_CLEARLY = 1.0
#: Returns more components to choose from; see `Component.variations`.
Vary = Callable[[Component], Sequence[Component]]

#: The starts' random generator has a number that no sweep has.
_START_SWEEP = 2**33


def start_stream(
    config: Parameters,
    candidates: list[Component],
    rows: Rows,
    time: float,
    number: int = 0,
    vary: Vary = lambda best: [],
) -> tuple[Sampler, Points]:
    """Cluster a first batch; returns the sampler and the labelled batch.

    The sampler starts from many clusters, which a `SoftClustering` has found, and from one, which it splits until it
    converges. The start with the higher evidence is kept.

    Parameters
    ----------
    config : Parameters
    candidates : list of Component
        Bound components. The one under which the batch has the highest evidence is used.
    rows : Rows
    time : float
    number : int
        Number of the batch in the stream.
    vary : callable
        Returns components like the best of several candidates, to choose from as well.
    """
    rng = counter_rng(config.seed, number, _START_SWEEP)
    component = _best_component(candidates, vary, rows, config.log_alpha, rng)
    sample, start = _best_start(component, rows, config.log_alpha, rng)
    many = rows.points(component)
    from_many = Sampler.begin_with(config, component, start * sample.factor, time, number)
    from_many.finish(many)
    one = many.copy()
    from_one = Sampler.begin(config, component, one, time, number)
    for _ in from_one.converge(one, config.max_init_sweeps):
        pass
    from_one.finish(one)
    gain = sample.evidence(from_one) - sample.evidence(from_many)
    # Where both find the same clusters, rounding errors must not decide.
    return (from_one, one) if gain > _CLEARLY else (from_many, many)


def _best_component(
    candidates: list[Component], vary: Vary, rows: Rows, log_alpha: float, rng: np.random.Generator
) -> Component:
    """The component with the highest evidence, of the candidates first and then of variations of the best of them."""
    if len(candidates) == 1 and not vary(candidates[0]):
        return candidates[0]
    size = _CANDIDATE_POINTS if len(rows) < _LARGE_BATCH else _MANY_POINTS
    # All on the same points and with the same seeds: another choice changes the evidence more than some components do.
    points, seed = rows.sample(size, rng), int(rng.integers(2**63))

    def climb(best: Component, highest: float, components: Sequence[Component]) -> tuple[Component, float]:
        """The best component and its evidence; the search ends where that does not rise twice in a row."""
        falls = 0
        for component in components:
            sample = _Sample(component, points, rows.total, log_alpha, size)
            evidence = sample.soft.evidence(sample.from_many(np.random.default_rng(seed)))
            falls = 0 if evidence > highest else falls + 1
            if evidence > highest:
                best, highest = component, evidence
            if falls == 2:
                break
        return best, highest

    best, highest = climb(candidates[0], -math.inf, candidates)
    return climb(best, highest, vary(best))[0]


def _best_start(component: Component, rows: Rows, log_alpha: float, rng: np.random.Generator) -> tuple[_Sample, Array]:
    """A sample of the rows, and the statistics (K, P) of the best start from many clusters on it."""
    for size in (_MANY_POINTS, _MOST_POINTS):
        points = rows.sample(size, rng)
        sample = _Sample(component, points, rows.total, log_alpha, size)
        start = sample.best_start(_STARTS if len(points[1]) < _LARGE_BATCH else 1, rng)
        if sample.is_enough_for(start):
            break
    return sample, start


class _Sample:
    """Some points of a first batch, on which starts are tried.

    Parameters
    ----------
    component : Component
    points : (array or CSR array (N, D), array (N,))
        Points and their weights.
    total : float
        Weight of the batch.
    log_alpha : float
    size : int
        Number of points that was asked for; the batch may have fewer.

    Attributes
    ----------
    soft : SoftClustering
    factor : float
        Ratio of statistics of the batch to those of the soft clustering.
    """

    def __init__(
        self, component: Component, points: tuple[Any, Array], total: float, log_alpha: float, size: int
    ) -> None:
        X, weight = points
        self.soft = SoftClustering(component, X, weight, log_alpha)
        self._is_all = len(weight) < size or size >= _MOST_POINTS
        # Fewer points than dimensions say little about the shape of a piece.
        limit = 2 * len(weight) // (component.n_coordinates + 3)
        self._fewest_pieces = max(2, min(math.isqrt(4 * len(weight)), _PIECES, limit))
        self._most_pieces = max(self._fewest_pieces, min(len(weight) // _POINTS_PER_PIECE, limit))
        self.factor = float(total / self.soft.weight.sum())

    def is_enough_for(self, start: Array) -> bool:
        """Whether a start (K, P) on more points could not have found more clusters."""
        return self._is_all or _PIECES_PER_CLUSTER * len(start) <= self._most_pieces

    def evidence(self, sampler: Sampler) -> float:
        """Evidence of the clusters of a sampler."""
        return self.soft.evidence(sum_subclusters(sampler.state.total) / self.factor)

    def best_start(self, n_starts: int, rng: np.random.Generator) -> Array:
        """Statistics (K, P) of the best of several starts from many clusters; of equally good ones, that with most.

        Later moves merge what is too much more easily than they divide what is too little.
        """
        starts = [self.from_many(rng) for _ in range(n_starts)]
        evidence = [self.soft.evidence(S) for S in starts]
        most = max(len(S) for S, value in zip(starts, evidence, strict=True) if value >= max(evidence) - _EQUAL)
        best = max(value for S, value in zip(starts, evidence, strict=True) if len(S) == most)
        # Where several find the same clusters, rounding errors must not decide.
        same = (S for S, value in zip(starts, evidence, strict=True) if len(S) == most and value >= best - _ROUNDING)
        return next(same)

    def from_many(self, rng: np.random.Generator) -> Array:
        """Statistics (K, P) of clusters found from many pieces that are merged; from more if most pieces remain."""
        n_pieces = self._fewest_pieces
        while True:
            start = self.soft.merge_down(self.soft.seed(n_pieces, rng), _ITERATIONS)
            if _PIECES_PER_CLUSTER * len(start) <= n_pieces or n_pieces == self._most_pieces:
                return start
            n_pieces = min(4 * n_pieces, self._most_pieces)
