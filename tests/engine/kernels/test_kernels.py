"""Compiled functions against their numpy twins: on skewed data, empty groups, single points, extreme numbers."""

from __future__ import annotations

from typing import Literal

import cv2
import numba
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from reference import (
    Array,
    block_means,
    gaussian_row,
    hash_uniform,
    sample_by_uniform,
    whitened_score,
)
from scstream import kernels
from scstream.components import Multinomial, PixelGaussian
from scstream.kernels._jit import FAST
from scstream.kernels.basics import noise
from scstream.kernels.basics.scalar_math import (
    LOG1P_TINY_MAX,
    exp32,
    exp64,
    lgamma64,
    log1p32,
    log1p64,
    log1p_tiny,
    log64,
)
from scstream.pixels.tiles import Tiles
from scstream.sampler.sweep import mode_densities
from scstream.threads import queue_of

Floats = npt.NDArray[np.float32]


# As the loops over pixels have them: what may be reordered there must be exact all the same.
@numba.njit(fastmath=FAST)
def apply_log1p(x, out):  # type: ignore[no-untyped-def]
    for n in range(len(x)):
        out[n] = log1p32(x[n])


@numba.njit(fastmath=FAST)
def apply_log1p_tiny(x, out):  # type: ignore[no-untyped-def]
    for n in range(len(x)):
        out[n] = log1p_tiny(x[n])


@numba.njit(fastmath=FAST)
def apply_exp(x, out):  # type: ignore[no-untyped-def]
    for n in range(len(x)):
        out[n] = exp32(x[n])


@numba.njit(fastmath=FAST)
def apply_doubles(x, log1p, log, lgamma):  # type: ignore[no-untyped-def]
    for n in range(len(x)):
        log1p[n] = log1p64(x[n])
        log[n] = log64(x[n])
        lgamma[n] = lgamma64(x[n])


@numba.njit
def apply_exp_doubles(x, out):  # type: ignore[no-untyped-def]
    for n in range(len(x)):
        out[n] = exp64(x[n])


@numba.njit
def apply_hash(key, out):  # type: ignore[no-untyped-def]
    for n in range(len(out)):
        out[n] = noise.hash_uniform(key, n)


def ulps(found: Floats, exact: Array) -> Array:
    """Distance in units of the last place of a float32."""
    return np.abs(found.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32))


# --- exp and log


def test_log1p_is_accurate_from_tiny_to_huge() -> None:
    x = np.concatenate([np.logspace(-30, 30, 60_001), np.linspace(0.2, 0.3, 5_001), [0.0]]).astype(np.float32)
    out = np.empty_like(x)
    apply_log1p(x, out)
    assert out[-1] == 0.0
    assert ulps(out[:-1], np.log1p(x[:-1].astype(np.float64))).max() < 6.0


def test_the_short_logarithm_is_accurate_as_far_as_it_goes() -> None:
    x = np.concatenate([np.linspace(0.0, LOG1P_TINY_MAX, 100_001), np.logspace(-30, -2, 1_001)]).astype(np.float32)
    out = np.empty_like(x)
    apply_log1p_tiny(x, out)
    assert out[0] == 0.0
    assert ulps(out[1:], np.log1p(x[1:].astype(np.float64))).max() < 4.0


def test_exp_is_accurate_over_its_range() -> None:
    x = np.linspace(-87.0, 87.0, 100_001).astype(np.float32)
    out = np.empty_like(x)
    apply_exp(x, out)
    assert ulps(out, np.exp(x.astype(np.float64))).max() < 4.0
    apply_exp(np.zeros(1, np.float32), out[:1])
    assert out[0] == 1.0


def test_double_precision_exp_is_that_of_numpy() -> None:
    x = np.concatenate([np.linspace(-700.0, 700.0, 140_001), np.linspace(-1.0, 1.0, 2_001)])
    out = np.empty_like(x)
    apply_exp_doubles(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=2e-15)
    assert out[x == 0.0].tolist() == [1.0] * (x == 0.0).sum()


def test_double_precision_logarithms_and_lgamma_are_those_of_scipy() -> None:
    x = np.concatenate([np.logspace(-15, 15, 30_001), np.linspace(0.9, 1.1, 1_001), np.linspace(1.9, 2.1, 1_001)])
    log1p, log, lgamma = np.empty((3, len(x)))
    apply_doubles(x, log1p, log, lgamma)
    np.testing.assert_allclose(log1p, np.log1p(x), rtol=2e-15)
    np.testing.assert_allclose(log, np.log(x), rtol=2e-15, atol=1e-15)
    np.testing.assert_allclose(lgamma, special.gammaln(x), rtol=1e-13, atol=1e-13)


# --- random numbers


@pytest.mark.parametrize("key", [0, 1, 123_456_789, 2**32 - 1])
def test_uniforms_are_those_of_the_twin(key: int) -> None:
    out = np.empty(500, np.float32)
    apply_hash(np.uint32(key), out)
    np.testing.assert_array_equal(out, [hash_uniform(key, n) for n in range(500)])


@pytest.mark.parametrize("key", [0, 77, 2**31])
def test_uniforms_are_uniform(key: int) -> None:
    out = np.empty(1_000_000, np.float32)
    apply_hash(np.uint32(key), out)
    assert out.min() > 0.0
    assert out.max() < 1.0
    counts, _ = np.histogram(out, 1000, (0.0, 1.0))
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("lag", [1, 2, 16, 854])
def test_uniforms_of_neighbours_and_of_keys_do_not_hang_together(lag: int) -> None:
    """Pairs (u[n], u[n + lag]), and pairs of two keys, fill the square evenly."""
    u, v = np.empty(400_000, np.float32), np.empty(400_000, np.float32)
    apply_hash(np.uint32(5), u)
    apply_hash(np.uint32(6), v)
    for one, two in ((u[:-lag], u[lag:]), (u, v)):
        counts, _, _ = np.histogram2d(one, two, 20, [(0.0, 1.0), (0.0, 1.0)])
        assert stats.chisquare(counts.ravel()).pvalue > 1e-4
        assert abs(np.corrcoef(one, two)[0, 1]) < 5.0 / np.sqrt(len(one))


# --- Gaussian


def whitened(K: int, D: int, seed: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    A = np.tril(rng.normal(size=(K, D, D))) + 2.0 * np.eye(D)
    dof = np.where(np.arange(K) % 2 == 0, 0.0, rng.exponential(5.0, K) + 0.1)
    return A, rng.normal(size=(K, D)), rng.normal(size=K), dof


@pytest.mark.parametrize("D", [1, 2, 5, 9, 12, 15])
def test_gaussian_scores_are_those_of_the_twin(D: int) -> None:
    A, b, c, dof = whitened(6, D, D)
    X = np.random.default_rng(1).exponential(2.0, (300, D)) ** 2
    expected = [[whitened_score(x, A[k], b[k], c[k], dof[k]) for x in X] for k in range(6)]
    out = np.full((6, 300), np.nan)
    for first, last in ((0, 13), (13, 300)):
        kernels.gaussian_scores(np.ascontiguousarray(X.T), A, b, c, dof, first, last, out)
    np.testing.assert_allclose(out, expected, rtol=1e-10)

    labels = np.random.default_rng(2).integers(0, 3, 300).astype(np.int32)
    own = np.empty((2, 300))
    kernels.gaussian_own_scores(X.T, A, b, c, dof, labels, 0, 300, own)
    wanted = [[expected[2 * k + side][n] for n, k in enumerate(labels)] for side in range(2)]
    np.testing.assert_allclose(own, wanted, rtol=1e-10)


@pytest.mark.parametrize("D", [1, 2, 3])
def test_gaussian_statistics_are_sums_over_each_group(D: int) -> None:
    rng = np.random.default_rng(3)
    X, w = rng.exponential(1.0, (40, D)), rng.random(40)
    groups = rng.integers(0, 4, 40).astype(np.int32)
    groups[groups == 1] = 0
    groups[7] = 4
    out = np.zeros((5, 1 + D + D * (D + 1) // 2))
    kernels.gaussian_statistics(X, w, groups, out)
    expected = [gaussian_row(X[groups == g], w[groups == g]) for g in range(5)]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert not out[1].any()


@pytest.mark.parametrize("dof", [0.0, 3.5])
def test_diagonal_scores_are_products_of_densities(dof: float) -> None:
    rng = np.random.default_rng(4)
    X, mean, precision = rng.normal(size=(20, 3)), rng.normal(size=(2, 3)), rng.exponential(1.0, (2, 3)) + 0.1
    out = np.empty((2, 20))
    kernels.diagonal_scores(np.ascontiguousarray(X.T), mean, precision, np.zeros(2), np.full(2, dof), 0, 20, out)
    for k in range(2):
        scale = 1.0 / np.sqrt(precision[k])
        one = stats.norm(mean[k], scale) if dof == 0 else stats.t(dof, mean[k], scale)
        peak = one.logpdf(mean[k]).sum()
        np.testing.assert_allclose(out[k], one.logpdf(X).sum(axis=1) - peak, rtol=1e-9, atol=1e-12)


# --- multinomial


@settings(max_examples=100)
@given(d=st.floats(1e-6, 1e9), x=st.one_of(st.integers(0, 40).map(float), st.floats(0.0, 200.0)))
def test_rising_table_is_a_difference_of_lgammas(d: float, x: float) -> None:
    out = np.empty((1, 1))
    kernels.rising_table(np.array([[d]]), np.zeros(1, np.int64), np.array([x]), 0, 1, out)
    exact = special.gammaln(d + x) - special.gammaln(d)
    # What the difference itself loses to cancellation.
    slack = 1e-14 * abs(special.gammaln(d + x)) + 1e-11
    assert out[0, 0] == pytest.approx(exact, rel=1e-10, abs=slack)


def test_count_statistics_are_sums_over_each_group() -> None:
    rng = np.random.default_rng(5)
    X = rng.poisson(0.7, (30, 6)).astype(float)
    X[3] = 0.0
    csr, w = sp.csr_array(X), rng.random(30)
    groups = (np.arange(30) % 3).astype(np.int32)
    out = np.zeros((4, 7))
    kernels.count_statistics(csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data, w, groups, out)
    expected = [[w[groups == g].sum(), *(w[groups == g] @ X[groups == g])] for g in range(4)]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert not out[3].any()


def test_sparse_and_dense_counts_are_prepared_alike() -> None:
    X = np.random.default_rng(6).poisson(0.5, (25, 9)).astype(float)
    component = Multinomial(0.3).bind(X, np.ones(25))
    S = np.random.default_rng(7).exponential(3.0, (4, 10))
    dense, sparse = component.prepare(X), component.prepare(sp.csr_matrix(X))
    for parameters in (component.predictive(S), component.draw(S, np.random.default_rng(8))):
        np.testing.assert_array_equal(
            component.scores(parameters, np.zeros(4), dense), component.scores(parameters, np.zeros(4), sparse)
        )


@pytest.mark.parametrize("D", [3, 8, 29])
def test_dense_rows_become_the_sparse_rows_of_scipy(D: int) -> None:
    """Empty blocks are skipped, also where the last block is short; minus zero is zero."""
    X = np.random.default_rng(16).poisson(0.05, (60, D)).astype(float)
    X[:, 0] *= -1.0
    X[5] = np.arange(D)
    expected = sp.csr_array(X)
    indptr, column, value = np.zeros(61, np.int64), np.empty(expected.nnz + 1, np.int64), np.empty(expected.nnz + 1)
    assert kernels.count_nonzeros(X) == expected.nnz
    kernels.sparse_rows(X, indptr, column, value)
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(column[:-1], expected.indices)
    np.testing.assert_array_equal(value[:-1], expected.data)


@pytest.mark.parametrize("D", [30, 2**22 + 1])
def test_counts_of_any_size_have_one_entry_per_distinct_pair(D: int) -> None:
    """Small whole counts are numbered by a table, the others by sorting, and all if there are too many outcomes."""
    rng = np.random.default_rng(17)
    column = np.sort(rng.integers(0, D, 400)) if D > 100 else rng.integers(0, D, 400)
    value = rng.choice([1.0, 2.0, 2.5, 31.0, 32.0, 3000.0], 400)
    X = sp.coo_array((value, (np.arange(400), column)), (400, D)).tocsr()
    points = Multinomial().bind(X, np.ones(400)).prepare(X)
    np.testing.assert_array_equal(points.pair_column[points.entry], points.column)
    np.testing.assert_array_equal(points.pair_value[points.entry], points.value)
    assert len(points.pair_value) == len(set(zip(column.tolist(), value.tolist(), strict=True)))


# --- labels from scores


#: Tables of scores lie in memory point by point, or cluster by cluster.
ORDERS = pytest.mark.parametrize("order", ["C", "F"])


@ORDERS
def test_points_get_their_best_label_and_the_first_of_equals(order: Literal["C", "F"]) -> None:
    scores = np.array([[0.0, 2.0, 2.0], [5.0, 5.0, 5.0], [-1e300, -5.0, -4.0], [-np.inf, -np.inf, 0.0]], order=order)
    labels = np.empty(4, np.int32)
    kernels.label_points(scores, np.uint32(1), False, 0, len(labels), labels)
    np.testing.assert_array_equal(labels, [1, 0, 2, 2])


@ORDERS
@pytest.mark.parametrize("sampling", [False, True])
@pytest.mark.parametrize("score", [-np.inf, np.nan])
def test_points_beyond_all_bounds_get_some_label(sampling: bool, score: float, order: Literal["C", "F"]) -> None:
    labels = np.full(3, 99, np.int32)
    kernels.label_points(np.full((3, 4), score, order=order), np.uint32(1), sampling, 0, len(labels), labels)
    assert set(labels.tolist()) <= {0, 1, 2, 3}


def test_halves_of_clusters_are_drawn_by_their_probabilities() -> None:
    n = 40_000
    own = np.array([np.zeros(n), np.full(n, np.log(3.0))])
    labels, cluster = np.empty(n, np.int32), np.arange(n, dtype=np.int32) % 5
    kernels.label_halves(own, np.uint32(3), True, cluster, labels)
    np.testing.assert_array_equal(labels // 2, cluster)
    assert abs((labels % 2).mean() - 0.75) < 4.0 * np.sqrt(0.75 * 0.25 / n)
    kernels.label_halves(own, np.uint32(3), False, cluster, labels)
    np.testing.assert_array_equal(labels, 2 * cluster + 1)


@ORDERS
@pytest.mark.parametrize("spread", [3.0, 30.0])
def test_drawn_labels_are_those_of_the_twin(spread: float, order: Literal["C", "F"]) -> None:
    """Also where most points have but one cluster that comes into question."""
    rng = np.random.default_rng(9)
    scores = np.asarray(rng.normal(0.0, spread, (500, 7)), order=order)
    labels = np.empty(500, np.int32)
    kernels.label_points(scores, np.uint32(99), True, 0, len(labels), labels)
    expected = [sample_by_uniform(row, hash_uniform(99, n)) for n, row in enumerate(scores)]
    np.testing.assert_array_equal(labels, expected)
    assert len(set(labels.tolist())) == 7


def test_drawn_labels_follow_their_probabilities() -> None:
    p = np.array([0.6, 0.0, 0.3, 0.1])
    with np.errstate(divide="ignore"):
        scores = np.tile(np.log(p) - 1e4, (20_000, 1))
    labels = np.empty(20_000, np.int32)
    kernels.label_points(scores, np.uint32(3), True, 0, len(labels), labels)
    counts = np.bincount(labels, minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[p > 0], 20_000 * p[p > 0]).pvalue > 1e-3


def test_a_single_cluster_takes_every_point() -> None:
    labels = np.full(10, 7, np.int32)
    kernels.label_points(np.full((10, 1), -3.0), np.uint32(0), True, 0, len(labels), labels)
    assert not labels.any()


# --- pictures


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (20, 37), (33, 5)])
@pytest.mark.parametrize("stride", [1, 4])
def test_untile_undoes_the_cutting(size: tuple[int, int], stride: int) -> None:
    """Each pixel of the full picture shows what was noted for the block that covers it."""
    rows, columns = (-(-n // stride) for n in size)
    across, down = -(-columns // kernels.TILE), -(-rows // kernels.TILE)
    small = np.random.default_rng(10).integers(0, 50, (rows, columns)).astype(np.int32)
    padded = np.zeros((down * kernels.TILE, across * kernels.TILE), np.int32)
    padded[:rows, :columns] = small
    tiled = padded.reshape(down, kernels.TILE, across, kernels.TILE).swapaxes(1, 2).reshape(-1, kernels.PIXELS)
    table = np.random.default_rng(11).permutation(50).astype(np.int32)
    out = np.full(size, -1, np.int32)
    kernels.untile(queue_of(np.array([0, size[0] // 2, size[0]])), np.ascontiguousarray(tiled), table, stride, out)
    expected = table[np.repeat(np.repeat(small, stride, axis=0), stride, axis=1)[: size[0], : size[1]]]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("size", "small"), [((8, 8), (4, 4)), ((37, 50), (11, 17)), ((5, 3), (5, 3)), ((9, 1), (1, 1))]
)
def test_shrink_averages_blocks(size: tuple[int, int], small: tuple[int, int]) -> None:
    frame = np.random.default_rng(12).integers(0, 256, (*size, 3)).astype(np.uint8)
    out = np.empty((*small, 3), np.uint8)
    kernels.shrink(queue_of(np.array([0, small[0] // 2, small[0]])), frame, out)
    np.testing.assert_array_equal(out, block_means(frame, *small))


@pytest.mark.parametrize("value", [0, 1, 127, 254, 255])
@pytest.mark.parametrize("side", [1, 3, 7, 49])
def test_shrink_keeps_a_plain_colour(value: int, side: int) -> None:
    out = np.empty((2, 2, 3), np.uint8)
    kernels.shrink(queue_of(np.array([0, 2])), np.full((2 * side, 2 * side, 3), value, np.uint8), out)
    assert (out == value).all()


def test_shrink_by_a_whole_number_is_that_of_opencv() -> None:
    frame = np.random.default_rng(13).integers(0, 256, (60, 90, 3)).astype(np.uint8)
    out = np.empty((20, 30, 3), np.uint8)
    kernels.shrink(queue_of(np.array([0, 20])), frame, out)
    other = cv2.resize(frame, (30, 20), interpolation=cv2.INTER_AREA)
    assert np.abs(out.astype(int) - other).max() <= 1


@pytest.mark.parametrize("size", [(1, 1), (20, 45), (32, 16)])
@pytest.mark.parametrize("constant", [False, True])
def test_uncertainty_is_what_the_best_cluster_leaves(size: tuple[int, int], constant: bool) -> None:
    rng = np.random.default_rng(14)
    frame = rng.integers(90, 130, (*size, 3)).astype(np.uint8)
    if constant:
        frame[:] = [10, 200, 90]
    cut = Tiles(frame)
    points = cut.points()
    component = PixelGaussian(1.0, points.mean(axis=0), 5.0, 0.1).bind(points[:1], np.ones(1))
    groups = rng.integers(0, 8, len(points)).astype(np.int32)
    S = component.statistics(points, np.ones(len(points)), groups, 10).reshape(5, 2, -1)
    densities = mode_densities(component, S, 1.0)
    scores = component.scores(densities.parameters, densities.log_weight, points)
    best = special.softmax(scores, axis=1).max(axis=1)
    found = cut.uncertainty(densities.parameters, densities.log_weight)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.ravel(), 1.0 - best, atol=2e-4)
    owner = np.array([0, 1, 0, 2, 1])
    p = special.softmax(scores, axis=1)
    together = np.array([row[owner == owner[row.argmax()]].sum() for row in p])
    found = cut.uncertainty(densities.parameters, densities.log_weight, owner)
    np.testing.assert_allclose(found.ravel(), 1.0 - together, atol=2e-4)
