"""Synthetic streams and the readers of public data sets."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal

from scstream.streams import (
    Batch,
    batches,
    disc_video,
    gaussian_stream,
    multinomial_stream,
    read_covertype,
    read_newsgroups,
)

STREAMS = [gaussian_stream, multinomial_stream]


def stacked(stream: Iterator[Batch]) -> tuple[np.ndarray, np.ndarray]:
    points, labels = zip(*stream, strict=True)
    return np.array(points), np.array(labels)


@pytest.mark.parametrize("stream", STREAMS)
def test_a_seed_fixes_the_stream(stream: Callable[..., Iterator[Batch]]) -> None:
    runs = [stacked(stream(4, 50, 5, 3, seed=seed)) for seed in (1, np.random.default_rng(1), 2)]
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])
    assert not np.array_equal(runs[0][0], runs[2][0])


@pytest.mark.parametrize("stream", STREAMS)
def test_a_stream_may_have_no_end(stream: Callable[..., Iterator[Batch]]) -> None:
    X, y = stacked(islice(stream(None, 20, 4, 3, seed=0), 7))
    assert X.shape == (7, 20, 3)
    assert set(np.unique(y)) <= set(range(4))


@pytest.mark.parametrize(
    ("stream", "changed"),
    [
        (gaussian_stream, {"batch_size": 0}),
        (gaussian_stream, {"n_batches": -1}),
        (gaussian_stream, {"drift": -0.1}),
        (gaussian_stream, {"turn": 1.5}),
        (gaussian_stream, {"box": 0.0}),
        (gaussian_stream, {"spread": -1.0}),
        (multinomial_stream, {"trials": 0}),
        (multinomial_stream, {"transition": 60}),
        (multinomial_stream, {"concentration": 0.0}),
    ],
)
def test_bad_parameters_are_named_at_once(stream: Callable[..., Any], changed: dict[str, Any]) -> None:
    [(name, value)] = changed.items()
    with pytest.raises(ValueError, match=f"{name}.*{value}"):
        stream(**{"n_batches": 3, **changed})


def test_gaussians_drift_a_little_every_batch_and_stay_in_the_box() -> None:
    X, y = stacked(gaussian_stream(400, 400, n_clusters=4, drift=0.5, box=6.0, seed=3))
    means = np.array([[x[labels == k].mean(axis=0) for k in range(4)] for x, labels in zip(X, y, strict=True)])
    assert np.abs(means).max() < 6.5
    # Over ten batches the way is about ten steps long, well above the noise of a mean of 100 points.
    moved = np.linalg.norm(means[10:] - means[:-10], axis=2) / 10
    assert np.all((moved.mean(axis=0) > 0.1) & (moved.mean(axis=0) < 0.75))


def test_gaussians_without_drift_stand_still() -> None:
    X, y = stacked(gaussian_stream(50, 1000, n_clusters=3, n_features=1, drift=0.0, seed=0))
    for k in range(3):
        assert abs(X[0][y[0] == k].mean() - X[-1][y[-1] == k].mean()) < 0.5


def test_spread_gaussians_move_in_straight_lines_without_walls() -> None:
    stream = gaussian_stream(40, 10, n_clusters=300, turn=0.0, spread=30.0, seed=4)
    means = np.array([stream.means.copy() for _ in stream])
    assert means[0].std() == pytest.approx(30.0, rel=0.1)
    steps = np.diff(means, axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=1e-9)
    lengths = np.linalg.norm(steps[0], axis=1)
    assert lengths.min() >= 0.05
    assert lengths.max() <= 0.15
    assert np.abs(means[-1]).max() > 60.0


def test_labels_by_the_true_parameters_are_the_most_probable() -> None:
    stream = gaussian_stream(3, 2000, n_clusters=5, n_features=3, drift=1.0, spread=1.0, seed=2)
    for X, y in stream:
        densities = [multivariate_normal(*gaussian) for gaussian in zip(stream.means, stream.covariances, strict=True)]
        posterior = np.log(stream.weights) + np.stack([density.logpdf(X) for density in densities], axis=1)
        np.testing.assert_array_equal(stream.predict(X), posterior.argmax(axis=1))
        # The clusters overlap, and the labels are still far better than chance.
        assert 0.5 < (stream.predict(X) == y).mean() < 0.99


def test_true_parameters_describe_the_points() -> None:
    stream = gaussian_stream(4, 50_000, n_clusters=2, spread=5.0, drift=2.0, seed=1)
    for X, y in stream:
        for k in range(2):
            np.testing.assert_allclose(X[y == k].mean(axis=0), stream.means[k], atol=0.05)
            np.testing.assert_allclose(np.cov(X[y == k].T), stream.covariances[k], atol=0.1)
            assert (y == k).mean() == pytest.approx(stream.weights[k], abs=0.02)


def test_multinomials_are_replaced_gradually() -> None:
    X, y = stacked(multinomial_stream(41, 2000, 2, 50, period=20, transition=10, concentration=0.1, seed=1))
    assert np.all(X.sum(axis=2) == 100)
    shares = np.array([[x[labels == k].mean(axis=0) for k in range(2)] for x, labels in zip(X, y, strict=True)])
    steps = np.abs(np.diff(shares / 100, axis=0)).sum(axis=2)
    # A whole replacement moves nearly all the mass, a single batch only a part of it.
    assert np.all(np.abs(shares[40] - shares[0]).sum(axis=1) / 100 > 1.2)
    assert steps.max() < 0.4
    # Half of every period is quiet, up to sampling noise.
    assert np.all((steps < 0.1).mean(axis=0) > 0.3)


def test_a_video_of_discs_shows_its_truth() -> None:
    frames, truths = stacked(disc_video(30, (60, 80), n_discs=2, speed=3.0, noise=2.0, seed=0))
    assert (frames.dtype, frames.shape, truths.shape) == (np.uint8, (30, 60, 80, 3), (30, 60, 80))
    # A disc keeps its colour, and moves three pixels per frame unless it meets the border or the other disc covers it.
    pairs = zip(frames, truths, strict=True)
    colours = np.array([[frame[truth == k].mean(axis=0) for k in range(3)] for frame, truth in pairs])
    assert np.ptp(colours, axis=0).max() < 2.0
    assert np.abs(np.diff(colours[0], axis=0)).max(axis=1).min() > 50.0
    centres = np.array([np.argwhere(truth == 2).mean(axis=0) for truth in truths])
    assert np.median(np.linalg.norm(np.diff(centres, axis=0), axis=1)) == pytest.approx(3.0, abs=0.3)


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": (0, 20)}, {"n_discs": 0}, {"speed": -1.0}, {"speed": 120.5}, {"speed": np.nan}, {"speed": np.inf},
        {"noise": -1.0}, {"noise": np.nan}, {"noise": np.inf},
    ],
)  # fmt: skip
def test_a_video_of_discs_rejects_bad_parameters_at_once(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be (>=|a finite number)"):
        disc_video(3, **changed)


def test_the_fastest_discs_stay_in_the_frame() -> None:
    _, truths = stacked(disc_video(60, (60, 80), n_discs=1, speed=60.0, seed=0))
    assert all((truth == 1).any() for truth in truths)


def test_batches_cover_the_data_in_order() -> None:
    X, y = np.arange(14).reshape(7, 2), np.arange(7)
    parts = list(batches(X, y, size=3))
    assert [len(part) for part, _ in parts] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([part for part, _ in parts]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)


def test_batches_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="3 points and 2 labels"):
        batches(np.zeros((3, 1)), np.zeros(2))
    with pytest.raises(ValueError, match="size must be >= 1, got 0"):
        batches(np.zeros((3, 1)), np.zeros(3), size=0)


# --- CoverType ----------------------------------------------------------------------------------------


@pytest.fixture
def covertype_table() -> np.ndarray:
    table = np.random.default_rng(0).integers(-50, 3000, (30, 55))
    table[:, -1] = np.arange(30) % 7 + 1
    return table


@pytest.mark.parametrize("form", ["data", "gz", "npz"])
def test_covertype_reads_alike_from_every_form(form: str, covertype_table: np.ndarray, tmp_path: Path) -> None:
    file = tmp_path / f"covtype.{form}"
    text = "\n".join(",".join(map(str, row)) for row in covertype_table) + "\n"
    if form == "npz":
        np.savez_compressed(file, X=covertype_table[:, :54].astype(np.int16), y=covertype_table[:, 54])
    else:
        file.write_bytes(gzip.compress(text.encode()) if form == "gz" else text.encode())
    X, y = read_covertype(file)
    first = covertype_table[:, :10]
    np.testing.assert_allclose(X, (first - first.mean(axis=0)) / first.std(axis=0))
    np.testing.assert_array_equal(y, covertype_table[:, 54])


def test_covertype_leaves_a_constant_column_at_zero(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", X=np.full((4, 10), 7), y=np.ones(4))
    assert np.all(read_covertype(tmp_path / "c.npz")[0] == 0)


def test_covertype_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"UCI's covtype\.data"):
        read_covertype(tmp_path / "absent.data")
    (tmp_path / "prose.data").write_text("once upon a time")
    with pytest.raises(ValueError, match="55 whole numbers"):
        read_covertype(tmp_path / "prose.data")
    (tmp_path / "prose.npz").write_text("once upon a time")
    with pytest.raises(ValueError, match=r"not an \.npz file"):
        read_covertype(tmp_path / "prose.npz")
    np.savez(tmp_path / "no_y.npz", X=np.zeros((3, 10)))
    with pytest.raises(ValueError, match=r"lacks \['y'\]"):
        read_covertype(tmp_path / "no_y.npz")
    np.savez(tmp_path / "narrow.npz", X=np.zeros((3, 4)), y=np.zeros(3))
    with pytest.raises(ValueError, match="does not hold CoverType"):
        read_covertype(tmp_path / "narrow.npz")


def test_pickled_arrays_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", X=np.zeros((3, 10)), y=np.array([{}, {}, {}], dtype=object))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        read_covertype(tmp_path / "evil.npz")


def test_covertype_itself(shared_data: Path) -> None:
    X, y = read_covertype(shared_data / "streams" / "covtype.npz")
    assert X.shape == (581012, 10)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert np.unique(y).tolist() == [1, 2, 3, 4, 5, 6, 7]


# --- 20 Newsgroups ------------------------------------------------------------------------------------


@pytest.fixture
def newsgroups(tmp_path: Path) -> tuple[Path, Path, np.ndarray]:
    counts = np.array([[0, 5, 0, 1], [0, 4, 2, 0], [1, 0, 0, 0], [0, 6, 3, 0]], np.int32)
    sparse.save_npz(tmp_path / "counts.npz", sparse.csr_matrix(counts))
    np.savez(tmp_path / "meta.npz", y=np.array([10, 11, 12, 13], np.int8))
    return tmp_path / "counts.npz", tmp_path / "meta.npz", counts


def test_newsgroups_keep_the_commonest_words_and_shuffle(newsgroups: tuple[Path, Path, np.ndarray]) -> None:
    counts_file, labels_file, counts = newsgroups
    X, y = read_newsgroups(counts_file, labels_file, n_words=2, seed=5)
    assert sorted(y) == [10, 11, 12, 13]
    np.testing.assert_array_equal(X, counts[y - 10][:, [1, 2]])
    again, _ = read_newsgroups(counts_file, labels_file, n_words=2, seed=5)
    np.testing.assert_array_equal(X, again)


def test_newsgroups_say_what_is_wrong(newsgroups: tuple[Path, Path, np.ndarray], tmp_path: Path) -> None:
    counts_file, labels_file, _ = newsgroups
    with pytest.raises(ValueError, match=r"n_words must be in \[1, 4\], got 5"):
        read_newsgroups(counts_file, labels_file, n_words=5)
    with pytest.raises(ValueError, match=r"scipy\.sparse\.save_npz"):
        read_newsgroups(labels_file, labels_file, n_words=2)
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_newsgroups(counts_file, tmp_path / "absent.npz", n_words=2)
    np.savez(tmp_path / "short.npz", y=np.zeros(3))
    with pytest.raises(ValueError, match="4 articles need as many labels"):
        read_newsgroups(counts_file, tmp_path / "short.npz", n_words=2)


def test_newsgroups_themselves(shared_data: Path) -> None:
    folder = shared_data / "streams"
    X, y = read_newsgroups(folder / "20newsgroups_counts.npz", folder / "20newsgroups_meta.npz")
    assert X.shape == (18846, 1000)
    assert np.all(np.diff(X.sum(axis=0)) <= 0)
    assert len(np.unique(y[:1000])) == 20
