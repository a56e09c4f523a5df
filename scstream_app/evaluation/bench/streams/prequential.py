"""Benchmark on a stream from a file: each batch is first predicted, then learned, on one thread."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scstream import Component, Gaussian, Multinomial, ScStream
from scstream.metrics import Contingency
from scstream_app.errors import SourceError, reason
from scstream_app.evaluation.bench.streams.peers import Learner, Points, StreamKMeans, WarmGaussianMixture
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads

Batch = tuple[Points, Points]

SCORES = ("ari", "nmi", "purity", "pairwise_f")


def measure(
    file: Path,
    quick: bool = False,
    seeds: int | None = None,
    alpha: float = 10.0,
    decay: float = 0.3,
    psi: float = 1.0,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The figures that `scstream bench streams FILE` reports, as plain values."""
    batches = list(read_stream(file))
    if quick:
        batches = batches[:20]
    seeds = seeds or (1 if quick else 4)
    X, y = batches[0]
    truth = len(np.unique(np.concatenate([labels for _, labels in batches])))
    component = component_for(X, psi)
    methods: dict[str, Callable[[int], Learner]] = {
        "ScStream": lambda seed: ScStream(component, alpha=alpha, decay=decay, seed=seed, threads=1),
        "MiniBatchKMeans": partial(StreamKMeans, truth),
    }
    if isinstance(component, Gaussian):
        methods["GaussianMixture"] = partial(WarmGaussianMixture, truth)
    rows = []
    for name, make in methods.items():
        scores = []
        for seed in range(seeds):
            on_status(f"{name} on {len(batches)} batches, seed {seed + 1} of {seeds}")
            with limit_threads(1):
                scores.append(evaluate(make(seed), batches))
        rows.append({"method": name, "given": name != "ScStream", **means(scores)})
    return {
        "source": file.name,
        "batches": len(batches),
        "batch_size": len(y),
        "features": int(X.shape[1]),
        "true_clusters": truth,
        "seeds": seeds,
        "alpha": alpha,
        "decay": decay,
        "psi": psi,
        "methods": rows,
    }


def means(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Mean of each value over several runs."""
    return {name: round(float(np.mean([run[name] for run in scores])), 4) for name in scores[0]}


def read_stream(file: Path) -> Iterator[Batch]:
    """Read the batches of an npz file with X (batches, n, D) and y (batches, n)."""
    if not file.is_file():
        raise SourceError(f"Cannot open '{file}': there is no such file.")
    if not zipfile.is_zipfile(file):
        raise SourceError(f"Cannot open '{file}': it is not an .npz file.")
    try:
        with np.load(file, allow_pickle=False) as archive:
            X, y = archive["X"], archive["y"]
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise SourceError(
            f"Cannot use '{file}': {reason(error)}. It must hold X (batches, n, D) and y (batches, n)."
        ) from error
    if X.ndim != 3 or y.shape != X.shape[:2] or len(X) < 2:
        raise SourceError(
            f"Cannot use '{file}': X must be (batches, n, D) with at least two batches and y (batches, n); "
            f"got {X.shape} and {y.shape}."
        )
    return zip(X, y, strict=True)


def component_for(X: Points, psi: float) -> Component:
    """Multinomial for counts (non-negative integers, more than one per row), else Gaussian with prior variance psi."""
    counts = bool((X >= 0).all() and (X == np.rint(X)).all() and (X.sum(axis=1) > 1).all())
    return Multinomial() if counts else Gaussian(psi=psi)


def evaluate(learner: Learner, batches: Iterable[Batch]) -> dict[str, Any]:
    """Mean scores over all batches after the first, on which the learner is initialised, and their joint NMI."""
    # No pause between batches: methods do not alternate here.
    watch, tables, sizes = Stopwatch(pause=0.0), [], []
    for index, (X, y) in enumerate(batches):
        if index == 0:
            learner.partial_fit(X)
            continue
        predicted = watch.time(partial(predict_then_learn, learner, X))
        tables.append(Contingency.of(y, predicted))
        sizes.append(len(np.unique(predicted)))
    scores = {name: round(float(np.mean([getattr(table, name)() for table in tables])), 4) for name in SCORES}
    return {
        **scores,
        "full_nmi": round(Contingency.total(tables).nmi(), 4),
        "clusters": float(np.median(sizes)),
        **watch.summary(),
    }


def predict_then_learn(learner: Learner, X: Points) -> Points:
    """Predict the labels of a batch, then learn from it."""
    predicted = learner.predict(X)
    learner.partial_fit(X)
    return predicted
