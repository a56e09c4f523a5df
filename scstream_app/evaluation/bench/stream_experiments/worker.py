"""A method that runs on a stream in a fresh process, which ends at a limit of its processor time.

In a process of its own, a method's peak memory is its own, and one that takes too long can be stopped at any time.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scstream import warm_up
from scstream.metrics import ari
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench import process_memory
from scstream_app.evaluation.bench.stream_experiments import sources
from scstream_app.evaluation.bench.stream_experiments.methods import METHODS, VARIANTS
from scstream_app.evaluation.bench.stream_experiments.search import Parameters, search
from scstream_app.evaluation.bench.streams.peers import Points, Predictor
from scstream_app.evaluation.bench.timing import limit_threads

_CAN_LIMIT = hasattr(signal, "setitimer")
#: Exit codes of a process that has finished, or that the limit has ended.
_EXPECTED_ENDS = (0, -signal.SIGPROF) if _CAN_LIMIT else (0,)


@dataclass(frozen=True, slots=True)
class Job:
    """A run of a method on the first batches of a stream; ``variant`` is one of `VARIANTS`."""

    stream: str
    data: Path | None
    n_batches: int
    n_clusters: int
    method: str
    seed: int = 0
    parameters: Parameters = field(default_factory=dict)
    variant: str | None = None
    n_trials: int = 0


class Ready(NamedTuple):
    """The process has loaded its libraries and its stream; ``memory`` in MiB is what that takes."""

    memory: float | None


class Trial(NamedTuple):
    """A trial of a search: its hyperparameters and their mean ARI."""

    parameters: Parameters
    score: float


class Step(NamedTuple):
    """A batch that was predicted and then learned; ``memory`` in MiB is the peak so far."""

    predicted: Points
    learned: Points | None
    ms: float
    cpu_ms: float
    memory: float | None


class Failed(NamedTuple):
    """The method raised an error."""

    message: str


Message = Ready | Trial | Step | Failed


# --- in the parent ----------------------------------------------------------------------------------------


def run(job: Job, seconds: float) -> Iterator[Message]:
    """Run a job and yield its messages, up to a limit of processor time after `Ready`.

    Windows cannot limit processor time: there, it is a limit of time.
    """
    with _process(job, seconds) as (process, receiver):
        limit: float | None = None
        while receiver.poll(None if limit is None else max(0.0, limit - time.monotonic())):
            try:
                message: Message = receiver.recv()
            except (EOFError, OSError):
                # OSError: the process ended in the middle of a message.
                process.join()
                if process.exitcode not in _EXPECTED_ENDS:
                    yield Failed(f"its process ended with code {process.exitcode}")
                return
            if isinstance(message, Ready) and not _CAN_LIMIT:
                limit = time.monotonic() + seconds
            yield message


def _context() -> Any:
    """Processes that start with the libraries loaded, where the system can fork; that saves seconds for each."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@contextmanager
def _process(job: Job, seconds: float) -> Iterator[tuple[BaseProcess, Connection]]:
    context = _context()
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(job, seconds, sender), daemon=True)
    process.start()
    # The process has the other copy: when it ends, reading ends.
    sender.close()
    try:
        yield process, receiver
    finally:
        receiver.close()
        process.kill()
        process.join()


# --- in the process ---------------------------------------------------------------------------------------


def _main(job: Job, seconds: float, sender: Connection) -> None:
    # The parent ends this process when the user presses Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    try:
        for message in work(job):
            sender.send(message)
            if isinstance(message, Ready) and _CAN_LIMIT:
                # Ends this process.
                signal.setitimer(signal.ITIMER_PROF, seconds)
    except BrokenPipeError:
        return
    except Exception as error:
        sender.send(Failed(f"{type(error).__name__}: {error}"))


def work(job: Job) -> Iterator[Message]:
    """Do a job in this process: a search if it has trials, otherwise a run over all batches."""
    stream = sources.load(job.stream, job.data, job.n_batches)
    facts = sources.Facts.of(stream.batches[0][0], job.n_clusters, stream.counts)
    method = METHODS[job.method]
    make = method.make if job.variant is None else VARIANTS[job.variant]
    if method.library == "scstream":
        warm_up(video_only=False)
    with limit_threads(1):
        # Imports the library.
        make(facts, job.parameters or method.first(facts), job.seed)
        # Reading a stream may take more memory than any method.
        process_memory.reset_peak()
        yield Ready(process_memory.resident())
        if job.n_trials:
            score = partial(_mean_ari, stream, lambda parameters: make(facts, parameters, job.seed))
            for parameters, value in search(method.space(facts), method.first(facts), job.n_trials, score):
                yield Trial(parameters, value)
        else:
            yield from steps(make(facts, job.parameters, job.seed), stream)


def _mean_ari(stream: sources.Stream, make: Any, parameters: Parameters) -> float:
    """Mean ARI of predictions of all batches but the first; -1 if the method fails with these hyperparameters."""
    try:
        found = [step.predicted for step in steps(make(parameters), stream)]
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return -1.0
    return float(np.mean([ari(y, predicted) for (_, y), predicted in zip(stream.batches[1:], found, strict=True)]))


def steps(learner: Predictor, stream: sources.Stream) -> Iterator[Step]:
    """Learn the first batch, then predict and learn every other one."""
    (first, _), *others = stream.batches
    learner.partial_fit(first)
    for X, _ in others:
        begin, cpu_begin = time.perf_counter(), time.process_time()
        predicted = learner.predict(X)
        learner.partial_fit(X)
        ms, cpu_ms = 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - cpu_begin)
        yield Step(predicted, getattr(learner, "labels_", None), ms, cpu_ms, process_memory.peak())


def raise_failure(message: Message, what: str) -> None:
    """Raise if the method failed."""
    if isinstance(message, Failed):
        raise EvaluationError(f"{what} failed: {message.message}")
