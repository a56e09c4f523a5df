"""What the sweeps of ScStream are worth: the deterministic one, and the number of stochastic ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scstream_app.evaluation.bench.reports.report import Plot, Report, Row, Series, Table
from scstream_app.evaluation.bench.stream_experiments import published, sources
from scstream_app.evaluation.bench.stream_experiments.experiments import (
    Plan,
    Status,
    best_parameters,
    evaluate,
    load_streams,
)
from scstream_app.evaluation.bench.stream_experiments.methods import METHODS
from scstream_app.evaluation.bench.stream_experiments.scores import Run, contingencies, summarise
from scstream_app.evaluation.bench.stream_experiments.search import Parameters

#: Numbers of stochastic sweeps per batch (T in the paper).
SWEEPS = (1, 2, 3, 5, 8, 12, 20)


def measure_ablation(report: Report, plan: Plan, chosen: Mapping[str, Parameters], on_status: Status) -> None:
    """Add the table of ScStream with the deterministic sweep, and with another stochastic one instead.

    ``chosen`` are tuned hyperparameters for some streams; for the others they are tuned here.
    """
    columns = ["stream", "last_sweep", "ari", "nmi", "full_nmi", "learned_ari", "learned_nmi", "clusters", "cpu_ms"]
    title = "The last sweep of each batch: deterministic, or another stochastic one"
    table = Table("last_sweep", title, columns, keys=["stream", "last_sweep"])
    report.tables.append(table)
    for stream in load_streams(report, plan):
        parameters = chosen.get(stream.name) or best_parameters(plan, stream, METHODS["ScStream"], on_status)
        for label, variant in (("deterministic", "ScStream"), ("sampled", "sampled")):
            runs = []
            for seed in range(plan.seeds):
                on_status(f"{stream.title}: last sweep {label}, seed {seed + 1} of {plan.seeds}")
                runs.append(evaluate(plan, stream, METHODS["ScStream"], parameters, seed, variant))
            if any(run.steps for run in runs):
                row: Row = {"stream": stream.title, "last_sweep": label, **summarise(runs, stream)}
                table.rows.append(row | _learned(runs, stream) | {"parameters": parameters})
    table.rows += [{"stream": "ImageNet100 (published)", "published": True, **row} for row in published.ABLATION]


def _learned(runs: list[Run], stream: sources.Stream) -> dict[str, Any]:
    """Mean scores of the labels that batches have once they are learned."""
    tables = [
        table
        for run in runs
        for table in contingencies(stream, [step.learned for step in run.steps if step.learned is not None])
    ]
    return {
        "learned_ari": round(float(np.mean([table.ari() for table in tables])), 4),
        "learned_nmi": round(float(np.mean([table.nmi() for table in tables])), 4),
    }


def measure_sweeps(
    report: Report, plan: Plan, chosen: Mapping[str, Parameters], counts: tuple[int, ...], on_status: Status
) -> None:
    """Add the table and plots of scores and time against the number of stochastic sweeps, on the first stream."""
    stream = next(load_streams(report, plan), None)
    if stream is None:
        return
    parameters = chosen.get(stream.name) or best_parameters(plan, stream, METHODS["ScStream"], on_status)
    columns = ["sweeps", "ari", "nmi", "full_nmi", "learned_ari", "clusters", "ms", "cpu_ms"]
    table = Table("sweeps", f"Stochastic sweeps per batch (T): {stream.title}", columns, keys=["sweeps"])
    report.tables.append(table)
    for count in counts:
        runs = []
        for seed in range(plan.seeds):
            on_status(f"{stream.title}: {count} sweeps per batch, seed {seed + 1} of {plan.seeds}")
            given = {**parameters, "sweeps": count}
            runs.append(evaluate(plan, stream, METHODS["ScStream"], given, seed, "ScStream"))
        if any(run.steps for run in runs):
            table.rows.append({"sweeps": count, **summarise(runs, stream), **_learned(runs, stream)})
    report.plots += _plots(table, stream)


def _plots(table: Table, stream: sources.Stream) -> list[Plot]:
    x = [float(row["sweeps"]) for row in table.rows]

    def series(name: str, column: str) -> Series:
        return Series(name, x, [row[column] for row in table.rows])

    label = "stochastic sweeps per batch (T)"
    return [
        Plot("sweeps_time", f"Time: {stream.title}", label, "ms per batch", series=[series("processor", "cpu_ms")]),
        Plot(
            "sweeps_scores",
            f"Scores: {stream.title}",
            label,
            "score",
            series=[series("ARI", "ari"), series("NMI", "nmi"), series("full NMI", "full_nmi")],
        ),
    ]
