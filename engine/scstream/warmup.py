"""Compile the kernels before the first frame, with progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import event

from scstream.components import Component, DiagonalGaussian, Gaussian, Multinomial
from scstream.pixels.tiles import Tiles
from scstream.video import VideoSegmenter

#: Name of a step, about how many functions it compiles, so that progress is even, and what it does.
Step = tuple[str, int, Callable[[], object]]


def warm_up(on_progress: Callable[[int, int, str], None] | None = None, *, video_only: bool = True) -> None:
    """Compile everything a video needs (or everything there is), unless numba's cache has it already.

    Parameters
    ----------
    on_progress : callable, optional
        Called as ``on_progress(done, total, what_comes_next)`` before each step, after each function that was compiled
        and once at the end.
    video_only : bool
        False compiles the kernels for other streams too.
    """
    steps = video_steps() if video_only else [*video_steps(), *stream_steps()]
    report = on_progress or _ignore
    done, total = 0, sum(count for _, count, _ in steps)
    for name, count, step in steps:
        report(done, total, name)
        with event.install_listener("numba:compile", _Counter(done, done + count - 1, total, name, report)):
            step()
        done += count
    report(total, total, "ready")


def video_steps() -> list[Step]:
    """What compiles everything that a video needs."""
    # Two colours, which become two segments, so that every move is proposed.
    frame = np.random.default_rng(0).integers(0, 8, (64, 64, 3), np.uint8)
    frame[:, 32:] += np.array([240, 180, 20], np.uint8)
    segmenter = VideoSegmenter(threads=1, max_init_sweeps=40)
    small = VideoSegmenter(threads=1, max_init_sweeps=1, scale=0.5)

    def follow() -> None:
        for shift in (3, 6, 9):
            segmenter.segment(np.roll(frame, shift, axis=0))
        # A move with more than one frame in the history.
        segmenter.merge(segmenter.model_.ids_[:2])

    return [
        ("cutting frames into tiles", 18, lambda: Tiles(frame).points()),
        ("labelling pixels", 228, lambda: segmenter.segment(frame)),
        ("following segments", 43, follow),
        ("measuring uncertainty", 3, segmenter.uncertainty),
        ("counting pixels", 6, lambda: segmenter.statistics_),
        ("shrinking frames", 4, lambda: small.segment(frame)),
    ]


def stream_steps() -> list[Step]:
    """What compiles everything that other streams need; the numbers are those after a video."""
    points = np.random.default_rng(0).normal(size=(60, 2))
    counts = np.floor(np.abs(9.0 * points))

    def stream(component: Component, X: npt.NDArray[np.float64]) -> None:
        # Not above: video does without it, and without scikit-learn.
        from scstream.model import ScStream

        ScStream(component, max_init_sweeps=12, revise=1).partial_fit(X).partial_fit(X).predict(X)

    return [
        ("Gaussian streams", 19, lambda: stream(Gaussian(), points)),
        ("diagonal Gaussian streams", 19, lambda: stream(DiagonalGaussian(), points)),
        ("count streams", 59, lambda: stream(Multinomial(), counts)),
    ]


class _Counter(event.Listener):  # type: ignore[misc]
    """Reports every function that a step has compiled, up to a limit."""

    def __init__(self, done: int, limit: int, total: int, step: str, report: Callable[[int, int, str], object]) -> None:
        self._done, self._limit, self._total = done, limit, total
        self._step, self._report = step, report

    def on_start(self, event: Any) -> None:
        """Nothing is done yet."""

    def on_end(self, event: Any) -> None:
        if self._done < self._limit:
            self._done += 1
            self._report(self._done, self._total, self._step)


def _ignore(done: int, total: int, step: str) -> None:
    """Report nothing."""
