"""One sweep and its moves: densities, Hastings ratios, who keeps which id, who dies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from reference import Array, Niw, Part, Twin
from scstream import Gaussian, Parameters
from scstream.components.base import Component, log_rising
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.history import History
from scstream.sampler.moves import Mover, merge_log_hastings, split_log_hastings
from scstream.sampler.points import Points
from scstream.sampler.sweep import (
    State,
    counter_rng,
    draw_densities,
    log_posterior,
    mode_densities,
    relabel,
)

PRIOR = Niw(1.0, np.zeros(2), 5.0, np.eye(2))
COMPONENT = Gaussian(1.0, np.zeros(2), 5.0, np.eye(2)).bind(np.zeros((1, 2)), np.ones(1))
P = COMPONENT.n_statistics
CONFIG = Parameters(alpha=1.0, restart=None, merge="paper")

#: Points without neighbours: none touches a border.
NO_BORDER = np.zeros(8)


def blob(centre: Sequence[float], n: int, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(n, 2)) + centre


def statistics(X: Array) -> Array:
    return COMPONENT.statistics(X, np.ones(len(X)), np.zeros(len(X), np.int32), 1)[0]


def make_state(halves: Sequence[tuple[Array, Array]], age: int = 9) -> tuple[State, Genealogy]:
    """Clusters, each given as the points of its two sub-clusters, all of the batch at hand, and their genealogy."""
    K = len(halves)
    genealogy = Genealogy()
    for k, (one, two) in enumerate(halves):
        genealogy.record(Event(Kind.BIRTH, 0.0, 0, (genealogy.new_id(),), np.nan, (float(len(one) + len(two)),)))
        assert genealogy.live_ids[-1] == k
    state = State(
        history=History(K, P),
        current=np.array([[statistics(one), statistics(two)] for one, two in halves]),
        ids=np.arange(K),
        age=np.full(K, age),
        subcluster_age=np.full(K, age),
        born=np.zeros(K, np.int64),
    )
    return state, genealogy


def mover(state: State, genealogy: Genealogy, **changes: Any) -> Mover:
    rng = np.random.default_rng(0)
    return Mover(replace(CONFIG, **changes), COMPONENT, state, genealogy, 1.0, rng)


# --- densities


def test_mode_densities_are_counts_and_predictives() -> None:
    X = [blob((0, 0), 30, 1), blob((3, 1), 12, 2), blob((-4, 0), 5, 3), np.empty((0, 2))]
    total = np.array([statistics(part) for part in X]).reshape(2, 2, P)
    densities = mode_densities(COMPONENT, total, 4.0)
    point = np.array([[0.5, -1.0]])
    found = COMPONENT.scores(densities.parameters, densities.log_weight, point)[0]
    wanted = [
        np.log(len(both)) + PRIOR.posterior(both, np.ones(len(both))).log_predictive(point[0])
        for both in (np.concatenate(X[:2]), X[2])
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    found = COMPONENT.scores(densities.sub_parameters, densities.sub_log_weight, point)[0]
    wanted = [
        np.log(len(part) + 2.0) + PRIOR.posterior(part, np.ones(len(part))).log_predictive(point[0]) for part in X
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_drawn_weights_are_dirichlet() -> None:
    """20 000 draws: the mean share of each cluster is its share of the points, and of each half with alpha/2 more."""
    total = np.zeros((2, 2, P))
    total[:, :, 0] = [[3.0, 1.0], [0.5, 7.5]]
    rng = np.random.default_rng(4)
    draws = [draw_densities(COMPONENT, total, 2.0, rng) for _ in range(8_000)]
    share = special.softmax(np.array([d.log_weight for d in draws]), axis=1)[:, 0]
    halves = special.softmax(np.array([d.sub_log_weight for d in draws]).reshape(-1, 2, 2), axis=2)[:, :, 0]
    for found, a, b in ((share, 4.0, 8.0), (halves[:, 0], 4.0, 2.0), (halves[:, 1], 1.5, 8.5)):
        assert abs(found.mean() - a / (a + b)) < 5.0 * found.std() / np.sqrt(8_000)
        assert found.var() == pytest.approx(a * b / ((a + b) ** 2 * (a + b + 1.0)), rel=0.1)


def test_deterministic_labels_are_the_twins() -> None:
    """From the same statistics the last sweep gives every point the label that the plain formulas give."""
    X = np.concatenate([blob((0, 0), 60, 5), blob((2.5, 1), 40, 6), blob((-2, 3), 20, 7)])
    rng = np.random.default_rng(8)
    groups = 2 * np.repeat([0, 1, 2], [60, 40, 20]) + (X[:, 1] + rng.normal(size=len(X)) > X[:, 1].mean())
    parts = [X[groups == g] for g in range(6)]
    state, _ = make_state([(parts[2 * k], parts[2 * k + 1]) for k in range(3)])
    batch = Points(COMPONENT, X, np.ones(len(X)))
    relabel(CONFIG, COMPONENT, state, batch, False, counter_rng(0, 0, 1))

    twin = Twin(PRIOR, 1.0, 1.0, rng)
    sides = [Part.of(part, np.ones(len(part))) for part in parts]
    cluster = np.argmax(twin._scores([sides[2 * k] + sides[2 * k + 1] for k in range(3)], X, 0.0, False), axis=1)
    own = twin._scores(sides, X, 0.5, False)
    rows = np.arange(len(X))
    side = (own[rows, 2 * cluster + 1] > own[rows, 2 * cluster]).astype(int)
    np.testing.assert_array_equal(batch.labels, 2 * cluster + side)
    recount = [statistics(X[batch.labels == g]) for g in range(6)]
    np.testing.assert_allclose(state.current.reshape(6, P), recount, rtol=1e-9, atol=1e-9)
    assert len(set(cluster.tolist())) == 3


def test_random_numbers_belong_to_seed_batch_and_sweep() -> None:
    draws = {counter_rng(*key).random() for key in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]}
    assert len(draws) == 5
    assert counter_rng(3, 4, 5).random() == counter_rng(3, 4, 5).random()


def test_log_posterior_is_the_partition_times_the_marginals() -> None:
    X = [blob((0, 0), 30, 9), blob((8, 1), 12, 10)]
    total = np.array([[statistics(X[0]), np.zeros(P)], [statistics(X[1][:4]), statistics(X[1][4:])]])
    wanted = sum(0.7 + special.gammaln(len(x)) + PRIOR.log_marginal(x, np.ones(len(x))) for x in X)
    assert log_posterior(COMPONENT, total, 0.7) == pytest.approx(wanted, rel=1e-10)


# --- ratios


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    log_alpha=st.floats(-5.0, 50.0),
    apart=st.floats(0.0, 10.0),
)
def test_split_and_merge_ratios_are_those_of_the_definition(
    seed: int, n: tuple[int, int], log_alpha: float, apart: float
) -> None:
    rng = np.random.default_rng(seed)
    one, two = rng.exponential(size=(n[0], 2)), rng.normal(size=(n[1], 2)) + apart
    weights = [rng.exponential(2.0, size) for size in n]
    both, all_weights = np.concatenate([one, two]), np.concatenate(weights)
    counts = [w.sum() for w in weights]
    wanted = (
        log_alpha
        + special.gammaln(counts[0])
        + PRIOR.log_marginal(one, weights[0])
        + special.gammaln(counts[1])
        + PRIOR.log_marginal(two, weights[1])
        - special.gammaln(sum(counts))
        - PRIOR.log_marginal(both, all_weights)
    )
    groups = np.repeat([0, 1], n).astype(np.int32)
    S = COMPONENT.statistics(both, all_weights, groups, 2)
    assert split_log_hastings(COMPONENT, S[None], log_alpha)[0] == pytest.approx(wanted, rel=1e-8, abs=1e-6)
    pairs, L = np.array([[0, 1]]), COMPONENT.log_marginal(S)
    paper = merge_log_hastings(COMPONENT, S, L, pairs, log_alpha, "paper")[0]
    assert paper == pytest.approx(-wanted, rel=1e-8, abs=1e-6)
    original = merge_log_hastings(COMPONENT, S, L, pairs, log_alpha, "original")[0]
    half = 0.5 * np.exp(log_alpha)
    prior_of_sizes = (
        special.gammaln(2 * half)
        - special.gammaln(2 * half + sum(counts))
        + sum(special.gammaln(half + c) - special.gammaln(half) for c in counts)
    )
    if log_alpha < 15.0:
        assert original == pytest.approx(paper + prior_of_sizes, rel=1e-7, abs=1e-4)
    else:
        # Huge alpha: the sizes are a fair coin's, two to the minus the number of points.
        assert original == pytest.approx(paper - sum(counts) * np.log(2.0), rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("log_d", [18.5, 20.0])
def test_log_rising_is_right_for_a_large_alpha_and_a_large_picture(log_d: float) -> None:
    """Two million pixels: alpha is neither small beside them nor beyond all of them."""
    n = 2_000_000
    exact = n * log_d + np.log1p(np.arange(n) * np.exp(-log_d)).sum()
    assert log_rising(log_d, np.array([float(n)]))[0] == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize("log_d", [-5.0, 0.0, 15.0, 19.0, 30.0, 300.0])
@pytest.mark.parametrize("n", [1.0, 3.5, 1000.0])
def test_log_rising_is_a_sum_of_logs_whatever_its_size(log_d: float, n: float) -> None:
    """For whole n, log d + log(d + 1) + ...; between them, close to its neighbours' line."""
    d = np.exp(log_d)
    whole = [np.log(d + np.arange(int(m))).sum() for m in (np.floor(n), np.ceil(n))]
    found = log_rising(log_d, np.array([n]))[0]
    if n == int(n):
        assert found == pytest.approx(whole[0], rel=1e-9, abs=1e-5)
    else:
        assert min(whole) - 0.5 <= found <= max(whole) + 0.5


# --- splits


def test_the_larger_half_of_a_split_keeps_the_id() -> None:
    state, genealogy = make_state([(blob((0, 0), 20, 1), blob((30, 0), 80, 2))])
    state.history.append(0.0, np.array([[statistics(blob((0, 0), 5, 3)), statistics(blob((30, 0), 7, 4))]]))
    state.history.advance(1.0, CONFIG.forgetting_kernel, 1e-8)
    before = [state.history.records.sum(axis=2).copy(), state.total.copy()]
    move = mover(state, genealogy)
    move.propose_splits(lambda: NO_BORDER)
    assert [event.kind for event in move.events] == [Kind.SPLIT]
    assert move.events[0].ids == (0, 1)
    assert move.events[0].counts == (83.5, 22.5)
    assert move.events[0].log_hastings > 100.0
    np.testing.assert_array_equal(move.id_of, [1, 0])
    np.testing.assert_array_equal(state.ids, [0, 1])
    np.testing.assert_allclose(state.total.sum(axis=1), before[1][0, [1, 0]], rtol=1e-12)
    np.testing.assert_allclose(state.history.records.sum(axis=(1, 2)), before[0][:, 0], rtol=1e-12)


def split_of_a_grown_cluster(before: tuple[int, int], now: tuple[int, int], border: Sequence[float]) -> Mover:
    """Split a cluster whose halves had so many points each in the last batch and have so many now."""
    state, genealogy = make_state([(blob((0, 0), now[0], 1), blob((30, 0), now[1], 2))])
    past = [statistics(blob(centre, n, 3)) for centre, n in zip([(0, 0), (30, 0)], before, strict=True)]
    state.history.append(0.0, np.array([past]))
    state.history.advance(1.0, CONFIG.forgetting_kernel, CONFIG.epsilon)
    move = mover(state, genealogy)
    move.propose_splits(lambda: np.array(border))
    return move


@pytest.mark.parametrize(("newcomer", "id_of"), [(1, [0, 1]), (0, [1, 0])])
def test_what_came_into_view_at_the_edge_is_born(newcomer: int, id_of: list[int]) -> None:
    """However large it is, the other half keeps the id and has no child."""
    before, now, border = [50, 50], [50, 50], [0.0, 0.0]
    before[newcomer], now[newcomer], border[newcomer] = 5, 400, 30.0
    move = split_of_a_grown_cluster((before[0], before[1]), (now[0], now[1]), border)
    assert [(event.kind, event.ids, event.counts) for event in move.events] == [(Kind.BIRTH, (1,), (402.5,))]
    np.testing.assert_array_equal(move.id_of, id_of)
    assert move.genealogy.descendants(0) == ()
    counts = dict(zip(move.state.ids.tolist(), move.state.total[:, :, 0].sum(axis=1).tolist(), strict=True))
    assert counts == pytest.approx({0: 75.0, 1: 402.5})


def test_a_birth_changes_names_only() -> None:
    """Draws go by a cluster's index: the same split as a birth and as a child leaves the same model."""
    born = split_of_a_grown_cluster((50, 5), (50, 400), (0.0, 30.0)).state
    child = split_of_a_grown_cluster((50, 5), (50, 400), (0.0, 0.0)).state
    assert (born.ids.tolist(), child.ids.tolist()) == ([1, 0], [0, 1])
    np.testing.assert_array_equal(born.total, child.total)
    np.testing.assert_array_equal(born.history.records, child.history.records)


@pytest.mark.parametrize(
    ("before", "now", "border"),
    [
        pytest.param((50, 5), (50, 400), (0.0, 9.0), id="a new side of a thing in the middle"),
        pytest.param((50, 300), (50, 400), (0.0, 30.0), id="was there before"),
        pytest.param((5, 5), (50, 400), (20.0, 30.0), id="all of the cluster is new"),
        pytest.param((15, 0), (50, 400), (0.0, 30.0), id="too few points to know what it was"),
        pytest.param((50, 5), (50, 400), (30.0, 0.0), id="the other half lies at the edge"),
    ],
)
def test_whatever_else_breaks_free_is_a_child(
    before: tuple[int, int], now: tuple[int, int], border: tuple[float, float]
) -> None:
    move = split_of_a_grown_cluster(before, now, border)
    assert [(event.kind, event.ids) for event in move.events] == [(Kind.SPLIT, (0, 1))]
    assert move.genealogy.descendants(0) == (1,)


def test_newborn_sub_clusters_start_apart() -> None:
    state, genealogy = make_state([(blob((0, 0), 40, 1), blob((30, 0), 80, 2))])
    move = mover(state, genealogy)
    move.propose_splits(lambda: NO_BORDER)
    mean = state.total[:, :, 1:3] / state.total[:, :, :1]
    assert (np.linalg.norm(mean[:, 0] - mean[:, 1], axis=1) > 1.0).all()
    np.testing.assert_array_equal(state.age, 0)
    np.testing.assert_array_equal(state.subcluster_age, 0)


@pytest.mark.parametrize(("age", "rest"), [(4, 9), (9, 4), (0, 0)])
def test_no_split_before_the_burn_in_is_over(age: int, rest: int) -> None:
    state, genealogy = make_state([(blob((0, 0), 40, 1), blob((30, 0), 80, 2))])
    state.age[:], state.subcluster_age[:] = age, rest
    move = mover(state, genealogy)
    move.propose_splits(lambda: NO_BORDER)
    assert not move.events
    assert len(state.ids) == 1


def test_one_cloud_is_not_split() -> None:
    X = blob((0, 0), 400, 3)
    state, genealogy = make_state([(X[X[:, 0] > 0], X[X[:, 0] <= 0])])
    move = mover(state, genealogy, alpha=np.exp(-20.0))
    move.propose_splits(lambda: NO_BORDER)
    assert not move.events


def test_a_barren_sub_cluster_starts_afresh() -> None:
    """A sub-cluster without points could never find anything."""
    state, genealogy = make_state([(blob((0, 0), 40, 1), np.empty((0, 2)))])
    whole = state.total.sum(axis=1).copy()
    mover(state, genealogy).propose_splits(lambda: NO_BORDER)
    np.testing.assert_array_equal(state.current[0, :, 0], [20.0, 20.0])
    np.testing.assert_allclose(state.total.sum(axis=1), whole, rtol=1e-12)
    assert state.subcluster_age[0] == 0
    assert state.age[0] == 9


@pytest.mark.parametrize(("rest", "afresh"), [(7, False), (8, True)])
def test_sub_clusters_start_afresh_after_some_patience(rest: int, afresh: bool) -> None:
    X = blob((0, 0), 400, 3)
    state, genealogy = make_state([(X[:200], X[200:])])
    state.subcluster_age[:] = rest
    before = state.current.copy()
    mover(state, genealogy, alpha=np.exp(-50.0), restart=3).propose_splits(lambda: NO_BORDER)
    assert np.array_equal(state.current, before) != afresh
    assert state.subcluster_age[0] == (0 if afresh else rest)


# --- merges


def test_the_larger_of_two_merged_clusters_keeps_its_id() -> None:
    halves = [(blob((0, 0), 30, n), blob((0, 0), 30 + 10 * n, 9 + n)) for n in range(2)]
    state, genealogy = make_state(halves)
    S = state.total.sum(axis=1)
    move = mover(state, genealogy, alpha=np.exp(-10.0))
    move.propose_merges()
    assert [(event.kind, event.ids, event.counts) for event in move.events] == [(Kind.MERGE, (1, 0), (70.0, 60.0))]
    np.testing.assert_array_equal(state.ids, [1])
    np.testing.assert_array_equal(move.id_of, [1, 1, 1, 1])
    np.testing.assert_allclose(state.total[0], S[[1, 0]], rtol=1e-12)
    assert genealogy.live_ids == (1,)


def test_clusters_far_apart_stay_apart() -> None:
    state, genealogy = make_state([(blob((9 * k, 0), 30, k), blob((9 * k, 0), 30, 9 + k)) for k in range(3)])
    move = mover(state, genealogy)
    move.propose_merges()
    assert not move.events


def test_a_cluster_takes_part_in_one_move_of_a_sweep_only() -> None:
    state, genealogy = make_state([(blob((0, 0), 30, k), blob((0, 0), 30, 20 + k)) for k in range(5)])
    move = mover(state, genealogy, alpha=np.exp(-10.0))
    move.propose_merges()
    assert [event.kind for event in move.events] == [Kind.MERGE, Kind.MERGE]
    assert len({i for event in move.events for i in event.ids}) == 4
    assert sorted(genealogy.live_ids) == sorted(state.ids.tolist())
    assert len(state.ids) == 3


@pytest.mark.parametrize("seed", range(6))
def test_bounding_by_the_ratio_that_is_used_changes_no_merge(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small clusters, some of which merge for certain, some by chance and some never."""
    rng = np.random.default_rng(seed)
    halves = [(blob(x, 3, k), blob(x, 3, 50 + k)) for k, x in enumerate(rng.normal(0.0, 2.0, (12, 2)).round(2))]

    def merges() -> list[tuple[tuple[int, ...], float]]:
        move = mover(*make_state(halves), alpha=np.exp(-3.0), merge="original")
        move.propose_merges()
        return [(event.ids, event.log_hastings) for event in move.events]

    found = merges()
    monkeypatch.setattr(type(COMPONENT), "likely_merges", Component.likely_merges)
    assert found == merges()
    assert found


@pytest.mark.parametrize("young", [0, 1])
def test_no_merge_before_the_burn_in_is_over(young: int) -> None:
    state, genealogy = make_state([(blob((0, 0), 30, k), blob((0, 0), 30, 20 + k)) for k in range(2)])
    state.age[young] = 4
    move = mover(state, genealogy, alpha=np.exp(-10.0))
    move.propose_merges()
    assert not move.events


def test_what_was_just_split_is_not_merged_again() -> None:
    state, genealogy = make_state(
        [(blob((0, 0), 30, 1), blob((1, 0), 30, 2)), (blob((0, 0), 30, 3), blob((0, 0), 30, 4))]
    )
    move = mover(state, genealogy, alpha=np.exp(200.0), burn_in=0)
    move.propose_splits(lambda: NO_BORDER)
    split = {i for event in move.events for i in event.ids}
    assert split == {0, 1, 2, 3}
    move.config = replace(CONFIG, alpha=np.exp(-200.0), burn_in=0)
    move.propose_merges()
    assert {event.kind for event in move.events} == {Kind.SPLIT}


# --- deaths


def test_a_cluster_without_weight_or_points_dies() -> None:
    state, genealogy = make_state([(blob((0, 0), 30, 1), blob((1, 0), 30, 2))] * 4)
    state.current[1] *= 0.5 / 60.0
    state.current[2] *= 0.5 / 60.0
    state.current[3] *= 1.0 / 60.0
    move = mover(state, genealogy)
    # Cluster 2 has as little weight as cluster 1, but owns a point (which weighs next to nothing).
    move.remove_dead(np.array([True, True, False, False, False, True, False, False]))
    assert [(event.kind, event.ids) for event in move.events] == [(Kind.DEATH, (1,))]
    assert sorted(state.ids.tolist()) == [0, 2, 3]
    assert genealogy.live_ids == (0, 2, 3)
    np.testing.assert_allclose(
        state.total[state.ids == 0].sum(), (statistics(blob((0, 0), 30, 1)) + statistics(blob((1, 0), 30, 2))).sum()
    )
