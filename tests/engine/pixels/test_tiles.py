"""Frames cut in tiles: pixels, labels, statistics; pruning and threads change nothing, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from reference import Array, clip_frames, gaussian_row, lab, pixel_noise, rgb_pixels
from scstream import VideoSegmenter, kernels, threads
from scstream.components import PixelGaussian
from scstream.components.gaussian import Whitened
from scstream.kernels.basics.layout import ROW_TERMS
from scstream.kernels.pixels.bounds import bound_scores, prepare_row_terms
from scstream.kernels.pixels.pixel_scores import score_tile
from scstream.pixels import final_labels, tiles
from scstream.pixels.tiles import Tiles, gumbel_noise, pack
from scstream.sampler.sweep import Densities, draw_densities, mode_densities
from scstream.threads import queue_of

Frame = npt.NDArray[np.uint8]


def prior_for(points: Array) -> PixelGaussian:
    """A prior like the one of video: narrow in colour, wide in position."""
    psi = np.diag([0.1, 0.1, *(2.0 * points[:, 2:].var(axis=0) + 4e-6)])
    return PixelGaussian(1.0, points.mean(axis=0), 5.0, psi).bind(points[:1], np.ones(1))


def random_clusters(points: Array, component: PixelGaussian, K: int, weight: float, rng: np.random.Generator) -> Array:
    """Statistics (K, 2, P) of clusters around K random pixels; some may be empty, some hold one pixel."""
    centres = points[rng.integers(0, len(points), K)]
    stretch = np.exp(rng.normal(0.0, 1.0, 5))
    nearest = np.zeros(len(points), np.int64)
    distance = np.full(len(points), np.inf)
    for k, centre in enumerate(centres):
        d = np.square((points - centre) * stretch).sum(axis=1)
        nearest = np.where(d < distance, k, nearest)
        distance = np.minimum(d, distance)
    sub = (2 * nearest + rng.integers(0, 2, len(points))).astype(np.int32)
    return component.statistics(points, np.full(len(points), weight), sub, 2 * K).reshape(K, 2, -1)


def label_twice(
    cut: Tiles, component: PixelGaussian, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Array, Array]:
    """Labels and statistics with pruning, then by brute force."""
    cut.prune = True
    fast = cut.label(component, densities, keys, sampling)
    fast_labels = cut.labels.copy()
    cut.prune = False
    slow = cut.label(component, densities, keys, sampling)
    return fast_labels, cut.labels.copy(), fast, slow


def assert_pruning_is_exact(frame: Frame, colour: str, K: int, weight: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cut = Tiles(frame, colour)
    points = cut.points()
    component = prior_for(points)
    S = random_clusters(points, component, K, weight, rng)
    keys = rng.integers(0, 2**32, 2, np.uint32)
    for sampling in (False, True):
        for densities in (draw_densities(component, S, 1000.0, rng), mode_densities(component, S, 1000.0)):
            fast, slow, S_fast, S_slow = label_twice(cut, component, densities, keys, sampling)
            np.testing.assert_array_equal(fast, slow)
            np.testing.assert_array_equal(S_fast, S_slow)


def noise(rng: np.random.Generator, height: int, width: int) -> Frame:
    return rng.integers(0, 256, (height, width, 3)).astype(np.uint8)


def flat(rng: np.random.Generator, height: int, width: int) -> Frame:
    return np.full((height, width, 3), rng.integers(0, 256, 3), np.uint8)


def posters(rng: np.random.Generator, height: int, width: int) -> Frame:
    """Four colours in random places: many pixels share a colour exactly, which makes ties likely."""
    return rng.integers(0, 256, (4, 3)).astype(np.uint8)[rng.integers(0, 4, (height, width))]


def ramp(rng: np.random.Generator, height: int, width: int) -> Frame:
    grey = np.linspace(0, 255, width)[None, :, None] + rng.normal(0, 5, (height, width, 3))
    return np.clip(grey, 0, 255).astype(np.uint8)


def skewed(rng: np.random.Generator, height: int, width: int) -> Frame:
    """Almost all dark, a few bright pixels."""
    return np.minimum(255, rng.exponential(12.0, (height, width, 3)) ** 1.5).astype(np.uint8)


FRAMES: dict[str, Callable[[np.random.Generator, int, int], Frame]] = {
    "noise": noise, "flat": flat, "posters": posters, "ramp": ramp, "skewed": skewed
}  # fmt: skip
SIZES = [(1, 1), (1, 40), (33, 1), (16, 16), (17, 31), (50, 70)]


# --- pixels


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rgb_pixels_are_their_definition(size: tuple[int, int]) -> None:
    frame = noise(np.random.default_rng(1), *size)
    np.testing.assert_allclose(Tiles(frame).points(), rgb_pixels(frame), atol=2e-7)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_lab_pixels_are_those_of_the_standard_and_of_opencv(size: tuple[int, int]) -> None:
    frame = noise(np.random.default_rng(2), *size)
    points = Tiles(frame, "lab").points()
    np.testing.assert_allclose(points[:, :2], rgb_pixels(frame)[:, :2], atol=1e-7)
    L, a, b = (100.0 * points[:, [4, 2, 3]]).T
    np.testing.assert_allclose(np.stack([L, a, b], axis=1), lab(frame), atol=5e-3)
    # OpenCV interpolates in a coarse table: half a unit is its own error, and still no visible step.
    other = cv2.cvtColor(frame.astype(np.float32) / np.float32(255.0), cv2.COLOR_RGB2Lab).reshape(-1, 3)
    np.testing.assert_allclose(np.stack([L, a, b], axis=1), other, atol=0.5)


@pytest.mark.parametrize(("colour", "expected"), [((0, 0, 0), (0, 0, 0)), ((255, 255, 255), (100, 0, 0))])
def test_black_and_white_have_no_hue(colour: tuple[int, ...], expected: tuple[float, ...]) -> None:
    points = Tiles(np.full((3, 3, 3), colour, np.uint8), "lab").points()
    np.testing.assert_allclose(100.0 * points[:, [4, 2, 3]], np.tile(expected, (9, 1)), atol=5e-3)


@pytest.mark.parametrize("stride", [1, 2])
def test_the_moments_of_a_tile_are_those_of_its_pixels(stride: int) -> None:
    """Whole tiles and such that hang over the edge, where the pixels beyond do not count."""
    cut = Tiles(noise(np.random.default_rng(4), 71, 90), stride=stride)
    inside = cut.tiled(np.ones((cut.rows, cut.columns), bool))
    assert inside.all(axis=1).any()
    assert not inside.all()
    for t in range(len(cut.totals)):
        points = cut.pixels[t].T[inside[t]].astype(np.float64)
        expected = gaussian_row(points, np.full(len(points), float(stride**2)))
        np.testing.assert_allclose(cut.totals[t], expected, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("stride", [1, 2, 4, 16])
def test_stride_takes_the_middle_of_each_block(stride: int) -> None:
    frame = noise(np.random.default_rng(3), 37, 50)
    rows = np.minimum(np.arange(0, 37, stride) + stride // 2, 36)
    columns = np.minimum(np.arange(0, 50, stride) + stride // 2, 49)
    every = rgb_pixels(frame).reshape(37, 50, 5)
    cut = Tiles(frame, stride=stride)
    np.testing.assert_allclose(cut.points(), every[rows][:, columns].reshape(-1, 5), atol=2e-7)


def test_boxes_hold_their_tiles_tightly() -> None:
    cut = Tiles(skewed(np.random.default_rng(4), 45, 75), "lab")
    np.testing.assert_array_equal(cut.low, cut.pixels.min(axis=2))
    np.testing.assert_array_equal(cut.high, cut.pixels.max(axis=2))


# --- labels and statistics


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_labels_and_moments_are_those_of_float64(kind: str, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    frame = FRAMES[kind](rng, *size)
    cut = Tiles(frame)
    points = cut.points()
    component = prior_for(points)
    S = random_clusters(points, component, 7, 1.0, rng)
    S[2] = 0.0
    S[3] = [gaussian_row(points[:1], np.ones(1)), np.zeros(S.shape[2])]
    densities = mode_densities(component, S, 10.0)
    found = cut.label(component, densities, np.zeros(2, np.uint32), False)
    labels = cut.ids(np.arange(14)).ravel()

    scores = component.scores(densities.parameters, densities.log_weight, points)
    own = component.own_scores(
        densities.sub_parameters, densities.sub_log_weight, points, (labels // 2).astype(np.int32)
    )
    rows = np.arange(len(points))
    # In float32 a near tie may fall either way.
    assert (scores[rows, labels // 2] > scores.max(axis=1) - 0.01).all()
    assert (own[labels % 2, rows] > own.max(axis=0) - 0.01).all()
    expected = np.array([gaussian_row(points[labels == g], np.ones((labels == g).sum())) for g in range(14)])
    np.testing.assert_allclose(found.reshape(14, -1), expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(cut.used, expected[:, 0] > 0)


def test_stride_weighs_each_pixel_by_its_block() -> None:
    rng = np.random.default_rng(6)
    cut = Tiles(noise(rng, 40, 60), stride=4)
    points = cut.points()
    component = prior_for(points)
    S = random_clusters(points, component, 3, 16.0, rng)
    found = cut.label(component, mode_densities(component, S, 1.0), np.zeros(2, np.uint32), False)
    total = 16.0 * gaussian_row(points, np.ones(len(points)))
    np.testing.assert_allclose(found.sum(axis=(0, 1)), total, rtol=1e-5)


@pytest.mark.parametrize("size", [(40, 60), (33, 17), (1, 1), (2, 50)])
@pytest.mark.parametrize("stride", [1, 3])
def test_the_edge_is_the_outermost_pixels(size: tuple[int, int], stride: int) -> None:
    rng = np.random.default_rng(7)
    cut = Tiles(noise(rng, *size), stride=stride)
    component = prior_for(cut.points())
    S = random_clusters(cut.points(), component, 3, float(stride**2), rng)
    cut.label(component, mode_densities(component, S, 1.0), np.zeros(2, np.uint32), False)
    labels = cut.ids(np.arange(6))[::stride, ::stride]
    rows, columns = labels.shape
    edge = [labels[y, x] for y in range(rows) for x in range(columns) if y in (0, rows - 1) or x in (0, columns - 1)]
    np.testing.assert_array_equal(cut.border_length(), stride * np.bincount(edge, minlength=6))


@pytest.mark.parametrize("kind", FRAMES)
def test_sampled_labels_have_the_best_perturbed_score(kind: str) -> None:
    rng = np.random.default_rng(16)
    cut = Tiles(FRAMES[kind](rng, 21, 37))
    points = cut.points()
    component = prior_for(points)
    S = random_clusters(points, component, 6, 1.0, rng)
    densities = draw_densities(component, S, 10.0, rng)
    cut.label(component, densities, np.array([77, 88], np.uint32), True)
    labels = cut.ids(np.arange(12)).ravel()
    noise = pixel_noise(gumbel_noise().values, 77, 21, 37, 8)
    scores = component.scores(densities.parameters, densities.log_weight, points)
    expected = np.argmax(scores + noise[:, :6], axis=1)
    own = component.own_scores(
        densities.sub_parameters, densities.sub_log_weight, points, (labels // 2).astype(np.int32)
    )
    second = own[1] + noise[:, 7] > own[0] + noise[:, 6]
    # In float32 two scores may come out in another order now and then.
    assert (labels // 2 == expected).mean() > 0.995
    assert (labels % 2 == second).mean() > 0.995
    assert len(set(expected.tolist())) > 1


@pytest.mark.parametrize("second", [1, 4093, 4096])
def test_draws_between_two_of_thousands_of_clusters_are_fair(second: int) -> None:
    """Two clusters alike, with equal weights, and 4,098 that no pixel is near to."""
    rng = np.random.default_rng(8)
    cut = Tiles(noise(rng, 64, 96))
    points = cut.points()
    component = prior_for(points)
    halves = component.statistics(points, np.ones(len(points)), rng.integers(0, 2, len(points), np.int32), 2)
    densities = mode_densities(component, np.tile(halves, (4100, 1, 1)), 1000.0)
    densities.log_weight[:] = -1e4
    densities.log_weight[[0, second]] = 0.0
    cut.label(component, densities, rng.integers(0, 2**32, 2, np.uint32), True)
    labels = cut.labels[cut.tiled(np.ones((64, 96), bool))]
    assert set(np.unique(labels // 2)) == {0, second}
    share = (labels // 2 == second).mean()
    assert abs(share - 0.5) < 4.0 * 0.5 / np.sqrt(len(labels))
    # Nor does the choice of the cluster say anything about that of the sub-cluster.
    upper = [(labels[labels // 2 == k] % 2).mean() for k in (0, second)]
    assert abs(upper[0] - upper[1]) < 4.0 / np.sqrt(len(labels))


def test_noise_is_gumbel_distributed_and_its_peaks_are_known() -> None:
    noise = gumbel_noise()
    values = noise.values[:-256]
    middle = (np.arange(len(values)) + 0.5) / len(values)
    np.testing.assert_allclose(np.sort(values), stats.gumbel_r.ppf(middle), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(noise.values[-256:], values[:256])
    # Neighbours, and what lies a row or a tile further on, have nothing to do with each other.
    for step in (1, 2, 16, 17, 256, 4096):
        assert abs(np.corrcoef(values[:-step], values[step:])[0, 1]) < 5.0 / np.sqrt(len(values))
    np.testing.assert_array_equal(noise.rows, noise.values.reshape(-1, 16).max(axis=1))
    for row in (0, 5, 16, 4711, 65535):
        assert noise.tiles[row % 16, row // 16] == noise.values[16 * row : 16 * row + 256].max()


def test_draws_of_pixels_and_of_sweeps_are_independent() -> None:
    """Two clusters alike on a picture of one colour: coins tossed for each pixel, and anew with another key."""
    cut = Tiles(np.full((192, 320, 3), 90, np.uint8))
    component = prior_for(cut.points())
    whole = Whitened(np.zeros((2, 5, 5)), np.zeros((2, 5)), np.zeros(2), np.zeros(2))
    halves = Whitened(np.zeros((4, 5, 5)), np.zeros((4, 5)), np.zeros(4), np.zeros(4))
    densities = Densities(np.zeros(2), whole, np.zeros(4), halves)
    coins = []
    for key in (5, 6):
        cut.label(component, densities, np.array([key, 0], np.uint32), True)
        labels = cut.ids(np.arange(4))
        coins += [labels // 2, labels % 2]
    n = coins[0].size
    for coin in coins:
        assert abs(coin.mean() - 0.5) < 2.5 / np.sqrt(n)
        for other in (coin[1:, :], coin[:, 1:], coin[1:, 1:], coin[16:, :], coin[:, 16:], coin[16:, 16:]):
            same = coin[: other.shape[0], : other.shape[1]]
            assert abs(np.corrcoef(same.ravel(), other.ravel())[0, 1]) < 4.0 / np.sqrt(other.size)
    correlations = np.corrcoef([coin.ravel() for coin in coins])[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4.0 / np.sqrt(n)


def test_sampled_labels_follow_the_posterior() -> None:
    """On a picture of one colour, position aside, each cluster's share is its probability (chi-square)."""
    frame = np.full((128, 128, 3), 90, np.uint8)
    cut = Tiles(frame)
    points = cut.points()
    component = PixelGaussian(1.0, points.mean(axis=0), 5.0, np.eye(5)).bind(points[:1], np.ones(1))
    row = gaussian_row(points, np.ones(len(points)))
    S = np.array([[[0.5], [0.5]], [[0.2], [0.1]], [[0.05], [0.15]]]) * row
    densities = mode_densities(component, S, 1.0)
    keys = np.array([123, 456], np.uint32)
    cut.label(component, densities, keys, True)
    scores = component.scores(densities.parameters, densities.log_weight, points)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = (p / p.sum(axis=1, keepdims=True)).sum(axis=0)
    counts = np.bincount(cut.ids(np.repeat(np.arange(3), 2)).ravel(), minlength=3)
    # 16384 draws, two degrees of freedom: 13.8 is exceeded once in a thousand.
    assert (np.square(counts - expected) / expected).sum() < 13.8


# --- pruning


@settings(max_examples=25)
@given(
    kind=st.sampled_from(sorted(FRAMES)),
    height=st.integers(1, 60),
    width=st.integers(1, 60),
    colour=st.sampled_from(["rgb", "lab"]),
    K=st.integers(1, 40),
    weight=st.sampled_from([0.01, 1.0, 1e3, 1e6]),
    seed=st.integers(0, 2**32 - 1),
)
@example(kind="flat", height=39, width=58, colour="rgb", K=1, weight=1e6, seed=2)
def test_pruning_is_exact_on_random_models(
    kind: str, height: int, width: int, colour: str, K: int, weight: float, seed: int
) -> None:
    """Weights up to a million make clusters as narrow as float32 can hardly resolve."""
    frame = FRAMES[kind](np.random.default_rng(seed), height, width)
    assert_pruning_is_exact(frame, colour, K, weight, seed)


@pytest.mark.parametrize("clip", ["crossing", "cut", "kite_surf", "lighting"])
@pytest.mark.parametrize("colour", ["rgb", "lab"])
def test_pruning_is_exact_on_sample_clips(clip: str, colour: str) -> None:
    assert_pruning_is_exact(clip_frames(clip, 2, step=30)[1], colour, 40, 1.0, 7)


@pytest.mark.parametrize("clip", ["kite-surf", "bear", "lucia"])
def test_pruning_is_exact_on_real_frames(clip: str, shared_data: Path) -> None:
    found = sorted((shared_data / "davis2016" / "JPEGImages").rglob(f"{clip}/*.jpg"))
    if not found:
        pytest.skip(f"no frames of {clip}")
    frame = cv2.cvtColor(cv2.imread(str(found[len(found) // 2])), cv2.COLOR_BGR2RGB)
    assert_pruning_is_exact(frame, "rgb", 60, 1.0, 8)


class BruteForce(Tiles):
    """Tiles that score every cluster at every pixel."""

    def label(self, *args: object, **keywords: object) -> Array:
        self.prune = False
        return super().label(*args, **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize("below", [7.0, 8.5, 10.0])
@pytest.mark.parametrize("unlikely", [0, 1, 2])
def test_an_unlikely_cluster_gets_its_share_wherever_it_stands(unlikely: int, below: float) -> None:
    """Clusters of constant score, one of them so low that it is left out of most rows: drawn as by brute force."""
    cut = Tiles(np.full((80, 112, 3), 90, np.uint8))
    component = prior_for(cut.points())
    score = np.zeros(3)
    score[unlikely] = -below
    whole = Whitened(np.zeros((3, 5, 5)), np.zeros((3, 5)), score, np.zeros(3))
    halves = Whitened(np.zeros((6, 5, 5)), np.zeros((6, 5)), np.zeros(6), np.zeros(6))
    densities = Densities(np.zeros(3), whole, np.zeros(6), halves)
    rng = np.random.default_rng(0)
    drawn = 0
    for _ in range(40):
        fast, slow, _, _ = label_twice(cut, component, densities, rng.integers(0, 2**32, 2, np.uint32), True)
        np.testing.assert_array_equal(fast, slow)
        drawn += int(np.count_nonzero(fast // 2 == unlikely))
    expected = 40 * 80 * 112 * np.exp(-below) / (2.0 + np.exp(-below))
    assert abs(drawn - expected) < 5.0 * np.sqrt(expected) + 1.0


@pytest.mark.parametrize("K", [300, 3000])
def test_a_long_tail_of_hopeless_clusters_changes_no_draw(K: int) -> None:
    """Each is about as likely as the rarest draw there is."""
    cut = Tiles(np.full((80, 112, 3), 77, np.uint8))
    component = prior_for(cut.points())
    score = np.full(K, np.log(1.6 * 2.0**-23))
    score[0] = 0.0
    whole = Whitened(np.zeros((K, 5, 5)), np.zeros((K, 5)), score, np.zeros(K))
    halves = Whitened(np.zeros((2 * K, 5, 5)), np.zeros((2 * K, 5)), np.zeros(2 * K), np.zeros(2 * K))
    densities = Densities(np.zeros(K), whole, np.zeros(2 * K), halves)
    rng = np.random.default_rng(0)
    for _ in range(12):
        fast, slow, _, _ = label_twice(cut, component, densities, rng.integers(0, 2**32, 2, np.uint32), True)
        np.testing.assert_array_equal(fast, slow)


@numba.njit
def bounds(first, t, low, high, table, row_terms, upper):  # type: ignore[no-untyped-def]
    """Of tile t, in a row of tiles that begins with the first."""
    prepare_row_terms(low[first], high[first], table, row_terms)
    bound_scores(low[t], high[t], table, row_terms, upper)


@numba.njit
def score_whole_tile(pixels, form, column_terms, out):  # type: ignore[no-untyped-def]
    score_tile(pixels, form, 0, 256, column_terms, out)


@pytest.mark.parametrize("dof", [0.0, 1.5, 300.0, 1e5])
def test_bounds_hold_for_every_pixel_to_the_last_bit(dof: float) -> None:
    """On a tile of one colour they lie so close to the scores that rounding alone could put them on the wrong side."""
    rng = np.random.default_rng(0)
    K = 2000
    for value in (0, 77, 255):
        cut = Tiles(np.full((16, 16, 3), value, np.uint8))
        point = cut.points()[0]
        root = np.exp(rng.normal(0.0, 0.3, (K, 5))) / 0.05
        centre = point - np.abs(rng.normal(0.0, 0.04, (K, 5)))
        whole = Whitened(root[:, :, None] * np.eye(5), -root * centre, np.full(K, 3.0), np.full(K, dof))
        forms = pack(whole, np.zeros(K))
        upper, scores = np.empty(K, np.float32), np.empty(256, np.float32)
        row_terms, column_terms = np.empty((ROW_TERMS, K), np.float32), np.empty((4, 16), np.float32)
        bounds(0, 0, cut.low, cut.high, np.ascontiguousarray(forms.T), row_terms, upper)
        for k in range(K):
            score_whole_tile(cut.pixels[0], forms[k], column_terms, scores)
            assert scores.max() <= upper[k]


@pytest.mark.parametrize("dof", [0.0, 30.0])
def test_bounds_hold_in_all_tiles_of_a_row_and_are_not_loose(dof: float) -> None:
    """Also where tiles hang over the edge and are narrower than the row's first, which they share numbers with."""
    rng = np.random.default_rng(0)
    K = 50
    cut = Tiles(rng.integers(0, 256, (39, 53, 3), np.uint8))
    A = np.tril(rng.normal(0.0, 10.0, (K, 5, 5)))
    centre = rng.uniform(0.0, 1.0, (K, 5))
    forms = pack(Whitened(A, -np.einsum("kij,kj->ki", A, centre), np.zeros(K), np.full(K, dof)), np.zeros(K))
    table, row_terms = np.ascontiguousarray(forms.T), np.empty((ROW_TERMS, K), np.float32)
    upper, scores, column_terms = np.empty(K, np.float32), np.empty(256, np.float32), np.empty((4, 16), np.float32)
    bounded = 0
    for t in range(12):
        bounds(t - t % 4, t, cut.low, cut.high, table, row_terms, upper)
        for k in range(K):
            score_whole_tile(cut.pixels[t], forms[k], column_terms, scores)
            assert scores.max() <= upper[k]
        bounded += int(np.count_nonzero(upper < -1.0))
    assert bounded > 100


def test_a_whole_clip_is_the_same_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [frame[::3, ::3] for frame in clip_frames("crossing", 4, step=3)]
    fast = VideoSegmenter(seed=3, max_init_sweeps=30)
    quick = [fast.segment(frame) for frame in frames]
    monkeypatch.setattr("scstream.video.Tiles", BruteForce)
    slow = VideoSegmenter(seed=3, max_init_sweeps=30)
    for expected, frame in zip(quick, frames, strict=True):
        np.testing.assert_array_equal(slow.segment(frame), expected)
    np.testing.assert_array_equal(slow.statistics_, fast.statistics_)
    assert fast.model_.n_clusters_ > 5


# --- threads


def segment_clip(threads: int) -> tuple[list[npt.NDArray[np.int32]], npt.NDArray[np.void]]:
    segmenter = VideoSegmenter(seed=1, threads=threads, max_init_sweeps=25)
    ids = [segmenter.segment(frame[::2, ::2]) for frame in clip_frames("kite_surf", 3)]
    return ids, segmenter.statistics_


def test_threads_change_nothing() -> None:
    ids, statistics = segment_clip(1)
    for count in (2, 7):
        other_ids, other_statistics = segment_clip(count)
        np.testing.assert_array_equal(other_ids, ids)
        np.testing.assert_array_equal(other_statistics, statistics)


def test_the_order_of_the_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, statistics = segment_clip(1)
    rng = np.random.default_rng(9)
    orders: list[list[int]] = []

    def in_any_order(edges: npt.NDArray[np.int64], order: npt.NDArray[np.int64] | None = None) -> kernels.Queue:
        queue = queue_of(edges, order)
        orders.append(rng.permutation(queue.order).tolist())
        return queue._replace(order=np.array(orders[-1]))

    for module in (tiles, final_labels, threads):
        monkeypatch.setattr(module, "queue_of", in_any_order)
    other_ids, other_statistics = segment_clip(1)
    assert any(order != sorted(order) for order in orders)
    np.testing.assert_array_equal(other_ids, ids)
    np.testing.assert_array_equal(other_statistics, statistics)
