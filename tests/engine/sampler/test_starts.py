"""Starts: what is there is found, untuned, whatever the units, and again when the past has faded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import PCA

from reference import Array, Ints
from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream
from scstream.metrics import ari
from scstream.sampler.genealogy import Kind
from scstream.streams import multinomial_stream

THREE = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def three_blobs(rng: np.random.Generator, n: int = 400) -> tuple[Array, Ints]:
    y = np.repeat(np.arange(3), n)
    return THREE[y] + rng.normal(size=(3 * n, 2)), y


# --- all defaults


@pytest.mark.parametrize("seed", range(10))
def test_three_clusters_on_a_diagonal_are_found(seed: int) -> None:
    """No halving of all points helps: three clusters beat one, two do not."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 400)
    X = 100.0 * y[:, None] + rng.normal(size=(1200, 3))
    model = ScStream(seed=seed).fit(X)
    assert model.n_clusters_ == 3
    assert ari(y, model.labels_) == 1.0


@pytest.mark.parametrize("component", [None, DiagonalGaussian()])
@pytest.mark.parametrize("D", [1, 2, 5, 20])
def test_blobs_are_found_in_any_units(D: int, component: DiagonalGaussian | None) -> None:
    rng = np.random.default_rng(D)
    centres = np.linspace(-60.0, 60.0, 7)[:, None] if D == 1 else rng.uniform(-20.0, 20.0, (7, D))
    y = np.arange(700) % 7
    X = centres[y] + rng.normal(size=(700, D))
    units = 10.0 ** rng.integers(-6, 7, D)
    here, there = ScStream(component, seed=0).fit(X), ScStream(component, seed=0).fit(X * units)
    assert ari(y, here.labels_) > 0.93
    assert ari(here.labels_, there.labels_) > 0.99


@pytest.mark.parametrize(
    ("name", "least"), [("iris", 0.5), ("wine", 0.7), ("breast_cancer", 0.4), pytest.param("digits", 0.6)]
)
def test_ordinary_data_are_clustered_untuned(name: str, least: float) -> None:
    """Seeds 0 to 2 gave at least .57, .80, .52 and .68."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        X = PCA(16, random_state=0).fit_transform(X)
    assert ari(y, ScStream(seed=0).fit(X).labels_) > least


@pytest.mark.parametrize("component", [None, DiagonalGaussian()])
def test_whole_numbers_are_not_clustered_value_by_value(component: DiagonalGaussian | None) -> None:
    rng = np.random.default_rng(5)
    y = np.arange(1500) % 5
    X = np.round(rng.uniform(-25.0, 25.0, (5, 2))[y] + rng.normal(0.0, 1.5, (1500, 2)))
    model = ScStream(component, seed=0).fit(X)
    assert model.n_clusters_ == 5
    assert ari(y, model.labels_) > 0.95


def test_groups_of_answers_are_found() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 2
    X = rng.random((1200, 10)) < np.where(y[:, None] == 0, 0.1, 0.9)
    model = ScStream(seed=0).fit(X.astype(float))
    assert model.n_clusters_ == 2
    assert ari(y, model.labels_) > 0.95


@pytest.mark.parametrize("values", [[0.0, 50.0, 100.0, 150.0, 200.0], [0.0, 1.0, 7.0]])
def test_few_different_points_are_groups_of_their_own(values: list[float]) -> None:
    y = np.arange(600) % len(values)
    model = ScStream(seed=0).fit(np.array(values)[y, None])
    assert ari(y, model.labels_) == 1.0


@pytest.mark.parametrize("component", [None, DiagonalGaussian()])
def test_codes_beside_noise_are_groups_of_their_own(component: DiagonalGaussian | None) -> None:
    rng = np.random.default_rng(6)
    y = np.arange(1500) % 4
    X = np.column_stack([100.0 * y, rng.normal(size=(1500, 2))])
    assert ari(y, ScStream(component, seed=0).fit(X).labels_) == 1.0


def test_a_constant_feature_changes_nothing() -> None:
    X, y = three_blobs(np.random.default_rng(2))
    X = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    assert ari(y, ScStream(seed=0).fit(X).labels_) > 0.99


@pytest.mark.parametrize(("D", "n"), [(64, 800), (100, 300)])
def test_near_clusters_are_found_among_many_features(D: int, n: int) -> None:
    """A few points per feature do not show a covariance: it takes a prior that says how alike clusters are."""
    rng = np.random.default_rng(D)
    y = np.arange(n) % 5
    X = 2.0 * rng.normal(size=(5, D))[y] + rng.normal(size=(n, D))
    assert ari(y, ScStream(seed=0).fit(X).labels_) == 1.0


def test_two_near_clusters_are_found_beside_one_far_away() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(3), 300)
    X = np.array([0.0, 10.0, 1e5])[y, None] + rng.normal(size=(900, 2))
    assert ari(y, ScStream(seed=0).fit(X).labels_) == 1.0


@pytest.mark.parametrize("D", [1, 3, 10])
def test_one_gaussian_is_one_cluster(D: int) -> None:
    X = np.random.default_rng(D).normal(size=(500, D))
    assert ScStream(seed=0).fit(X).n_clusters_ == 1


def test_tight_clusters_that_lie_far_apart_are_found() -> None:
    """Twenty clusters over a wide plane with a fixed prior: no halving of all points helps."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.arange(1000) % 20
        X = rng.normal(0.0, 60.0, (20, 2))[y] + rng.normal(size=(1000, 2))
        model = ScStream(Gaussian(m=np.zeros(2), nu=4.0, psi=0.5), alpha=1e4, seed=seed).fit(X)
        assert 19 <= model.n_clusters_ <= 21
        # Two of the twenty may lie on top of each other.
        assert ari(y, model.labels_) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("component", [None, Gaussian(kappa=1.0, m=np.zeros(2), nu=5.0, psi=5.0 * np.eye(2))])
def test_three_hundred_clusters_are_found_and_kept(component: Gaussian | None) -> None:
    """Some overlap. Compared on a few points of each, one cluster for all of them looked best."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0.0, 170.0, (300, 2))
    model = ScStream(component, decay=0.0, seed=0)
    for _ in range(2):
        y = rng.integers(0, 300, 20_000)
        model.partial_fit(centres[y] + rng.normal(size=(20_000, 2)))
        assert 270 <= model.n_clusters_ <= 300
        assert ari(y, model.labels_) > 0.85


def test_overlapping_clusters_of_large_batches_are_found_and_kept() -> None:
    """On a few thousand points, half of them seem to be one with others: they were lost in starts and in revisions."""
    rng = np.random.default_rng(0)
    K, D = 15, 12
    means = 0.7 * rng.normal(size=(K, D))
    roots = np.linalg.qr(rng.normal(size=(K, D, D)))[0] * rng.uniform(0.5, 2.0, (K, 1, D))
    precisions = np.linalg.inv(roots @ roots.swapaxes(1, 2))
    bias = 0.5 * np.linalg.slogdet(precisions)[1]
    model = ScStream(Gaussian(psi=1.5), seed=0)
    for batch in range(4):
        y = rng.integers(0, K, 8000)
        X = means[y] + np.einsum("nij,nj->ni", roots[y], rng.normal(size=(8000, D)))
        labels = model.partial_fit(X).labels_
        if batch in (0, 3):
            apart = X[:, None] - means
            known = (bias - 0.5 * np.einsum("nki,kij,nkj->nk", apart, precisions, apart)).argmax(axis=1)
            assert K - 1 <= model.n_clusters_ <= K + 4
            assert ari(y, labels) > 0.85 * ari(y, known)


def test_counts_are_found() -> None:
    X, y = next(multinomial_stream(1, n_clusters=12, n_features=30, batch_size=600, seed=0))
    model = ScStream(Multinomial(), seed=0).fit(X)
    assert ari(y, model.labels_) > 0.9


# --- small and growing batches


@pytest.mark.parametrize("component", [None, Gaussian(psi=1.0), DiagonalGaussian()])
@pytest.mark.parametrize("n", [1, 2, 20])
def test_a_small_first_batch_does_no_lasting_harm(n: int, component: Gaussian | None) -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-20.0, 20.0, (8, 4))
    model = ScStream(component, seed=0).fit(centres[np.arange(n) % 8] + rng.normal(size=(n, 4)))
    for _ in range(3):
        y = rng.integers(0, 8, 500)
        model.partial_fit(centres[y] + rng.normal(size=(500, 4)))
        assert ari(y, model.labels_) > 0.95


def test_single_points_keep_their_clusters() -> None:
    """Small batches are no faded past: ids go on."""
    rng = np.random.default_rng(0)
    model = ScStream(Gaussian(psi=1.0), decay=0.01, seed=0)
    for _ in range(40):
        model.partial_fit(rng.normal(size=(1, 2)))
    assert model.genealogy_.n_ids < 5


# --- gaps


@pytest.mark.parametrize(
    ("steps", "offset"),
    [((1, 5, 20, 1000), 0.0), ((1000, 20, 5, 1), 1e9), ((20, 1, 1000, 5), 0.0), ((2, 3, 4, 6, 8, 10, 12), 1e9)],
)
def test_a_gap_in_time_does_no_harm(steps: tuple[int, ...], offset: float) -> None:
    rng = np.random.default_rng(0)
    model, time = ScStream(decay=1.0, seed=0), 0.0
    for step in (0, *steps):
        time += step
        X, y = three_blobs(rng)
        model.partial_fit(X + offset, time=time)
        assert ari(y, model.labels_) == 1.0
        assert model.n_clusters_ == 3


def test_after_a_long_gap_all_clusters_are_new_and_events_say_so() -> None:
    rng = np.random.default_rng(0)
    model = ScStream(decay=1.0, seed=0)
    ids = []
    for time in (0.0, 1.0, 40.0, 41.0):
        model.partial_fit(three_blobs(rng)[0], time=time)
        ids.append(set(model.ids_.tolist()))
        if time == 40.0:
            kinds = [event.kind for event in model.events_]
            assert kinds == [Kind.DEATH] * 3 + [Kind.BIRTH] * 3
            assert {event.ids[0] for event in model.events_[:3]} == ids[0]
            assert {event.time for event in model.events_} == {40.0}
    assert ids[0] == ids[1]
    assert ids[2] == ids[3]
    assert not ids[1] & ids[2]
    assert set(model.genealogy_.live_ids) == ids[3]


def test_a_new_start_is_repeated_exactly_after_loading(tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = np.random.default_rng(0)
    batches = [three_blobs(rng)[0] for _ in range(4)]
    model = ScStream(decay=1.0, seed=3).fit(batches[0])
    file = tmp_path_factory.mktemp("models") / "model.npz"
    model.save(file)
    loaded = ScStream.load(file)
    for X, time in zip(batches[1:], (50.0, 51.0, 52.0), strict=True):
        np.testing.assert_array_equal(model.partial_fit(X, time=time).labels_, loaded.partial_fit(X, time=time).labels_)
        assert model.events_ == loaded.events_


def test_weightless_points_after_a_gap_change_nothing_for_ever() -> None:
    rng = np.random.default_rng(0)
    model = ScStream(decay=1.0, seed=0)
    model.partial_fit(three_blobs(rng)[0], time=0.0)
    X, y = three_blobs(rng)
    model.partial_fit(X, time=100.0, sample_weight=np.zeros(len(X)))
    model.partial_fit(X, time=101.0)
    assert ari(y, model.labels_) == 1.0


def test_the_threads_do_not_change_a_start() -> None:
    X, _ = three_blobs(np.random.default_rng(0), 3000)
    labels = [ScStream(seed=1, threads=threads, max_init_sweeps=20).fit(X).labels_ for threads in (1, 2, 5)]
    for a, b in pairwise(labels):
        np.testing.assert_array_equal(a, b)
