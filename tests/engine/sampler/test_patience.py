"""Hidden clusters: what splits off goes by its owner's id until it has lasted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from scstream import Gaussian, ModelFileError, Parameters, ScStream, VideoSegmenter, persistence
from scstream.predictions import best_ids, likely_ids
from scstream.sampler.genealogy import Event, Genealogy, Kind
from scstream.sampler.history import History
from scstream.sampler.moves import Mover
from scstream.sampler.naming import Naming
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import State

Array = npt.NDArray[np.float64]
Frame = npt.NDArray[np.uint8]

COMPONENT = Gaussian(1.0, np.zeros(2), 5.0, np.eye(2)).bind(np.zeros((1, 2)), np.ones(1))


# --- streams


def restless(n_batches: int, seed: int = 0) -> Iterator[Array]:
    """Groups of points that part, meet and vanish."""
    rng = np.random.default_rng(seed)
    for t in range(n_batches):
        places = [(6 * np.sin(t / 4 + i), 4.0 * i - 6 + 2 * np.cos(t / 3 * i)) for i in range(4) if (t // 5 + i) % 4]
        yield np.concatenate([rng.normal(place, 0.6 + 0.3 * np.sin(t / 2), (70, 2)) for place in places])


def visited(n_batches: int, visits: Sequence[int]) -> Iterator[Array]:
    """Two groups of points, and a third in some of the batches."""
    rng = np.random.default_rng(0)
    for t in range(n_batches):
        groups = [((0, 0), 120), ((6, 0), 80 if t in visits else 0), ((0, 12), 90)]
        yield np.concatenate([rng.normal(place, 0.5, (n, 2)) for place, n in groups])


def lively(patience: int, seed: int = 3, **changes: Any) -> ScStream:
    options: dict[str, Any] = {"alpha": 100.0, "decay": 0.4, "burn_in": 1, "sweeps": 2, "max_init_sweeps": 40}
    return ScStream(Gaussian(psi=0.5), patience=patience, seed=seed, **{**options, **changes})


def forgetful(patience: int) -> ScStream:
    """A model that splits once as the third group of `visited` comes, and forgets it soon after it has gone."""
    return lively(patience, decay=2.0, revise=None)


def sampler_of(model: ScStream | VideoSegmenter) -> Sampler:
    assert model._sampler is not None
    return model._sampler


def check_names(sampler: Sampler) -> None:
    """Check what must hold after every batch and every manual move."""
    state, genealogy = sampler.state, sampler.genealogy
    assert len(np.unique(state.ids)) == len(state.ids)
    assert tuple(np.sort(state.ids[state.announced])) == genealogy.live_ids
    assert set(state.owner.tolist()) == set(genealogy.live_ids)
    assert genealogy.state()["pending"].tolist() == sorted(state.ids[state.hidden].tolist())
    assert not (state.newcomer & ~state.hidden).any()


def retell(tree: Genealogy, events: Sequence[Event]) -> None:
    """Record events in a genealogy that knows nothing else."""
    for event in events:
        while tree.n_ids <= max(event.ids):
            tree.new_id()
        tree.record(event)


# --- streams of points


@pytest.mark.parametrize("follow", ["nothing", "clusters"])
@pytest.mark.parametrize("revise", [None, 3])
def test_patience_changes_names_only(follow: str, revise: int | None) -> None:
    now, later = (lively(patience, follow=follow, revise=revise) for patience in (0, 4))
    n_hidden = 0
    for X in restless(40):
        now.partial_fit(X)
        later.partial_fit(X)
        one, other = sampler_of(now).state, sampler_of(later).state
        np.testing.assert_array_equal(one.current, other.current)
        np.testing.assert_array_equal(one.history.records, other.history.records)
        index = [one.ids.tolist().index(id) for id in now.labels_]
        np.testing.assert_array_equal(later.labels_, other.owner[index])
        assert now.log_posterior_ == later.log_posterior_
        n_hidden += int(other.hidden.sum())
    assert n_hidden > 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("patience", "revise"), [(0, None), (1, None), (3, 3), (10, None), (10, 4)])
def test_events_tell_of_all_ids_that_are_seen(patience: int, revise: int | None, seed: int) -> None:
    model, replay = lively(patience, seed, revise=revise), Genealogy()
    for X in restless(40, seed):
        model.partial_fit(X)
        check_names(sampler_of(model))
        retell(replay, model.events_)
        assert replay.live_ids == model.genealogy_.live_ids == tuple(sorted(model.ids_))
        assert set(model.labels_) <= set(replay.live_ids)
        assert model.weights_.sum() == pytest.approx(1.0)
        assert model.n_clusters_ == len(model.clusters_) == len(model.means_)


def test_a_child_that_dies_young_is_never_seen() -> None:
    eager, patient = forgetful(0), forgetful(8)
    told, seen = [], set()
    for t, X in enumerate(visited(20, range(6, 9))):
        told += [event.kind for event in eager.partial_fit(X).events_ if t > 0]
        patient.partial_fit(X)
        assert t == 0 or patient.events_ == []
        seen |= set(patient.labels_)
    assert told == [Kind.SPLIT, Kind.DEATH]
    assert seen == {0, 1}


@pytest.mark.parametrize("patience", [1, 5])
def test_a_child_that_lasts_is_announced(patience: int) -> None:
    models = forgetful(0), forgetful(patience)
    splits: list[list[Event]] = [[], []]
    for X in visited(20, range(6, 20)):
        for model, found in zip(models, splits, strict=True):
            found += [event for event in model.partial_fit(X).events_ if event.kind is Kind.SPLIT]
    (first,), (second,) = splits
    assert second.batch == first.batch + patience
    assert second.ids == first.ids
    assert second.counts[0] > second.counts[1] > 0.0
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    assert models[1].genealogy_.born(second.ids[1]) == second.time


def hiding_model() -> tuple[ScStream, Array]:
    """A model with one hidden cluster, and its last batch."""
    model = forgetful(50)
    for X in visited(10, range(6, 10)):
        model.partial_fit(X)
    assert sampler_of(model).state.hidden.sum() == 1
    return model, X


def test_hidden_clusters_are_announced_when_patience_ends() -> None:
    model, X = hiding_model()
    assert model.events_ == []
    model.set_params(patience=0).partial_fit(X)
    assert [event.kind for event in model.events_] == [Kind.SPLIT]
    assert len(set(model.labels_)) == 3


def test_predictions_know_announced_clusters_alone() -> None:
    model, X = hiding_model()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.ids_[probabilities.argmax(axis=1)], model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.means_[0], X[:200].mean(axis=0), atol=0.5)


def test_the_prediction_is_the_most_likely_owner() -> None:
    model, X = hiding_model()
    grid = np.stack(np.meshgrid(*(np.linspace(X[:, d].min(), X[:, d].max(), 60) for d in range(2))), -1).reshape(-1, 2)
    best = model.ids_[model.predict_proba(grid).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(grid), best)
    scores = np.log([[0.3, 0.3, 0.4]])
    assert likely_ids(scores, np.arange(3), np.array([0, 2]), np.array([7, 9])).tolist() == [7]
    assert best_ids(scores, np.array([7, 8, 9])).tolist() == [9]


def test_a_new_start_forgets_hidden_clusters() -> None:
    model, X = hiding_model()
    before = model.genealogy_.live_ids
    model.partial_fit(X, time=1000.0)
    assert [event.ids[0] for event in model.events_ if event.kind is Kind.DEATH] == list(before)
    check_names(sampler_of(model))


def test_patience_is_a_number_of_batches() -> None:
    with pytest.raises(ValueError, match="patience must be"):
        Parameters(patience=-1)


# --- saving


def test_a_loaded_model_remembers_what_is_hidden(tmp_path: Path) -> None:
    model = lively(5)
    n_saved = 0
    for t, X in enumerate(restless(30)):
        model.partial_fit(X)
        if t < 29 and sampler_of(model).state.hidden.any() and n_saved < 5:
            n_saved += 1
            model.save(tmp_path / "model.npz")
            loaded = ScStream.load(tmp_path / "model.npz")
            assert loaded.patience == 5
            np.testing.assert_array_equal(loaded.ids_, model.ids_)
            again = loaded
        elif n_saved:
            again.partial_fit(X)
            np.testing.assert_array_equal(again.labels_, model.labels_)
            assert again.events_ == model.events_
    assert n_saved == 5


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("owner", lambda owner: owner[:-1]),
        ("owner", lambda owner: owner + 100),
        ("owner", lambda owner: np.full_like(owner, owner.max() + 1)),
        ("newcomer", lambda newcomer: newcomer[:-1]),
        ("newcomer", lambda newcomer: newcomer + 2),
        ("newcomer", np.ones_like),
        ("genealogy.pending", lambda pending: pending[:0]),
    ],
)
def test_damaged_owners_are_refused(name: str, damage: Any, tmp_path: Path) -> None:
    hiding_model()[0].save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    arrays[name] = damage(arrays[name])
    persistence.write(tmp_path / "model.npz", meta, arrays)
    with pytest.raises(ModelFileError, match="damaged"):
        ScStream.load(tmp_path / "model.npz")


def test_files_without_owners_announce_everything(tmp_path: Path) -> None:
    model = forgetful(0)
    for X in visited(10, range(6, 10)):
        model.partial_fit(X)
    model.save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    del arrays["owner"], arrays["newcomer"], meta["parameters"]["patience"]
    persistence.write(tmp_path / "model.npz", meta, arrays)
    loaded = ScStream.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.ids_, model.ids_)
    check_names(sampler_of(loaded))


# --- single moves


def clusters(*given: tuple[int, int, float], newcomer: Sequence[int] = ()) -> tuple[State, Genealogy]:
    """Clusters with the ids 0, 1, ..., each given as owner, number of points and place."""
    genealogy, K = Genealogy(), len(given)
    current = np.zeros((K, 2, COMPONENT.n_statistics))
    for k, (owner, n, place) in enumerate(given):
        id = genealogy.new_id()
        if owner == id:
            genealogy.record(Event(Kind.BIRTH, 0.0, 0, (id,), np.nan, (float(n),)))
        X = np.random.default_rng(k).normal((place, 0.0), 1.0, (n, 2))
        current[k] = COMPONENT.statistics(X, np.ones(n), np.arange(n, dtype=np.int32) % 2, 2)
    state = State(
        history=History(K, COMPONENT.n_statistics),
        current=current,
        ids=np.arange(K),
        age=np.full(K, 9),
        subcluster_age=np.full(K, 9),
        born=np.arange(K),
        batch=20,
        owner=np.array([owner for owner, _, _ in given]),
        newcomer=np.isin(np.arange(K), newcomer),
    )
    return state, genealogy


def mover(state: State, genealogy: Genealogy) -> Mover:
    config = Parameters(alpha=1.0, restart=None, merge="paper", patience=5)
    return Mover(config, COMPONENT, state, genealogy, 20.0, np.random.default_rng(0))


def merged(state: State, genealogy: Genealogy) -> Mover:
    move = mover(state, genealogy)
    move.propose_merges()
    check_state(state, genealogy)
    return move


def check_state(state: State, genealogy: Genealogy) -> None:
    check_names(Sampler(Parameters(), COMPONENT, state, genealogy, 20.0, np.repeat(state.ids, 2)))


def told(naming: Naming) -> list[tuple[Kind, tuple[int, ...], tuple[float, ...]]]:
    return [(event.kind, event.ids, event.counts) for event in naming.events]


def test_an_announced_name_survives_a_larger_hidden_one() -> None:
    state, genealogy = clusters((0, 50, 0.0), (2, 300, 0.0), (2, 40, 90.0))
    move = merged(state, genealogy)
    assert told(move) == []
    assert sorted(state.ids.tolist()) == [0, 2]
    assert state.born[state.ids == 0] == 0
    np.testing.assert_array_equal(move.id_of, [0, 0, 0, 0, 2, 2])
    assert genealogy.live_ids == (0, 2)


def test_a_cluster_that_rejoins_its_owner_leaves_no_trace() -> None:
    state, genealogy = clusters((0, 200, 0.0), (0, 50, 0.0))
    move = merged(state, genealogy)
    assert (told(move), state.ids.tolist()) == ([], [0])
    assert genealogy.n_ids == 2


def test_two_hidden_clusters_belong_to_the_owner_of_the_larger_one() -> None:
    state, genealogy = clusters((0, 60, -90.0), (1, 60, 90.0), (0, 80, 0.0), (1, 120, 0.0))
    move = merged(state, genealogy)
    assert told(move) == []
    assert state.owner[state.hidden].tolist() == [1]


def test_the_largest_heir_takes_over_the_id_of_an_absorbed_cluster() -> None:
    state, genealogy = clusters((0, 200, 0.0), (1, 100, 0.0), (1, 30, 12.0), (1, 50, -12.0))
    move = merged(state, genealogy)
    assert told(move) == []
    counts = dict(zip(state.ids.tolist(), state.total[:, :, 0].sum(axis=1).tolist(), strict=True))
    assert counts == {0: 300.0, 1: 50.0, 2: 30.0}
    assert (state.owner[state.ids == 2], state.born[state.ids == 1]) == (1, 1)
    np.testing.assert_array_equal(move.id_of, [0, 0, 0, 0, 2, 2, 1, 1])


def test_a_merge_of_announced_clusters_counts_what_is_hidden() -> None:
    state, genealogy = clusters((0, 200, 0.0), (1, 100, 0.0), (0, 30, 60.0))
    assert told(merged(state, genealogy)) == [(Kind.MERGE, (0, 1), (230.0, 100.0))]


def test_the_largest_heir_takes_over_the_id_of_a_dead_cluster() -> None:
    state, genealogy = clusters((0, 0, 0.0), (0, 0, 0.0), (0, 40, 30.0), (0, 50, 60.0), (4, 0, 0.0))
    move = mover(state, genealogy)
    move.remove_dead(np.repeat([False, False, True, True, False], 2))
    check_state(state, genealogy)
    assert told(move) == [(Kind.DEATH, (4,), (0.0,))]
    counts = dict(zip(state.ids.tolist(), state.total[:, :, 0].sum(axis=1).tolist(), strict=True))
    assert counts == {0: 50.0, 2: 40.0}


def test_an_owner_that_dies_with_all_its_heirs_is_dead() -> None:
    state, genealogy = clusters((0, 0, 0.0), (0, 0, 0.0), (2, 40, 30.0))
    move = mover(state, genealogy)
    move.remove_dead(np.repeat([False, False, True], 2))
    check_state(state, genealogy)
    assert told(move) == [(Kind.DEATH, (0,), (0.0,))]


def announced(state: State, genealogy: Genealogy, used: Sequence[bool] | None = None, patience: int = 5) -> Naming:
    naming = Naming(state, genealogy, 20.0)
    naming.announce_lasting(np.repeat([True] * len(state.ids) if used is None else used, 2), patience)
    check_state(state, genealogy)
    return naming


def test_the_larger_part_keeps_the_id_when_a_split_is_announced() -> None:
    state, genealogy = clusters((0, 30, 0.0), (0, 90, 10.0), (0, 20, 20.0))
    state.born[:] = 0, 15, 16
    naming = announced(state, genealogy)
    assert told(naming) == [(Kind.SPLIT, (0, 1), (90.0, 50.0))]
    assert (state.ids.tolist(), state.owner.tolist()) == ([1, 0, 2], [1, 0, 1])
    assert state.born.tolist() == [20, 0, 16]
    np.testing.assert_array_equal(naming.id_of, [1, 1, 0, 0, 2, 2])


def test_a_hidden_newcomer_is_born() -> None:
    state, genealogy = clusters((0, 30, 0.0), (0, 90, 10.0), newcomer=[1])
    assert told(announced(state, genealogy)) == [(Kind.BIRTH, (1,), (90.0,))]
    assert state.ids.tolist() == [0, 1]


def test_children_have_larger_ids_than_their_parents() -> None:
    """Model files rely on it, also where a cluster has changed its owner."""
    state, genealogy = clusters((0, 10, 0.0), (2, 30, 10.0), (2, 90, 20.0))
    assert told(announced(state, genealogy)) == [(Kind.SPLIT, (2, 3), (90.0, 30.0))]
    assert genealogy.state()["pending"].tolist() == []


@pytest.mark.parametrize("used", [(True, False, True), (False, True, True)])
def test_what_is_out_of_sight_is_not_announced(used: tuple[bool, ...]) -> None:
    state, genealogy = clusters((0, 90, 0.0), (0, 30, 10.0), (2, 40, 20.0))
    assert told(announced(state, genealogy, used)) == []
    assert told(announced(state, genealogy)) == [(Kind.SPLIT, (0, 1), (90.0, 30.0))]


def test_a_locked_segment_stays_whole() -> None:
    state, genealogy = clusters((0, 90, 0.0), (0, 30, 10.0))
    state.lock([0])
    assert told(announced(state, genealogy)) == []
    state.lock([])
    assert told(announced(state, genealogy)) == [(Kind.SPLIT, (0, 1), (90.0, 30.0))]


def test_an_heir_of_a_locked_cluster_is_locked() -> None:
    state, genealogy = clusters((0, 0, 0.0), (0, 50, 10.0), (2, 40, 20.0))
    state.lock([0])
    assert (state.locked_owners, state.unlocked.tolist()) == ({0}, [False, False, True])
    mover(state, genealogy).remove_dead(np.repeat([False, True, True], 2))
    assert (state.locked, state.locked_owners) == ({0}, {0})
    assert dict(zip(state.ids.tolist(), state.unlocked.tolist(), strict=True)) == {0: False, 2: True}


def test_an_owner_is_locked_if_all_its_clusters_are() -> None:
    state, _ = clusters((0, 10, 0.0), (0, 50, 10.0), (2, 40, 20.0))
    state.locked = frozenset({0, 2})
    assert state.locked_owners == {2}


def test_hidden_parts_of_a_hidden_cluster_have_its_owner() -> None:
    state, genealogy = clusters((0, 90, 0.0), (0, 0, 0.0), newcomer=[1])
    for j, (place, n) in enumerate([(40.0, 60), (80.0, 50)]):
        X = np.random.default_rng(j).normal((place, 0.0), 1.0, (n, 2))
        state.current[1, j] = COMPONENT.statistics(X, np.ones(n), np.zeros(n, np.int32), 1)[0]
    move = mover(state, genealogy)
    move.propose_splits(lambda: np.zeros(4))
    check_state(state, genealogy)
    assert (told(move), state.owner.tolist(), state.newcomer.tolist()) == ([], [0, 0, 0], [False, True, True])


def test_a_larger_newcomer_hides_behind_the_id_of_what_was_there() -> None:
    state, genealogy = clusters((0, 10, 0.0))
    for layer, sizes in (("past", (50, 5)), ("now", (50, 400))):
        halves = np.zeros((1, 2, COMPONENT.n_statistics))
        for j, n in enumerate(sizes):
            X = np.random.default_rng(j).normal((30.0 * j, 0.0), 1.0, (n, 2))
            halves[0, j] = COMPONENT.statistics(X, np.ones(n), np.zeros(n, np.int32), 1)[0]
        if layer == "now":
            state.current = halves
        else:
            state.history.append(19.0, halves)
            state.history.advance(20.0, Parameters().forgetting_kernel, 0.0)
    move = mover(state, genealogy)
    move.propose_splits(lambda: np.array([0.0, 30.0]))
    check_state(state, genealogy)
    assert (told(move), state.ids.tolist(), state.newcomer.tolist()) == ([], [1, 0], [True, False])
    state.batch += 5
    assert told(announced(state, genealogy)) == [(Kind.BIRTH, (1,), (402.5,))]


# --- video


def frames(n_frames: int, shown: Sequence[int] = ()) -> Iterator[Frame]:
    """Ground and sky; in some frames the ground has a square of another colour."""
    rng = np.random.default_rng(0)
    for t in range(n_frames):
        frame = np.full((48, 64, 3), (60, 110, 60))
        frame[:16] = 120, 160, 230
        if t in shown:
            frame[24:40, 20:40] = 150, 110, 60
        yield np.clip(frame + rng.normal(0.0, 6.0, frame.shape), 0, 255).astype(np.uint8)


SQUARE = (slice(24, 40), slice(20, 40))


def hiding(steadiness: float = 2.0, n_frames: int = 10) -> VideoSegmenter:
    """A segmenter that has seen the square appear, but has not announced it."""
    segmenter = VideoSegmenter(seed=0, smoothing=0.0, steadiness=steadiness, max_init_sweeps=30)
    for frame in frames(n_frames, range(3, n_frames)):
        segmenter.segment(frame)
    assert sampler_of(segmenter).state.hidden.any()
    assert (segmenter.ids_[SQUARE] == segmenter.ids_[-1, -1]).mean() > 0.9
    return segmenter


def test_steadiness_sets_the_patience() -> None:
    assert [VideoSegmenter(steadiness=s).parameters.patience for s in (0.0, 0.5, 1.0)] == [0, 6, 12]
    segmenter = VideoSegmenter()
    assert segmenter.set_params(steadiness=0.2).parameters.patience == 2
    assert "patience" not in segmenter.get_params()


def test_a_square_is_announced_when_it_has_lasted() -> None:
    segmenter = VideoSegmenter(seed=0, smoothing=0.0, steadiness=0.5, max_init_sweeps=30)
    announced_at = []
    replay = Genealogy()
    for t, frame in enumerate(frames(16, range(3, 16))):
        ids = segmenter.segment(frame)
        check_names(sampler_of(segmenter))
        retell(replay, segmenter.events_)
        assert set(np.unique(ids)) <= set(replay.live_ids) == set(segmenter.statistics_["id"])
        rows = {int(row["id"]): row for row in segmenter.statistics_}
        assert all(row["pixels"] == np.count_nonzero(ids == id) for id, row in rows.items())
        assert all(row["age"] == t - row["born"] for row in rows.values())
        announced_at += [t for event in segmenter.events_ if event.kind is Kind.SPLIT]
    assert announced_at
    assert announced_at[0] >= 8
    assert (ids[SQUARE] == ids[-1, -1]).mean() < 0.1


def test_a_square_that_is_gone_soon_is_never_seen() -> None:
    segmenter = VideoSegmenter(seed=0, smoothing=0.0, steadiness=1.0, max_init_sweeps=30)
    seen: set[int] = set()
    for t, frame in enumerate(frames(25, range(3, 8))):
        seen |= set(segmenter.segment(frame).ravel().tolist())
        state = sampler_of(segmenter).state
        if t == 7:
            square = int(state.ids[state.hidden & (np.abs(state.current[:, :, 0].sum(axis=1) - 320) < 20)][0])
    assert square not in seen | set(state.ids.tolist())
    assert square not in segmenter.model_.genealogy_


def test_a_manual_split_announces_what_is_hidden() -> None:
    segmenter = hiding()
    ground = int(segmenter.ids_[-1, -1])
    mask, before = segmenter.split_mask(ground), segmenter.ids_.copy()
    assert 0 < mask.sum() < (before == ground).sum() / 2
    assert (before[mask] == ground).all()
    new = segmenter.split(ground)
    np.testing.assert_array_equal(segmenter.ids_, before)
    check_names(sampler_of(segmenter))
    *_, frame = frames(11, range(3, 11))
    ids = segmenter.segment(frame)
    assert (segmenter.events_[0].kind, segmenter.events_[0].ids) == (Kind.SPLIT, (ground, new))
    assert ((ids == new) == mask).mean() > 0.95


def test_a_manual_split_of_what_hides_nothing_is_announced_at_once() -> None:
    segmenter = hiding()
    sky = int(segmenter.ids_[0, 0])
    new = segmenter.split(sky)
    *_, frame = frames(11, range(3, 11))
    ids = segmenter.segment(frame)
    assert segmenter.events_[0].ids == (sky, new)
    assert new in ids
    with pytest.raises(KeyError, match="not alive"):
        segmenter.split(int(sampler_of(segmenter).state.ids[sampler_of(segmenter).state.hidden][0]))


def test_a_manual_merge_takes_the_hidden_clusters_along() -> None:
    segmenter = hiding()
    ground, sky = int(segmenter.ids_[-1, -1]), int(segmenter.ids_[0, 0])
    before = {int(row["id"]): int(row["pixels"]) for row in segmenter.statistics_}
    survivor = segmenter.merge([sky, ground])
    assert survivor == max(before, key=lambda id: before[id]) == ground
    check_names(sampler_of(segmenter))
    *_, frame = frames(11, range(3, 11))
    ids = segmenter.segment(frame)
    assert (segmenter.events_[0].kind, segmenter.events_[0].ids) == (Kind.MERGE, (ground, sky))
    assert sky not in ids


def test_an_absorbed_segment_leaves_its_hidden_clusters_to_the_survivor() -> None:
    state, genealogy = clusters((0, 100, 0.0), (1, 60, 20.0), (1, 70, 40.0), (0, 10, 60.0))
    state.lock([0])
    move = mover(state, genealogy)
    assert move.force_merge(0, 1) == 1
    check_state(state, genealogy)
    assert told(move) == [(Kind.MERGE, (1, 0), (130.0, 110.0))]
    assert set(state.owner.tolist()) == {1}
    assert state.unlocked.all()


def test_hidden_clusters_are_locked_with_their_owner() -> None:
    segmenter = hiding()
    state = sampler_of(segmenter).state
    ground = int(segmenter.ids_[-1, -1])
    segmenter.locked_ = {ground}
    assert segmenter.locked_ == {ground}
    np.testing.assert_array_equal(state.unlocked, state.owner != ground)
    segmenter.locked_ = segmenter.locked_ - {ground}
    assert state.unlocked.all()


def test_a_restart_forgets_hidden_clusters() -> None:
    segmenter = hiding()
    live = sampler_of(segmenter).genealogy.live_ids
    segmenter.restart()
    *_, frame = frames(11, range(3, 11))
    ids = segmenter.segment(frame)
    assert [event.ids[0] for event in segmenter.events_ if event.kind is Kind.DEATH] == list(live)
    check_names(sampler_of(segmenter))
    assert ids[30, 30] != ids[-1, -1]


def test_a_loaded_segmenter_announces_at_the_same_frame(tmp_path: Path) -> None:
    segmenter = hiding(0.8, 9)
    segmenter.save(tmp_path / "video.npz")
    loaded = VideoSegmenter.load(tmp_path / "video.npz")
    kinds = set()
    for frame in list(frames(18, range(3, 18)))[9:]:
        np.testing.assert_array_equal(loaded.segment(frame), segmenter.segment(frame))
        assert loaded.events_ == segmenter.events_
        kinds |= {event.kind for event in loaded.events_}
    assert Kind.SPLIT in kinds
