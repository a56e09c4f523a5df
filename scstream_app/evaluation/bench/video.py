"""Speed of the engine on video, compared with k-means, and its growth with clusters and pixels.

A step is the work for one new frame: update the model, and label every pixel. For k-means that is `partial_fit`, then
`predict`. The methods alternate frame by frame, so that other load on the machine affects all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
from sklearn.cluster import MiniBatchKMeans

from scstream import VideoSegmenter, warm_up
from scstream_app.errors import SourceError
from scstream_app.evaluation.bench.fixed_clusters import FixedClusterSegmenter
from scstream_app.evaluation.bench.timing import Stopwatch
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
    source: str | None = None, quick: bool = False, on_status: StatusCallback = lambda _: None
) -> dict[str, Any]:
    """The figures that `scstream bench video` reports, as plain values."""
    on_status("Compiling the engine")
    warm_up()
    threads = os.cpu_count() or 1
    frames = read_frames(source, 8 if quick else 24)
    few, sizes = (frames[:6], SIZES[:4]) if quick else (frames[:10], SIZES)
    height, width = frames[0].shape[:2]
    methods = compare(frames, (30, 80) if quick else (30, 80, 500), threads, on_status)
    return {
        "source": source or f"{SAMPLE.name}, enlarged",
        "frames": len(frames),
        "width": width,
        "height": height,
        "threads": threads,
        "methods": methods,
        "by_clusters": cost(few, [Case(k, width, height) for k in CLUSTERS], threads, on_status),
        "by_pixels": cost(few, [Case(REFERENCE, *size) for size in sizes], threads, on_status),
    }


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


def points(frame: Picture) -> npt.NDArray[np.float32]:
    """The pixels as points (N, 5) for k-means: R, G, B, row / H, column / W."""
    height, width = frame.shape[:2]
    row, column = np.indices((height, width), np.float32)
    return np.dstack([frame.astype(np.float32) / 255.0, row / height, column / width]).reshape(-1, 5)


# --- comparison with k-means ---------------------------------------------------------------------------------------


def compare(
    frames: Sequence[Picture], ks: Sequence[int], threads: int, on_status: StatusCallback
) -> list[dict[str, Any]]:
    """Time the steps of the engine and of k-means with each number of clusters, on all frames after the first."""
    on_status("First frame")
    segmenter = VideoSegmenter(threads=threads)
    segmenter.segment(frames[0])
    kmeans = {k: MiniBatchKMeans(k, random_state=0).partial_fit(points(frames[0])) for k in ks}
    ours, theirs = Stopwatch(), {k: Stopwatch() for k in ks}
    inferred = []
    for index, frame in enumerate(frames[1:], 1):
        on_status(f"Frame {index} of {len(frames) - 1}, all methods")
        ours.time(partial(segmenter.segment, frame))
        inferred.append(segmenter.model_.n_clusters_)
        X = points(frame)
        for k, watch in theirs.items():
            watch.time(partial(kmeans_step, kmeans[k], X))
    rows = [{"method": "ScStream", "clusters": int(np.median(inferred)), "given": False, **ours.summary()}]
    rows += [{"method": "MiniBatchKMeans", "clusters": k, "given": True, **theirs[k].summary()} for k in ks]
    return with_ratios(rows)


def kmeans_step(model: Any, X: npt.NDArray[np.float32]) -> Any:
    """Update the k-means model with a frame, then label it."""
    return model.partial_fit(X).predict(X)


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the speed of each method relative to k-means with K = 80."""
    reference = next(row["ms_median"] for row in rows if row["given"] and row["clusters"] == REFERENCE)
    return [{**row, "speed_ratio": round(reference / row["ms_median"], 3)} for row in rows]


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
