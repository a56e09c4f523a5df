"""Benchmark on generated streams: 20 drifting Gaussians in the plane, close together to far apart.

The score of a run is the mean ARI, over all batches, of the labels that a method gives to a batch it has just learned,
divided by the mean ARI of labels by the true parameters. Every method runs on one thread: on batches of this size, more
threads slow scikit-learn down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scstream import Gaussian, ScStream, warm_up
from scstream.metrics import ari
from scstream.streams import gaussian_stream
from scstream_app.evaluation.bench.streams.peers import Learner, Points, StreamKMeans, WarmGaussianMixture
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads

#: Standard deviations of the means; clusters have a standard deviation of about 1.
SPREADS = (5.0, 10.0, 25.0, 60.0)
STREAMS_PER_SPREAD = 10
BATCHES, BATCH_SIZE, CLUSTERS = 25, 1000, 20


class Stream(NamedTuple):
    """A generated stream with the labels by its true parameters, and their mean ARI."""

    spread: float
    batches: list[tuple[Points, Points]]
    truth: float


class Method(NamedTuple):
    """A compared method: its name, whether it is given the number of clusters, and a learner for a seed."""

    name: str
    given: bool
    make: Callable[[int], Learner]


def measure(
    quick: bool = False,
    seeds: int | None = None,
    alpha: float = 1e4,
    decay: float = 0.3,
    psi: float = 0.5,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures that `scstream bench streams --spreads` reports, as plain values.

    The default parameters are those of the method's authors for a stream of this kind.
    """
    on_status("Compiling the engine")
    warm_up(video_only=False)
    seeds = seeds or (1 if quick else 4)
    per_spread = 1 if quick else STREAMS_PER_SPREAD
    component = Gaussian(kappa=1.0, m=np.zeros(2), nu=4.0, psi=psi)
    methods = [
        Method("ScStream", False, lambda seed: ScStream(component, alpha=alpha, decay=decay, seed=seed, threads=1)),
        Method("MiniBatchKMeans", True, partial(StreamKMeans, CLUSTERS)),
        Method("GaussianMixture", True, partial(WarmGaussianMixture, CLUSTERS)),
    ]
    with limit_threads(1):
        runs = list(run_all(per_spread, seeds, methods, on_status))
    return {
        "source": "gaussian_stream",
        "streams": per_spread * len(SPREADS),
        "seeds": seeds,
        "batches": BATCHES,
        "batch_size": BATCH_SIZE,
        "features": 2,
        "true_clusters": CLUSTERS,
        "alpha": alpha,
        "decay": decay,
        "psi": psi,
        "methods": [row for spread in (*SPREADS, None) for row in summaries(runs, methods, spread)],
        "runs": runs,
    }


def make_stream(spread: float, index: int) -> Stream:
    """The stream of this spread and index; always the same points."""
    rng = np.random.default_rng([index, int(1000 * spread)])
    stream = gaussian_stream(BATCHES, BATCH_SIZE, CLUSTERS, 2, turn=0.0, spread=spread, seed=rng)
    scored = [(X, y, ari(y, stream.predict(X))) for X, y in stream]
    return Stream(spread, [(X, y) for X, y, _ in scored], float(np.mean([score for *_, score in scored])))


def run_all(
    per_spread: int, seeds: int, methods: Sequence[Method], on_status: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    """Run every method on every stream with every seed."""
    cases = [(spread, index) for spread in SPREADS for index in range(per_spread)]
    for number, (spread, index) in enumerate(cases, 1):
        stream = make_stream(spread, index)
        for seed in range(seeds):
            for method in methods:
                on_status(f"Stream {number} of {len(cases)}, seed {seed + 1} of {seeds}: {method.name}")
                result = run(method.make(seed), stream)
                yield {"method": method.name, "spread": spread, "stream": index, "seed": seed, **result}


def run(learner: Learner, stream: Stream) -> dict[str, Any]:
    """Learn and label all batches; score the labels against those by the true parameters."""
    # No pause between batches: methods do not alternate here.
    first, later, scores = Stopwatch(pause=0.0), Stopwatch(pause=0.0), []
    for index, (X, y) in enumerate(stream.batches):
        watch = later if index else first
        scores.append(ari(y, watch.time(partial(learn, learner, X))))
    return {
        "score": round(float(np.mean(scores)) / stream.truth, 4),
        "truth_ari": round(stream.truth, 4),
        "clusters": learner.n_clusters_,
        "ms_first": first.summary()["ms_median"],
        "ms_median": later.summary()["ms_median"],
    }


def learn(learner: Learner, X: Points) -> Points:
    """Learn from a batch and return its labels."""
    learner.partial_fit(X)
    return learner.labels_


def summaries(
    runs: Sequence[dict[str, Any]], methods: Sequence[Method], spread: float | None
) -> Iterator[dict[str, Any]]:
    """Mean and worst score, range of clusters and times of each method at one spread, or at all if None."""
    for method in methods:
        chosen = [run for run in runs if run["method"] == method.name and spread in (None, run["spread"])]
        columns = {key: np.array([run[key] for run in chosen]) for key in chosen[0] if key != "method"}
        yield {
            "spread": spread,
            "method": method.name,
            "given": method.given,
            "truth_ari": round(float(columns["truth_ari"].mean()), 4),
            "mean": round(float(columns["score"].mean()), 4),
            "worst": round(float(columns["score"].min()), 4),
            "fewest_clusters": int(columns["clusters"].min()),
            "most_clusters": int(columns["clusters"].max()),
            "ms_first": round(float(np.median(columns["ms_first"])), 3),
            "ms_median": round(float(np.median(columns["ms_median"])), 3),
        }
