"""Data at the edge of what a stream can hold: the right clusters, or an error that says what is wrong."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from reference import Array
from scstream import Component, DiagonalGaussian, Event, Gaussian, Genealogy, Multinomial, ScStream, persistence
from scstream.metrics import ari
from scstream.sampler.genealogy import Kind
from scstream.sampler.history import History
from scstream.sampler.parameters import Parameters
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import State

COMPONENTS: dict[str, Component | None] = {
    "default": None,
    "gaussian": Gaussian(psi=1.0),
    "diagonal": DiagonalGaussian(),
}


def drifting_blobs(D: int, n_batches: int, seed: int = 0, n: int = 200) -> list[Array]:
    rng = np.random.default_rng(seed)
    centres = 25.0 * np.stack([np.eye(D)[0], -np.eye(D)[0], np.zeros(D)]) + rng.normal(size=(3, D))
    batches = []
    for _ in range(n_batches):
        batches.append(centres[rng.integers(0, 3, n)] + rng.normal(size=(n, D)))
        centres = centres + rng.normal(0.0, 0.3, centres.shape)
    return batches


# --- far from zero


@pytest.mark.parametrize("follow", ["nothing", "clusters", "halves"])
@pytest.mark.parametrize("D", [1, 2, 5])
@pytest.mark.parametrize("name", COMPONENTS)
def test_an_offset_changes_nothing(name: str, D: int, follow: str, tmp_path: Path) -> None:
    """1e9 standard deviations of a cluster: float64 rounds such points to about 1e-7.

    With some seeds that moves a point to the other sub-cluster, which changes no label.
    """
    offset = 1e9 * np.where(np.arange(D) % 2 == 0, 1.0, -1.0)
    here, there = (ScStream(COMPONENTS[name], follow=follow, seed=2, max_init_sweeps=60) for _ in range(2))
    for n, X in enumerate(drifting_blobs(D, 5, seed=D)):
        there.partial_fit(X + offset)
        np.testing.assert_array_equal(there.labels_, here.partial_fit(X).labels_)
        np.testing.assert_array_equal(there.predict(X + offset), here.predict(X))
        np.testing.assert_allclose(there.score_samples(X + offset), here.score_samples(X), rtol=1e-5)
        np.testing.assert_allclose(there.means_ - offset, here.means_, atol=1e-6)
        np.testing.assert_allclose(there.covariances_, here.covariances_, rtol=1e-5, atol=1e-6)
        assert there.log_posterior_ == pytest.approx(here.log_posterior_, rel=1e-6)
        assert [event.ids for event in there.events_] == [event.ids for event in here.events_]
        if n == 2:
            there.save(tmp_path / "model.npz")
            there = ScStream.load(tmp_path / "model.npz")
    assert here.n_clusters_ >= 3


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_the_default_prior_is_accurate_far_from_zero(make: Any) -> None:
    X = np.random.default_rng(2).normal(size=(200, 2)) * [3.0, 1.0]
    for offset in (1e9, -1e12):
        rounded = X + offset
        prior = make().bind(rounded, np.ones(200)).hyperparameters()
        np.testing.assert_allclose(prior["m"], offset + (rounded - offset).mean(axis=0), rtol=1e-15)
        expected = (rounded - offset).var(axis=0)
        np.testing.assert_allclose(np.diag(prior["psi"]) if make is Gaussian else prior["psi"], expected, rtol=1e-9)


# --- weights


def blobs(n: int, seed: int = 0) -> tuple[Array, Any]:
    """Three blobs of n points in all, far apart in the plane."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])[y] + rng.normal(size=(n, 2)), y


def assert_finite(model: ScStream) -> None:
    assert np.isfinite(model.log_posterior_)
    for values in (model.weights_, model.means_, model.covariances_):
        assert np.isfinite(values).all()
    assert model.weights_.sum() == pytest.approx(1.0)


def homogeneity(y: Any, labels: Any) -> float:
    """Share of the points that belong to the class that most points of their cluster belong to."""
    return sum(np.bincount(y[labels == id]).max() for id in np.unique(labels)) / len(y)


@pytest.mark.parametrize("component", [Gaussian(psi=1.0), DiagonalGaussian(psi=1.0)], ids=["gaussian", "diagonal"])
@pytest.mark.parametrize("weight", [0.25, 1.0, 3.5, 1e6, 1e12])
def test_equal_weights_of_any_size_leave_the_blobs_apart(component: Component, weight: float) -> None:
    """A blob of 300 points of weight 1e6 is 300 heavy points, and may be several clusters."""
    model = ScStream(component, seed=0)
    for n in range(3):
        X, y = blobs(300, seed=n)
        model.partial_fit(X, sample_weight=np.full(300, weight))
        assert_finite(model)
        assert homogeneity(y, model.labels_) > 0.99
        assert model.n_clusters_ == 3 if weight < 1e3 else model.n_clusters_ >= 3
    assert sum(cluster.count for cluster in model.clusters_) == pytest.approx(1.75 * 300 * weight)


def test_points_without_weight_are_labelled_and_leave_no_trace() -> None:
    X, y = blobs(300)
    weight = (np.arange(300) % 3 > 0).astype(float)
    model = ScStream(Gaussian(psi=1.0), seed=0).fit(X, sample_weight=weight)
    assert ari(y, model.labels_) == 1.0
    assert sum(cluster.count for cluster in model.clusters_) == pytest.approx(200.0)
    for k, id in enumerate(model.ids_):
        own = (model.labels_ == id) & (weight > 0)
        np.testing.assert_allclose(model.means_[k], X[own].mean(axis=0), atol=1e-12)


def test_less_than_one_point_of_weight_is_one_cluster() -> None:
    X, _ = blobs(300)
    model = ScStream(Gaussian(psi=1.0), seed=0).fit(X, sample_weight=np.full(300, 1e-3))
    assert model.n_clusters_ == 1
    assert_finite(model)


# --- few points


@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.parametrize("D", [1, 2, 64])
@pytest.mark.parametrize("n", [1, 2])
def test_a_stream_may_begin_and_go_on_with_a_point_or_two(n: int, D: int, name: str) -> None:
    rng = np.random.default_rng(D)
    model = ScStream(COMPONENTS[name], seed=0, max_init_sweeps=20)
    for size in (n, n, 150, n, n):
        X = rng.normal(size=(size, D))
        model.partial_fit(X)
        assert_finite(model)
        assert np.isin(model.labels_, model.ids_).all()
        assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("component", [Gaussian(psi=1.0), DiagonalGaussian(psi=1.0)], ids=["gaussian", "diagonal"])
def test_a_later_point_goes_to_its_blob(component: Component) -> None:
    X, y = blobs(300)
    model = ScStream(component, decay=0.1, seed=0).fit(X)
    ids = [model.labels_[y == k][0] for k in range(3)]
    for k, centre in enumerate(([0.0, 0.0], [30.0, 0.0], [0.0, 30.0])):
        assert model.partial_fit([centre]).labels_.tolist() == [ids[k]]
        assert model.n_clusters_ == 3


def test_fewer_points_than_features() -> None:
    rng = np.random.default_rng(3)
    model = ScStream(DiagonalGaussian(psi=1.0), seed=0)
    for _ in range(3):
        y = rng.integers(0, 2, 20)
        model.partial_fit(10.0 * y[:, None] + rng.normal(size=(20, 50)))
        assert_finite(model)
        assert ari(y, model.labels_) == 1.0
    full = ScStream(Gaussian(psi=1.0), seed=0).fit(10.0 * y[:, None] + rng.normal(size=(20, 50)))
    assert_finite(full)


@pytest.mark.parametrize(
    "component", [DiagonalGaussian(psi=1.0), Gaussian(psi=1.0, nu=500.0)], ids=["diagonal", "full"]
)
def test_batches_that_grow_keep_their_clusters_although_they_have_fewer_points_than_features(
    component: Component,
) -> None:
    rng = np.random.default_rng(4)
    model = ScStream(component, seed=0)
    seen = set()
    for n in range(20, 32, 2):
        y = np.arange(n) % 2
        model.partial_fit(10.0 * y[:, None] + rng.normal(size=(n, 50)))
        assert ari(y, model.labels_) == 1.0
        seen |= set(model.labels_.tolist())
    assert len(seen) == 2


@pytest.mark.parametrize("component", [Gaussian(), Multinomial()], ids=["gaussian", "multinomial"])
def test_many_features_do_not_fill_the_memory(component: Component) -> None:
    """A row of statistics of each point would take a gigabyte."""
    rng = np.random.default_rng(5)
    full = isinstance(component, Gaussian)
    X = rng.normal(size=(1500, 400)) if full else sp.random(3000, 50_000, 1e-3, "csr", rng=rng)
    tracemalloc.start()
    try:
        ScStream(component, seed=0, max_init_sweeps=1).fit(X if full else sp.csr_array(X).ceil())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 5e8


# --- constant and repeated


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_constant_column_does_no_harm(make: Any, offset: float) -> None:
    model = ScStream(make(psi=1.0), seed=0)
    for n in range(3):
        X, y = blobs(200, seed=n)
        wide = np.column_stack([X, np.full(200, 7.0)]) + offset
        assert ari(y, model.partial_fit(wide).labels_) == 1.0
        assert_finite(model)
    prior = make().bind(wide, np.ones(200)).hyperparameters()["psi"]
    variance = np.diag(prior) if prior.ndim == 2 else prior
    assert variance[2] == pytest.approx(np.sqrt(variance[0] * variance[1]))


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_column_that_begins_to_vary_does_not_mix_the_clusters(make: Any, offset: float) -> None:
    model = ScStream(make(), alpha=10.0, seed=0)
    for n in range(6):
        X, y = blobs(300, seed=n)
        third = np.random.default_rng(n).normal(0.0, 0.5 if n > 1 else 0.0, 300)
        model.partial_fit(np.column_stack([X, third]) + offset)
        assert homogeneity(y, model.labels_) > 0.99


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
@pytest.mark.parametrize("value", [0.0, 7.0, -1e9])
def test_a_stream_of_one_value(make: Any, value: float) -> None:
    model = ScStream(make(), seed=0, max_init_sweeps=30)
    for n in (50, 1, 50):
        model.partial_fit(np.full((n, 3), value))
        assert model.n_clusters_ == 1
        np.testing.assert_array_equal(model.means_, value)
        assert_finite(model)
    model.partial_fit(value + np.random.default_rng(5).normal(size=(50, 3)))
    assert_finite(model)


@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_repeated_points_are_clusters_of_their_own(make: Any) -> None:
    X = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 100, axis=0)
    model = ScStream(make(), seed=0)
    for _ in range(3):
        assert ari(np.repeat([0, 1, 2], 100), model.partial_fit(X).labels_) == 1.0
        assert model.n_clusters_ == 3
        assert_finite(model)


# --- kinds of arrays


@pytest.mark.parametrize(
    "component", [Gaussian(), DiagonalGaussian(), Multinomial()], ids=["full", "diagonal", "counts"]
)
def test_the_kind_of_array_changes_nothing(component: Component) -> None:
    X = np.abs(np.round(blobs(300)[0]))
    expected = ScStream(component, seed=0, max_init_sweeps=30).partial_fit(X).partial_fit(X)
    spaced = np.repeat(X, 2, axis=1)[:, ::2]
    for other in (X.astype(np.float32), X.astype(np.int16), np.asfortranarray(X), spaced, X.tolist()):
        model = ScStream(component, seed=0, max_init_sweeps=30).partial_fit(other).partial_fit(other)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(other), expected.predict(X))
        assert model.log_posterior_ == expected.log_posterior_


# --- many clusters


def with_clusters(component: Component, X: Array, y: Any, path: Path) -> ScStream:
    """A model whose clusters are the given ones, read from a file."""
    K = int(y.max()) + 1
    bound = component.bind(X, np.ones(len(X)))
    halves = (2 * y + np.arange(len(X)) % 2).astype(np.int32)
    S = bound.statistics(bound.prepare(X), np.ones(len(X)), halves, 2 * K).reshape(K, 2, -1)
    history, genealogy = History(K, S.shape[2]), Genealogy()
    history.append(0.0, S)
    for _ in range(K):
        genealogy.record(Event(Kind.BIRTH, 0.0, 0, (genealogy.new_id(),), float("nan"), (1.0,)))
    old = np.full(K, 10)
    state = State(history, S, np.arange(K), old, old.copy(), np.zeros(K, np.int64))
    sampler = Sampler(Parameters(), bound, state, genealogy, 0.0, np.repeat(np.arange(K), 2), [], 0.0)
    persistence.save(path, sampler, sampler.config, X.shape[1])
    return ScStream.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("make", [Gaussian, DiagonalGaussian])
def test_thousands_of_clusters_stay_apart(make: Any, tmp_path: Path) -> None:
    """No limit: 4,500 clusters of three points each, small and anywhere by the prior."""
    rng = np.random.default_rng(6)
    y = np.repeat(np.arange(4500), 3)
    centres = 100.0 * np.arange(4500)[:, None]
    component = make(kappa=1e-10, nu=50.0, psi=1.0)
    model = with_clusters(component, centres[y] + rng.normal(size=(len(y), 1)), y, tmp_path / "many.npz")
    X = centres[y] + rng.normal(size=(len(y), 1))
    np.testing.assert_array_equal(model.partial_fit(X).labels_, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.n_clusters_ == 4500
    assert_finite(model)
    model.save(tmp_path / "again.npz")
    assert ScStream.load(tmp_path / "again.npz").n_clusters_ == 4500
