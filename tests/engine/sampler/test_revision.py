"""Revisions: clusters that the moves cannot mend are replaced, and what is right stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from reference import Array, Ints
from scstream import DiagonalGaussian, Gaussian, Multinomial, ScStream, persistence
from scstream.errors import ModelFileError
from scstream.metrics import ari
from scstream.sampler import sampler as sampler_module
from scstream.sampler.genealogy import Kind
from scstream.sampler.points import Rows
from scstream.sampler.recent import RecentPoints
from scstream.sampler.revision import Outcome, _matches, revise
from scstream.sampler.sampler import Sampler
from scstream.streams import gaussian_stream, multinomial_stream

PRIOR = Gaussian(m=np.zeros(2), nu=4.0, psi=0.5)


def scattered(rng: np.random.Generator, n: int = 1000) -> tuple[Array, Ints]:
    """Twenty tight clusters over a wide plane, always at the same places."""
    centres = np.random.default_rng(0).normal(0.0, 60.0, (20, 2))
    y = rng.integers(0, 20, n)
    return centres[y] + rng.normal(size=(n, 2)), y


def stuck_model(**parameters: Any) -> ScStream:
    """A model that holds twenty scattered clusters as one, from which no split leads on."""
    X, _ = scattered(np.random.default_rng(1))
    model = ScStream(PRIOR, alpha=1e4, decay=0.3, seed=0, **parameters).fit(X)
    sampler = model._fitted()
    whole = sampler.state.total.sum(axis=(0, 1))[None]
    merged = Sampler.begin_with(sampler.config, sampler.component, whole, 0.0)
    merged.register_births()
    merged.state.history.append(0.0, merged.state.current)
    model._sampler = merged
    return model


def test_a_model_that_is_stuck_at_one_cluster_finds_twenty() -> None:
    rng = np.random.default_rng(2)
    model = stuck_model(revise=4)
    for _ in range(3):
        model.partial_fit(scattered(rng)[0])
    assert model.n_clusters_ < 5
    for _ in range(5):
        X, y = scattered(rng)
        model.partial_fit(X)
    assert 19 <= model.n_clusters_ <= 22
    assert ari(y, model.labels_) > 0.95


def test_without_revisions_it_stays_stuck() -> None:
    """Otherwise the test above would prove nothing."""
    rng = np.random.default_rng(2)
    model = stuck_model(revise=None)
    for _ in range(8):
        model.partial_fit(scattered(rng)[0])
    assert model.n_clusters_ < 10


@pytest.mark.parametrize("component", [None, DiagonalGaussian()])
def test_clusters_that_come_after_the_first_batch_are_found_at_once(component: DiagonalGaussian | None) -> None:
    """The first batch shows one cluster of six, so that a prior from it expects no others far away."""
    rng = np.random.default_rng(12)
    centres = rng.uniform(-25.0, 25.0, (6, 2))
    model = ScStream(component, seed=0).fit(centres[0] + rng.normal(size=(500, 2)))
    (first,) = model.ids_
    for _ in range(3):
        y = rng.integers(0, 6, 500)
        model.partial_fit(centres[y] + rng.normal(size=(500, 2)))
        assert ari(y, model.labels_) > 0.95
        assert first in model.ids_


def test_counts_of_new_topics_are_found_at_once() -> None:
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(40, 0.2), 6)
    model = ScStream(Multinomial(), seed=0)
    for known in (1, 1, 6, 6):
        y = rng.integers(0, known, 400)
        model.partial_fit(rng.multinomial(60, topics[y]).astype(float))
    assert ari(y, model.labels_) > 0.95


def test_a_few_points_far_away_do_not_drop_the_recent_points() -> None:
    rng = np.random.default_rng(5)
    model = ScStream(seed=0).fit(rng.normal(size=(500, 2)))
    model.partial_fit(rng.normal(size=(500, 2)))
    before = model._fitted().recent.n_points
    model.partial_fit(rng.normal(90.0, 1.0, (5, 2)))
    assert model._fitted().recent.n_points == before + 5


@pytest.mark.parametrize("follow", ["nothing", "clusters"])
def test_clusters_that_stay_or_drift_slowly_need_no_revision(follow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    revisions = []
    monkeypatch.setattr(sampler_module, "revise", lambda mover, recent, size: revisions.append(mover.state.batch))
    model = ScStream(seed=0, revise=10, follow=follow)
    for X, _ in gaussian_stream(12, 500, 6, 2, spread=20.0, seed=4):
        model.partial_fit(X)
    assert revisions == [10]


def revised_batches(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> list[int]:
    """Numbers of the batches that will have been revised, with these outcomes and then the last one of them again."""
    revised: list[int] = []

    def pretend(mover: Any, recent: RecentPoints, size: float) -> Outcome:
        revised.append(mover.state.batch)
        return outcomes[min(len(revised), len(outcomes)) - 1]

    monkeypatch.setattr(sampler_module, "revise", pretend)
    return revised


def learn(model: ScStream, n: int) -> ScStream:
    rng = np.random.default_rng(0)
    for _ in range(n):
        model.partial_fit(rng.normal(size=(60, 2)))
    return model


def test_each_revision_that_finds_the_same_clusters_doubles_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    revised = revised_batches(monkeypatch, Outcome.SAME)
    learn(ScStream(seed=0, revise=2, max_init_sweeps=5), 32)
    assert revised == [2, 6, 14, 22, 30]


@pytest.mark.parametrize("outcome", [Outcome.BETTER, Outcome.OTHER])
def test_a_revision_that_finds_other_clusters_ends_the_longer_wait(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    revised = revised_batches(monkeypatch, Outcome.SAME, Outcome.SAME, outcome, Outcome.SAME)
    learn(ScStream(seed=0, revise=2, max_init_sweeps=5), 22)
    assert revised == [2, 6, 14, 16, 20]


def test_clusters_that_lie_apart_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []

    def note(*arguments: Any) -> Outcome:
        outcomes.append(revise(*arguments))
        return outcomes[-1]

    monkeypatch.setattr(sampler_module, "revise", note)
    model = ScStream(PRIOR, alpha=10.0, seed=0, revise=1)
    for X, _ in gaussian_stream(4, 500, 6, 2, spread=60.0, drift=0.0, seed=4):
        model.partial_fit(X)
    assert outcomes == [Outcome.SAME] * len(outcomes)
    assert len(outcomes) == 2


@pytest.mark.parametrize("n_before", range(1, 9))
def test_a_loaded_model_waits_as_long_as_the_saved_one(
    n_before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revised = revised_batches(monkeypatch, Outcome.SAME)
    model = learn(ScStream(seed=0, revise=2, max_init_sweeps=5), n_before)
    model.save(tmp_path / "model.npz")
    learn(ScStream.load(tmp_path / "model.npz"), 16 - n_before)
    assert revised == [2, 6, 14]


def test_a_file_without_the_counts_waits_for_the_next_multiple(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revised = revised_batches(monkeypatch, Outcome.OTHER)
    learn(ScStream(seed=0, revise=4, max_init_sweeps=5), 7).save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    del meta["since_revision"], meta["revision_wait"]
    persistence.write(tmp_path / "model.npz", meta, arrays)
    learn(ScStream.load(tmp_path / "model.npz"), 6)
    assert revised == [4, 8, 12]


@pytest.mark.parametrize(("name", "value"), [("since_revision", -1), ("revision_wait", 0), ("revision_wait", 99)])
def test_impossible_counts_are_refused(name: str, value: int, tmp_path: Path) -> None:
    learn(ScStream(seed=0, max_init_sweeps=5), 2).save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    persistence.write(tmp_path / "model.npz", {**meta, name: value}, arrays)
    with pytest.raises(ModelFileError, match=name):
        ScStream.load(tmp_path / "model.npz")


def test_a_revision_tells_its_splits_and_keeps_the_id() -> None:
    rng = np.random.default_rng(2)
    model = stuck_model(revise=1)
    (first,) = model.ids_
    model.partial_fit(scattered(rng)[0])
    splits = [event for event in model.events_ if event.kind is Kind.SPLIT and np.isnan(event.log_hastings)]
    assert len(splits) >= 10
    assert {event.ids[0] for event in splits} == {first}
    assert first in model.ids_
    assert set(model.ids_.tolist()) == set(model.genealogy_.live_ids)
    assert set(model.labels_.tolist()) <= set(model.ids_.tolist())


@pytest.mark.parametrize("component", [None, DiagonalGaussian(), Gaussian(psi=1.0)])
def test_clusters_that_are_right_are_left_alone(component: Gaussian | None) -> None:
    """The same labels, events and statistics as without revisions."""
    rng = np.random.default_rng(0)
    with_revisions, without = ScStream(component, seed=0, revise=2), ScStream(component, seed=0, revise=None)
    centres = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0], [30.0, 30.0]])
    for _ in range(9):
        X = centres[rng.integers(0, 4, 400)] + rng.normal(size=(400, 2))
        np.testing.assert_array_equal(with_revisions.partial_fit(X).labels_, without.partial_fit(X).labels_)
        assert with_revisions.events_ == without.events_
    np.testing.assert_array_equal(with_revisions.means_, without.means_)


def test_many_clusters_are_left_alone() -> None:
    """A revision on 500 points of the first large batch found fewer clusters, and replaced the right ones by them."""
    rng = np.random.default_rng(0)
    centres = 10.0 * np.arange(100.0)[:, None]
    model = ScStream(Gaussian(1e-6, np.zeros(1), 3.0, 3.0 * np.eye(1)), decay=0.0, seed=0)
    for n in (40, 400):
        y = np.repeat(np.arange(100), n)
        model.partial_fit(centres[y] + rng.normal(size=(len(y), 1)))
        assert model.n_clusters_ == 100


def test_still_and_drifting_clusters_keep_their_number() -> None:
    for drift in (0.0, 0.1):
        model = ScStream(PRIOR, alpha=10.0, decay=0.3, seed=0)
        scores = []
        for X, y in gaussian_stream(40, n_clusters=8, batch_size=500, drift=drift, box=30.0, seed=4):
            scores.append(ari(y, model.partial_fit(X).labels_))
        assert 8 <= model.n_clusters_ <= 9
        assert np.mean(scores) > 0.93


def test_counts_can_be_revised() -> None:
    dense, sparse = (ScStream(Multinomial(), alpha=10.0, decay=0.5, revise=3, seed=0) for _ in range(2))
    for X, y in multinomial_stream(7, n_clusters=8, n_features=25, batch_size=300, seed=1):
        assert ari(y, dense.partial_fit(X).labels_) > 0.9
        np.testing.assert_array_equal(sparse.partial_fit(sp.csr_array(X)).labels_, dense.labels_)


def test_a_past_of_next_to_nothing_is_no_start() -> None:
    """After a batch without weight only that one is remembered: no cluster has as much as a point."""
    model = ScStream(Multinomial(), kernel=lambda age: 1.0 / (1.0 + age), epsilon=0.3, sweeps=0, seed=0)
    point = np.array([[2.0, 1.0]])
    for time, weight in ((0.0, 2.0), (1.0, 1.0), (2.0, 0.0), (3.0, 1.0), (4.0, 0.0), (6.9, 1.0)):
        model.partial_fit(point, time=time, sample_weight=np.array([weight]))
        assert np.isfinite(model.log_posterior_)
        assert set(model.labels_.tolist()) <= set(model.ids_.tolist())


# --- identity


def test_clusters_continue_those_with_most_points_in_common() -> None:
    overlap = np.array([[90.0, 0.0, 0.0], [5.0, 30.0, 0.0], [0.0, 40.0, 0.0]])
    np.testing.assert_array_equal(_matches(overlap), [0, 2, -1])


# --- recent points


def batch(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(size=(n, 3))


def test_only_some_points_of_the_last_batches_are_kept() -> None:
    rng = np.random.default_rng(0)
    recent = RecentPoints()
    batches = [batch(rng, n) for n in (10, 2000, 20, 30, 40)]
    for X in batches:
        recent.add(Rows(X, np.ones(len(X))), 1, rng)
    X, weight = recent.together()
    assert len(X) == len(weight) == 1000 + 20 + 30 + 40
    np.testing.assert_array_equal(X[1000:], np.concatenate(batches[2:]))
    kept = {tuple(row) for row in X[:1000]}
    assert len(kept) == 1000
    assert kept <= {tuple(row) for row in batches[1]}


@pytest.mark.parametrize(
    ("size", "needed", "kept"),
    [(300, 1, 300), (700, 1, 500), (3000, 1, 1500), (3000, 2500, 2500), (20_000, 1, 4096), (20_000, 9000, 9000)],
)
def test_half_of_a_batch_is_kept_within_limits_unless_more_is_needed(size: int, needed: int, kept: int) -> None:
    recent = RecentPoints()
    recent.add(Rows(np.zeros((size, 1)), np.ones(size)), needed, np.random.default_rng(0))
    assert recent.n_points == kept


@pytest.mark.parametrize("sparse", [False, True])
def test_a_model_that_is_loaded_between_revisions_continues_alike(sparse: bool, tmp_path: Path) -> None:
    model = ScStream(Multinomial(), alpha=10.0, decay=0.5, revise=6, seed=0)
    for n, (counts, _) in enumerate(multinomial_stream(8, n_clusters=8, n_features=25, batch_size=200, seed=1)):
        X = sp.csr_array(counts) if sparse else counts
        model.partial_fit(X)
        if n == 4:
            model.save(tmp_path / "model.npz")
            loaded = ScStream.load(tmp_path / "model.npz")
        elif n > 4:
            np.testing.assert_array_equal(loaded.partial_fit(X).labels_, model.labels_)
    assert loaded.events_ == model.events_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recent.sizes", np.array([3, 999])),
        ("recent.sizes", np.array([-1, 7])),
        ("recent.sizes", np.array([1.0, 2.0])),
        ("recent.weight", np.array([1.0])),
        ("recent.X", np.full((600, 2), np.nan)),
        ("recent.X", np.zeros((5, 7))),
    ],
)
def test_damaged_recent_points_are_refused(name: str, value: Array, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    model = ScStream(seed=0, revise=4, max_init_sweeps=10)
    for _ in range(4):
        model.partial_fit(rng.normal(size=(200, 2)))
    model.save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    assert name in arrays
    persistence.write(tmp_path / "model.npz", meta, {**arrays, name: value})
    with pytest.raises(ModelFileError, match="damaged"):
        ScStream.load(tmp_path / "model.npz")
