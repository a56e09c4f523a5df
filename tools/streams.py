"""Measure ScStream on labelled streams, on one thread: predict every batch, then learn from it.

    python tools/streams.py ROOT [STREAM ...] [--seeds 5] [--options JSON] [--json]

ROOT holds gauss2d.npz and multinomial100d.npz, with X (batches, n, D) and y (batches, n), and covtype.npz, with X
(N, 54) and y (N,) in the order of the UCI file. `STREAMS` holds the parameters.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scstream import Component, Gaussian, Multinomial, ScStream, warm_up
from scstream_app.evaluation.bench.streams.prequential import SCORES, Batch, evaluate, read_stream
from scstream_app.evaluation.bench.timing import limit_threads

COLUMNS = (*SCORES, "full_nmi", "clusters", "ms_median")


@dataclass(frozen=True)
class Stream:
    """A stream: how to read its batches, and the parameters of the model."""

    read: Callable[[Path], list[Batch]]
    component: Component
    parameters: dict[str, Any]

    def measure(self, batches: list[Batch], seed: int, options: dict[str, Any]) -> dict[str, Any]:
        """Scores of the model with one seed."""
        parameters = {"seed": seed, "threads": 1, **self.parameters, **options}
        with limit_threads(1):
            return {"seed": seed, **evaluate(ScStream(self.component, **parameters), batches)}


def read_covtype(file: Path) -> list[Batch]:
    """The ten numeric features of CoverType, standardised, in batches of 1000 points."""
    with np.load(file, allow_pickle=False) as archive:
        X, y = archive["X"][:, :10].astype(float), archive["y"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return [(X[n : n + 1000], y[n : n + 1000]) for n in range(0, len(X) - 999, 1000)]


STREAMS = {
    # The parameters that give the best scores with the code of the authors.
    "gauss2d": Stream(
        lambda file: list(read_stream(file)),
        Gaussian(kappa=1.0, m=np.zeros(2), nu=4.0, psi=0.5),
        {"alpha": 1e4, "decay": 0.3},
    ),
    "multinomial100d": Stream(
        lambda file: list(read_stream(file))[:40], Multinomial(4.0), {"alpha": 1e4, "decay": 0.5}
    ),
    # The parameters in the appendix of the paper.
    "covtype": Stream(
        read_covtype,
        Gaussian(kappa=1.0, m=np.zeros(10), nu=25.0, psi=0.78),
        {"alpha": 1.0, "decay": 0.2, "epsilon": 1e-8},
    ),
}


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("streams", nargs="*", default=list(STREAMS), help=", ".join(STREAMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--options", type=json.loads, default={}, help='ScStream parameters as JSON: {"follow": "clusters"}'
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.streams) - STREAMS.keys():
        parser.error(f"unknown stream {min(unknown)!r}; choose from {', '.join(STREAMS)}")
    warm_up(video_only=False)
    rows = []
    for name in arguments.streams:
        batches = STREAMS[name].read(arguments.root / f"{name}.npz")
        for seed in range(arguments.seeds):
            rows.append({"stream": name, **STREAMS[name].measure(batches, seed, arguments.options)})
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"{'stream':16} {'':>5}" + "".join(f" {column:>10}" for column in COLUMNS))
    for name in dict.fromkeys(row["stream"] for row in rows):
        chosen = [row for row in rows if row["stream"] == name]
        for what in (np.mean, np.min, np.max):
            values = [what([row[column] for row in chosen]) for column in COLUMNS]
            print(f"{name:16} {what.__name__:>5}" + "".join(f" {value:10.4g}" for value in values))


if __name__ == "__main__":
    main()
