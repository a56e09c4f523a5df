"""Speed of the engine on video, compared with k-means, and its growth with clusters and pixels.

A step is the work for one new frame: update the model, and label every pixel. The conversion of the frame to points is
part of the engine's step, but not of that of k-means, which `kmeans_forms` describes. The methods alternate frame by
frame, so that other load on the machine affects all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter, warm_up
from scstream_app.errors import SourceError
from scstream_app.evaluation.bench.reports.report import Report, Table
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads
from scstream_app.evaluation.bench.video.fixed_clusters import FixedClusterSegmenter
from scstream_app.evaluation.bench.video.kmeans_forms import Form, PixelKMeans, Pixels
from scstream_app.evaluation.bench.video.serial_part import measure_from_start
from scstream_app.samples import SAMPLES
from scstream_app.sources import open_source

Picture = npt.NDArray[np.uint8]
StatusCallback = Callable[[str], None]

SAMPLE = SAMPLES / "kite_surf.mp4"
#: Size to which the sample clip is enlarged: that of the clip in the paper.
SAMPLE_SIZE = (854, 480)
CLUSTERS = (20, 80, 320)
SIZES = ((426, 240), (640, 360), (854, 480), (1280, 720), (1920, 1080), (3840, 2160))
#: Number of clusters of the k-means model to which speeds are compared.
REFERENCE = 80
_FEWEST_FRAMES = 3


def measure(
    source: str | None = None,
    quick: bool = False,
    on_status: StatusCallback = lambda _: None,
    threads: int | None = None,
) -> dict[str, Any]:
    """The figures that `scstream bench video` reports, as plain values."""
    on_status("Compiling the engine")
    warm_up()
    counts = thread_counts() if threads is None else [threads]
    frames = read_frames(source, 8 if quick else 24)
    few, sizes = (frames[:6], SIZES[:4]) if quick else (frames[:10], SIZES)
    height, width = frames[0].shape[:2]
    methods = compare(frames, (REFERENCE,) if quick else (30, REFERENCE, 500), counts, on_status)
    return {
        "source": source or f"{SAMPLE.name}, enlarged",
        "frames": len(frames),
        "width": width,
        "height": height,
        "threads": counts[-1],
        "thread_counts": counts,
        "methods": methods,
        "by_clusters": cost(few, [Case(k, width, height) for k in CLUSTERS], counts[-1], on_status),
        "by_pixels": cost(few, [Case(REFERENCE, *size) for size in sizes], counts[-1], on_status),
        "serial_part": measure_from_start(few, on_status),
    }


def report(result: dict[str, Any], command: str) -> Report:
    """The figures of `measure` as a report."""
    times = ["ms_median", "ms_p10", "ms_p90"]
    columns = {
        "methods": ["method", "form", "clusters", "threads", *times, "speed_ratio"],
        "by_clusters": ["clusters", *times],
        "by_pixels": ["width", "height", "clusters", *times, "ns_per_pixel"],
    }
    keys = {"methods": columns["methods"][:4], "by_clusters": ["clusters"], "by_pixels": ["width", "height"]}
    titles = {
        "methods": "Time a frame; speed relative to the fastest form of k-means with K = 80",
        "by_clusters": "Engine step by number of clusters",
        "by_pixels": "Engine step by size of the frame",
    }
    settings = {name: result[name] for name in ("source", "frames", "width", "height", "thread_counts")}
    # A report does not tell where a source is on the machine.
    settings["source"] = Path(result["source"]).name
    tables = [
        Table(name, titles[name], columns[name], result[name], keys=keys[name], measures={"ms_median": "lower"})
        for name in columns
    ]
    return Report("video_speed", command, settings=settings, tables=tables)


def read_frames(source: str | None, count: int) -> list[Picture]:
    """The first frames of the source, or of the enlarged sample clip."""
    if source is None and not SAMPLE.exists():
        raise SourceError("Cannot find the sample clip. Name a video: scstream bench video SOURCE")
    frames = [frame.rgb for frame in islice(open_source(source or str(SAMPLE)).frames(), count)]
    if len(frames) < _FEWEST_FRAMES:
        raise SourceError(
            f"Cannot measure on '{source}': it has {len(frames)} frames, at least {_FEWEST_FRAMES} are needed."
        )
    return frames if source else [resized(frame, *SAMPLE_SIZE) for frame in frames]


def resized(frame: Picture, width: int, height: int) -> Picture:
    """Resize a frame, with area averaging when shrinking and cubic interpolation when enlarging."""
    smaller = width * height < frame.shape[0] * frame.shape[1]
    interpolation = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(frame, (width, height), interpolation=interpolation), np.uint8)


def points(frame: Picture) -> Pixels:
    """The pixels as points (N, 5) for k-means: R, G, B, row / H, column / W."""
    height, width = frame.shape[:2]
    row, column = np.indices((height, width), np.float32)
    return np.dstack([frame.astype(np.float32) / 255.0, row / height, column / width]).reshape(-1, 5)


# --- comparison with k-means ---------------------------------------------------------------------------------------


class Method(NamedTuple):
    """A compared method on a number of threads: its columns in the report, its step and its number of clusters."""

    row: dict[str, Any]
    step: Callable[[Picture, Pixels], Any]
    clusters: Callable[[], int]


def thread_counts() -> list[int]:
    """Two threads and one for each core, or just one of these if they are the same."""
    cores = os.cpu_count() or 1
    return sorted({min(2, cores), cores})


def compare(
    frames: Sequence[Picture], ks: Sequence[int], thread_counts: Sequence[int], on_status: StatusCallback
) -> list[dict[str, Any]]:
    """Time the steps of the engine and of k-means on all frames after the first.

    K-means with 80 clusters is timed in every form, with other numbers of clusters only in the fastest one.
    """
    on_status("First frame")
    pixels = points(frames[0])
    methods = []
    for threads in thread_counts:
        methods.append(_engine(frames[0], threads))
        with limit_threads(threads):
            methods += [_kmeans(form, k, pixels, threads) for k in ks for form in _forms(k)]
    watches = [Stopwatch() for _ in methods]
    clusters: list[list[int]] = [[] for _ in methods]
    for index, frame in enumerate(frames[1:], 1):
        on_status(f"Frame {index} of {len(frames) - 1}, all methods")
        pixels = points(frame)
        for method, watch, found in zip(methods, watches, clusters, strict=True):
            with limit_threads(method.row["threads"]):
                watch.time(partial(method.step, frame, pixels))
            found.append(method.clusters())
    return with_ratios(
        [
            {**method.row, "clusters": int(np.median(found)), **watch.summary()}
            for method, watch, found in zip(methods, watches, clusters, strict=True)
        ]
    )


def _engine(frame: Picture, threads: int) -> Method:
    segmenter = VideoSegmenter(threads=threads)
    segmenter.segment(frame)
    return Method(
        {"method": "ScStream", "form": "segment", "given": False, "threads": threads},
        lambda frame, _: segmenter.segment(frame),
        lambda: segmenter.model_.n_clusters_,
    )


def _kmeans(form: Form, k: int, pixels: Pixels, threads: int) -> Method:
    kmeans = PixelKMeans(form, k, pixels)
    return Method(
        {"method": "MiniBatchKMeans", "form": form.value, "given": True, "threads": threads},
        lambda _, pixels: kmeans.step(pixels),
        lambda: k,
    )


def _forms(k: int) -> Sequence[Form]:
    return tuple(Form) if k == REFERENCE else (Form.SAMPLE,)


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the speed of each method relative to the fastest form of k-means with K = 80 on as many threads."""
    fastest: dict[int, float] = {}
    for row in rows:
        if row["given"] and row["clusters"] == REFERENCE:
            fastest[row["threads"]] = min(row["ms_median"], fastest.get(row["threads"], np.inf))
    return [{**row, "speed_ratio": round(fastest[row["threads"]] / row["ms_median"], 3)} for row in rows]


# --- growth of the cost -----------------------------------------------------------------------------------


class Case(NamedTuple):
    """A number of clusters and a frame size for which to time the engine's step."""

    clusters: int
    width: int
    height: int


def cost(
    frames: Sequence[Picture], cases: Sequence[Case], threads: int, on_status: StatusCallback
) -> list[dict[str, Any]]:
    """Time the engine's step from one frame to the next for all cases.

    Every step uses a new `FixedClusterSegmenter` with the statistics of the previous frame.
    """
    watches = [Stopwatch() for _ in cases]
    for index, (previous, frame) in enumerate(pairwise(frames), 1):
        for case, watch in zip(cases, watches, strict=True):
            on_status(f"Step {index} of {len(frames) - 1}: {case.clusters} clusters, {case.width} x {case.height}")
            segmenter = FixedClusterSegmenter(resized(previous, case.width, case.height), case.clusters, threads)
            watch.time(partial(segmenter.segment, resized(frame, case.width, case.height)))
    rows = []
    for case, watch in zip(cases, watches, strict=True):
        summary = watch.summary()
        nanoseconds = 1e6 * summary["ms_median"] / (case.width * case.height)
        rows.append({**case._asdict(), **summary, "ns_per_pixel": round(nanoseconds, 2)})
    return rows
