"""Batches are labelled chunk by chunk: neither chunks nor threads change a label, and memory stays bounded."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream, kernels
from scstream.components import Component
from scstream.sampler import points as points_module
from scstream.sampler.points import OrderedSum, Points, run_chunks
from scstream.sampler.sweep import Densities, draw_densities, mode_densities
from scstream.threads import thread_limit

N, K = 700, 9
KEYS = np.array([17, 4_000_000_000], np.uint32)


def batch_of(name: str) -> tuple[Component, object]:
    rng = np.random.default_rng(3)
    if name == "counts":
        X = rng.poisson(rng.gamma(0.4, 1.0, (N, 12))).astype(np.float64)
        return Multinomial().bind(X, np.ones(N)), X
    if name == "sparse counts":
        sparse = sp.csr_array(rng.poisson(0.3, (N, 12)).astype(np.float64))
        return Multinomial().bind(sparse, np.ones(N)), sparse
    X = rng.gamma(2.0, 1.0, (N, 3)) * [1.0, 5.0, 0.2]
    kind = Gaussian if name == "gaussian" else DiagonalGaussian
    return kind(psi=np.eye(3) if kind is Gaussian else 1.0).bind(X, np.ones(N)), X


def densities_of(component: Component, X: object, sampling: bool) -> Densities:
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 2 * K, N).astype(np.int32)
    S = component.statistics(component.prepare(X), np.ones(N), groups, 2 * K).reshape(K, 2, -1)
    return draw_densities(component, S, 2.0, rng) if sampling else mode_densities(component, S, 2.0)


@pytest.mark.parametrize("sampling", [True, False])
@pytest.mark.parametrize("name", ["gaussian", "diagonal", "counts", "sparse counts"])
def test_chunks_and_threads_change_no_label(name: str, sampling: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    component, X = batch_of(name)
    densities = densities_of(component, X, sampling)
    weight = np.random.default_rng(6).gamma(1.0, 1.0, N)

    def label(threads: int) -> tuple[Points, np.ndarray]:
        batch = Points(component, X, weight)
        with thread_limit(threads):
            return batch, batch.label(component, densities, KEYS, sampling)

    whole, S = label(1)
    monkeypatch.setattr(points_module, "CHUNK", 64)
    (one, first), *others = (label(threads) for threads in (1, 2, 7))
    np.testing.assert_array_equal(one.labels, whole.labels)
    np.testing.assert_array_equal(one.used, whole.used)
    np.testing.assert_allclose(first, S, rtol=1e-10, atol=1e-12)
    # Chunks that follow one another use the threads within.
    monkeypatch.setattr(points_module, "_MEMORY", 0)
    monkeypatch.setattr(points_module, "_SCORES", 100)
    others += (label(threads) for threads in (1, 2, 7))
    for batch, statistics in others:
        np.testing.assert_array_equal(batch.labels, whole.labels)
        np.testing.assert_array_equal(batch.used, whole.used)
        np.testing.assert_array_equal(statistics, first)


@pytest.mark.parametrize("first", [0, 1, 2**14, 5_000_000_000])
def test_a_shifted_key_draws_what_later_points_draw(first: int) -> None:
    scores = np.zeros((40, 5))
    skip = first % 30
    whole, rest = np.empty(40, np.int32), np.empty(40 - skip, np.int32)
    begin = first - skip
    kernels.label_points(scores, kernels.key_from(np.uint32(9), begin), True, 0, 40, whole)
    kernels.label_points(scores[skip:], kernels.key_from(np.uint32(9), first), True, 0, len(rest), rest)
    np.testing.assert_array_equal(rest, whole[skip:])


def test_results_of_a_model_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1.0, (150, 2)) for place in (0.0, 9.0, 30.0)])
    model = ScStream(seed=1).fit(X)
    results = model.predict(X), model.predict_proba(X), model.score_samples(X)
    monkeypatch.setattr(points_module, "CHUNK", 100)
    np.testing.assert_array_equal(model.predict(X), results[0])
    np.testing.assert_allclose(model.predict_proba(X), results[1], rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), results[2], rtol=1e-12)
    again = ScStream(seed=1).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_scores_of_many_clusters_are_not_all_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All scores of 20,000 points and 500 clusters would take 80 MB."""
    monkeypatch.setattr(points_module, "CHUNK", 512)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 2))
    component = Gaussian(psi=1.0).bind(X, np.ones(len(X)))
    S = component.statistics(component.prepare(X), np.ones(len(X)), (np.arange(20_000) % 1000).astype(np.int32), 1000)
    densities = mode_densities(component, S.reshape(500, 2, -1), 1.0)
    batch = Points(component, X, np.ones(len(X)))
    tracemalloc.start()
    with thread_limit(2):
        batch.label(component, densities, KEYS, False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_statistics_of_many_chunks_are_not_all_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statistics of 300 chunks with 500 sub-clusters would take 7 MB."""
    monkeypatch.setattr(points_module, "CHUNK", 64)
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(300 * 64, 2)), np.ones(300 * 64)
    component = Gaussian(psi=1.0).bind(X, weight)
    groups = (np.arange(len(X)) % 500).astype(np.int32)
    S = component.statistics(component.prepare(X), weight, groups, 500)
    densities = mode_densities(component, S.reshape(250, 2, -1), 1.0)
    batch = Points(component, X, weight)
    with thread_limit(1):
        batch.label(component, densities, KEYS, False)
        tracemalloc.start()
        batch.label(component, densities, KEYS, False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2e6


def test_a_sum_in_order_does_not_depend_on_who_comes_first() -> None:
    rng = np.random.default_rng(2)
    parts = rng.normal(size=(6, 40)) * 10.0 ** rng.integers(-8, 8, (6, 1))
    expected = parts[0].copy()
    for part in parts[1:]:
        expected += part
    for _ in range(20):
        total = OrderedSum()
        for n in rng.permutation(6):
            total.add(int(n), parts[n].copy())
        np.testing.assert_array_equal(total.total, expected)


def test_too_large_tables_are_made_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points_module, "_MEMORY", 8 * points_module.CHUNK * 100)
    seen: list[int] = []

    def chosen(threads: int, work: object, pieces: int) -> None:
        seen.append(threads)

    monkeypatch.setattr(points_module, "run", chosen)
    with thread_limit(4):
        run_chunks(100_000, 25, lambda first, last: None)
        run_chunks(100_000, 26, lambda first, last: None)
    assert seen == [4, 1]
