"""Scores of masks, against distance transforms and hand-made masks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from scstream.metrics import boundary_f, decay, jaccard


def blob(shape: tuple[int, int], seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(shape)
    return np.asarray(ndimage.gaussian_filter(noise, 6) > 0.02)


def boundary_f_by_distance_transform(pred: np.ndarray, truth: np.ndarray, tolerance: float = 0.008) -> float:
    """The DAVIS definition, pixel by pixel: outlines grown by a disk."""
    radius = math.ceil(tolerance * np.linalg.norm(pred.shape))

    def outline(mask: np.ndarray) -> np.ndarray:
        right, below, both = np.zeros_like(mask), np.zeros_like(mask), np.zeros_like(mask)
        right[:, :-1], below[:-1], both[:-1, :-1] = mask[:, 1:], mask[1:], mask[1:, 1:]
        edge = (mask ^ right) | (mask ^ below) | (mask ^ both)
        edge[-1], edge[:, -1] = mask[-1] ^ right[-1], mask[:, -1] ^ below[:, -1]
        edge[-1, -1] = False
        return np.asarray(edge)

    a, b = outline(pred), outline(truth)
    precision = np.mean(ndimage.distance_transform_edt(~b)[a] <= radius)
    recall = np.mean(ndimage.distance_transform_edt(~a)[b] <= radius)
    return float(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", [0.008, 0.03])
def test_boundary_f_is_the_distance_transforms(seed: int, tolerance: float) -> None:
    pred, truth = blob((70, 110), seed), blob((70, 110), seed + 100)
    expected = boundary_f_by_distance_transform(pred, truth, tolerance)
    assert 0.05 < expected < 0.95
    assert boundary_f(pred, truth, tolerance) == pytest.approx(expected)


def test_boundary_f_on_edge_cases() -> None:
    empty, full = np.zeros((20, 30), bool), np.ones((20, 30), bool)
    dot = empty.copy()
    dot[10, 10] = True
    assert boundary_f(empty, empty) == 1.0
    assert boundary_f(full, empty) == 1.0  # neither has an outline inside the picture
    assert boundary_f(dot, empty) == 0.0
    assert boundary_f(empty, dot) == 0.0
    assert boundary_f(dot, dot) == 1.0
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        boundary_f(dot, dot, tolerance=0.0)


def test_jaccard_on_hand_made_masks() -> None:
    a = np.array([[1, 1, 0], [0, 0, 0]])
    b = np.array([[0, 255, 255], [0, 0, 255]], np.uint8)
    assert jaccard(a, b) == 1 / 4
    assert jaccard(a, a) == 1.0
    assert jaccard(a, 0 * a) == 0.0
    assert jaccard(0 * a, 0 * a) == 1.0
    with pytest.raises(ValueError, match="images of one size"):
        jaccard(a, b[:1])


# --- decay --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_frames", "first", "last"),
    # Frames of the first and the last quarter, counted from 1 as the DAVIS toolbox in Matlab does.
    [(1, [1], [1]), (2, [1], [2]), (3, [1, 2], [3]), (4, [1, 2], [3, 4]), (5, [1, 2], [4, 5]), (6, [1, 2], [5, 6])],
)
def test_decay_of_short_videos(n_frames: int, first: list[int], last: list[int]) -> None:
    values = np.random.default_rng(n_frames).random(n_frames)
    expected = np.mean([values[n - 1] for n in first]) - np.mean([values[n - 1] for n in last])
    assert decay(values) == pytest.approx(expected)


@pytest.mark.parametrize("n_frames", [8, 50, 69, 90, 104, 256])
def test_decay_is_that_of_the_davis_code(n_frames: int) -> None:
    values = np.random.default_rng(n_frames).random(n_frames)
    limits = (np.round(np.linspace(1, n_frames, 5) + 1e-10) - 1).astype(np.uint8)
    quarters = [values[limits[n] : int(limits[n + 1]) + 1] for n in range(4)]
    assert decay(values.tolist()) == pytest.approx(np.mean(quarters[0]) - np.mean(quarters[3]))


def test_decay_of_a_long_video_compares_its_ends() -> None:
    assert decay(np.linspace(1, 0, 1001)) == pytest.approx(0.75)
    assert decay([0.7] * 300) == pytest.approx(0.0)


def test_decay_leaves_unknown_values_out() -> None:
    values = [math.nan, 0.8, 0.6, 0.5, 0.4, 0.3, math.nan, 0.1]
    assert decay(values) == pytest.approx(0.7 - 0.2)
    assert math.isnan(decay([math.nan, math.nan, 0.5, 0.5, 0.5]))
    with pytest.raises(ValueError, match="a value for each frame"):
        decay([])
