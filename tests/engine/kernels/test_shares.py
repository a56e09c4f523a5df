"""Shares of points in Gaussian clusters, and pieces around seeds, against their numpy twins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from reference import Array, Niw, entropy, gaussian_row, share
from scstream import Gaussian, kernels
from scstream.components.gaussian_sharing import GaussianSharing
from scstream.threads import thread_limit

#: As in `kernels.gaussian_shares`.
NATS = 12.0


def skewed_points(N: int, D: int) -> tuple[Array, Array]:
    """Points with a long tail in three groups, and their weights."""
    rng = np.random.default_rng(D)
    X = rng.exponential(1.0, (N, D)) + 4.0 * rng.integers(0, 3, N)[:, None]
    X[0] = -500.0
    return X, rng.exponential(1.0, N)


def clusters_of(X: Array, w: Array) -> list[tuple[Array, Array]]:
    """The points and weights of some clusters that overlap, of one with a single point, and of an empty one."""
    groups = [
        np.arange(5, 60),
        np.arange(40, 90),
        np.arange(20, 200),
        np.arange(70, 250),
        np.array([7]),
        np.arange(0),
        X[:, 0].argsort()[-40:],
        np.arange(2),
    ]
    return [(X[rows], w[rows]) for rows in groups]


@pytest.mark.parametrize("D", [1, 2, 3, 13])
def test_points_are_shared_by_sizes_and_predictives(D: int) -> None:
    (X, w), prior = skewed_points(300, D), Niw(0.5, np.full(D, 0.3), D + 2.0, np.diag(np.arange(1.0, D + 1.0)))
    clusters = clusters_of(X, w)
    scores = np.array(
        [
            [np.log(max(v.sum(), 1e-300)) + after.log_predictive(x) for v, after in posteriors]
            for posteriors in [[(v, prior.posterior(Y, v)) for Y, v in clusters]]
            for x in X
        ]
    )
    expected = share(scores, NATS)
    sharing = GaussianSharing(X, w, (prior.kappa, prior.m, prior.nu, prior.nu * prior.psi), None)
    S = np.array([gaussian_row(Y, v) for Y, v in clusters])
    found = sharing.shares(S)
    statistics = [gaussian_row(X, w * part) for part in expected.T]
    np.testing.assert_allclose(found.statistics, statistics, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(sharing.statistics(S), found.statistics)
    np.testing.assert_array_equal(found.labels, expected.argmax(axis=1))
    assert found.entropy == pytest.approx(w @ entropy(expected), rel=1e-9)
    for b in range(len(S)):
        for a in range(b):
            one = np.column_stack([np.delete(expected, [a, b], axis=1), expected[:, a] + expected[:, b]])
            lost = w @ (entropy(expected) - entropy(one))
            assert found.lost[a, b] == pytest.approx(lost, rel=1e-7, abs=1e-8)


def test_of_equal_clusters_the_first_has_the_label() -> None:
    X, w = skewed_points(100, 2)
    S = np.repeat([gaussian_row(X, w)], 3, axis=0)
    found = GaussianSharing(X, w, (1.0, np.zeros(2), 4.0, np.eye(2)), None).shares(S)
    assert not found.labels.any()
    np.testing.assert_allclose(found.statistics, S / 3.0)


def test_shares_do_not_depend_on_the_number_of_threads() -> None:
    X, w = skewed_points(20_000, 2)
    component = Gaussian(psi=1.0).bind(X, w)
    points = component.prepare(X)
    S = component.statistics(points, w, (np.arange(len(X)) % 7).astype(np.int32), 7)
    results = []
    for threads in (1, 2, 7):
        with thread_limit(threads):
            found = component.sharing(points, w).shares(S)
        results.append((found.statistics, found.labels, found.lost, found.entropy))
    for result in results[1:]:
        for one, other in zip(results[0], result, strict=True):
            np.testing.assert_array_equal(one, other)
    assert results[0][0][:, 0].sum() == pytest.approx(w.sum())


def test_a_point_is_spread_over_its_step() -> None:
    X, w = np.round(skewed_points(200, 2)[0]), np.ones(200)
    component = Gaussian(psi=1.0, resolution=1.0).bind(X, w)
    points = component.prepare(X)
    S = component.statistics(points, w, (X[:, 0] > 3.0).astype(np.int32), 2)
    total = component.statistics(points, w, np.zeros(200, np.int32), 1)[0]
    np.testing.assert_allclose(component.sharing(points, w).statistics(S).sum(axis=0), total, atol=1e-9)


def test_neighbours_on_the_curve_lie_near_each_other() -> None:
    x, y = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(32), np.arange(32)))
    places = np.empty(len(x), np.uint16)
    kernels.hilbert_places(x, y, places)
    order = np.argsort(places, kind="stable")
    steps = np.hypot(np.diff(x[order]), np.diff(y[order]))
    assert steps.mean() < 1.3


def test_points_far_away_and_on_a_line_have_places() -> None:
    x, y = np.array([0.0, 1.0, 1e300, -1e300, 2.0]), np.zeros(5)
    places = np.empty(5, np.uint16)
    kernels.hilbert_places(x, y, places)
    kernels.hilbert_places(y, y, places)
    assert len(np.unique(places)) == 1


@pytest.mark.parametrize("N", [64, 65, 200])
def test_blocks_lie_in_their_boxes(N: int) -> None:
    XT = np.random.default_rng(3).exponential(1.0, (3, N))
    middle, half = np.empty((2, 3, -(-N // kernels.SHARED_BLOCK)))
    kernels.box_blocks(XT, middle, half)
    for n in range(middle.shape[1]):
        block = XT[:, n * kernels.SHARED_BLOCK : (n + 1) * kernels.SHARED_BLOCK]
        np.testing.assert_allclose(middle[:, n] - half[:, n], block.min(axis=1), atol=1e-12)
        np.testing.assert_allclose(middle[:, n] + half[:, n], block.max(axis=1), atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_points_join_the_nearest_new_seed(order: str) -> None:
    rng = np.random.default_rng(5)
    scores = np.asarray(rng.normal(size=(300, 4)), order=order)  # type: ignore[call-overload]
    scores[:100, 2] = scores[:100, 1]
    own, distance, piece = rng.normal(size=300), rng.exponential(1.0, 300), np.zeros(300, np.int32)
    distance[200:] = np.inf
    loss = np.maximum(own - scores.max(axis=1), 0.0)
    nearer = loss < distance
    expected: tuple[Array, npt.NDArray[np.intp]] = np.minimum(loss, distance), nearer * (5 + scores.argmax(axis=1))
    kernels.join_seeds(scores, own, 5, distance, piece)
    np.testing.assert_array_equal(distance, expected[0])
    np.testing.assert_array_equal(piece, expected[1])
