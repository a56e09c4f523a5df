"""The damped window equals a brute-force weighted sum, whatever happened to the clusters in between."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reference import Array, weighted_history
from scstream import Gaussian
from scstream.sampler.forgetting import KERNELS
from scstream.sampler.history import MAX_RECORDS, History

COMPONENT = Gaussian(1.0, np.zeros(1), 3.0, np.eye(1)).bind(np.zeros((1, 1)), np.ones(1))
P = COMPONENT.n_statistics
OWN: dict[str, Callable[[float], float]] = {
    "hyperbola": lambda age: 1.0 / (1.0 + age),
    "wave": lambda age: 0.5 + 0.5 * math.cos(age),
    "nothing": lambda age: 0.0,
}
NAMED = [(name, decay) for name in sorted(KERNELS) for decay in (0.0, 0.3, 2.0)]
ALL = {f"{name} {decay}": KERNELS[name](decay) for name, decay in NAMED} | OWN


# --- kernels


@pytest.mark.parametrize(
    ("name", "decay", "age", "weight"),
    [
        ("exponential", 1.0, 1.0, 0.5),
        ("exponential", 2.9, 2.0, 2.0**-5.8),
        ("exponential", 0.0, 1e9, 1.0),
        ("rbf", 1.0, 2.0, math.exp(-2.0)),
        ("rbf", 0.5, 3.0, math.exp(-1.125)),
        ("window", 0.25, 3.999, 1.0),
        ("window", 0.25, 4.0, 0.0),
        ("window", 0.0, 1e9, 1.0),
    ],
)
def test_kernels_are_their_formulas(name: str, decay: float, age: float, weight: float) -> None:
    assert KERNELS[name](decay)(age) == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize("kernel", [ALL[f"{name} {decay}"] for name, decay in NAMED])
def test_named_kernels_start_at_one_and_never_rise(kernel: Callable[[float], float]) -> None:
    weights = [kernel(age) for age in np.linspace(0.0, 60.0, 400)]
    assert weights[0] == 1.0
    assert all(0.0 <= b <= a for a, b in pairwise(weights))


# --- records and the weighted past


@settings(max_examples=60)
@given(
    kernel=st.sampled_from(sorted(ALL)),
    steps=st.lists(st.floats(1e-3, 30.0), min_size=1, max_size=12),
    epsilon=st.sampled_from([0.0, 1e-8, 1e-3, 0.4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_past_is_the_weighted_sum_of_what_still_counts(
    kernel: str, steps: list[float], epsilon: float, seed: int
) -> None:
    """A record once dropped stays dropped, even if its weight would rise again."""
    rng = np.random.default_rng(seed)
    weigh, history = ALL[kernel], History(2, P)
    kept: list[tuple[float, Array]] = []
    now = 0.0
    for step in steps:
        now += step
        history.advance(now, weigh, epsilon)
        kept = [(time, record) for time, record in kept if weigh(now - time) > epsilon]
        assert history.times == [time for time, _ in kept]
        expected = sum((weigh(now - time) * record for time, record in kept), np.zeros((2, 2, P)))
        np.testing.assert_allclose(history.past, expected, rtol=1e-12, atol=1e-12)
        record = rng.normal(size=(2, 2, P))
        history.append(now, record)
        kept.append((now, record))
        assert len(history) == len(kept)


@pytest.mark.parametrize("epsilon", [0.25, 0.2500001, 0.2499999])
def test_a_record_vanishes_when_its_weight_is_at_most_epsilon(epsilon: float) -> None:
    history = History(1, P)
    history.append(0.0, np.ones((1, 2, P)))
    history.advance(2.0, KERNELS["exponential"](1.0), epsilon)
    assert len(history) == (1 if epsilon < 0.25 else 0)
    np.testing.assert_array_equal(history.past, 0.25 if epsilon < 0.25 else 0.0)


def test_a_model_of_a_long_stream_keeps_few_records() -> None:
    history, kernel = History(1, P), KERNELS["exponential"](1.0)
    for time in range(200):
        history.advance(float(time), kernel, 1e-8)
        history.append(float(time), np.ones((1, 2, P)))
    # 2^-26 is the last power above 1e-8.
    assert len(history) == 27
    assert history.times[0] == 173.0


def test_a_restored_history_goes_on_as_the_original() -> None:
    kernel = KERNELS["exponential"](0.7)
    rng = np.random.default_rng(1)
    history = History(3, P)
    for time in (0.0, 0.4, 2.5):
        history.advance(time, kernel, 1e-8)
        history.append(time, rng.normal(size=(3, 2, P)))
    restored = History.restore(list(history.times), history.records.copy(), kernel)
    np.testing.assert_array_equal(restored.past, history.past)
    for each in (history, restored):
        each.keep([2, 1])
        each.grow(1)
        each.advance(3.0, kernel, 1e-8)
    np.testing.assert_array_equal(restored.past, history.past)
    np.testing.assert_array_equal(restored.records, history.records)


# --- a past that follows


@pytest.mark.parametrize("per_subcluster", [False, True])
def test_records_are_centred_where_the_current_batch_is(per_subcluster: bool) -> None:
    """In one dimension: (n, sum, sum of squares) of two sub-clusters with 100 points each in 4 batches."""
    history = History(1, P)
    for time in range(4):
        history.append(float(time), np.array([[[25.0, 0.0, 25.0], [25.0, 250.0, 2525.0]]]))
    history.advance(4.0, KERNELS["window"](0.0), 0.0)
    # The first sub-cluster has not moved, the second by 4: 20 points shift it half of the way. The cluster: 13 / 3.
    now = np.array([[[10.0, 0.0, 10.0], [20.0, 280.0, 3940.0]]])
    history.recentre(COMPONENT, now, per_subcluster)
    whole = (280.0 / 30.0 - 5.0) * 30.0 / 50.0
    means = [0.0, 12.0] if per_subcluster else [whole, 10.0 + whole]
    expected = [[25.0, 25.0 * mean, 25.0 + 25.0 * mean**2] for mean in means]
    np.testing.assert_allclose(history.records, np.broadcast_to(expected, (4, 1, 2, P)))
    np.testing.assert_allclose(history.past, 4.0 * np.array([expected]))


@pytest.mark.parametrize("n", [0.0, 2.4, 2.5])
def test_what_is_hidden_is_remembered_where_it_was(n: float) -> None:
    """A tenth of the 25 points that it has in a batch is the least that says where a cluster went."""
    history = History(1, P)
    history.append(0.0, np.array([[[25.0, 0.0, 25.0], [0.0, 0.0, 0.0]]]))
    history.advance(1.0, KERNELS["window"](0.0), 0.0)
    history.recentre(COMPONENT, np.array([[[n, 9.0 * n, 90.0 * n], [0.0, 0.0, 0.0]]]), per_subcluster=False)
    assert history.records[0, 0, 0, 1] == pytest.approx(25.0 * 9.0 * 2.5 / 22.5 if n == 2.5 else 0.0)


class Changes(RuleBasedStateMachine):
    """Clusters come and go between batches; a list of plain arrays tells what should be there."""

    @initialize(kernel=st.sampled_from(sorted(ALL)), epsilon=st.sampled_from([0.0, 1e-4, 0.3]), K=st.integers(1, 9))
    def begin(self, kernel: str, epsilon: float, K: int) -> None:
        self.kernel, self.epsilon = ALL[kernel], epsilon
        self.history = History(K, P)
        self.rng = np.random.default_rng(K)
        self.times: list[float] = []
        self.records: list[Array] = []
        self.weighed = 0
        self.now = 0.0
        self.K = K

    @rule(step=st.floats(0.01, 20.0))
    def advance(self, step: float) -> None:
        self.now += step
        self.history.advance(self.now, self.kernel, self.epsilon)
        keep = [n for n, time in enumerate(self.times) if self.kernel(self.now - time) > self.epsilon]
        self.times = [self.times[n] for n in keep]
        self.records = [self.records[n] for n in keep]
        self.weighed = len(self.times)

    @rule()
    def append(self) -> None:
        """A batch is appended once, right after its time was advanced to."""
        if self.times and self.times[-1] == self.now:
            self.advance(1.0)
        record = self.rng.normal(size=(self.K, 2, P))
        self.history.append(self.now, record)
        self.times.append(self.now)
        self.records.append(record)

    @rule(n=st.integers(1, 12))
    def grow(self, n: int) -> None:
        assert self.history.grow(n) == list(range(self.K, self.K + n))
        self.K += n
        self.records = [np.concatenate([record, np.zeros((n, 2, P))]) for record in self.records]

    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        kept = data.draw(st.lists(st.integers(0, self.K - 1), min_size=1, unique=True))
        self.history.keep(kept)
        self.K = len(kept)
        self.records = [record[kept] for record in self.records]

    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        """A move rewrites a cluster's records and asks for its past anew."""
        k = data.draw(st.integers(0, self.K - 1))
        for n in range(len(self.records)):
            self.records[n][k] *= -2.0
            self.history.records[n, k] *= -2.0
        self.history.refresh([k])

    @invariant()
    def records_are_those_given(self) -> None:
        if hasattr(self, "history"):
            assert self.history.times == self.times
            assert self.history.n_clusters == self.K
            for found, expected in zip(self.history.records, self.records, strict=True):
                np.testing.assert_array_equal(found, expected)

    @invariant()
    def past_is_the_weighted_sum(self) -> None:
        if hasattr(self, "history"):
            expected = np.zeros((self.K, 2, P))
            if self.weighed:
                expected = weighted_history(
                    self.times[: self.weighed], self.records[: self.weighed], self.now, self.kernel, self.epsilon
                )
            np.testing.assert_allclose(self.history.past, expected, rtol=1e-10, atol=1e-12)


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=60, stateful_step_count=20)


# --- many records


@pytest.mark.parametrize("kernel", [KERNELS["exponential"](0.01), KERNELS["exponential"](0.0), KERNELS["window"](0.0)])
def test_memory_of_slow_forgetting_is_bounded_and_nothing_is_lost(kernel: Callable[[float], float]) -> None:
    rng = np.random.default_rng(2)
    history = History(3, P)
    batches = rng.gamma(1.0, 1.0, (1000, 3, 2, P))
    for n, statistics in enumerate(batches):
        history.advance(float(n), kernel, 1e-8)
        history.append(float(n), statistics)
        assert len(history) <= MAX_RECORDS
    history.advance(1000.0, kernel, 1e-8)
    weights = np.array([kernel(1000.0 - n) for n in range(1000)])
    np.testing.assert_allclose(history.past, np.tensordot(weights, batches, 1), rtol=1e-9)
    # Newer records are still single batches.
    np.testing.assert_array_equal(history.records[-10:], batches[-10:])
    assert history.largest_count < 2.0 * batches[..., 0].sum(axis=(1, 2)).max()


def test_records_whose_weights_change_differently_are_kept() -> None:
    history, kernel = History(1, P), KERNELS["rbf"](1e-4)
    for n in range(300):
        history.advance(float(n), kernel, 1e-8)
        history.append(float(n), np.ones((1, 2, P)))
    assert len(history) == 300
