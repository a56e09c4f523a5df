"""Whatever comes in, in whatever order: the invariants of the sampler hold after every sweep and every batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reference import Array, weighted_history
from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.points import Points
from scstream.sampler.sampler import Sampler

pytestmark = pytest.mark.slow

D = 2
SEEDS = st.integers(0, 2**32 - 1)
COMPONENTS: dict[str, Callable[[], Any]] = {
    "gaussian": Gaussian,
    "tight gaussian": lambda: Gaussian(m=np.zeros(D), nu=4.0, psi=0.05),
    "diagonal": DiagonalGaussian,
    "multinomial": lambda: Multinomial(0.5),
}
KERNELS: dict[str, Any] = {
    "exponential": "exponential",
    "rbf": "rbf",
    "window": "window",
    "own": lambda age: 1.0 / (1.0 + age),
}


def replay(events: list[Event], live: set[int], ever: set[int]) -> None:
    """Follow events from the ids alive before them; every step must be possible."""
    for event in events:
        first, last = event.ids[0], event.ids[-1]
        match event.kind:
            case Kind.SPLIT:
                assert first in live
                assert last not in ever
                live.add(last)
                ever.add(last)
            case Kind.MERGE:
                assert {first, last} <= live
                assert event.counts[0] >= event.counts[1] >= 1.0
                live.remove(last)
            case Kind.DEATH:
                assert first in live
                assert event.counts[0] < 1.0
                live.remove(first)
            case Kind.BIRTH:
                raise AssertionError(f"a birth within a batch: {event}")


class Watch:
    """Runs one sweep between a look at the state before and checks of the state after."""

    def __init__(self, sampler: Sampler, ever: set[int]) -> None:
        self.sampler = sampler
        self.ever = ever
        state = sampler.state
        self.live = {int(i) for i in state.ids}
        self.age = dict(zip(state.ids.tolist(), state.age.tolist(), strict=True))
        self.rest = dict(zip(state.ids.tolist(), state.subcluster_age.tolist(), strict=True))
        self.n_events = len(sampler.events)
        self.mass = state.history.records.sum(axis=(1, 2))

    def check(self, batch: Points) -> None:
        events = self.sampler.events[self.n_events :]
        self.check_numbers()
        self.check_ids(events)
        self.check_moves(events)
        self.check_history(events)
        self.check_counts(batch, events)

    def check_numbers(self) -> None:
        state = self.sampler.state
        K, P = len(state.ids), self.sampler.component.n_statistics
        assert K >= 1
        assert state.current.shape == state.history.past.shape == (K, 2, P)
        for counter in (state.age, state.subcluster_age, state.born):
            assert counter.shape == (K,)
        for values in (state.current, state.history.past, state.history.records):
            assert np.isfinite(values).all()
            assert (values[..., 0] >= 0).all()
            if isinstance(self.sampler.component, Multinomial):
                assert (values >= 0).all()

    def check_ids(self, events: list[Event]) -> None:
        ids = self.sampler.state.ids.tolist()
        assert len(set(ids)) == len(ids)
        replay(events, self.live, self.ever)
        assert self.live == set(ids)
        assert self.sampler.genealogy.live_ids == tuple(sorted(ids))

    def check_moves(self, events: list[Event]) -> None:
        """One move at most for each cluster, and none before it has settled."""
        moves = [event for event in events if event.kind in (Kind.SPLIT, Kind.MERGE)]
        movers = [i for event in moves for i in event.ids]
        assert len(set(movers)) == len(movers)
        for event in moves:
            for i in event.ids if event.kind is Kind.MERGE else event.ids[:1]:
                assert self.age[i] >= self.sampler.config.burn_in
            if event.kind is Kind.SPLIT:
                assert self.rest[event.ids[0]] >= self.sampler.config.burn_in

    def check_history(self, events: list[Event]) -> None:
        """Moves only pass statistics on: each record's sum stays, and the weighted past is that of the records.

        Where the past follows, what stays is how many points there were.
        """
        history, now = self.sampler.state.history, self.sampler.time
        if not any(event.kind is Kind.DEATH for event in events):
            component = self.sampler.component
            moving = self.sampler.config.follow != "nothing" and component.n_coordinates > 0
            n_kept = 1 if moving else component.n_statistics
            found, before = history.records.sum(axis=(1, 2))[:, :n_kept], self.mass[:, :n_kept]
            scale = np.abs(before).max(initial=1.0)
            np.testing.assert_allclose(found, before, rtol=1e-9, atol=1e-9 * scale)
        if len(history):
            expected = weighted_history(
                history.times, list(history.records), now, self.sampler.config.forgetting_kernel, 0.0
            )
            scale = np.abs(expected).max(initial=1.0)
            np.testing.assert_allclose(history.past, expected, rtol=1e-9, atol=1e-12 * scale)
        else:
            assert not history.past.any()

    def check_counts(self, batch: Points, events: list[Event]) -> None:
        """The batch's statistics are those of its labels: of every cluster, and of sub-clusters left alone."""
        sampler, state = self.sampler, self.sampler.state
        points = sampler.component.prepare(batch.rows.X)
        owner = sampler.id_of[batch.labels]
        order = np.argsort(state.ids)
        place = order[np.searchsorted(state.ids[order], owner).clip(max=len(order) - 1)]
        np.testing.assert_array_equal(state.ids[place], owner)
        recount = sampler.component.statistics(points, batch.weight, place.astype(np.int32), len(order))
        close(state.current.sum(axis=1), recount)
        moved = {i for event in events for i in event.ids}
        n_labels = len(sampler.id_of)
        by_label = sampler.component.statistics(points, batch.weight, batch.labels, n_labels)
        for k, i in enumerate(state.ids.tolist()):
            # A count that went on from more than nothing tells that the sub-clusters were not started afresh.
            if i not in moved and state.subcluster_age[k] == self.rest[i] + 1 > 1:
                close(state.current[k], by_label[sampler.id_of == i])


def close(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=1.0))


class Stream(RuleBasedStateMachine):
    """Batches of every kind, one after another, into one model."""

    model: ScStream

    @initialize(
        component=st.sampled_from(sorted(COMPONENTS)),
        kernel=st.sampled_from(sorted(KERNELS)),
        decay=st.sampled_from([0.0, 0.3, 1.0, 8.0]),
        epsilon=st.sampled_from([0.0, 1e-8, 0.3]),
        alpha=st.sampled_from([1e-6, 1.0, 1e4, 1e20]),
        sweeps=st.integers(0, 3),
        burn_in=st.integers(0, 3),
        restart=st.sampled_from([None, 0, 2]),
        split_last=st.booleans(),
        merge=st.sampled_from(["paper", "original"]),
        follow=st.sampled_from(["nothing", "clusters", "halves"]),
        seed=st.integers(0, 1000),
    )
    def begin(self, component: str, kernel: str, **parameters: Any) -> None:
        self.counts = component == "multinomial"
        self.model = ScStream(COMPONENTS[component](), kernel=KERNELS[kernel], max_init_sweeps=12, **parameters)
        self.ever_of: WeakKeyDictionary[Genealogy, set[int]] = WeakKeyDictionary()
        self.time = 0.0
        self.batches = 0
        self.size = 0
        self.sweep = Sampler.sweep
        Sampler.sweep = self.watched(self.sweep)  # type: ignore[method-assign]

    def watched(self, sweep: Callable[..., None]) -> Callable[..., None]:
        def watched_sweep(sampler: Sampler, batch: Points, *args: Any, **keywords: Any) -> None:
            # A first batch is clustered by several samplers, each with ids of its own.
            ever = self.ever_of.setdefault(sampler.genealogy, set()) | {int(i) for i in sampler.state.ids}
            watch = Watch(sampler, ever)
            sweep(sampler, batch, *args, **keywords)
            self.ever_of[sampler.genealogy] = watch.ever
            watch.check(batch)

        return watched_sweep

    def teardown(self) -> None:
        if hasattr(self, "sweep"):
            Sampler.sweep = self.sweep  # type: ignore[method-assign]

    # --- what may arrive

    def feed(self, X: Array, weight: Array | None, wait: float) -> None:
        if self.counts:
            X = np.floor(np.abs(X)) % 50
        self.time += wait
        before = set(self.ever)
        live: set[int] = set() if self.batches == 0 else set(self.model.genealogy_.live_ids)
        self.model.partial_fit(X, time=self.time, sample_weight=weight)
        self.batches += 1
        self.size = len(X)
        ever = set(before)
        for event in self.model.events_:
            if event.kind in (Kind.BIRTH, Kind.SPLIT):
                assert event.ids[-1] not in ever
                live.add(event.ids[-1])
                ever.add(event.ids[-1])
            else:
                live.remove(event.ids[-1])
        assert live == set(self.model.genealogy_.live_ids)
        self.ever_of[self.model.genealogy_] = ever

    @property
    def ever(self) -> set[int]:
        return self.ever_of.get(self.model.genealogy_, set()) if self.batches else set()

    @rule(
        seed=SEEDS,
        n=st.integers(1, 200),
        blobs=st.integers(1, 6),
        spread=st.sampled_from([0.01, 1.0, 30.0]),
        wait=st.floats(1e-3, 5.0),
    )
    def blobs(self, seed: int, n: int, blobs: int, spread: float, wait: float) -> None:
        rng = np.random.default_rng(seed)
        centres = rng.normal(0.0, 10.0, (blobs, D))
        self.feed(centres[rng.integers(0, blobs, n)] + spread * rng.normal(size=(n, D)), None, wait)

    @rule(seed=SEEDS, n=st.integers(2, 100), share=st.floats(0.0, 0.9), wait=st.floats(0.1, 2.0))
    def weighted(self, seed: int, n: int, share: float, wait: float) -> None:
        """Weights of nothing, fractions and many."""
        rng = np.random.default_rng(seed)
        weight = np.where(rng.random(n) < share, 0.0, rng.exponential(3.0, n))
        weight[0] = 0.5
        self.feed(rng.normal(0.0, 5.0, (n, D)), weight, wait)

    @precondition(lambda self: self.batches > 0)
    @rule(seed=SEEDS, n=st.integers(1, 20))
    def weightless(self, seed: int, n: int) -> None:
        self.feed(np.random.default_rng(seed).normal(size=(n, D)), np.zeros(n), 1.0)

    @rule(value=st.floats(-100.0, 100.0), n=st.integers(1, 50))
    def identical(self, value: float, n: int) -> None:
        self.feed(np.full((n, D), value), None, 1.0)

    @rule(x=st.floats(-1e3, 1e3), y=st.floats(-1e3, 1e3))
    def single(self, x: float, y: float) -> None:
        self.feed(np.array([[x, y]]), None, 1.0)

    @rule(seed=SEEDS, far=st.sampled_from([1e3, 1e5]), wait=st.sampled_from([1.0, 40.0, 1e4]))
    def jump(self, seed: int, far: float, wait: float) -> None:
        """Everything is elsewhere: what was there loses its points."""
        rng = np.random.default_rng(seed)
        self.feed(far * rng.normal(size=D) + rng.normal(size=(30, D)), None, wait)

    # --- after every batch

    @precondition(lambda self: getattr(self, "batches", 0) > 0)
    @invariant()
    def every_point_has_a_live_id(self) -> None:
        ids = set(self.model.genealogy_.live_ids)
        assert self.model.n_clusters_ == len(ids)
        assert self.model.labels_.shape == (self.size,)
        assert set(self.model.labels_.tolist()) <= ids
        assert {cluster.id for cluster in self.model.clusters_} == ids
        assert ids <= self.ever

    @precondition(lambda self: getattr(self, "batches", 0) > 0)
    @invariant()
    def the_model_can_be_asked(self) -> None:
        model, ids = self.model, set(self.model.genealogy_.live_ids)
        X = np.array([[1.0, 2.0], [30.0, 4.0]])
        assert np.isfinite(model.log_posterior_)
        assert set(model.predict(X).tolist()) <= ids
        clusters = model.clusters_
        if all(cluster.count > 0 for cluster in clusters):
            np.testing.assert_allclose(sum(cluster.share for cluster in clusters), 1.0)
            assert [c.count for c in clusters] == sorted((c.count for c in clusters), reverse=True)
            assert np.isfinite(model.score_samples(X)).all()


TestStream = Stream.TestCase
TestStream.settings = settings(max_examples=40, stateful_step_count=8, suppress_health_check=list(HealthCheck))
