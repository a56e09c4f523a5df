"""Tables and plots of the benchmark on clips with masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from scstream_app.evaluation.bench.reports.report import Better, Plot, Row, Series, Table
from scstream_app.evaluation.bench.video.methods import CLUSTERS
from scstream_app.evaluation.bench.video.run import Run

SCORES: dict[str, Better | None] = {
    "segments": None,
    "ids": None,
    "pieces": None,
    "oracle_j": "higher",
    "carried_j": "higher",
    "kept": "higher",
    "life": "higher",
}
_MEASURES: dict[str, Better] = {name: better for name, better in SCORES.items() if better is not None}


def tables(runs: Sequence[Run], memory: Mapping[str, float]) -> list[Table]:
    """Speed and memory, mean quality, and the quality on each clip. Tables on the step itself belong at the end."""
    return [speed_table(runs, memory), quality_table(runs), clip_table(runs)]


def speed_table(runs: Sequence[Run], memory: Mapping[str, float]) -> Table:
    """Times a frame over all clips, on each number of threads.

    The first method is ours. Ratios to it are medians over the frames, on each of which the methods take turns.
    """
    table = Table(
        "speed",
        "Time and memory",
        ["method", "threads", "first_ms", "ms", "processor_ms", "to_ours", "processor_to_ours", "memory_mib"],
        note="first ms: the first frame. ms: each later frame, median. processor: time of all threads together, in "
        "which waiting threads of OpenMP and OpenBLAS count as busy. to ours: relative to ScStream on the same frame, "
        "median. memory mib: peak in a process of its own, above what it needs before the first frame.",
        keys=["method", "threads"],
        measures={"ms": "lower", "processor_ms": "lower", "memory_mib": "lower"},
    )
    ours = {(run.clip, run.seed, run.threads): run for run in runs if run.method == runs[0].method}
    for method, threads in dict.fromkeys((run.method, run.threads) for run in runs):
        group = [run for run in runs if (run.method, run.threads) == (method, threads)]
        pairs = [(run, ours[run.clip, run.seed, threads]) for run in group]
        times = [time for run in group for time in run.later.milliseconds]
        p10, median, p90 = (float(each) for each in np.percentile(times, [10, 50, 90]))
        table.rows.append(
            {
                "method": method,
                "threads": threads,
                "first_ms": _median(time for run in group for time in run.first.milliseconds),
                "ms": median,
                "ms_p10": p10,
                "ms_p90": p90,
                "repetitions": len(times),
                "processor_ms": _median(time for run in group for time in run.later.processor),
                "to_ours": _ratio(pairs, lambda run: run.later.milliseconds),
                "processor_to_ours": _ratio(pairs, lambda run: run.later.processor),
                "memory_mib": memory.get(method) if threads == runs[0].threads else None,
            }
        )
    return table


def _ratio(pairs: Iterable[tuple[Run, Run]], times: Callable[[Run], list[float]]) -> float:
    """Median over all frames of the time of the first run of a pair relative to that of the second."""
    # After an interruption, a run may have one frame more than another.
    return _median(a / b for run, ours in pairs for a, b in zip(times(run), times(ours), strict=False))


def _median(values: Iterable[float]) -> float:
    return float(np.median(list(values)))


def quality_table(runs: Sequence[Run]) -> Table:
    """Mean scores over all clips."""
    n_clips = len({run.clip for run in runs})
    table = Table(
        "quality",
        f"Quality and steadiness, mean over {n_clips} clip{'' if n_clips == 1 else 's'}",
        ["method", *SCORES],
        note="segments and pieces (connected) of a frame, ids of a clip. oracle j: the truth assigns each id to the "
        "object or not. carried j: the mask of the first frame chooses the ids; those of ScStream follow splits and "
        "merges. kept: share of pixels that keep their id along the optical flow. life: share of the frames in which "
        "an id is seen, mean over ids. k-means and the mixture are given "
        f"{CLUSTERS} clusters, superpixel methods about as many as ScStream finds in the first frame.",
        keys=["method"],
        measures=_MEASURES,
    )
    scored = [run for run in runs if run.scored]
    for method in dict.fromkeys(run.method for run in scored):
        table.rows.append({"method": method, **_means([run for run in scored if run.method == method])})
    return table


def clip_table(runs: Sequence[Run]) -> Table:
    """Scores on each clip, with the time relative to ours."""
    table = Table(
        "clips",
        "Quality and steadiness on each clip, and time relative to ScStream",
        ["clip", "method", *SCORES, "to_ours"],
        keys=["clip", "method"],
        measures=_MEASURES,
    )
    scored = [run for run in runs if run.scored]
    ours = {(run.clip, run.seed): run for run in scored if run.method == runs[0].method}
    for clip, method in dict.fromkeys((run.clip, run.method) for run in scored):
        group = [run for run in scored if (run.clip, run.method) == (clip, method)]
        ratio = _ratio([(run, ours[run.clip, run.seed]) for run in group], lambda run: run.later.milliseconds)
        table.rows.append({"clip": clip, "method": method, **_means(group), "to_ours": ratio})
    return table


def _means(runs: Sequence[Run]) -> Row:
    # Clips with more seeds than others, after an interruption, do not count more.
    clips = dict.fromkeys(run.clip for run in runs)
    return {
        name: float(np.mean([np.mean([run.scores[name] for run in runs if run.clip == clip]) for clip in clips]))
        for name in SCORES
    }


def plots(runs: Sequence[Run]) -> list[Plot]:
    """Oracle J and the share of kept pixels over the time of a frame; a point for each method."""
    quality = {row["method"]: row for row in quality_table(runs).rows}
    speed = [row for row in speed_table(runs, {}).rows if row["threads"] == runs[0].threads] if runs else []
    axes = (("oracle_j", "oracle J"), ("carried_j", "carried J"), ("kept", "pixels kept along the flow"))
    return [
        Plot(
            f"video_{name}",
            f"{label[0].upper()}{label[1:]} and time",
            "ms a frame",
            label,
            log_x=True,
            series=[Series(row["method"], [row["ms"]], [quality[row["method"]][name]]) for row in speed],
        )
        for name, label in axes
    ]
