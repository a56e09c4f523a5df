"""Benchmark of how the engine's cost grows: with pixels, clusters, dimensions, points and threads.

Times are those of a step, the work for one more frame or batch with all splits and merges, after the model has
settled on earlier ones. Beside them stand two bounds from the machine's measured rates: the time to read the input
and write the labels once at full memory bandwidth (``memory_ms``), and the time that two sweeps which score every point
under every cluster need at the full rate of multiply-adds (``brute_force_ms``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from scstream import DiagonalGaussian, Gaussian, ScStream, VideoSegmenter, warm_up
from scstream.components import Component
from scstream.streams import gaussian_stream
from scstream_app.errors import SettingsError
from scstream_app.evaluation.bench.reports.report import Plot, Report, Row, Series, Table
from scstream_app.evaluation.bench.scaling.frames import Mosaics
from scstream_app.evaluation.bench.scaling.machine_rates import Rates, measure_rates
from scstream_app.evaluation.bench.scaling.true_start import start_from_truth
from scstream_app.evaluation.bench.timing import Stopwatch

StatusCallback = Callable[[str], None]

SIZES = ((426, 240), (640, 360), (854, 480), (1280, 720), (1920, 1080), (2560, 1440), (3840, 2160))
#: Frame size for all axes but pixels.
SIZE = (854, 480)
DETAILS = (0.01, 0.1, 1.0, 10.0, 100.0)
CLUSTERS = (10, 30, 100, 300, 1000)
DIMENSIONS = (2, 4, 8, 16, 32, 64, 128)
POINTS = (10**3, 10**4, 10**5, 10**6, 10**7)
#: Points of a cluster, on average, in a batch of the streams with many clusters.
POINTS_PER_CLUSTER = 100
#: Clusters in the streams of the axes dimensions and points.
STREAM_CLUSTERS = 20
#: Steps that are not timed: a model on its first frames makes more moves than later.
SETTLING_STEPS = 5
#: Standard deviation of the means of a stream, over that of its clusters, if there were one cluster.
SPREAD = 10.0
#: Values in a batch above which a few steps are enough.
LARGE = 10**6
TRUE_START = (
    "The models begin with the true clusters of the first batch, as a search for them may end with far fewer; from "
    "then on they split and merge as ever. This measures cost, not whether the clusters would be found."
)


@dataclass(frozen=True, slots=True)
class Bench:
    """What the measurements of all axes share."""

    report: Report
    mosaics: Mosaics
    rates: Rates
    threads: int
    steps: int
    quick: bool
    on_status: StatusCallback

    def some(self, values: Sequence[Any], n_quick: int) -> Sequence[Any]:
        """All values, or the first few in a quick run."""
        return values[:n_quick] if self.quick else values


def measure(
    report: Report,
    sources: Sequence[str] = (),
    only: Sequence[str] = (),
    quick: bool = False,
    threads: int | None = None,
    on_status: StatusCallback = lambda _: None,
) -> None:
    """Measure the chosen axes, or all, and add tables and plots to the report."""
    axes = check_axes(only)
    threads = threads or os.cpu_count() or 1
    on_status("Reading frames")
    mosaics = Mosaics.open(sources, 24)
    report.settings |= {
        "sources": [os.path.basename(os.path.normpath(source)) for source in sources] or ["sample clips"],
        "clip_size": [mosaics.width, mosaics.height],
        "axes": axes,
        "threads": threads,
        "quick": quick,
    }
    on_status("Measuring the machine")
    rates = _machine(report, threads)
    on_status("Compiling the engine")
    warm_up(video_only=not {"k", "d", "points"} & set(axes))
    bench = Bench(report, mosaics, rates, threads, 4 if quick else 15, quick, on_status)
    for name in axes:
        AXES[name](bench)


def check_axes(only: Sequence[str]) -> list[str]:
    """The chosen axes in their usual order; all if none is chosen."""
    unknown = [name for name in only if name not in AXES]
    if unknown:
        raise SettingsError(f"--only: unknown axis '{unknown[0]}'; choose from {', '.join(AXES)}")
    return [name for name in AXES if not only or name in only]


def _machine(report: Report, threads: int) -> Rates:
    table = Table(
        "machine",
        "The machine",
        ["threads", "gigabytes_per_second", "float32_gigamultiply_adds", "float64_gigamultiply_adds"],
        note="Copies of arrays larger than the caches (bytes read and written), and matrix products by BLAS (billions "
        "of multiply-adds a second); the best of five.",
        keys=["threads"],
    )
    report.tables.append(table)
    for count in sorted({1, threads}):
        rates = measure_rates(count)
        table.rows.append(
            {"threads": count, **{name: value / 1e9 for name, value in zip(table.columns[1:], rates, strict=True)}}
        )
    return rates


# --- steps ------------------------------------------------------------------------------------------------


def timed(watch: Stopwatch) -> Row:
    """The columns of a measured time."""
    times = watch.summary()
    return {
        "ms": times["ms_median"],
        "ms_p10": times["ms_p10"],
        "ms_p90": times["ms_p90"],
        "repetitions": len(watch.milliseconds),
    }


def bounds(n: int, clusters: int, n_bytes: int, multiply_adds: int, rate: float, rates: Rates) -> Row:
    """The two bounds of a step on ``n`` points.

    ``n_bytes`` are those of a point and its label, ``multiply_adds`` those of its score under one cluster. After the K
    clusters, a point is scored under the two sub-clusters of its own.
    """
    return {
        "memory_ms": 1e3 * n * n_bytes / rates.bandwidth,
        "brute_force_ms": 1e3 * 2 * n * (clusters + 2) * multiply_adds / rate,
    }


def pixel_bounds(n: int, clusters: int, rates: Rates) -> Row:
    """Bounds of a frame: three bytes in, an id of four bytes out, and a Gaussian with five dimensions."""
    return bounds(n, clusters, 7, gaussian_cost(5), rates.float32, rates)


def point_bounds(n: int, clusters: int, n_features: int, multiply_adds: int, rates: Rates) -> Row:
    """Bounds of a batch of points with features of eight bytes and a label of eight bytes."""
    return bounds(n, clusters, 8 * (n_features + 1), multiply_adds, rates.float64, rates)


def gaussian_cost(n_features: int) -> int:
    """Multiply-adds of a quadratic form: a triangular matrix times a vector, and the square of the result."""
    return n_features * (n_features + 1) // 2 + n_features


def video_steps(bench: Bench, width: int, height: int, **params: Any) -> Row:
    """Times and number of clusters of steps on frames of this size."""
    segmenter = VideoSegmenter(seed=0, threads=bench.threads, **params)
    first, watch = Stopwatch(), Stopwatch()
    first.time(partial(segmenter.segment, bench.mosaics.frame(0, width, height)))
    for index in range(1, SETTLING_STEPS + bench.steps + 1):
        step = partial(segmenter.segment, bench.mosaics.frame(index, width, height))
        watch.time(step) if index > SETTLING_STEPS else step()
    clusters = segmenter.model_.n_clusters_
    pixels = width * height
    return {
        "pixels": pixels,
        "clusters": clusters,
        **timed(watch),
        "first_frame_seconds": first.milliseconds[0] / 1e3,
        "ns_per_pixel": 1e6 * timed(watch)["ms"] / pixels,
        **pixel_bounds(pixels, clusters, bench.rates),
    }


def stream_steps(bench: Bench, component: Component, n: int, clusters: int, n_features: int) -> Row:
    """Times and number of clusters of steps on batches of n points of a Gaussian stream."""
    options: dict[str, Any] = {"turn": 0.0, "spread": SPREAD * clusters ** (1.0 / n_features), "seed": 0}
    # The generator draws the same clusters for any size of batch.
    X, y = next(iter(gaussian_stream(1, max(n, POINTS_PER_CLUSTER * clusters), clusters, n_features, **options)))
    model = start_from_truth(ScStream(component, alpha=1e4, decay=0.3, seed=0, threads=bench.threads), X, y)
    is_large = n * n_features > LARGE
    settling, steps = (1, min(bench.steps, 5)) if is_large else (SETTLING_STEPS, bench.steps)
    watch = Stopwatch(pause=0.0)
    stream = gaussian_stream(None, n, clusters, n_features, **options)
    for index, (X, _) in enumerate(islice(stream, settling + steps)):
        step = partial(model.partial_fit, X)
        watch.time(step) if index >= settling else step()
    return {
        "points": n,
        "true_clusters": clusters,
        "clusters": model.n_clusters_,
        **timed(watch),
        "ns_per_point": 1e6 * timed(watch)["ms"] / n,
    }


def gaussian(n_features: int) -> Gaussian:
    """The component of the streams, with the prior that the method's authors use in the plane."""
    return Gaussian(kappa=1.0, m=np.zeros(n_features), nu=n_features + 2.0, psi=0.5)


# --- axes -------------------------------------------------------------------------------------------------


def _table(bench: Bench, name: str, title: str, columns: list[str], keys: list[str], note: str = "") -> Table:
    table = Table(name, f"{title}, {bench.threads} threads", columns, note=note, keys=keys, measures={"ms": "lower"})
    bench.report.tables.append(table)
    return table


def _plot(bench: Bench, table: Table, x: str, label: str, split: str | None = None) -> None:
    """Plot times over a column, and the two bounds; one line for each value of the column ``split``."""
    plot = Plot(f"scaling_{table.name}", table.title, label, "ms", log_x=True, log_y=True)
    for value in dict.fromkeys(row.get(split) if split else None for row in table.rows):
        rows = [row for row in table.rows if split is None or row[split] == value]
        xs = [float(row[x]) for row in rows]
        plot.series.append(Series(value or "measured", xs, [row["ms"] for row in rows]))
        suffix = f", {value}" if value else ""
        for column, text in (("brute_force_ms", "brute force at the full rate"), ("memory_ms", "memory bandwidth")):
            if split is None or column == "brute_force_ms":
                plot.series.append(Series(text + suffix, xs, [row[column] for row in rows]))
    bench.report.plots.append(plot)


def pixels(bench: Bench) -> None:
    """Frames of 240p to 4K with the default settings."""
    columns = ["size", "clusters", "ms", "ns_per_pixel", "first_frame_seconds", "memory_ms", "brute_force_ms"]
    note = "Frames larger than the clips are mosaics of them; smaller ones are reduced."
    table = _table(bench, "pixels", "Time of a frame by size", columns, ["size"], note)
    for width, height in bench.some(SIZES, 3):
        bench.on_status(f"Frames of {width} x {height}")
        table.rows.append({"size": f"{width} x {height}", **video_steps(bench, width, height)})
    _plot(bench, table, "pixels", "pixels")


def clusters(bench: Bench) -> None:
    """Numbers of clusters from ten to a thousand, found by the engine: video by its detail, and streams."""
    columns = ["detail", "clusters", "ms", "ns_per_pixel", "first_frame_seconds", "memory_ms", "brute_force_ms"]
    note = "The number of clusters is the one that the engine found."
    size = f"{SIZE[0]} x {SIZE[1]}"
    table = _table(bench, "k_video", f"Time of a frame of {size} by clusters", columns, ["detail"], note)
    for detail in bench.some(DETAILS, 3):
        bench.on_status(f"Frames of {size} with detail {detail:g}")
        table.rows.append({"detail": detail, **video_steps(bench, *SIZE, detail=detail)})
    _plot(bench, table, "clusters", "clusters found")

    columns = ["true_clusters", "clusters", "points", "ms", "ns_per_point", "memory_ms", "brute_force_ms"]
    title = f"Time of a batch by clusters, {POINTS_PER_CLUSTER} points for each, in the plane"
    table = _table(bench, "k_streams", title, columns, ["true_clusters"], TRUE_START)
    for count in bench.some(CLUSTERS, 3):
        bench.on_status(f"Stream with {count} clusters")
        n = POINTS_PER_CLUSTER * count
        row = stream_steps(bench, gaussian(2), n, count, 2)
        table.rows.append({**row, **point_bounds(n, row["clusters"], 2, gaussian_cost(2), bench.rates)})
    _plot(bench, table, "clusters", "clusters found")


def dimensions(bench: Bench) -> None:
    """Points with two to 128 features, for both Gaussian components."""
    columns = ["component", "features", "clusters", "ms", "ns_per_point", "memory_ms", "brute_force_ms"]
    n = 2000 if bench.quick else 10_000
    title = f"Time of a batch of {n:,} points, {STREAM_CLUSTERS} clusters, by features"
    table = _table(bench, "d", title, columns, ["component", "features"], TRUE_START)
    makers: dict[str, Callable[[int], Component]] = {
        "Gaussian": gaussian,
        "DiagonalGaussian": lambda _: DiagonalGaussian(),
    }
    for name, make in makers.items():
        for n_features in bench.some(DIMENSIONS, 4):
            bench.on_status(f"{name} with {n_features} features")
            row = stream_steps(bench, make(n_features), n, STREAM_CLUSTERS, n_features)
            cost = gaussian_cost(n_features) if name == "Gaussian" else 2 * n_features
            limits = point_bounds(n, row["clusters"], n_features, cost, bench.rates)
            table.rows.append({"component": name, "features": n_features, **row, **limits})
    _plot(bench, table, "features", "features", "component")


def points(bench: Bench) -> None:
    """Batches of a thousand to ten million points."""
    columns = ["points", "clusters", "ms", "ns_per_point", "memory_ms", "brute_force_ms"]
    title = f"Time of a batch by points, {STREAM_CLUSTERS} clusters in the plane"
    table = _table(bench, "points", title, columns, ["points"], TRUE_START)
    for n in bench.some(POINTS, 3):
        bench.on_status(f"Batches of {n:,} points")
        row = stream_steps(bench, gaussian(2), n, STREAM_CLUSTERS, 2)
        table.rows.append({**row, **point_bounds(n, row["clusters"], 2, gaussian_cost(2), bench.rates)})
    _plot(bench, table, "points", "points in a batch")


def threads(bench: Bench) -> None:
    """The same frames on one thread to one for each core; the thread counts alternate frame by frame."""
    counts = thread_counts(bench.threads)
    width, height = SIZE
    table = Table(
        "threads",
        f"Time of a frame of {width} x {height} by threads",
        ["threads", "clusters", "ms", "speedup"],
        note="Speedup: relative to one thread.",
        keys=["threads"],
        measures={"ms": "lower"},
    )
    bench.report.tables.append(table)
    segmenters = [VideoSegmenter(seed=0, threads=count) for count in counts]
    watches = [Stopwatch() for _ in counts]
    for index in range(SETTLING_STEPS + bench.steps + 1):
        bench.on_status(
            f"Frame {index + 1} of {SETTLING_STEPS + bench.steps + 1} on {', '.join(map(str, counts))} threads"
        )
        frame = bench.mosaics.frame(index, width, height)
        for segmenter, watch in zip(segmenters, watches, strict=True):
            step = partial(segmenter.segment, frame)
            watch.time(step) if index > SETTLING_STEPS else step()
    one = timed(watches[0])["ms"]
    for count, segmenter, watch in zip(counts, segmenters, watches, strict=True):
        row = {"threads": count, "clusters": segmenter.model_.n_clusters_, **timed(watch)}
        table.rows.append({**row, "speedup": one / row["ms"]})
    plot = Plot("scaling_threads", table.title, "threads", "speedup")
    plot.series.append(Series("measured", list(map(float, counts)), [row["speedup"] for row in table.rows]))
    plot.series.append(Series("ideal", list(map(float, counts)), list(map(float, counts))))
    bench.report.plots.append(plot)


def thread_counts(most: int) -> list[int]:
    """Powers of two up to the largest count, and that itself."""
    return sorted({2**power for power in range(most.bit_length()) if 2**power <= most} | {most})


#: The axes by the names that `--only` takes.
AXES: dict[str, Callable[[Bench], None]] = {
    "pixels": pixels,
    "k": clusters,
    "d": dimensions,
    "points": points,
    "threads": threads,
}
