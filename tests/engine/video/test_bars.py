"""VideoSegmenter on grey bars and at several sizes: what is there is found, whatever its order and the frame's size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from reference import clip_frames
from scstream import VideoSegmenter
from scstream.pixels.scaling import shrink

Frame = npt.NDArray[np.uint8]

SMALL, MIDDLE = (48, 60), (240, 320)
LARGE = pytest.param((480, 640), marks=pytest.mark.slow)


def bars(
    size: tuple[int, int], n: int, noise: float, seed: int, shuffled: bool
) -> tuple[npt.NDArray[np.int64], list[Frame]]:
    """The bar of each pixel, and three frames of n grey bars from dark to light, or in any order."""
    rng = np.random.default_rng(seed)
    height, width = size
    levels = np.linspace(20, 235, n).round()
    if shuffled:
        rng.shuffle(levels)
    bar = np.tile(np.arange(width) * n // width, (height, 1))
    flat = np.repeat(levels[bar][..., None], 3, axis=2)
    frames = [np.clip(np.rint(flat + noise * rng.normal(size=flat.shape)), 0, 255).astype(np.uint8) for _ in range(3)]
    return bar, frames


@pytest.mark.parametrize("size", [SMALL, MIDDLE, LARGE])
@pytest.mark.parametrize("shuffled", [False, True], ids=["rising", "shuffled"])
@pytest.mark.parametrize("noise", [0, 2])
@pytest.mark.parametrize("n", [5, 8])
def test_every_bar_is_a_segment(n: int, noise: int, shuffled: bool, size: tuple[int, int]) -> None:
    # Larger frames take seconds: one seed each, as all combinations have their own noise.
    for seed in range(2 if size == SMALL else 1):
        bar, frames = bars(size, n, noise, seed, shuffled)
        segmenter = VideoSegmenter(seed=seed)
        first: list[int] = []
        for frame in frames:
            ids = segmenter.segment(frame)
            own = [int(np.bincount(ids[bar == b]).argmax()) for b in range(n)]
            first = first or own
            assert len(set(own)) == n
            assert own == first
            assert (ids != np.array(own)[bar]).mean() <= (0.001 if noise else 0.0)


def test_bars_side_by_side_in_colour_and_lab_are_segments() -> None:
    bar, frames = bars(SMALL, 5, 0, 0, False)
    tinted = (frames[0] * np.array([1.0, 0.8, 0.6])).astype(np.uint8)
    ids = VideoSegmenter("lab", seed=0).segment(tinted)
    assert [len(np.unique(ids[bar == b])) for b in range(5)] == [1] * 5
    assert len(np.unique(ids)) == 5


def test_a_frame_without_structure_is_one_segment() -> None:
    rng = np.random.default_rng(0)
    flat = np.clip(np.rint(128 + 2 * rng.normal(size=(96, 120, 3))), 0, 255).astype(np.uint8)
    assert len(np.unique(VideoSegmenter(seed=0).segment(flat))) == 1


def test_the_number_of_segments_hardly_depends_on_the_size() -> None:
    frame = clip_frames("crossing", 1)[0]
    height, width = frame.shape[:2]
    counts = [
        len(np.unique(VideoSegmenter(seed=0).segment(shrink(frame, (height // n, width // n), threads=1))))
        for n in (1, 2, 3)
    ]
    # A ninth of the pixels used to give a third of the segments.
    assert max(counts) < 2.0 * min(counts)


def test_the_first_preview_comes_before_the_start_from_many() -> None:
    _, frames = bars(SMALL, 5, 0, 0, False)
    counts = [preview.progress.n_clusters for preview in VideoSegmenter(seed=0).start(frames[0])]
    assert counts[0] < 5
    assert counts[-1] == 5
