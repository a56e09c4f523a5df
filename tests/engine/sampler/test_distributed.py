"""Batches in chunks: a dask array or a list gives the labels, to the last bit, that one array gives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from reference import Array
from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream
from scstream.components import Component, first_batch
from scstream.sampler import dask_rows, points
from scstream.sampler.pairwise_sum import add_parts, sum_part

N = 400
#: A prior that need not be chosen by the data, which takes longer.
PRIOR = Gaussian(psi=1.0)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let small batches have many chunks, and compute them in this process one after another."""
    monkeypatch.setattr(points, "CHUNK", 64)
    monkeypatch.setattr(dask_rows, "CHUNK", 64)
    monkeypatch.setattr(first_batch, "_MOMENT_ROWS", 64)
    with dask.config.set(scheduler="sync"):
        yield


def batches(component: Component | None, n_batches: int = 3) -> list[tuple[Array, Array]]:
    """Points of three clusters that drift, and skewed weights, a few of them zero."""
    rng = np.random.default_rng(0)
    found = []
    for n in range(n_batches):
        y = rng.integers(0, 3, N)
        X = np.array([[0.0, 0.0, 9.0], [30.0, 5.0, 0.0], [5.0, 30.0, 3.0]])[y] + n + rng.normal(size=(N, 3))
        weight = rng.gamma(0.7, 1.0, N) * (rng.random(N) > 0.1)
        found.append((np.floor(np.abs(X)) if isinstance(component, Multinomial) else X, weight))
    return found


def model_of(component: Component | None = PRIOR) -> ScStream:
    return ScStream(component, seed=2, max_init_sweeps=4, revise=2)


def assert_same(model: ScStream, other: ScStream) -> None:
    np.testing.assert_array_equal(np.asarray(model.labels_), np.asarray(other.labels_))
    assert model.log_posterior_ == other.log_posterior_
    assert repr(model.events_) == repr(other.events_)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("component", [None, DiagonalGaussian(), Multinomial()], ids=["full", "diagonal", "counts"])
def test_labels_are_those_of_one_array(component: Component | None, weighted: bool) -> None:
    plain, chunked = model_of(component), model_of(component)
    for X, weight in batches(component):
        plain.partial_fit(X, sample_weight=weight if weighted else None)
        chunked.partial_fit(da.from_array(X, (150, 2)), sample_weight=da.from_array(weight, 99) if weighted else None)
        assert isinstance(chunked.labels_, da.Array)
        assert chunked.labels_.dtype == np.int64
        assert_same(plain, chunked)


@pytest.mark.parametrize(("scheduler", "rows"), [("sync", 64), ("threads", 50), ("threads", N)])
def test_neither_chunks_nor_scheduler_change_a_label(scheduler: str, rows: int) -> None:
    [(X, weight)] = batches(PRIOR, 1)
    plain = model_of().fit(X, sample_weight=weight)
    with dask.config.set(scheduler=scheduler):
        assert_same(plain, model_of().fit(da.from_array(X, (rows, 3)), sample_weight=weight))


def test_unknown_sizes_of_chunks_are_computed() -> None:
    [(X, _)] = batches(PRIOR, 1)
    Z = da.from_array(X, (200, 3))
    Z = Z[Z[:, 0] > 1.0]
    assert np.isnan(Z.shape[0])
    model = model_of().fit(Z)
    assert_same(model_of().fit(X[X[:, 0] > 1.0]), model)
    assert np.isnan(Z.shape[0])
    np.testing.assert_array_equal(model.predict(Z).compute(), model.predict(X[X[:, 0] > 1.0]))


def test_chunks_may_be_sparse() -> None:
    [(X, _)] = batches(Multinomial(), 1)
    sparse = da.from_array(X, (128, 3)).map_blocks(sp.csr_array, meta=sp.csr_array((0, 3)))
    model = model_of(Multinomial()).fit(sparse)
    assert_same(model_of(Multinomial()).fit(sp.csr_array(X)), model)
    np.testing.assert_array_equal(model.predict(sparse).compute(), model.predict(X))


@pytest.mark.parametrize("component", [PRIOR, Multinomial()], ids=["full", "counts"])
def test_predictions_are_those_for_one_array(component: Component | None) -> None:
    [(X, _)] = batches(component, 1)
    model, Z = model_of(component).fit(X), da.from_array(X, (150, 2))
    for name in ("predict", "predict_proba", "score_samples"):
        found, expected = getattr(model, name)(Z), getattr(model, name)(X)
        assert isinstance(found, da.Array)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.compute(), expected)
    assert model.score(Z) == pytest.approx(model.score(X))


def test_a_list_of_chunks_is_one_batch() -> None:
    [(X, weight)] = batches(Multinomial(), 1)
    model = model_of().fit([X[:100], X[100:]], sample_weight=[weight[:300], weight[300:]])
    plain = model_of().fit(X, sample_weight=weight)
    assert isinstance(model.labels_, np.ndarray)
    assert_same(plain, model)
    np.testing.assert_array_equal(model.predict([X[:100], X[100:]]), plain.labels_)
    assert_same(plain, model_of().fit([da.from_array(X[:100]), X[100:]], sample_weight=weight))
    counts = model_of(Multinomial()).fit([sp.csr_array(X[:100]), X[100:]])
    assert_same(model_of(Multinomial()).fit(X), counts)


def test_a_batch_that_fails_changes_nothing() -> None:
    (first, _), (second, _), _ = batches(PRIOR)
    plain, model = model_of().partial_fit(first), model_of().partial_fit(da.from_array(first, (128, 3)))
    computed = []

    def break_down(block: Array) -> Array:
        computed.append(len(block))
        if len(computed) > 10:
            raise RuntimeError("out of order")
        return block

    failing = da.from_array(second, (128, 3)).map_blocks(break_down, meta=np.empty((0, 3)))
    with pytest.raises(RuntimeError, match="out of order"):
        model.partial_fit(failing)
    assert_same(plain, model)
    assert_same(plain.partial_fit(second), model.partial_fit(da.from_array(second, (128, 3))))


# --- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.map_blocks(lambda block: np.where(block == block[0, 0], np.nan, block)), "contains NaN"),
        (lambda X: X * 1e70, "X must have values between .* in column"),
        (lambda X: X[:, 0], "Expected 2D array, got 1D"),
        (lambda X: X[:, :2], "2 features, but ScStream is expecting 3 features"),
        (lambda X: X[:0], "at least one point"),
        (lambda X: X[X[:, 0] > 1e9], "at least one point"),
    ],
)
def test_bad_points_are_rejected(change: Any, message: str) -> None:
    [(X, _)] = batches(PRIOR, 1)
    model = model_of().fit(X)
    before = model.log_posterior_
    with pytest.raises(ValueError, match=message):
        model.partial_fit(change(da.from_array(X, (128, 3))))
    assert (model.log_posterior_, model._fitted().state.batch) == (before, 0)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (da.ones(5), "one weight for each of the 400 points"),
        (np.ones(5), "one weight for each of the 400 points"),
        (da.zeros(N), "must not be all zero"),
        (da.full(N, -1.0), "must not be negative, got -1"),
        (da.full(N, np.nan), "must be finite"),
        (da.full(N, 2.0**52, chunks=1), "must sum to at most"),
    ],
)
def test_bad_weights_are_rejected(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model_of().fit(da.ones((N, 3), chunks=128), sample_weight=weight)


def test_chunks_with_different_features_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"the same number of features, got \[\(2,\), \(3,\)\]"):
        model_of().fit([np.ones((4, 3)), np.ones((4, 2))])


def test_a_component_that_reads_all_points_says_what_to_do() -> None:
    class Reader(Gaussian):
        def bind(self, X: Any, weight: Any) -> Any:
            return type(self)(m=np.mean(np.asarray(X), axis=0), psi=1.0)

    with pytest.raises(TypeError, match="set all hyperparameters"):
        model_of(Reader()).fit(da.ones((N, 3), chunks=128))


# --- parts


@pytest.mark.parametrize("size", [1, 7, 128, 129, 1000, 54_321])
def test_sums_of_parts_are_those_of_numpy(size: int) -> None:
    rng = np.random.default_rng(size)
    values = rng.gamma(0.5, 1.0, size)
    cuts = [0, *np.sort(rng.integers(0, size, 9)).tolist(), size]
    parts = [sum_part(values[a:b], a, size) for a, b in pairwise(cuts)]
    assert add_parts(parts, size) == values.sum()


def test_a_saved_model_has_no_labels_of_a_dask_array(tmp_path: Path) -> None:
    (first, _), (second, _), _ = batches(PRIOR)
    model = model_of().fit(da.from_array(first, (128, 3)))
    model.save(tmp_path / "model.npz")
    loaded = ScStream.load(tmp_path / "model.npz")
    assert not hasattr(loaded, "labels_")
    assert_same(model.partial_fit(second), loaded.partial_fit(second))


@pytest.mark.slow
def test_an_ordinary_batch_does_not_import_dask() -> None:
    code = "import sys, scstream; scstream.ScStream(max_init_sweeps=1).fit([[1.0], [2.0]]); print(sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'sklearn'" in run.stdout
    assert "'dask'" not in run.stdout
