"""Measure the memory and the time of large batches, of long streams and of merges.

    python tools/memory_bench.py points [--points 10000000] [--clusters 1000] [--dtype float32]
    python tools/memory_bench.py stream [--batches 10000] [--points 100] [--clusters 10] [--decay 0]
    python tools/memory_bench.py merges [--clusters 2000] [--spread 30]

Each run measures one case, because the peak of the memory is that of the whole process: interpreter, libraries, points
and model. `points` passes one large batch to `partial_fit` of a model that has the clusters already, and prints a
checksum of the labels. `stream` passes many small batches and prints a line for each tenth of them. `merges` times the
proposals of merges in one sweep. All take `--component gaussian|diagonal` and `--threads`.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import Component, DiagonalGaussian, Gaussian, ScStream
from scstream.sampler.moves import Mover
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import counter_rng
from scstream.threads import thread_limit

#: Number of features of the points.
FEATURES = 5
#: Points generated at a time, and points of each cluster that a model has seen.
ROWS = 100_000
PRIMING = 60
#: Times that merges are proposed; the fastest counts.
REPETITIONS = 20
COMPONENTS = {"gaussian": Gaussian, "diagonal": DiagonalGaussian}


def peak() -> float:
    """Peak memory of this process so far in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1e6 if sys.platform == "darwin" else 1e3)


@dataclass
class Stopwatch:
    """Wall and processor time in seconds since the start."""

    wall: float
    cpu: float

    @classmethod
    def start(cls) -> Stopwatch:
        """Return a stopwatch that starts now."""
        return cls(time.perf_counter(), time.process_time())

    def stop(self) -> tuple[float, float]:
        """Return the wall time and the processor time of all threads."""
        return time.perf_counter() - self.wall, time.process_time() - self.cpu


def make_means(arguments: argparse.Namespace) -> npt.NDArray[np.float64]:
    """Return means (K, D) of clusters, whose points have the standard deviation 1."""
    return np.random.default_rng(0).normal(0.0, arguments.spread, (arguments.clusters, FEATURES))


def make_points(n: int, means: npt.NDArray[np.float64], dtype: str, seed: int) -> npt.NDArray[np.floating]:
    """Return n points around the means (K, D), generated a few rows at a time."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, means.shape[1]), dtype)
    for first in range(0, n, ROWS):
        rows = X[first : first + ROWS]
        rows[:] = means[rng.integers(len(means), size=len(rows))] + rng.standard_normal(rows.shape)
    return X


def make_model(arguments: argparse.Namespace, decay: float) -> ScStream:
    """Return a model with a prior of the points' scale."""
    component = COMPONENTS[arguments.component](psi=1.0)
    return ScStream(component, alpha=10.0, decay=decay, seed=0, threads=arguments.threads)


def measure_points(arguments: argparse.Namespace) -> None:
    """Pass one large batch to a model that has all clusters."""
    means = make_means(arguments)
    model = primed_model(arguments, means)
    print(f"model: {model.n_clusters_} clusters, peak {peak():.0f} MB")
    X = make_points(arguments.points, means, arguments.dtype, 2)
    print(f"points: {X.shape[0]} x {X.shape[1]} {X.dtype}, {X.nbytes / 1e6:.0f} MB, peak {peak():.0f} MB", flush=True)
    watch = Stopwatch.start()
    model.partial_fit(X)
    wall, cpu = watch.stop()
    print(f"batch: {model.n_clusters_} clusters, {wall:.1f} s wall, {cpu:.1f} s processor, peak {peak():.0f} MB")
    print(f"labels: {zlib.crc32(model.labels_.tobytes()):08x}")


def primed_model(arguments: argparse.Namespace, means: npt.NDArray[np.float64]) -> ScStream:
    """Return a model that has one cluster for each mean, as if it had seen as many points as the batch will have.

    A first batch would have to be large for that, and its start may find fewer clusters.
    """
    S, component, X = true_statistics(arguments, means)
    model = make_model(arguments, decay=0.1).fit(X[:: len(X) // 50])
    factor = arguments.points / len(X)
    sampler = Sampler.begin_with(model._config(), component, factor * S, 0.0)
    sampler.finish(Points(component, X, np.full(len(X), factor)))
    model._sampler = sampler
    return model


def true_statistics(
    arguments: argparse.Namespace, means: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], Component, npt.NDArray[np.float64]]:
    """Return the statistics (K, P) of clusters with these means, their component, and their points (N, D)."""
    groups = np.repeat(np.arange(len(means), dtype=np.int32), PRIMING)
    X = means[groups] + np.random.default_rng(1).standard_normal((len(groups), FEATURES))
    weight = np.ones(len(X))
    component = COMPONENTS[arguments.component](psi=1.0).bind(X, weight)
    return component.statistics(component.prepare(X), weight, groups, len(means)), component, X


def measure_stream(arguments: argparse.Namespace) -> None:
    """Pass many small batches to a model."""
    means = make_means(arguments)
    model = make_model(arguments, arguments.decay)
    tenth = max(1, arguments.batches // 10)
    watch = Stopwatch.start()
    for number in range(arguments.batches):
        model.partial_fit(make_points(arguments.points, means, "float64", number))
        if (number + 1) % tenth == 0:
            wall, cpu = watch.stop()
            print(
                f"batch {number + 1}: {model.n_clusters_} clusters, {1e3 * wall / tenth:.2f} ms wall and "
                f"{1e3 * cpu / tenth:.2f} ms processor a batch, peak {peak():.1f} MB",
                flush=True,
            )
            watch = Stopwatch.start()


def measure_merges(arguments: argparse.Namespace) -> None:
    """Time the proposals of merges in one sweep over clusters that all may merge."""
    S, component, _ = true_statistics(arguments, make_means(arguments))
    config = Parameters(alpha=10.0, seed=0)
    times, left = [], 0
    with thread_limit(arguments.threads):
        for _ in range(REPETITIONS):
            sampler = Sampler.begin_with(config, component, S, 0.0)
            sampler.state.age[:] = config.burn_in
            mover = Mover(config, component, sampler.state, sampler.genealogy, 0.0, counter_rng(0, 0, 1))
            watch = Stopwatch.start()
            mover.propose_merges()
            times.append(watch.stop())
            left = len(sampler.state.ids)
    wall, cpu = np.min(times, axis=0)
    print(f"{len(S)} clusters, {left} after the merges: {1e3 * wall:.1f} ms wall, {1e3 * cpu:.1f} ms processor")


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = parser.add_subparsers(required=True, metavar="CASE")
    points = cases.add_parser("points", help="one large batch")
    points.add_argument("--points", type=positive, default=10_000_000)
    points.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    points.set_defaults(measure=measure_points, clusters=1000)
    stream = cases.add_parser("stream", help="many small batches")
    stream.add_argument("--batches", type=positive, default=10_000)
    stream.add_argument("--points", type=positive, default=100)
    stream.add_argument("--decay", type=float, default=0.0)
    stream.set_defaults(measure=measure_stream, clusters=10)
    merges = cases.add_parser("merges", help="the merges of one sweep")
    merges.set_defaults(measure=measure_merges, clusters=2000)
    for case in (points, stream, merges):
        case.add_argument("--clusters", type=positive, default=argparse.SUPPRESS)
        case.add_argument("--spread", type=float, default=30.0, help="standard deviation of the clusters' means")
        case.add_argument("--component", choices=sorted(COMPONENTS), default="gaussian")
        case.add_argument("--threads", type=positive, default=None)
    arguments = parser.parse_args()
    arguments.measure(arguments)


def positive(text: str) -> int:
    """Return the text as a whole number above 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


if __name__ == "__main__":
    main()
