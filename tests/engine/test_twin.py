"""The engine and its plain numpy twin, written apart from it, behave alike on the same small streams.

Both are random and use different random numbers, so they are compared in distribution: over several seeds the mean
number of clusters, log posterior per point and adjusted Rand index must agree within a few standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from reference import Array, Ints, Niw, Twin, plateau
from scstream import Gaussian, ScStream
from scstream.metrics import ari
from scstream.sampler.sampler import has_converged
from scstream.streams import gaussian_stream

pytestmark = pytest.mark.slow

N_SEEDS = 6
#: Few enough that neither sampler's first batch ends earlier, so that both make the same number of sweeps.
INIT_SWEEPS = 40
PATIENCE = 3


@dataclass(frozen=True)
class Stream:
    """A stream of small Gaussian batches and the settings under which both samplers see it."""

    n_clusters: int
    n_batches: int
    batch_size: int
    alpha: float
    decay: float
    seed: int
    merge: str = "paper"
    follow: str = "nothing"

    def batches(self) -> list[tuple[Array, Ints]]:
        stream = gaussian_stream(
            self.n_batches, n_clusters=self.n_clusters, batch_size=self.batch_size, box=7.0, seed=self.seed
        )
        return [(np.asarray(X, float), np.asarray(y)) for X, y in stream]


STREAMS = {
    "steady": Stream(3, 4, 150, 10.0, 0.5, 1),
    "forgetful": Stream(4, 4, 200, 1.0, 3.0, 2),
    "many": Stream(6, 3, 300, 100.0, 1.0, 3),
    "original merge": Stream(4, 4, 150, 10.0, 0.5, 4, "original"),
    "clusters followed": Stream(4, 5, 150, 10.0, 0.1, 5, follow="clusters"),
    "halves followed": Stream(4, 5, 150, 10.0, 0.1, 6, follow="halves"),
}


def prior_of(X: Array) -> Niw:
    return Niw(1.0, X.mean(axis=0), X.shape[1] + 3.0, np.diag(0.1 * X.var(axis=0)))


def by_twin(stream: Stream, seed: int) -> Array:
    """K after the last batch, log posterior per point, mean ARI over the batches."""
    batches = stream.batches()
    twin = Twin(
        prior_of(batches[0][0]),
        stream.alpha,
        stream.decay,
        np.random.default_rng(seed),
        merge_kind=stream.merge,
        follow=stream.follow,
        max_init_sweeps=INIT_SWEEPS,
        patience=PATIENCE,
    )
    scores = [ari(y, twin.fit(X, float(t))) for t, (X, y) in enumerate(batches)]
    return np.array([len(twin.clusters), twin.final_log_posterior / stream.batch_size, np.mean(scores)])


def by_engine(stream: Stream, seed: int) -> Array:
    batches = stream.batches()
    prior = prior_of(batches[0][0])
    model = ScStream(
        Gaussian(prior.kappa, prior.m, prior.nu, prior.psi),
        alpha=stream.alpha,
        decay=stream.decay,
        sweeps=1,
        burn_in=5,
        max_init_sweeps=INIT_SWEEPS,
        split_last=True,
        restart=PATIENCE,
        merge=stream.merge,
        follow=stream.follow,
        seed=seed,
    )
    scores = [ari(y, model.partial_fit(X, time=float(t)).labels_) for t, (X, y) in enumerate(batches)]
    return np.array([model.n_clusters_, model.log_posterior_ / stream.batch_size, np.mean(scores)])


@pytest.mark.parametrize("name", STREAMS)
def test_twin_and_engine_agree_in_distribution(name: str) -> None:
    stream = STREAMS[name]
    twin = np.array([by_twin(stream, seed) for seed in range(N_SEEDS)])
    engine = np.array([by_engine(stream, seed) for seed in range(N_SEEDS)])
    error = np.sqrt((twin.var(axis=0, ddof=1) + engine.var(axis=0, ddof=1)) / N_SEEDS)
    # Four standard errors, and a little for statistics whose spread over six seeds happens to be nothing.
    tolerance = 4.0 * error + [0.5, 0.05, 0.03]
    np.testing.assert_array_less(np.abs(twin.mean(axis=0) - engine.mean(axis=0)), tolerance)


def test_both_recover_clusters_that_lie_apart() -> None:
    """The comparison above would also hold between two samplers that find nothing."""
    for measure in (by_twin, by_engine):
        K, _, score = measure(STREAMS["steady"], 0)
        assert K == 3
        assert score > 0.99


def test_the_first_batch_ends_on_the_same_plateau() -> None:
    """The rule that ends the first batch, on random traces that rise and level off."""
    ended = set()
    for seed in range(200):
        trace, window = random_trace(np.random.default_rng(seed))
        for n in range(1, 41):
            done = has_converged(trace[:n], window)
            assert done == plateau(trace[:n], window)
            ended.add(done)
    assert ended == {False, True}


def random_trace(rng: np.random.Generator) -> tuple[list[tuple[int, float]], int]:
    window = int(rng.integers(2, 12))
    rise = -rng.exponential(30.0) * np.exp(-np.arange(40) / rng.uniform(1.0, 20.0))
    counts = 3 + (np.arange(40) >= rng.integers(0, 60)).astype(int)
    trace = [(int(K), float(v)) for K, v in zip(counts, rise + rng.normal(size=40), strict=True)]
    return trace, window
