"""Soft clusterings: shares, evidence, merges and seeds."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, softmax

from reference import Array, Ints
from scstream import DiagonalGaussian, Gaussian, Multinomial, kernels
from scstream.components import Component
from scstream.metrics import ari
from scstream.sampler.soft_clustering import SoftClustering, draw_indices

LOG_ALPHA = float(np.log(3.0))


def blobs(n: int, *centres: tuple[float, ...], spread: float = 1.0, seed: int = 0) -> tuple[Array, Ints]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(centres)
    return np.array(centres)[y] + spread * rng.normal(size=(n, len(centres[0]))), y


def soft(X: Array, component: Component | None = None, weight: Array | None = None) -> SoftClustering:
    w = np.ones(len(X)) if weight is None else weight
    return SoftClustering((component or Gaussian(psi=1.0)).bind(X, w), X, w, LOG_ALPHA)


def statistics(clustering: SoftClustering, y: Ints) -> Array:
    return clustering.component.statistics(clustering.points, clustering.weight, y.astype(np.int32), int(y.max()) + 1)


# --- shares


@pytest.mark.parametrize("order", ["C", "F"])
def test_points_are_shared_in_proportion_to_their_best_scores(order: str) -> None:
    rng = np.random.default_rng(1)
    scores = np.asarray(rng.normal(0.0, 3.0, (300, 9)), order=order)  # type: ignore[call-overload]
    cluster, share = np.empty((4, 300), np.int32), np.empty((4, 300))
    kernels.share_points(scores, 0, len(scores), cluster, share)
    expected = np.argsort(-scores, axis=1)[:, :4]
    best = np.take_along_axis(scores, expected, axis=1)
    near = best > best[:, :1] - 12.0
    np.testing.assert_array_equal(cluster.T, np.where(near, expected, 0))
    np.testing.assert_allclose(share.T, softmax(np.where(near, best, -np.inf), axis=1))


def test_points_are_shared_between_thousands_of_clusters() -> None:
    rng = np.random.default_rng(16)
    scores = np.asfortranarray(rng.normal(-100.0, 30.0, (200, 9000)))
    cluster, share = np.empty((4, 200), np.int32), np.empty((4, 200))
    kernels.share_points(scores, 0, len(scores), cluster, share)
    np.testing.assert_array_equal(cluster[0], scores.argmax(axis=1))
    assert cluster[0].max() > 8000


def test_a_cluster_that_is_far_from_a_point_has_no_share() -> None:
    cluster, share = np.empty((2, 1), np.int32), np.empty((2, 1))
    kernels.share_points(np.array([[-1000.0, 0.0, -900.0]]), 0, 1, cluster, share)
    assert cluster[0, 0] == 1
    np.testing.assert_array_equal(share, [[1.0], [0.0]])


def test_the_entropy_between_two_clusters_is_what_a_merge_loses() -> None:
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), 50)
    weight = rng.exponential(size=50)
    cluster = np.tile(np.array([[2], [0], [1]], np.int32), 50)
    lost = np.zeros((3, 3))
    kernels.entropy_between(cluster, np.ascontiguousarray(p.T), weight, lost)

    def entropy(q: Array) -> float:
        return float(-(weight @ (q * np.log(q)).sum(axis=1)))

    for a, b, kept in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        column = {2: 0, 0: 1, 1: 2}
        merged = np.stack([p[:, column[a]] + p[:, column[b]], p[:, column[kept]]], axis=1)
        assert lost[a, b] == pytest.approx(entropy(p) - entropy(merged))


# --- evidence


def test_the_evidence_of_clusters_that_lie_apart_is_that_of_their_partition() -> None:
    """Only one partition is possible then, so log p(points) is its log posterior."""
    X, y = blobs(60, (0, 0), (100, 0), (0, 100))
    clustering = soft(X)
    S = statistics(clustering, y)
    partition = 3 * LOG_ALPHA + gammaln(S[:, 0]).sum() + clustering.component.log_marginal(S).sum()
    assert clustering.evidence(S) == pytest.approx(partition - np.log(6.0), abs=1e-6)


def test_the_evidence_is_near_the_sum_over_all_partitions() -> None:
    """Seven points of two overlapping clusters: all labellings can be summed. One order of two labels in two counts."""
    X, _ = blobs(7, (0.0,), (1.5,), seed=3)
    clustering = soft(X, Gaussian(psi=0.3))
    component = clustering.component
    terms = []
    for labels in product(range(2), repeat=7):
        y = np.array(labels)
        if len(np.unique(y)) == 2:
            S = statistics(clustering, y)
            terms.append(2 * LOG_ALPHA + gammaln(S[:, 0]).sum() + component.log_marginal(S).sum())
    exact = logsumexp(terms) - np.log(2.0)
    starts = [statistics(clustering, np.array(y)) for y in set(permutations([0, 0, 0, 0, 1, 1, 1]))]
    found = max(clustering.evidence(clustering.fit(S, 20)) for S in starts)
    # An estimate: it sums the labels around one fit.
    assert exact - 2.5 < found < exact + 0.5


@pytest.mark.parametrize("weight", [1.0, 3.0, 1e6])
def test_heavy_points_prove_no_more_than_their_number(weight: float) -> None:
    X, y = blobs(80, (0, 0), (6, 0))
    light, heavy = soft(X), soft(X, weight=np.full(80, weight))
    assert heavy.evidence(statistics(heavy, y)) == pytest.approx(light.evidence(statistics(light, y)))


# --- merges and seeds


CASES = {
    "line": (Gaussian(psi=1.0), blobs(400, (0.0,), (30.0,), (60.0,), (75.0,))),
    "plane": (Gaussian(psi=1.0), blobs(400, (0, 0), (30, 0), (0, 9), (9, 9), (18, 40))),
    "diagonal": (DiagonalGaussian(psi=1.0), blobs(400, (0, 0), (30, 0), (0, 9), (9, 9), (18, 40))),
    "space": (Gaussian(psi=1.0), blobs(600, *(tuple(row) for row in 20.0 * np.eye(16)[:6]))),
}


@pytest.mark.parametrize("name", CASES)
def test_many_pieces_are_merged_into_the_clusters(name: str) -> None:
    component, (X, y) = CASES[name]
    clustering = soft(X, component)
    for seed in range(3):
        pieces = clustering.seed(30, np.random.default_rng(seed))
        assert len(pieces) > 15
        found = clustering.merge_down(pieces, 10)
        assert ari(y, clustering.share(found).labels) > 0.98


def test_counts_are_clustered_too() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(20, 0.3), 5)
    y = np.arange(300) % 5
    X = np.array([rng.multinomial(60, p[k]) for k in y], float)
    clustering = soft(X, Multinomial())
    found = clustering.merge_down(clustering.seed(20, rng), 10)
    assert len(found) == 5
    assert ari(y, clustering.share(found).labels) > 0.98


def test_pairs_merge_only_if_that_gains_enough() -> None:
    X, _ = blobs(300, (0, 0), (50, 0))
    clustering = soft(X)
    pieces = clustering.seed(12, np.random.default_rng(0))
    assert len(clustering.merge_down(pieces, 3)) == 2
    fitted = clustering.fit(pieces, 3)
    assert len(fitted) > 2
    np.testing.assert_array_equal(clustering.merge_down(pieces, 3, 1e9), fitted)


def test_merging_ends_where_no_merge_raises_the_evidence() -> None:
    X, _ = blobs(300, (0, 0), (4, 0), (8, 2), (2, 6))
    clustering = soft(X)
    found = clustering.merge_down(clustering.seed(24, np.random.default_rng(0)), 10)
    best = clustering.evidence(found)
    for a in range(len(found)):
        for b in range(a):
            others = np.delete(found, [a, b], axis=0)
            assert clustering.evidence(np.concatenate([others, [found[a] + found[b]]])) < best + 1.0


def test_seeds_lie_where_the_clusters_do_not() -> None:
    X, y = blobs(300, (0, 0), (50, 0), (0, 50))
    clustering = soft(X)
    known = statistics(clustering, y)[:2]
    seeds = clustering.seed(1, np.random.default_rng(0), known)
    mean = clustering.component.summary(seeds[0])["mean"]
    np.testing.assert_allclose(mean, [0, 50], atol=4.0)


def test_seeds_are_drawn_by_their_probabilities() -> None:
    p = np.random.default_rng(12).dirichlet(np.full(40, 0.1))
    ours, numpys = np.random.default_rng(13), np.random.default_rng(13)
    assert [draw_indices(p, 1, ours) for _ in range(200)] == [numpys.choice(40, p=p) for _ in range(200)]


def test_seeds_that_are_drawn_together_are_different() -> None:
    p, rng = np.array([0.45, 0.45, 0.1]), np.random.default_rng(14)
    found = [draw_indices(p, 2, rng).tolist() for _ in range(100)]
    assert [0, 1] in found
    assert [0] in found
    assert all(seeds in ([0], [1], [2], [0, 1], [0, 2], [1, 2]) for seeds in found)


def test_seeds_that_are_chosen_together_find_all_clusters() -> None:
    centres = [(60.0 * i, 60.0 * j) for i in range(4) for j in range(4)]
    X, y = blobs(30, *centres)
    clustering = soft(X)
    seeds = clustering.seed(30, np.random.default_rng(15), statistics(clustering, y)[:1], at_a_time=4)
    assert len(seeds) <= 30
    found = {tuple((clustering.component.summary(S)["mean"] / 60.0).round()) for S in seeds}
    assert found >= {(x / 60.0, z / 60.0) for x, z in centres[1:]}


def test_equal_points_are_one_piece() -> None:
    clustering = soft(np.full((20, 2), 3.0))
    assert len(clustering.seed(8, np.random.default_rng(0))) == 1
