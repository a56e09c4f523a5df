"""`scstream bench streams`: every method on every stream, tuned alike, beside the figures of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scstream_app.errors import EvaluationError, SettingsError
from scstream_app.evaluation.bench.reports.report import Better, Report, Row, Skipped, Table
from scstream_app.evaluation.bench.stream_experiments import comparison, published, sources
from scstream_app.evaluation.bench.stream_experiments.methods import (
    METHODS,
    NOT_RUN,
    Method,
    authors_parameters,
    missing_library,
)
from scstream_app.evaluation.bench.stream_experiments.scores import Run, summarise
from scstream_app.evaluation.bench.stream_experiments.search import Parameters
from scstream_app.evaluation.bench.stream_experiments.worker import Job, Ready, Step, Trial, raise_failure, run

Status = Callable[[str], None]

#: Batches on which hyperparameters are tuned, the first included.
TUNING_BATCHES = 10

_QUALITY = ["method", "K_given", "ari", "nmi", "purity", "pairwise_f", "full_nmi", "clusters"]
_COST = ["method", "ms", "cpu_ms", "peak_mib", "before_mib", "batches", "trials", "published_s"]
_MEASURES: dict[str, Better] = {"ari": "higher", "nmi": "higher"}
_QUALITY_NOTE = (
    "Each batch is predicted before it is learned. Scores are means over batches, with their standard deviation; full "
    "NMI is that of all labels together. Clusters: median of those predicted. Published rows are the paper's, measured "
    "on the authors' data."
)
_COST_NOTE = (
    "ms: median time to predict and learn a batch, on one thread; cpu ms: mean processor time. Memory: peak of a fresh "
    "process, and before its first batch, with libraries and data loaded. Batches: those that ended within the limit. "
    "Trials: hyperparameters tried within the limit; 0: none ended, or given. Published s: the paper's seconds for its "
    "whole stream."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: streams and methods by name, and the budgets that are the same for each method.

    ``seconds`` of processor time limit the tuning of a method, ``run_seconds`` each of its runs.
    """

    streams: Sequence[str] = sources.NAMES
    methods: Sequence[str] = tuple(METHODS)
    data: Path | None = None
    n_batches: int = 100
    n_trials: int = 24
    seconds: float = 60.0
    run_seconds: float = 300.0
    seeds: int = 3

    @classmethod
    def quick(cls) -> Plan:
        """A plan of less than a minute."""
        return cls(streams=("gauss2d",), n_batches=12, n_trials=3, seconds=1.5, run_seconds=1.5, seeds=1)

    def as_json(self) -> dict[str, Any]:
        """Plain values; the folder by its name only."""
        return {**asdict(self), "data": None if self.data is None else self.data.name}


def measure(report: Report, plan: Plan, on_status: Status) -> dict[str, Parameters]:
    """Add tables of scores and costs for each stream to the report, and one that compares ScStream with the others.

    Returns the tuned hyperparameters of ScStream for each stream.
    """
    report.skipped += [Skipped(name, reason) for name, reason in NOT_RUN.items()]
    methods = [METHODS[name] for name in plan.methods if _can_run(METHODS[name], report)]
    compared = comparison.empty_table()
    report.tables.append(compared)
    chosen = {}
    for stream in load_streams(report, plan):
        experiment = _Experiment(report, plan, stream, on_status)
        for method in methods:
            parameters = experiment.measure(method)
            if method.name == "ScStream" and parameters is not None:
                chosen[stream.name] = parameters
        if comparison.can_compare(experiment.quality.rows):
            compared.rows.append(comparison.compare(stream, experiment.quality.rows))
        experiment.add_published()
    return chosen


def load_streams(report: Report, plan: Plan) -> Iterator[sources.Stream]:
    """Load one stream after another; the report names those without files."""
    for name in plan.streams:
        try:
            yield sources.load(name, plan.data, plan.n_batches)
        except sources.MissingStreamError as missing:
            skipped = Skipped(sources.title_of(name), str(missing))
            if skipped not in report.skipped:
                report.skipped.append(skipped)


def _can_run(method: Method, report: Report) -> bool:
    reason = missing_library(method)
    if reason is not None:
        report.skipped.append(Skipped(f"{method.library}: {method.name}", reason))
    return reason is None


class _Experiment:
    """The methods on one stream, with tables of their scores and costs."""

    def __init__(self, report: Report, plan: Plan, stream: sources.Stream, on_status: Status) -> None:
        self._report, self._plan, self._stream, self._on_status = report, plan, stream, on_status
        size = f"{len(stream.batches)} batches of {len(stream.batches[0][0])} points"
        title = f"{stream.title} ({stream.origin}): {size}, {stream.facts.n_features} features, "
        title += f"{stream.n_clusters} clusters"
        self.quality = Table(stream.name, title, _QUALITY, note=_QUALITY_NOTE, keys=["method"], measures=_MEASURES)
        title = f"{stream.title}: cost of a batch"
        self.cost = Table(f"{stream.name}_cost", title, _COST, note=_COST_NOTE, keys=["method"])
        report.tables += [self.quality, self.cost]

    def measure(self, method: Method) -> Parameters | None:
        """Tune and run a method; returns the tuned hyperparameters, None if it failed."""
        try:
            trials = tune(self._plan, self._stream, method, self._on_status)
            parameters = _best(trials, self._stream, method)
            self._add(method, method.name, parameters, len(trials))
            authors = authors_parameters(self._stream.name) if method.name == "ScStream" else None
            if authors is not None:
                self._add(method, "ScStream, authors' parameters", authors, 0)
        except EvaluationError as error:
            self._skip(method.name, str(error))
            return None
        return parameters

    def _add(self, method: Method, label: str, parameters: Parameters, n_trials: int) -> None:
        runs = []
        for seed in range(self._plan.seeds if method.seeded else 1):
            self._on_status(f"{self._stream.title}: {label}, seed {seed + 1}")
            runs.append(evaluate(self._plan, self._stream, method, parameters, seed))
        if not any(run.steps for run in runs):
            self._skip(label, f"it learned less than two batches in {self._plan.run_seconds:g} s of processor time")
            return
        row: Row = {"method": label, "K_given": method.given_k, **summarise(runs, self._stream)}
        row |= {"library": method.library, "form": method.form, "parameters": parameters, "trials": n_trials}
        row |= {"published": False, "seeds": len(runs)}
        self.quality.rows.append(row)
        self.cost.rows.append(row)

    def _skip(self, label: str, reason: str) -> None:
        self._report.skipped.append(Skipped(f"{label} on {self._stream.title}", reason))

    def add_published(self) -> None:
        """Add the figures of the paper below the measured ones."""
        for row in published.scores(self._stream.name):
            label = {"method": f"{row.pop('method')} (published)", "published": True}
            self.cost.rows.append({**label, "published_s": row.pop("seconds")})
            self.quality.rows.append({**label, "K_given": row.pop("given_k"), **row})


def best_parameters(
    plan: Plan, stream: sources.Stream, method: Method, on_status: Status = lambda _: None
) -> Parameters:
    """Tuned hyperparameters of a method for a stream."""
    return _best(tune(plan, stream, method, on_status), stream, method)


def _best(trials: Sequence[Trial], stream: sources.Stream, method: Method) -> Parameters:
    """The hyperparameters of the best trial; those of the first if no trial ended."""
    return max(trials, key=lambda trial: trial.score).parameters if trials else method.first(stream.facts)


def tune(plan: Plan, stream: sources.Stream, method: Method, on_status: Status = lambda _: None) -> list[Trial]:
    """Trials of hyperparameters on the first batches, as many as end within the time limit."""
    n_batches = min(TUNING_BATCHES, len(stream.batches))
    job = Job(stream.name, plan.data, n_batches, stream.n_clusters, method.name, n_trials=plan.n_trials)
    trials: list[Trial] = []
    on_status(f"{stream.title}: tuning {method.name}")
    for message in run(job, plan.seconds):
        raise_failure(message, method.name)
        if isinstance(message, Trial):
            trials.append(message)
            on_status(f"{stream.title}: tuning {method.name}, trial {len(trials)} of {plan.n_trials}")
    return trials


def evaluate(
    plan: Plan,
    stream: sources.Stream,
    method: Method,
    parameters: Parameters,
    seed: int,
    variant: str | None = None,
) -> Run:
    """Run a method over the stream in a fresh process, up to the time limit."""
    job = Job(stream.name, plan.data, len(stream.batches), stream.n_clusters, method.name, seed, parameters, variant)
    result = Run()
    for message in run(job, plan.run_seconds):
        raise_failure(message, method.name)
        if isinstance(message, Ready):
            result.memory_before = message.memory
        elif isinstance(message, Step):
            result.steps.append(message)
    return result


def check_names(plan: Plan) -> None:
    """Raise if a name of a stream or method is unknown."""
    for what, names, known in (("stream", plan.streams, sources.NAMES), ("method", plan.methods, tuple(METHODS))):
        for name in names:
            if name not in known:
                raise SettingsError(f"there is no {what} '{name}'; known: {', '.join(known)}")
