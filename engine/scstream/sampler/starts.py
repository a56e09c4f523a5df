"""The start of a stream of points: hyperparameters that depend on the first batch, and the best of several starts."""

from __future__ import annotations

import math

import numpy as np

from scstream.components.base import Array, Component
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points, Rows
from scstream.sampler.sampler import Sampler
from scstream.sampler.soft_clustering import SoftClustering
from scstream.sampler.sweep import counter_rng, sum_subclusters

#: Points on which candidates for the component are compared, and on which starts are.
_CANDIDATE_POINTS = 1000
_START_POINTS = 4000
#: Starts from many clusters, most pieces that each begins with, and iterations between two rounds of merges.
_STARTS = 3
_MAX_PIECES = 128
_ITERATIONS = 10
#: Starts whose evidence differs by less, in nats, are equally good.
_EQUAL = 10.0
#: Nats by which the start from one must be better than that from many.
_CLEARLY = 1.0
#: The starts' random generator has a number that no sweep has.
_START_SWEEP = 2**33


def start_stream(
    config: Parameters, candidates: list[Component], rows: Rows, time: float, number: int = 0
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
    """
    rng = counter_rng(config.seed, number, _START_SWEEP)
    component = _best_component(candidates, rows, config.log_alpha, rng)
    sample = _Sample(component, rows, config.log_alpha, _START_POINTS, rng)
    many = rows.points(component)
    from_many = Sampler.begin_with(config, component, sample.best_start(rng) * sample.factor, time, number)
    from_many.finish(many)
    one = many.copy()
    from_one = Sampler.begin(config, component, one, time, number)
    for _ in from_one.converge(one, config.max_init_sweeps):
        pass
    from_one.finish(one)
    gain = sample.evidence(from_one) - sample.evidence(from_many)
    # Where both find the same clusters, rounding errors must not decide.
    return (from_one, one) if gain > _CLEARLY else (from_many, many)


def _best_component(candidates: list[Component], rows: Rows, log_alpha: float, rng: np.random.Generator) -> Component:
    """The candidate with the highest evidence; the search ends when it falls twice in a row."""
    best, highest, falls = candidates[0], -np.inf, 0
    if len(candidates) == 1:
        return best
    for component in candidates:
        sample = _Sample(component, rows, log_alpha, _CANDIDATE_POINTS, rng)
        evidence = sample.soft.evidence(sample.from_many(rng))
        falls = 0 if evidence > highest else falls + 1
        if evidence > highest:
            best, highest = component, evidence
        if falls == 2:
            break
    return best


class _Sample:
    """Some points of a first batch, on which starts are tried.

    Parameters
    ----------
    component : Component
    rows : Rows
    log_alpha : float
    size : int
        Most points.
    rng : Generator

    Attributes
    ----------
    soft : SoftClustering
    factor : float
        Ratio of statistics of the batch to those of the soft clustering.
    """

    def __init__(self, component: Component, rows: Rows, log_alpha: float, size: int, rng: np.random.Generator) -> None:
        X, weight = rows.sample(size, rng)
        self.soft = SoftClustering(component, X, weight, log_alpha)
        self.factor = float(rows.total / self.soft.weight.sum())

    def evidence(self, sampler: Sampler) -> float:
        """Evidence of the clusters of a sampler."""
        return self.soft.evidence(sum_subclusters(sampler.state.total) / self.factor)

    def best_start(self, rng: np.random.Generator) -> Array:
        """Statistics (K, P) of the best of several starts from many clusters; of equally good ones, that with most.

        Later moves merge what is too much more easily than they divide what is too little.
        """
        starts = [self.from_many(rng) for _ in range(_STARTS)]
        evidence = [self.soft.evidence(S) for S in starts]
        good = [n for n, value in enumerate(evidence) if value >= max(evidence) - _EQUAL]
        return starts[max(good, key=lambda n: (len(starts[n]), evidence[n]))]

    def from_many(self, rng: np.random.Generator) -> Array:
        """Statistics (K, P) of clusters found from many pieces, about 2 sqrt(N), that are merged."""
        n_points = len(self.soft.weight)
        # Fewer points than dimensions say little about the shape of a piece.
        most = 2 * n_points // (self.soft.component.n_coordinates + 3)
        n_pieces = max(2, min(_MAX_PIECES, math.isqrt(4 * n_points), most))
        return self.soft.merge_down(self.soft.seed(n_pieces, rng), _ITERATIONS)
