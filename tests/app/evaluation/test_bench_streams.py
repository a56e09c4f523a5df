"""The experiments on streams: search, scores, figures of the paper, peers and reports. Durations are not tested."""

import json
import multiprocessing
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from scstream import ScStream
from scstream.metrics import ari
from scstream_app import cli
from scstream_app.evaluation.bench.reports.report import Report
from scstream_app.evaluation.bench.stream_experiments import (
    comparison,
    experiments,
    methods,
    published,
    sources,
    sweeps,
    worker,
)
from scstream_app.evaluation.bench.stream_experiments.ablation import SampledScStream
from scstream_app.evaluation.bench.stream_experiments.river_learners import NearestCentre, RiverLearner
from scstream_app.evaluation.bench.stream_experiments.scores import Run, summarise
from scstream_app.evaluation.bench.stream_experiments.search import Range, point_at, search
from scstream_app.evaluation.bench.stream_experiments.worker import Failed, Job, Ready, Step, Trial


def blobs(n_batches=4, n=60, counts=False):
    """Three clusters far apart, as a stream."""
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(n_batches):
        y = rng.integers(3, size=n)
        batches.append((20.0 * np.eye(3, 2)[y] + rng.normal(size=(n, 2)), y))
    return sources.Stream("gauss2d", "Three blobs", "made here", counts, batches)


@pytest.fixture
def small(monkeypatch):
    """Jobs on three blobs, in this process."""
    monkeypatch.setattr(sources, "load", lambda name, data, n: blobs())
    monkeypatch.setattr(worker, "warm_up", lambda video_only: None)
    monkeypatch.setattr(experiments, "run", lambda job, seconds: worker.work(job))


# --- search


def test_ranges_are_even_in_their_scale():
    assert [Range(1.0, 100.0).at(share) for share in (0.0, 0.5, 1.0)] == [1.0, 10.0, 100.0]
    assert [Range(1.0, 3.0, log=False).at(share) for share in (0.0, 0.5, 1.0)] == [1.0, 2.0, 3.0]
    assert Range(2, 9, whole=True).at(0.4) == 4
    assert point_at({"a": ("x", "y"), "b": Range(0.0, 1.0, log=False)}, np.array([1.0, 0.25])) == {"a": "y", "b": 0.25}


def test_search_starts_with_the_recommended_values_and_narrows_down():
    space = {"a": Range(0.0, 1.0, log=False), "b": Range(0.0, 1.0, log=False)}
    seen = list(search(space, {"a": 9.0, "b": 9.0}, 40, lambda p: -abs(p["a"] - 0.3) - abs(p["b"] - 0.8)))
    assert len(seen) == 40
    assert seen[0][0] == {"a": 9.0, "b": 9.0}
    late = np.array([[p["a"], p["b"]] for p, _ in seen[21:]])
    assert np.abs(late - late.mean(axis=0)).max() < 0.25
    assert max(value for _, value in seen) > -0.1


def test_nothing_to_tune_is_one_trial():
    assert list(search({}, {"a": 1}, 10, lambda p: 0.5)) == [({"a": 1}, 0.5)]


def test_hyperparameters_that_fail_are_the_worst():
    def make(parameters):
        raise ValueError("too small")

    assert worker._mean_ari(blobs(), make, {}) == -1.0


# --- the paper


def test_published_figures_are_those_of_the_paper():
    rows = {row["method"]: row for row in published.scores("gauss2d")}
    assert len(rows) == 10
    assert (rows["ScStream"]["ari"], rows["ScStream"]["ari_std"], rows["ScStream"]["full_nmi"]) == (0.93, 0.08, 0.68)
    assert (rows["D-Stream"]["pairwise_f"], rows["D-Stream"]["full_nmi"]) == (0.90, None)
    assert (rows["BIRCH"]["given_k"], rows["DBSTREAM"]["given_k"]) == (True, False)
    assert rows["pcStream"]["seconds"] == 1020.7
    # Methods without figures have no row.
    assert [row["method"] for row in published.scores("newsgroups")] == [
        "CluStream",
        "StreamKM++",
        "Mini Batch K-Means",
        "SoVB",
        "ScStream",
        "DPMM sampler",
    ]
    assert published.scstream_scores("covtype")["nmi"] == 0.21


@pytest.mark.parametrize("name", sources.NAMES)
def test_every_stream_has_published_figures(name):
    assert published.scstream_scores(name)["seconds"] > 0


# --- streams


def test_streams_without_files_are_generated_or_missing(tmp_path):
    stream = sources.load("gauss2d", tmp_path, 3)
    assert (stream.origin, len(stream.batches), stream.batches[0][0].shape) == ("generated, seed 0", 3, (1000, 2))
    with pytest.raises(sources.MissingStreamError, match=r"no covtype.npz or covtype.data"):
        sources.load("covtype", tmp_path, 3)
    with pytest.raises(sources.MissingStreamError, match="name its folder with --data"):
        sources.load("newsgroups", None, 3)


def test_a_stored_stream_is_read(tmp_path):
    np.savez(tmp_path / "gauss2d.npz", X=np.arange(24.0).reshape(4, 3, 2), y=np.arange(12).reshape(4, 3) % 5)
    stream = sources.load("gauss2d", tmp_path, 2)
    assert (stream.origin, len(stream.batches), stream.n_clusters) == ("gauss2d.npz", 2, 5)
    np.testing.assert_array_equal(stream.batches[1][0], [[6, 7], [8, 9], [10, 11]])


# --- methods


@pytest.mark.parametrize("counts", [False, True])
def test_all_trials_of_methods_of_installed_libraries_can_be_made(counts):
    facts = sources.Facts(30, 7, counts, 4.0, 11.0)
    for method in methods.METHODS.values():
        if methods.missing_library(method) is None:
            space = method.space(facts)
            for parameters in (method.first(facts), *(point_at(space, np.full(len(space), s)) for s in (0.0, 1.0))):
                method.make(facts, parameters, 0)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    report = Report("streams", "")
    assert not experiments._can_run(methods.METHODS["DBSTREAM"], report)
    assert report.skipped[0].name == "river: DBSTREAM"
    assert "river is not installed: pip install 'scstream-studio[bench]'" in report.skipped[0].reason


class FakeModel:
    """A clusterer with the interface of river's that has two fixed centres."""

    def __init__(self):
        self.seen, self.formed = [], 0
        self.clusters = {}

    def learn_one(self, x):
        self.seen.append(x)

    def predict_one(self, x):
        self.formed += 1
        self.clusters = {5: SimpleNamespace(center={0: 0.0, 1: 0.0}), 8: SimpleNamespace(center={0: 9.0})}
        return 5 if x[0] < 4.5 else 8


def test_points_of_river_are_dictionaries():
    model = FakeModel()
    learner = RiverLearner(model).partial_fit(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert model.seen == [{0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0}]
    np.testing.assert_array_equal(learner.predict(np.array([[1.0, 0.0], [8.0, 0.0]])), [5, 8])


def test_clusters_of_river_are_formed_once_a_batch():
    model = FakeModel()
    X = np.random.default_rng(0).uniform(-1, 10, (50, 2))
    np.testing.assert_array_equal(NearestCentre(model).predict(X), RiverLearner(FakeModel()).predict(X))
    assert model.formed == 1


@pytest.mark.parametrize("name", ["DBSTREAM", "DenStream"])
def test_labels_of_all_points_at_once_are_those_of_river(name):
    pytest.importorskip("river")
    stream = blobs(3)
    method = methods.METHODS[name]
    learner = method.make(stream.facts, method.first(stream.facts), 0)
    for X, _ in stream.batches:
        learner.partial_fit(X)
    X = stream.batches[-1][0]
    found = learner.predict(X)
    np.testing.assert_array_equal(found[0], RiverLearner(learner.model).predict(X[:1])[0])
    assert ari(found, RiverLearner(learner.model).predict(X)) > 0.99


def test_without_the_deterministic_sweep_all_sweeps_draw(monkeypatch):
    batches = blobs().batches
    plain, sampled = ScStream(seed=0), SampledScStream(seed=0)
    for X, _ in batches[:2]:
        plain.partial_fit(X)
        sampled.partial_fit(X)
    drawn = []
    from scstream.sampler import sampler as module

    relabel = module.relabel
    monkeypatch.setattr(module, "relabel", lambda *args: drawn.append(args[4]) or relabel(*args))
    plain.partial_fit(batches[2][0])
    assert drawn == [True, False]
    drawn.clear()
    sampled.partial_fit(batches[2][0])
    assert drawn == [True, True]


# --- jobs


def test_a_job_predicts_each_batch_before_it_learns_it(small):
    job = Job("gauss2d", None, 4, 3, "MiniBatchKMeans", parameters={"reassignment_ratio": 0.01})
    ready, *found = worker.work(job)
    assert isinstance(ready, Ready)
    assert len(found) == 3
    assert all(ari(y, step.predicted) == 1.0 for (_, y), step in zip(blobs().batches[1:], found, strict=True))
    if sys.platform == "linux":
        assert 0 < ready.memory <= found[-1].memory


def test_a_search_yields_trials(small):
    _, *found = worker.work(Job("gauss2d", None, 4, 3, "MiniBatchKMeans", n_trials=3))
    assert [type(each) for each in found] == [Trial] * 3
    assert found[0] == ({"reassignment_ratio": 0.01}, 1.0)


@pytest.mark.slow
def test_a_job_runs_in_a_process_of_its_own_up_to_its_limit():
    job = Job("gauss2d", None, 3, 20, "MiniBatchKMeans", parameters={"reassignment_ratio": 0.01})
    assert [type(each) for each in worker.run(job, 60.0)] == [Ready, Step, Step]
    endless = Job("gauss2d", None, 5, 20, "Birch", n_trials=1_000_000)
    found = list(worker.run(endless, 0.5))
    assert isinstance(found[0], Ready)
    assert len(found) < 1000
    [_, failure] = worker.run(Job("gauss2d", None, 3, 20, "Birch", parameters={"threshold": -1.0}), 60.0)
    assert isinstance(failure, Failed)
    assert "threshold" in failure.message


@pytest.mark.slow
def test_a_process_that_crashes_is_a_failure():
    messages = worker.run(Job("gauss2d", None, 1000, 20, "MiniBatchKMeans"), 60.0)
    assert isinstance(next(messages), Ready)
    for process in multiprocessing.active_children():
        process.kill()
    *_, failure = messages
    assert failure == Failed(f"its process ended with code {-signal.SIGKILL}")


# --- reports


def test_scores_are_means_over_batches_and_seeds():
    stream = blobs(3)
    truth = [y for _, y in stream.batches[1:]]
    right = Run([Step(y, None, 2.0, 1.0, 50.0) for y in truth], 40.0)
    wrong = Run([Step(np.zeros(60, int), None, 4.0, 3.0, 60.0) for _ in truth], 40.0)
    row = summarise([right, wrong, Run()], stream)
    assert (row["ari"], row["ari_std"], row["full_nmi"], row["clusters"]) == (0.5, 0.0, 0.5, 2.0)
    assert (row["ms"], row["cpu_ms"], row["peak_mib"], row["before_mib"], row["batches"]) == (3.0, 2.0, 55.0, 40.0, 2)
    # With the spread, `bench compare` can tell a change from noise.
    assert row["repetitions"] == 2


def measured(method, ari, cpu_ms, given=False, library="river"):
    row = {"method": method, "ari": ari, "nmi": ari, "cpu_ms": cpu_ms, "K_given": given, "library": library}
    return {**row, "batches": 99}


def test_comparison_takes_the_best_method_that_is_not_given_k():
    rows = [
        measured("ScStream", 0.8, 6.0, library="scstream"),
        measured("MiniBatchKMeans", 0.9, 2.0, given=True),
        measured("DBSTREAM", 0.7, 60.0),
        measured("DenStream", 0.75, 90.0),
        # Ahead only on the batches that it had time for.
        {**measured("Birch", 0.95, 900.0), "batches": 9},
    ]
    row = comparison.compare(blobs(), rows)
    assert (row["best_other_ari"], row["best_other_nmi"]) == ("0.750 DenStream", "0.750 DenStream")
    assert (row["time_over_kmeans"], row["fastest_other"]) == (3.0, "10.0 DBSTREAM")
    assert row["published_ari_less_std"] == 0.85


def test_report_has_measured_and_published_rows(small):
    report = Report("streams", "")
    plan = experiments.Plan(streams=("gauss2d",), methods=("ScStream", "MiniBatchKMeans"), n_trials=2, seeds=2)
    tuned = experiments.measure(report, plan, lambda _: None)
    compared, quality, cost = report.tables
    names = [row["method"] for row in quality.rows]
    assert names[:4] == ["ScStream", "ScStream, authors' parameters", "MiniBatchKMeans", "BIRCH (published)"]
    assert [row["method"] for row in cost.rows] == names
    assert tuned["gauss2d"] == quality.rows[0]["parameters"]
    assert quality.rows[0]["seeds"] == 2
    assert min(row["ari"] for row in quality.rows[:3]) > 0.95
    assert [row["stream"] for row in compared.rows] == ["Three blobs"]
    json.dumps(report.as_json())


def test_a_method_that_learns_too_little_is_skipped(small, monkeypatch):
    monkeypatch.setattr(experiments, "run", lambda job, seconds: iter([Ready(1.0)]))
    report = Report("streams", "")
    experiments.measure(
        report, experiments.Plan(streams=("gauss2d",), methods=("Birch",), run_seconds=2), lambda _: None
    )
    assert report.skipped[-1].name == "Birch on Three blobs"
    assert "less than two batches in 2 s" in report.skipped[-1].reason


def test_a_method_that_fails_is_skipped_with_its_reason(small, monkeypatch):
    def run(job, seconds):
        return iter([Ready(1.0), Failed("ValueError: no such thing")]) if job.method == "Birch" else worker.work(job)

    monkeypatch.setattr(experiments, "run", run)
    report = Report("streams", "")
    plan = experiments.Plan(streams=("gauss2d",), methods=("Birch", "MiniBatchKMeans"), n_trials=1, seeds=1)
    experiments.measure(report, plan, lambda _: None)
    assert report.skipped[-1].reason == "Birch failed: ValueError: no such thing"
    assert report.tables[1].rows[0]["method"] == "MiniBatchKMeans"


def test_sweeps_have_tables_and_plots(small):
    report = Report("streams", "")
    plan = experiments.Plan(streams=("gauss2d",), n_trials=1, seeds=1)
    sweeps.measure_ablation(report, plan, {}, lambda _: None)
    sweeps.measure_sweeps(report, plan, {"gauss2d": {"alpha": 10.0, "decay": 0.3, "psi": 1.0}}, (1, 3), lambda _: None)
    last, by_count = report.tables
    assert [row["last_sweep"] for row in last.rows] == ["deterministic", "sampled"] * 2
    assert last.rows[0]["learned_ari"] > 0.95
    assert [row["sweeps"] for row in by_count.rows] == [1, 3]
    assert [plot.series[0].x for plot in report.plots] == [[1.0, 3.0], [1.0, 3.0]]


# --- the command


@pytest.fixture
def no_work(monkeypatch):
    """Plans that the command makes, without any measuring."""
    plans = []
    monkeypatch.setattr(experiments, "measure", lambda report, plan, on_status: plans.append(plan) or {})
    monkeypatch.setattr(sweeps, "measure_ablation", lambda *_: plans.append("ablation"))
    monkeypatch.setattr(sweeps, "measure_sweeps", lambda *_: plans.append("sweeps"))
    return plans


def test_options_make_the_plan(no_work, tmp_path, capsys):
    options = ["--stream", "covtype", "--method", "Birch", "--batches", "7", "--trials", "2", "--data", str(tmp_path)]
    assert cli.main(["bench", "streams", *options, "--seconds", "3", "--run-seconds", "9", "--json"]) == 0
    # The other parts measure ScStream only.
    [plan] = no_work
    assert (plan.streams, plan.methods, plan.n_batches, plan.n_trials) == (["covtype"], ["Birch"], 7, 2)
    assert (plan.seconds, plan.run_seconds) == (3.0, 9.0)
    result = json.loads(capsys.readouterr().out)
    assert result["benchmark"] == "streams"
    assert result["command"].startswith(
        f"scstream bench streams --part methods --data {tmp_path.name} --stream covtype"
    )
    assert "--run-seconds 9" in result["command"]
    assert result["settings"]["data"] == tmp_path.name


def test_parts_can_be_chosen(no_work):
    assert cli.main(["bench", "streams", "--part", "sweeps", "--quick"]) == 0
    assert no_work == ["sweeps"]
    assert cli.main(["bench", "streams", "--quick"]) == 0
    assert no_work[2:] == ["ablation", "sweeps"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stream", "iris"], "there is no stream 'iris'; known: gauss2d"),
        (["--method", "KNN"], "there is no method 'KNN'; known: ScStream"),
        (["--part", "sweeps", "--method", "Birch"], "only with --part methods"),
        (["--alpha", "3"], "only with FILE or --spreads"),
        (["--spreads", "--batches", "9"], "only without FILE and --spreads"),
        (["--spreads", "--run-seconds", "9"], "'--run-seconds': it has an effect only"),
        (["--batches", "2"], "got 2"),
    ],
)
def test_wrong_options_are_one_clear_line(no_work, capsys, options, message):
    assert cli.main(["bench", "streams", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert no_work == []
