"""Compile the kernels before the first frame, with progress."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scstream.components import Component, DiagonalGaussian, Gaussian, Multinomial
from scstream.pixels.tiles import Tiles
from scstream.video import VideoSegmenter


def warm_up(on_progress: Callable[[int, int, str], None] | None = None, *, video_only: bool = True) -> None:
    """Compile everything a video needs (or everything there is), unless numba's cache has it already.

    Parameters
    ----------
    on_progress : callable, optional
        Called as ``on_progress(done, total, what_comes_next)`` before each step and once at the end.
    video_only : bool
        False compiles the kernels for other streams too.
    """
    # Two colours, which become two segments, so that every move is proposed.
    frame = np.random.default_rng(0).integers(0, 8, (64, 64, 3), np.uint8)
    frame[:, 32:] += np.array([240, 180, 20], np.uint8)
    segmenter = VideoSegmenter(threads=1, max_init_sweeps=40)
    small = VideoSegmenter(threads=1, max_init_sweeps=1, scale=0.5)
    points = np.random.default_rng(0).normal(size=(60, 2))
    counts = np.floor(np.abs(9.0 * points))

    def follow() -> None:
        for shift in (3, 6, 9):
            segmenter.segment(np.roll(frame, shift, axis=0))
        # A move with more than one frame in the history.
        segmenter.merge(segmenter.model_.ids_[:2])

    def stream(component: Component, X: npt.NDArray[np.float64]) -> None:
        # Not above: video does without it, and without scikit-learn.
        from scstream.model import ScStream

        ScStream(component, max_init_sweeps=12, revise=1).partial_fit(X).partial_fit(X).predict(X)

    steps: list[tuple[str, Callable[[], object]]] = [
        ("cutting frames into tiles", lambda: Tiles(frame).points()),
        ("labelling pixels", lambda: segmenter.segment(frame)),
        ("following segments", follow),
        ("measuring uncertainty", segmenter.uncertainty),
        ("counting pixels", lambda: segmenter.statistics_),
        ("shrinking frames", lambda: small.segment(frame)),
    ]
    if not video_only:
        steps += [
            ("Gaussian streams", lambda: stream(Gaussian(), points)),
            ("diagonal Gaussian streams", lambda: stream(DiagonalGaussian(), points)),
            ("count streams", lambda: stream(Multinomial(), counts)),
        ]
    for done, (name, step) in enumerate(steps):
        if on_progress is not None:
            on_progress(done, len(steps), name)
        step()
    if on_progress is not None:
        on_progress(len(steps), len(steps), "ready")
