"""Borders move to where the brightness changes: the kernel against a plain loop, and its effect on small pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from scstream import VideoSegmenter, kernels
from scstream.kernels import WINDOW
from scstream.threads import queue_of, run_queue, split_evenly

Labels = npt.NDArray[np.int32]
Frame = npt.NDArray[np.uint8]
Costs = dict[int, float]

BONUS, DOUBT = 130.0, 16_000.0


def refined(frame: Frame, labels: Labels, threads: int = 1) -> Labels:
    values, out = np.empty_like(labels), np.empty_like(labels)
    rows, bonus, doubt = split_evenly(len(labels), 5), np.float32(BONUS), np.float32(DOUBT)
    run_queue(threads, queue_of(rows), lambda queue: kernels.weigh_pixels(queue, frame, labels, values))
    run_queue(threads, queue_of(rows), lambda queue: kernels.refine_borders(queue, labels, values, bonus, doubt, out))
    return out


def costs_by_a_plain_loop(frame: Frame, labels: Labels) -> list[list[Costs]]:
    """What each label around a pixel costs there, for every pixel."""
    height, width = labels.shape
    red, green, blue = np.moveaxis(frame.astype(int), 2, 0)
    brightness = (red + 2 * green + blue + 2) // 4
    padded = np.pad(labels, 1, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    weight = np.where((around == labels[..., None, None]).all(axis=(2, 3)), 8, 1)
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            top, left = np.clip(y - WINDOW // 2, 0, height - WINDOW), np.clip(x - WINDOW // 2, 0, width - WINDOW)
            window = np.s_[top : top + WINDOW, left : left + WINDOW]
            others = weight.copy()
            others[y, x] = 0
            costs = {}
            for label in np.unique(around[y, x]):
                share = others[window] * (labels[window] == label)
                neighbours = (around[y, x] == label).sum() - (label == labels[y, x])
                if share.sum():
                    error = brightness[y, x] - (share * brightness[window]).sum() / share.sum()
                    costs[int(label)] = error**2 + DOUBT / share.sum() - BONUS * neighbours
            row.append(costs)
        rows.append(row)
    return rows


@pytest.mark.parametrize("size", [(8, 8), (9, 30), (40, 33)])
@pytest.mark.parametrize("grain", [0.0, 1.0, 3.0])
def test_pixels_get_the_cheapest_label_around_them(size: tuple[int, int], grain: float) -> None:
    rng = np.random.default_rng(1)
    fields = [ndimage.gaussian_filter(rng.normal(size=size), grain) for _ in range(5)]
    labels = np.argmax(fields, axis=0).astype(np.int32)
    frame = rng.integers(0, 256, (*size, 3)).astype(np.uint8)
    out = refined(frame, labels)
    costs = costs_by_a_plain_loop(frame, labels)
    for y, x in np.ndindex(size):
        least = min(costs[y][x].values(), default=0.0)
        assert costs[y][x].get(int(out[y, x]), np.inf) <= least + 0.1, (y, x)


def test_threads_do_not_change_borders() -> None:
    rng = np.random.default_rng(2)
    frame, labels = rng.integers(0, 256, (61, 83, 3)).astype(np.uint8), rng.integers(0, 4, (61, 83)).astype(np.int32)
    np.testing.assert_array_equal(refined(frame, labels, threads=4), refined(frame, labels))


@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize("offset", [-1, 1])
def test_a_border_beside_an_edge_moves_onto_it(along: int, offset: int) -> None:
    """The pixels on the edge itself show a mixture of both sides."""
    x = np.arange(60)
    shades = np.interp(x, [28.6, 30.4], [60.0, 180.0]) + np.random.default_rng(3).normal(0.0, 3.0, (50, 60))
    frame = np.repeat(shades.clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)
    labels = np.tile((x >= 30 + offset).astype(np.int32), (50, 1))
    out = refined(frame, labels) if along else refined(frame.transpose(1, 0, 2).copy(), labels.T.copy()).T
    truth = np.tile(x >= 30, (50, 1))
    assert (out != truth).sum() < 0.05 * (labels != truth).sum()


def test_a_line_of_one_pixel_stays() -> None:
    frame, labels = np.full((40, 40, 3), 90, np.uint8), np.zeros((40, 40), np.int32)
    frame[:, 20], labels[:, 20] = 200, 1
    np.testing.assert_array_equal(refined(frame, labels), labels)


def test_without_contrast_a_ragged_border_becomes_smoother() -> None:
    labels = np.tile((np.arange(40) >= 20).astype(np.int32), (40, 1))
    labels[10, 20], labels[25, 19] = 0, 1
    out = refined(np.full((40, 40, 3), 90, np.uint8), labels)
    np.testing.assert_array_equal(out, np.tile(np.arange(40) >= 20, (40, 1)))


@pytest.mark.parametrize("size", [(1, 1), (7, 40), (40, 7), (8, 8)])
def test_a_frame_smaller_than_the_window_is_segmented(size: tuple[int, int]) -> None:
    frame = np.zeros((*size, 3), np.uint8)
    frame[:, size[1] // 2 :] = 200
    ids = VideoSegmenter(seed=0).segment(frame)
    assert ids.shape == size
    assert not set(ids[frame[..., 0] == 0]) & set(ids[frame[..., 0] > 0])
