"""The engine and its plain numpy twin, written apart from it, sample the same distribution.

Both are random and use different random numbers, so they are compared over many seeds. The engine's `Sampler` starts
from one cluster here, as the twin does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from helpers.twins import Quantities, assert_alike, component_of, differing
from reference import Array, Ints, Niw, Twin, plateau
from scstream.metrics import ari
from scstream.sampler.parameters import Parameters
from scstream.sampler.points import Points
from scstream.sampler.sampler import Sampler, has_converged
from scstream.sampler.sweep import log_posterior
from scstream.streams import gaussian_stream

pytestmark = pytest.mark.slow

#: Seeds of the twin, which is slow, and of the engine.
N_TWIN, N_ENGINE = 20, 40
#: Too few sweeps for the first batch to converge, so that both samplers make all of them.
INIT_SWEEPS = 24
#: Chains from each start, their sweeps, and how many of these come late enough to have forgotten the start.
N_CHAINS = 12
CHAIN_SWEEPS, CHAIN_KEPT = 300, 200


@dataclass(frozen=True)
class Stream:
    """A stream of small Gaussian batches and the settings under which both samplers see it."""

    n_clusters: int
    n_batches: int
    batch_size: int
    alpha: float
    decay: float
    seed: int
    box: float = 7.0
    n_features: int = 2
    drift: float = 0.1
    merge: str = "paper"
    follow: str = "nothing"
    burn_in: int = 5
    restart: int | None = 3
    sweeps: int = 1
    split_last: bool = True

    def batches(self) -> list[tuple[Array, Ints]]:
        stream = gaussian_stream(
            self.n_batches,
            self.batch_size,
            self.n_clusters,
            self.n_features,
            drift=self.drift,
            box=self.box,
            seed=self.seed,
        )
        return [(np.asarray(X, float), np.asarray(y)) for X, y in stream]

    def prior(self) -> Niw:
        X = self.batches()[0][0]
        return Niw(1.0, X.mean(axis=0), X.shape[1] + 3.0, np.diag(0.1 * X.var(axis=0)))


#: Clusters overlap, so that splits and merges are a close call, and burn-in is short, so that there are many of them.
STREAMS = {
    "paper merge": Stream(3, 6, 60, 30.0, 0.5, 1, box=3.0, burn_in=2, restart=2),
    "original merge": Stream(3, 5, 50, 50.0, 0.5, 1, box=2.0, burn_in=1, restart=0, merge="original"),
    "halves followed": Stream(3, 8, 60, 10.0, 0.1, 5, box=4.0, n_features=1, drift=0.6, burn_in=2, follow="halves"),
    "clusters followed": Stream(3, 8, 60, 10.0, 0.1, 5, box=5.0, drift=0.8, burn_in=2, follow="clusters"),
    "three features": Stream(3, 4, 80, 100.0, 0.5, 7, box=2.5, n_features=3, sweeps=2, split_last=False, restart=1),
}


# --- whole streams


@dataclass
class Trace:
    """States after all sweeps of a sampler, log Hastings ratios of its moves, ARI of its batches."""

    counts: list[Array] = field(default_factory=list)
    ages: list[Array] = field(default_factory=list)
    log_posteriors: list[float] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    merges: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def add_sweep(self, counts: Array, ages: Array, log_posterior: float) -> None:
        """Add the counts (K, 2) of sub-clusters, the ages (K, 2) of clusters and their sub-clusters."""
        self.counts.append(counts)
        self.ages.append(ages)
        self.log_posteriors.append(log_posterior / counts.sum())

    def add_batch(self, events: Sequence[Any], score: float) -> None:
        self.splits += [event.log_hastings for event in events if event.kind == "split"]
        self.merges += [event.log_hastings for event in events if event.kind == "merge"]
        self.scores.append(score)

    def quantities(self) -> Quantities:
        sizes = [counts.sum(axis=1) for counts in self.counts]
        return {
            "K": float(np.mean([len(size) for size in sizes])),
            "last K": len(sizes[-1]),
            "log posterior": float(np.mean(self.log_posteriors)),
            "last log posterior": self.log_posteriors[-1],
            "ARI": float(np.mean(self.scores)),
            "splits": len(self.splits),
            "merges": len(self.merges),
            "log ratio of splits": _sum_clipped(self.splits),
            "log ratio of merges": _sum_clipped(self.merges),
            "sub-clusters": float(np.mean([np.count_nonzero(counts >= 1.0) for counts in self.counts])),
            "smaller half": float(np.mean([(c.min(axis=1) / c.sum(axis=1)).mean() for c in self.counts])),
            "concentration": float(np.mean([np.square(size / size.sum()).sum() for size in sizes])),
            "age": float(np.mean([ages[:, 0].mean() for ages in self.ages])),
            "age of sub-clusters": float(np.mean([ages[:, 1].mean() for ages in self.ages])),
        }


def _sum_clipped(ratios: Sequence[float]) -> float:
    """Sum of log ratios; the large ones of clear moves would hide a change of the others."""
    return float(np.clip(ratios, -5.0, 5.0).sum())


class TracedTwin(Twin):
    trace: Trace

    def sweep(self, X: Array, sampling: bool, splitting: bool = True) -> None:
        super().sweep(X, sampling, splitting)
        counts = np.array([[self.side(c, 0).n, self.side(c, 1).n] for c in self.clusters])
        self.trace.add_sweep(counts, np.array([[c.age, c.rest] for c in self.clusters]), self.log_posterior())


class TracedSampler(Sampler):
    trace: Trace

    def sweep(self, batch: Any, config: Parameters, sampling: bool, splitting: bool = True) -> None:
        super().sweep(batch, config, sampling, splitting)
        state = self.state
        ages = np.stack([state.age, state.subcluster_age], axis=1)
        value = log_posterior(self.component, state.total, config.log_alpha)
        self.trace.add_sweep(state.total[:, :, 0], ages, value)


def by_twin(stream: Stream, seed: int) -> Quantities:
    twin = TracedTwin(
        stream.prior(),
        stream.alpha,
        stream.decay,
        np.random.default_rng(seed),
        sweeps=stream.sweeps,
        burn_in=stream.burn_in,
        max_init_sweeps=INIT_SWEEPS,
        split_last=stream.split_last,
        patience=stream.restart,
        merge_kind=stream.merge,
        follow=stream.follow,
    )
    twin.trace = trace = Trace()
    for t, (X, y) in enumerate(stream.batches()):
        ids = twin.fit(X, float(t))
        trace.add_batch(twin.events, ari(y, ids))
    return trace.quantities()


def by_engine(stream: Stream, seed: int) -> Quantities:
    prior = stream.prior()
    config = Parameters(
        alpha=stream.alpha,
        decay=stream.decay,
        sweeps=stream.sweeps,
        burn_in=stream.burn_in,
        split_last=stream.split_last,
        restart=stream.restart,
        merge=stream.merge,
        follow=stream.follow,
        seed=seed,
    )
    batches = stream.batches()
    weight = np.ones(stream.batch_size)
    component = component_of(prior)
    first = Points(component, batches[0][0], weight)
    sampler = TracedSampler.begin(config, component, first, 0.0)
    sampler.trace = trace = Trace()
    for _ in sampler.converge(first, INIT_SWEEPS):
        pass
    sampler.finish(first)
    trace.add_batch(sampler.events, ari(batches[0][1], sampler.id_of[first.labels]))
    sampler.register_births()
    for t, (X, y) in enumerate(batches[1:], 1):
        batch = Points(component, X, weight)
        sampler.update(batch, float(t))
        trace.add_batch(sampler.events, ari(y, sampler.id_of[batch.labels]))
    return trace.quantities()


@pytest.mark.parametrize("name", STREAMS)
def test_streams_have_the_same_distribution(name: str) -> None:
    stream = STREAMS[name]
    assert_alike(lambda seed: by_twin(stream, seed), lambda seed: by_engine(stream, seed), N_TWIN, N_ENGINE)


@pytest.mark.parametrize("change", [{"alpha": 60.0}, {"burn_in": 3}, {"decay": 0.6}, {"merge": "original"}], ids=str)
def test_the_comparison_shows_a_small_change(change: dict[str, Any]) -> None:
    """The test above would also pass if the quantities said nothing about the sampler."""
    stream = STREAMS["paper merge"]
    changed = replace(stream, **change)
    assert differing(
        lambda seed: by_engine(stream, seed), lambda seed: by_engine(changed, seed), N_TWIN, N_TWIN, 20_000
    )


def test_both_recover_clusters_that_lie_apart() -> None:
    """Two samplers that find nothing would be alike, too."""
    for measure in (by_twin, by_engine):
        found = measure(Stream(3, 4, 150, 10.0, 0.5, 1), 0)
        assert found["last K"] == 3
        assert found["ARI"] > 0.9


# --- starts


def chain(merge: str, many: bool, seed: int) -> tuple[Ints, Array]:
    """K and log posterior after each of many drawn sweeps, with moves, from one cluster or from twelve strips."""
    stream = STREAMS["paper merge"]
    X = stream.batches()[0][0]
    component, weight = component_of(stream.prior()), np.ones(len(X))
    config = Parameters(alpha=10.0, burn_in=1, restart=2, merge=merge, seed=seed)
    batch = Points(component, X, weight)
    if many:
        strips = (np.argsort(np.argsort(X[:, 0])) // 5).astype(np.int32)
        sampler = Sampler.begin_with(
            config, component, component.statistics(component.prepare(X), weight, strips, 12), 0.0
        )
    else:
        sampler = Sampler.begin(config, component, batch, 0.0)
    K, values = [len(sampler.state.ids)], []
    for _ in range(CHAIN_SWEEPS):
        sampler.sweep(batch, config, sampling=True)
        K.append(len(sampler.state.ids))
        values.append(log_posterior(component, sampler.state.total, config.log_alpha))
    return np.array(K), np.array(values)


@pytest.mark.parametrize("merge", ["paper", "original"])
def test_long_chains_from_one_and_from_many_clusters_have_the_same_distribution(merge: str) -> None:
    """A start does not change what is sampled."""

    def quantities(many: bool, seed: int) -> Quantities:
        K, values = (part[-CHAIN_KEPT:] for part in chain(merge, many, seed))
        shares = {f"share of K = {n}": float(np.mean(n == K)) for n in range(2, 6)}
        return {"K": float(K.mean()), "log posterior": float(values.mean()), "its spread": float(values.std())} | shares

    assert [chain(merge, many, 0)[0][0] for many in (False, True)] == [1, 12]
    assert_alike(lambda seed: quantities(False, seed), lambda seed: quantities(True, 1000 + seed), N_CHAINS, N_CHAINS)


# --- convergence of the first batch


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
