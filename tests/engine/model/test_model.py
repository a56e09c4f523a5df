"""The estimator: scikit-learn's contract, what a stream does to it, what it tells about itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import Array
from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream, persistence
from scstream.metrics import ari
from scstream.sampler.genealogy import Kind
from scstream.streams import gaussian_stream, multinomial_stream


def checks_that_cannot_pass(estimator: ScStream) -> dict[str, str]:
    """Names of checks with the reason why they fail."""
    if not isinstance(estimator.component, Multinomial):
        reason = "labels are drawn point by point: a point given three times gets three draws, one of weight 3 gets one"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    # `test_sparse_points_have_the_probabilities_of_dense_ones` tests the same.
    sparse = "the check takes every estimator with predict_proba for a classifier and reads a classifier's tags"
    return {
        "check_clustering": "the check ignores the tag positive_only: it fits standardised, partly negative data",
        "check_estimator_sparse_array": sparse,
        "check_estimator_sparse_matrix": sparse,
    }


CHECKS = parametrize_with_checks(
    [
        ScStream(),
        ScStream(DiagonalGaussian(), max_init_sweeps=30),
        ScStream(Multinomial(), max_init_sweeps=30),
    ],
    expected_failed_checks=checks_that_cannot_pass,
)


# scikit-learn 1.6 hands over an iterator, which pytest 9 deprecates.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_scikit_learns_contract(estimator: ScStream, check: Callable[[ScStream], None]) -> None:
    check(estimator)


def blobs(n: int, *centres: tuple[float, float], seed: int = 0) -> tuple[Array, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(centres), n)
    return np.array(centres)[y] + rng.normal(size=(n, 2)), y


# --- what it finds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", [0.0, 1e5])
@pytest.mark.parametrize("component", [Gaussian(), DiagonalGaussian()], ids=["gaussian", "diagonal"])
def test_blobs_far_apart_are_found_wherever_they_lie(component: Any, offset: float, seed: int) -> None:
    X, y = blobs(300, (0, 0), (12, 0), (0, 12), seed=1)
    model = ScStream(component, alpha=10.0, seed=seed)
    assert ari(y, model.fit_predict(X + offset)) > 0.98
    assert model.n_clusters_ == 3
    means = np.sort([cluster.summary["mean"][0] for cluster in model.clusters_]) - offset
    np.testing.assert_allclose(means, [0.0, 0.0, 12.0], atol=0.5)


def test_topics_are_found_in_counts_dense_or_sparse() -> None:
    X, y = next(iter(multinomial_stream(1, n_clusters=5, batch_size=300, seed=0)))
    dense = ScStream(Multinomial(1.0), alpha=10.0, seed=0, max_init_sweeps=50).fit_predict(X)
    sparse = ScStream(Multinomial(1.0), alpha=10.0, seed=0, max_init_sweeps=50).fit_predict(sp.csr_array(X))
    np.testing.assert_array_equal(dense, sparse)
    assert ari(y, dense) > 0.8


def test_a_stream_that_drifts_keeps_its_ids() -> None:
    model = ScStream(Gaussian(psi=1.0), alpha=10.0, decay=1.0, seed=0)
    owners = []
    for X, y in gaussian_stream(8, n_clusters=4, batch_size=400, seed=0):
        labels = model.partial_fit(X).labels_
        owners.append([np.bincount(labels[y == k]).argmax() if (y == k).any() else -1 for k in range(4)])
    # What a cluster is called in the second batch it is called in the last.
    assert owners[1] == owners[-1]
    assert model.n_clusters_ == 4


def test_a_cluster_that_vanished_dies_and_a_new_one_gets_a_new_id() -> None:
    model = ScStream(Gaussian(psi=1.0), alpha=10.0, decay=2.0, seed=0)
    model.partial_fit(blobs(300, (0, 0), (30, 0))[0])
    gone = model.predict([[30.0, 0.0]])[0]
    for n in range(8):
        model.partial_fit(blobs(200, (0, 0), seed=n)[0])
    assert not model.genealogy_.alive(gone)
    for n in range(8):
        model.partial_fit(blobs(200, (0, 0), (0, 30), seed=n)[0])
    new = model.predict([[0.0, 30.0]])[0]
    assert new != gone
    assert new > max(0, gone)


def test_the_past_counts_as_the_kernel_says() -> None:
    """One cluster: its count is the weighted number of points of all batches."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    for kernel, decay in (("exponential", 0.5), ("rbf", 0.5), ("window", 0.4)):
        model = ScStream(Gaussian(psi=1.0), alpha=1e-9, kernel=kernel, decay=decay, seed=0, max_init_sweeps=5)
        for time in (0.0, 1.0, 2.5, 4.0):
            model.partial_fit(X, time=time)
        ages = 4.0 - np.array([0.0, 1.0, 2.5, 4.0])
        weights = {
            "exponential": 2.0 ** (-0.5 * ages),
            "rbf": np.exp(-0.5 * (0.5 * ages) ** 2),
            "window": (0.4 * ages < 1.0).astype(float),
        }[kernel]
        assert model.n_clusters_ == 1
        assert model.clusters_[0].count == pytest.approx(100.0 * weights.sum(), rel=1e-9)


def test_a_kernel_of_ones_own_that_is_a_named_one_changes_nothing() -> None:
    batches = [X for X, _ in gaussian_stream(4, n_clusters=4, batch_size=150, seed=3)]
    named = ScStream(decay=0.7, seed=1, max_init_sweeps=30)
    own = ScStream(kernel=lambda age: float(2.0 ** (-0.7 * age)), seed=1, max_init_sweeps=30)
    for X in batches:
        np.testing.assert_array_equal(named.partial_fit(X).labels_, own.partial_fit(X).labels_)


def test_alpha_may_be_huge_or_tiny() -> None:
    X, _ = blobs(200, (0, 0), (3, 0))
    few = ScStream(alpha=1e-30, seed=0, max_init_sweeps=40).fit(X).n_clusters_
    many = ScStream(alpha=1e30, seed=0, max_init_sweeps=40).fit(X).n_clusters_
    assert few == 1
    assert many > 3


def test_the_first_batch_may_be_a_single_point() -> None:
    model = ScStream(seed=0, max_init_sweeps=5).partial_fit([[3.0, 4.0]])
    np.testing.assert_array_equal(model.labels_, [0])
    assert model.partial_fit(blobs(100, (3, 4), (60, 0))[0]).n_clusters_ == 2
    assert np.isfinite(model.score_samples([[3.0, 4.0]])).all()


# --- seeds and weights


def test_the_same_seed_gives_the_same_labels_and_another_one_other_draws() -> None:
    batches = [X for X, _ in gaussian_stream(3, n_clusters=6, batch_size=200, box=6.0, seed=2)]

    def labels(seed: int | None) -> list[Any]:
        model = ScStream(Gaussian(psi=0.5), alpha=50.0, seed=seed, max_init_sweeps=30)
        return [model.partial_fit(X).labels_ for X in batches]

    for one, other in zip(labels(7), labels(7), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(labels(None), labels(0), strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(not np.array_equal(one, other) for one, other in zip(labels(7), labels(8), strict=True))


def test_points_of_weight_zero_change_no_statistics() -> None:
    X, _ = blobs(150, (0, 0), (15, 0))
    stray = np.array([[400.0, 0.0], [0.0, -400.0]])
    component = Gaussian(m=np.zeros(2), psi=1.0)
    model = ScStream(component, seed=0, max_init_sweeps=40)
    model.partial_fit(np.concatenate([X, stray]), sample_weight=np.repeat([1.0, 0.0], [150, 2]))
    assert model.labels_.shape == (152,)
    assert sum(cluster.count for cluster in model.clusters_) == 150.0
    means = np.array([cluster.summary["mean"] for cluster in model.clusters_ if cluster.count > 0])
    assert np.abs(means).max() < 20.0


def test_weights_count_as_points() -> None:
    X, y = blobs(200, (0, 0), (15, 0))
    w = np.random.default_rng(5).integers(1, 6, 200).astype(float)
    model = ScStream(Gaussian(m=np.zeros(2), psi=1.0), seed=0, max_init_sweeps=60).partial_fit(X, sample_weight=w)
    counts = sorted(cluster.count for cluster in model.clusters_)
    np.testing.assert_allclose(counts, sorted(np.bincount(y, w)), atol=3.0)


# --- what it tells


def test_input_is_left_as_it_was() -> None:
    X, _ = blobs(60, (0, 0), (9, 0))
    w = np.full(60, 2.0)
    before = X.copy(), w.copy()
    X.flags.writeable = w.flags.writeable = False
    ScStream(max_init_sweeps=10).partial_fit(X, sample_weight=w).partial_fit(X).predict(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(w, before[1])


def test_predict_and_score_change_nothing() -> None:
    X, _ = blobs(120, (0, 0), (9, 0))
    one, other = ScStream(seed=0, max_init_sweeps=20).fit(X), ScStream(seed=0, max_init_sweeps=20).fit(X)
    one.predict(X + 5.0)
    one.score_samples(X - 5.0)
    np.testing.assert_array_equal(one.partial_fit(X).labels_, other.partial_fit(X).labels_)


def test_predict_gives_the_ids_of_the_last_batch() -> None:
    X, _ = blobs(300, (0, 0), (15, 0), (0, 15))
    model = ScStream(Gaussian(psi=1.0), alpha=10.0, seed=0).fit(X)
    assert (model.predict(X) == model.labels_).mean() > 0.99


@pytest.mark.parametrize("component", [Gaussian(psi=0.5), DiagonalGaussian(psi=0.5)], ids=["gaussian", "diagonal"])
def test_the_density_integrates_to_one(component: Any) -> None:
    X = np.concatenate([np.random.default_rng(0).normal(size=60), np.random.default_rng(1).normal(9.0, 0.5, 30)])
    model = ScStream(component, seed=0, max_init_sweeps=40).fit(X[:, None])
    area, _ = integrate.quad(lambda x: np.exp(model.score_samples([[x]])[0]), -np.inf, np.inf, limit=300)
    assert model.n_clusters_ == 2
    assert area == pytest.approx(1.0, abs=1e-3)


def test_clusters_are_listed_largest_first_with_their_shares() -> None:
    X, y = blobs(300, (0, 0), (15, 0), (15, 1e-9))
    model = ScStream(Gaussian(psi=1.0), alpha=1.0, seed=0).fit(X)
    assert [round(cluster.share, 9) for cluster in model.clusters_] == sorted(
        (round(cluster.count / 300.0, 9) for cluster in model.clusters_), reverse=True
    )
    assert model.clusters_[0].count == pytest.approx((y > 0).sum(), abs=3)
    assert model.clusters_[0].summary["covariance"] == pytest.approx(np.eye(2), abs=0.35)


def test_events_are_those_of_the_last_batch() -> None:
    model = ScStream(Gaussian(psi=1.0), alpha=10.0, decay=3.0, seed=1)
    model.partial_fit(blobs(200, (0, 0), (20, 0))[0], time=5.0)
    assert [event.kind for event in model.events_] == [Kind.BIRTH] * model.n_clusters_
    assert {event.time for event in model.events_} == {5.0}
    kinds = set()
    for n in range(12):
        centres = ((0, 0), (20, 0), (0, 30)) if n < 6 else ((0, 0),)
        model.partial_fit(blobs(200, *centres, seed=n)[0], time=6.0 + n)
        assert {event.time for event in model.events_} <= {6.0 + n}
        kinds |= {event.kind for event in model.events_}
    assert {Kind.SPLIT, Kind.DEATH} <= kinds


def test_fit_starts_afresh() -> None:
    X, _ = blobs(100, (0, 0), (12, 0))
    model = ScStream(seed=0, max_init_sweeps=30)
    first = model.fit(X).labels_
    model.partial_fit(X + 50.0)
    np.testing.assert_array_equal(model.fit(X).labels_, first)
    assert model.genealogy_.n_ids == model.n_clusters_


def test_a_fitted_model_can_be_pickled_and_goes_on_alike() -> None:
    X, _ = blobs(100, (0, 0), (12, 0))
    model = ScStream(seed=0, max_init_sweeps=20).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.partial_fit(X).labels_, copy.partial_fit(X).labels_)


def test_clone_copies_parameters_alone() -> None:
    model = ScStream(Gaussian(psi=2.0), alpha=3.0, seed=4, max_init_sweeps=7).fit(blobs(50, (0, 0))[0])
    fresh = clone(model)
    assert fresh.alpha == 3.0
    assert fresh.seed == 4
    assert fresh.component.psi == 2.0
    assert not hasattr(fresh, "labels_")


def test_a_batch_without_weight_is_no_news() -> None:
    X, _ = blobs(100, (0, 0), (12, 0))
    model = ScStream(decay=0.0, seed=0, max_init_sweeps=30).fit(X)
    before = {cluster.id: cluster.count for cluster in model.clusters_}
    model.partial_fit(X, sample_weight=np.zeros(100))
    assert {cluster.id: cluster.count for cluster in model.clusters_} == pytest.approx(before)


@pytest.mark.parametrize(
    "component",
    [
        Gaussian(m=np.zeros(2), psi=1.0),
        DiagonalGaussian(m=np.zeros(2), psi=1.0),
        Multinomial(),
    ],
    ids=["gaussian", "diagonal", "multinomial"],
)
def test_a_cluster_of_weightless_points_can_be_described(component: Any) -> None:
    """Such a cluster lives as long as it owns points of the batch, and a description of it is asked for."""
    bound = component.bind(np.ones((1, 2)), np.ones(1))
    for values in bound.summary(np.zeros(bound.n_statistics)).values():
        assert np.isfinite(values).all()


@pytest.mark.parametrize(
    "component",
    [Gaussian(psi=1.0), DiagonalGaussian(psi=1.0), Multinomial()],
    ids=["gaussian", "diagonal", "counts"],
)
def test_threads_do_not_change_a_label(component: Any) -> None:
    rng = np.random.default_rng(5)
    X = np.floor(np.abs(rng.normal(size=(5000, 3)) * 4.0 + rng.integers(0, 3, (5000, 1)) * 9.0))
    runs = [
        ScStream(component, threads=threads, max_init_sweeps=5, seed=1).partial_fit(X).partial_fit(X).labels_
        for threads in (1, 2, 7)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


@pytest.mark.parametrize(("follow", "sweeps"), [("nothing", 1), ("clusters", 0), ("clusters", 1), ("halves", 0)])
def test_the_past_follows_what_it_is_told_to(follow: str, sweeps: int, tmp_path: Path) -> None:
    """One cluster that never splits, and a batch elsewhere: with each sweep the past comes nearer."""
    rng = np.random.default_rng(0)
    model = ScStream(
        alpha=1e-300, decay=0.5, follow=follow, sweeps=sweeps, burn_in=10**6, restart=None, seed=1, max_init_sweeps=4
    )
    for t in range(3):
        model.partial_fit(rng.gamma(2.0, size=(50 + 30 * t, 2)) + 0.3 * t)
    before, weights = records(model, tmp_path), 0.5 ** (0.5 * np.array([3.0, 2.0, 1.0]))
    model.partial_fit(rng.gamma(3.0, size=(70, 2)) + 0.6)
    after = records(model, tmp_path)
    now, past = after[3], np.tensordot(weights, before, 1)
    if follow == "clusters":
        now, past = (np.broadcast_to(S.sum(axis=1, keepdims=True), S.shape) for S in (now, past))
    there, n = now[..., 1:3] / now[..., :1], now[..., :1]
    left = (20.0 / (n + 20.0)) ** (sweeps + 1)
    way = (there - past[..., 1:3] / past[..., :1]) * (1.0 - left)
    expected = before[..., 1:3] + before[..., :1] * (0.0 if follow == "nothing" else way)
    np.testing.assert_allclose(after[:3, ..., 1:3], expected)


def records(model: ScStream, folder: Path) -> Any:
    """Statistics (R, K, 2, P) of each batch, as a saved model has them."""
    model.save(folder / "model.npz")
    return persistence.read(folder / "model.npz")[1]["records"]
