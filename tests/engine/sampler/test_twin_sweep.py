"""One sweep of the engine and of its plain numpy twin, from the same state: draws, labels, Hastings ratios."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from helpers.twins import Quantities, assert_alike, component_of
from reference import Array, Ints, Niw, Part, Twin, TwinCluster, draw_inverse_wishart
from scstream.sampler.moves import merge_log_hastings, split_log_hastings
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points
from scstream.sampler.sampler import Sampler

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Start:
    """Points with labels 2 k + j, from which both samplers make one sweep."""

    X: Array
    labels: Ints
    prior: Niw
    alpha: float
    burn_in: int
    subcluster_age: int = 0

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max()) // 2 + 1

    def twin(self, seed: int) -> Twin:
        twin = Twin(self.prior, self.alpha, 1.0, np.random.default_rng(seed), burn_in=self.burn_in)
        parts = [Part.of(X, np.ones(len(X))) for X in (self.X[self.labels == i] for i in range(2 * self.n_clusters))]
        twin.clusters = [
            TwinCluster(k, [], (parts[2 * k], parts[2 * k + 1]), rest=self.subcluster_age)
            for k in range(self.n_clusters)
        ]
        return twin

    def sampler(self, seed: int) -> tuple[Sampler, Points]:
        component, weight = component_of(self.prior), np.ones(len(self.X))
        batch = Points(component, self.X, weight)
        S = component.statistics(component.prepare(self.X), weight, self.labels.astype(np.int32), 2 * self.n_clusters)
        S = S.reshape(self.n_clusters, 2, -1)
        config = Parameters(alpha=self.alpha, burn_in=self.burn_in, seed=seed)
        sampler = Sampler.begin_with(config, component, S.sum(axis=1), 0.0)
        sampler.state.current = S
        sampler.state.subcluster_age[:] = self.subcluster_age
        return sampler, batch

    def swept_twin(self, seed: int, sampling: bool = True) -> Array:
        """Counts and means (K, 2, 1 + D) of the sub-clusters after one sweep of the twin; 0 if there are no points."""
        twin = self.twin(seed)
        twin.sweep(self.X, sampling)
        out = np.zeros((self.n_clusters, 2, 1 + self.prior.D))
        for cluster in twin.clusters:
            out[cluster.id] = [[part.n, *part.x / max(part.n, 1e-300)] for part in cluster.now]
        return out

    def swept_engine(self, seed: int, sampling: bool = True) -> Array:
        """The same after one sweep of the engine."""
        sampler, batch = self.sampler(seed)
        index_of = np.argsort(-sampler.state.total[:, :, 0].sum(axis=1), kind="stable")
        sampler.sweep(batch, sampler.config, sampling)
        out = np.zeros((self.n_clusters, 2, 1 + self.prior.D))
        n, x = np.split(sampler.state.current[:, :, : 1 + self.prior.D], [1], axis=2)
        means = np.where(n > 0.0, x / np.maximum(n, 1e-300) + self.prior.m, 0.0)
        # The largest cluster has the id 0.
        out[index_of[sampler.state.ids]] = np.concatenate([n, means], axis=2)
        return out


def overlapping_start(burn_in: int, certainty: float = 1.0, seed: int = 11) -> Start:
    """Three clusters of different sizes that overlap, with sub-clusters of different sizes.

    The larger the certainty of the prior, the less do the parameters vary, and the more depends on the weights.
    """
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(6), [17, 3, 11, 2, 6, 1])
    centres = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, -1.0], [2.5, 0.0], [0.5, 2.0], [1.5, 2.5]])
    X = centres[groups] + rng.normal(size=(len(groups), 2)) * [1.0, 0.6]
    prior = Niw(0.5 * certainty, np.array([0.3, -0.2]), 5.0 * certainty, np.array([[0.8, 0.2], [0.2, 0.5]]))
    return Start(X, groups, prior, 6.0, burn_in)


def moments(values: dict[str, float], centre: Quantities) -> Quantities:
    """The values and their squared distances from a fixed centre: means of both tell means and variances."""
    return values | {f"{name} squared": (value - centre[name]) ** 2 for name, value in values.items()}


@pytest.mark.parametrize("certainty", [1.0, 100.0])
def test_one_drawn_sweep_has_the_same_distribution(certainty: float) -> None:
    """Weights, parameters and labels are drawn alike: numbers and means of the sub-clusters' points."""
    start = overlapping_start(100, certainty)

    def values(swept: Array) -> Quantities:
        each = {f"{k} {j} {i}": float(swept[k, j, i]) for k, j, i in np.ndindex(swept.shape)}
        sizes = {f"cluster {k}": float(size) for k, size in enumerate(swept[:, :, 0].sum(axis=1))}
        concentration = {"concentration": sum(size * size for size in sizes.values())}
        return each | sizes | concentration | {"second sub-clusters": float(swept[:, 1, 0].sum())}

    centre = values(np.mean([start.swept_engine(seed) for seed in range(90_000, 90_200)], axis=0))
    assert_alike(
        lambda seed: moments(values(start.swept_twin(seed)), centre),
        lambda seed: moments(values(start.swept_engine(seed)), centre),
        1000,
        3000,
    )


def test_one_deterministic_sweep_is_the_same() -> None:
    for seed in range(200):
        start = overlapping_start(100, seed=seed)
        twin, engine = start.swept_twin(0, sampling=False), start.swept_engine(0, sampling=False)
        np.testing.assert_allclose(twin, engine, rtol=1e-9)


def test_the_twin_draws_covariances_as_scipy_does() -> None:
    scale = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])

    def quantities(covariance: Array) -> Quantities:
        precision = np.linalg.inv(covariance)
        entries = {f"precision {i} {j}": float(precision[i, j]) for i in range(3) for j in range(i + 1)}
        return entries | {f"log variance {i}": float(np.log(covariance[i, i])) for i in range(3)}

    law = stats.invwishart(4.5, scale)
    assert_alike(
        lambda seed: quantities(draw_inverse_wishart(4.5, scale, np.random.default_rng(seed))),
        lambda seed: quantities(law.rvs(random_state=50_000 + seed)),
        1000,
        1000,
    )


def test_sub_clusters_start_anew_in_the_same_distribution() -> None:
    """An empty sub-cluster makes both cut the cluster across a random axis; which half comes first is arbitrary."""
    X = np.random.default_rng(3).normal(size=(50, 3)) @ np.diag([3.0, 1.0, 0.5])
    prior = Niw(1.0, np.zeros(3), 6.0, np.diag([1.0, 2.0, 0.5]))
    # No point is near the prior mean, where the empty sub-cluster is, so that it stays empty.
    start = Start(X + 1000.0, np.zeros(50, np.int64), prior, 1.0, burn_in=2, subcluster_age=2)

    def values(swept: Array) -> Quantities:
        way = np.abs(swept[0, 0, 1:] - swept[0, 1, 1:])
        return {f"feature {d}": float(value) for d, value in enumerate(way)}

    assert_alike(
        lambda seed: moments(values(start.swept_twin(seed)), defaultdict(float)),
        lambda seed: moments(values(start.swept_engine(seed)), defaultdict(float)),
        500,
        1000,
    )


@pytest.mark.parametrize("merge", ["paper", "original"])
def test_hastings_ratios_are_equal(merge: str) -> None:
    start = overlapping_start(burn_in=0)
    twin, (sampler, _) = start.twin(0), start.sampler(0)
    twin.merge_kind = merge
    total, component, log_alpha = sampler.state.total, sampler.component, sampler.config.log_alpha
    splits = [twin.split_ratio(*cluster.now) for cluster in twin.clusters]
    np.testing.assert_allclose(split_log_hastings(component, total, log_alpha), splits, rtol=1e-9)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    S = total.sum(axis=1)
    merges = [twin.merge_ratio(*(twin.total(twin.clusters[k]) for k in pair)) for pair in pairs]
    ratios = merge_log_hastings(component, S, component.log_marginal(S), pairs, log_alpha, merge)
    np.testing.assert_allclose(ratios, merges, rtol=1e-9)
