"""Scores of the runs of a method on a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scstream.metrics import Contingency
from scstream_app.evaluation.bench.stream_experiments.sources import Stream
from scstream_app.evaluation.bench.stream_experiments.worker import Step

NAMES = ("ari", "nmi", "purity", "pairwise_f")


@dataclass(slots=True)
class Run:
    """Steps of one run, over all batches but the first, and the memory in MiB before the first batch."""

    steps: list[Step] = field(default_factory=list)
    memory_before: float | None = None


def summarise(runs: Sequence[Run], stream: Stream) -> dict[str, Any]:
    """Mean scores of several runs with different seeds, their standard deviation over batches, times and memory."""
    rows = [_summary(run, stream) for run in runs if run.steps]
    return {name: _mean([row[name] for row in rows]) for name in rows[0]}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def _summary(run: Run, stream: Stream) -> dict[str, float | None]:
    tables = contingencies(stream, [step.predicted for step in run.steps])
    row: dict[str, float | None] = {}
    for name in NAMES:
        values = [getattr(table, name)() for table in tables]
        row[name], row[f"{name}_std"] = float(np.mean(values)), float(np.std(values))
    row["full_nmi"] = Contingency.total(tables).nmi()
    row["clusters"] = float(np.median([len(np.unique(step.predicted)) for step in run.steps]))
    times = np.percentile([step.ms for step in run.steps], [50, 10, 90])
    row["ms"], row["ms_p10"], row["ms_p90"] = times.tolist()
    # The mean: where the clock of processor time ticks every 10 ms, most single batches take 0.
    row["cpu_ms"] = float(np.mean([step.cpu_ms for step in run.steps]))
    row["peak_mib"], row["before_mib"] = run.steps[-1].memory, run.memory_before
    row["batches"] = row["repetitions"] = len(run.steps)
    return row


def contingencies(stream: Stream, labels: Sequence[Any]) -> list[Contingency]:
    """Contingency tables of the labels of the batches after the first."""
    truths = [y for _, y in stream.batches[1 : len(labels) + 1]]
    return [Contingency.of(y, found) for y, found in zip(truths, labels, strict=True)]
