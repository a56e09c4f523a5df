"""Benchmark on clips with masks: speed, memory, quality and steadiness of methods that give every pixel a lasting id.

All methods run in turn on each frame, in an order that rotates, so that other load on the machine affects all alike.
Conversion of a frame to points is part of ScStream's step, but not of those of k-means and of the mixture. Carrying
ids by overlap is part of the step of superpixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np

from scstream import warm_up
from scstream_app.errors import SettingsError
from scstream_app.evaluation.bench.reports.report import Report, Skipped, read_versions
from scstream_app.evaluation.bench.video import peak_memory, speed, tables
from scstream_app.evaluation.bench.video.davis_clips import Clip, find_clips
from scstream_app.evaluation.bench.video.methods import METHODS, Ids, Input, Method, Setup
from scstream_app.evaluation.bench.video.run import Run
from scstream_app.evaluation.flow import flow_both_ways

StatusCallback = Callable[[str], None]


def measure(
    report: Report,
    root: Path,
    names: Sequence[str] = (),
    frames: int | None = None,
    seeds: int | None = None,
    threads: int | None = None,
    skip: Sequence[str] = (),
    quick: bool = False,
    on_status: StatusCallback = lambda _: None,
) -> None:
    """Measure all methods on the first frames of clips, and fill the report; after an interruption, as far as it came.

    Parameters
    ----------
    report : Report
    root : Path
        Folder in the layout of DAVIS.
    names : sequence of str
        Names of the clips. Default: all; if ``quick`` the first.
    frames, seeds, threads : int or None
        Frames of each clip, runs of each method on it, and number of threads. None: 20 (5 if ``quick``), 1, and two
        threads as well as one for each core.
    skip : sequence of str
        Parts of the names of methods to leave out.
    """
    clips = find_clips(root, names)
    clips = clips[:1] if quick and not names else clips
    frames, seeds = frames or (5 if quick else 20), seeds or 1
    thread_counts = speed.thread_counts() if threads is None else [threads]
    report.versions = read_versions("scikit-image", "fast-slic", "opencv-contrib-python-headless")
    report.settings = {
        "clips": [clip.name for clip in clips],
        "frames": frames,
        "seeds": seeds,
        "threads": thread_counts,
        "quick": quick,
    }
    methods, report.skipped = usable(skip, quick)
    reason = "not measured with --quick" if quick else peak_memory.missing()
    if reason is not None:
        report.skipped.append(Skipped("peak memory", reason))
    on_status("Compiling the engine")
    warm_up()
    opencv_threads = cv2.getNumThreads()
    runs: list[Run] = []
    memory: dict[str, float] = {}
    try:
        for clip in clips:
            for seed in range(seeds):
                run_clip(clip, methods, thread_counts, frames, seed, runs, on_status)
        if reason is None:
            segments = round(runs[0].scores["segments"])
            for method in methods:
                on_status(f"Memory: {method.name}")
                memory[method.name] = peak_memory.peak_memory(method.name, clips[0], thread_counts[0], segments)
    finally:
        # Also after an interruption.
        cv2.setNumThreads(opencv_threads)
        report.tables, report.plots = tables.tables(runs, memory), tables.plots(runs)


def usable(skip: Sequence[str], quick: bool = False) -> tuple[list[Method], list[Skipped]]:
    """The methods that can run here, and why the others cannot; ``skip`` holds parts of names of those to leave out."""
    for text in skip:
        if not any(text.lower() in method.name.lower() for method in METHODS[1:]):
            names = ", ".join(method.name for method in METHODS[1:])
            raise SettingsError(f"--skip: no method has '{text}' in its name; choose from {names}")
    methods, skipped = [METHODS[0]], []
    for method in METHODS[1:]:
        if any(text.lower() in method.name.lower() for text in skip):
            reason: str | None = "left out by --skip"
        else:
            reason = "too slow for --quick" if quick and method.slow else method.missing()
        if reason is None:
            methods.append(method)
        else:
            skipped.append(Skipped(method.name, reason))
    return methods, skipped


def run_clip(
    clip: Clip,
    methods: Sequence[Method],
    thread_counts: Sequence[int],
    frames: int,
    seed: int,
    runs: list[Run],
    on_status: StatusCallback,
) -> None:
    """Run all methods on a clip, and append them to ``runs``; after an interruption, with the frames so far."""
    pictures = clip.read_pictures(frames)
    masks = clip.read_masks(len(pictures))
    started: list[Run] = []
    done = 0
    try:
        for index, picture in enumerate(pictures):
            frame = Input(picture, speed.points(picture))
            flows = list(flow_both_ways(pictures[index - 1 : index + 1])) if index else []
            if not index:
                found = _start(clip.name, frame, methods, thread_counts, seed, on_status)
                started = [run for run, _ in found]
            else:
                turn, found = index % len(started), []
                for run in started[turn:] + started[:turn]:
                    on_status(f"{clip.name}, frame {index} of {len(pictures) - 1}: {run.method}")
                    found.append((run, run.step(frame)))
            for run, ids in found:
                run.record(ids, flows)
            done = index + 1
    finally:
        if done > 1:
            for run in started:
                if run.scored:
                    run.score(masks[:done])
            runs += started


def _start(
    clip: str,
    frame: Input,
    methods: Sequence[Method],
    thread_counts: Sequence[int],
    seed: int,
    on_status: StatusCallback,
) -> list[tuple[Run, Ids]]:
    """Start all methods, and label the first frame by each."""
    found: list[tuple[Run, Ids]] = []
    segments = 0
    for threads in thread_counts:
        for method in methods:
            on_status(f"{clip}, first frame: {method.name}")
            running = method.start(Setup(threads, seed, segments))
            run = Run(method.name, clip, seed, threads, threads == thread_counts[0], running)
            found.append((run, run.step(frame)))
            # The first method is ScStream.
            segments = segments or len(np.unique(found[0][1]))
    return found
