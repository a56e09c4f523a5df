"""The benchmarks: their inputs, models and reports. Durations are not tested."""

import json

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_info

from helpers.clips import moving_square, write_video
from scstream import Gaussian, Multinomial
from scstream.metrics import ari
from scstream.streams import gaussian_stream
from scstream_app import cli
from scstream_app.errors import SourceError
from scstream_app.evaluation.bench import datasets
from scstream_app.evaluation.bench.reports.report import Report
from scstream_app.evaluation.bench.streams import generated, prequential
from scstream_app.evaluation.bench.streams.peers import StreamKMeans, WarmGaussianMixture
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads
from scstream_app.evaluation.bench.video import kmeans_forms, speed
from scstream_app.evaluation.bench.video.fixed_clusters import FixedClusterSegmenter, grid_labels
from scstream_app.evaluation.bench.video.kmeans_forms import Form, PixelKMeans

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A short clip, with a benchmark reduced to a second."""
    monkeypatch.setattr(speed, "warm_up", lambda: None)
    monkeypatch.setattr(speed, "CLUSTERS", (4, 9))
    monkeypatch.setattr(speed, "SIZES", ((64, 48), (128, 96)))
    return str(write_video(tmp_path / "clip.mp4", moving_square(10)))


def test_stopwatch_notes_every_call():
    watch = Stopwatch()
    assert [watch.time(lambda n=n: n) for n in range(3)] == [0, 1, 2]
    summary = watch.summary()
    assert len(watch.milliseconds) == 3
    assert summary["ms_p10"] <= summary["ms_median"] <= summary["ms_p90"]


# --- video


def test_points_are_colour_and_place():
    frame = moving_square(1)[0]
    X = speed.points(frame)
    assert X.shape == (48 * 64, 5)
    assert X.dtype == np.float32
    np.testing.assert_allclose(X[64 * 10 + 7], [*frame[10, 7] / 255, 10 / 48, 7 / 64], rtol=1e-6)


@pytest.mark.parametrize("n", [1, 7, 20, 80, 320])
def test_grid_has_exactly_so_many_cells(n):
    labels = grid_labels(120, 214, n)
    counts = np.bincount(labels.ravel(), minlength=2 * n).reshape(n, 2)
    assert counts.shape == (n, 2)
    assert counts.min() > 0
    cells = counts.sum(axis=1)
    assert cells.max() < 2 * cells.min()


def test_held_model_has_the_chosen_number_of_clusters():
    frames = moving_square(2, 96, 128)
    ids = FixedClusterSegmenter(frames[0], 12, threads=2).segment(frames[1])
    assert ids.shape == (96, 128)
    assert set(np.unique(ids)) <= set(range(12))
    assert len(np.unique(ids)) > 6


@pytest.mark.parametrize("form", list(Form))
def test_every_form_of_kmeans_labels_every_pixel_by_its_nearest_centre(form):
    frames = [speed.points(frame) for frame in moving_square(2)]
    labels = PixelKMeans(form, 5, frames[0]).step(frames[1])
    assert labels.shape == (48 * 64,)
    assert len(np.unique(labels)) == 5
    centres = np.array([frames[1][labels == k].mean(axis=0) for k in range(5)])
    nearest = np.square(frames[1][:, None] - centres).sum(axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.9


def test_sampled_kmeans_learns_from_a_sample_only(monkeypatch):
    monkeypatch.setattr(kmeans_forms, "SAMPLE_PIXELS", 100)
    learned = []
    learn = MiniBatchKMeans.partial_fit
    monkeypatch.setattr(MiniBatchKMeans, "partial_fit", lambda self, X: learned.append(len(X)) or learn(self, X))
    pixels = speed.points(moving_square(1)[0])
    assert len(PixelKMeans(Form.SAMPLE, 5, pixels).step(pixels)) == len(pixels)
    assert learned == [100, 100]


def test_ratios_are_to_the_fastest_form_with_k_80_on_as_many_threads():
    times = [(False, 90, 2, 5.0), (True, 80, 2, 20.0), (True, 80, 2, 10.0), (True, 30, 2, 4.0)]
    times += [(False, 90, 8, 3.0), (True, 80, 8, 6.0)]
    names = ("given", "clusters", "threads", "ms_median")
    rows = speed.with_ratios([dict(zip(names, values, strict=True)) for values in times])
    assert [row["speed_ratio"] for row in rows] == [2.0, 0.5, 1.0, 2.5, 2.0, 1.0]


@pytest.mark.parametrize(("cores", "counts"), [(1, [1]), (2, [2]), (16, [2, 16])])
def test_two_and_all_threads_are_measured_once_each(cores, counts, monkeypatch):
    monkeypatch.setattr(speed.os, "cpu_count", lambda: cores)
    assert speed.thread_counts() == counts


def test_every_method_is_timed_on_every_frame(small, monkeypatch):
    monkeypatch.setattr(speed, "thread_counts", lambda: [1, 2])
    seen, learn = [], PixelKMeans.step
    monkeypatch.setattr(
        PixelKMeans, "step", lambda self, pixels: seen.append((self.form, self.n_clusters)) or learn(self, pixels)
    )
    result = speed.measure(small, quick=True)
    # Once each to start, then on seven frames.
    assert sorted(seen) == sorted([(form, 80) for form in Form] * 2 * 8)
    assert [row["threads"] for row in result["methods"]] == [1] * 4 + [2] * 4


def test_threads_are_limited_while_the_context_is_open():
    def threads():
        return {library["num_threads"] for library in threadpool_info()}

    with limit_threads(1):
        assert threads() == {1}


def test_bench_video_for_programs(small, capsys):
    assert cli.main(["bench", "video", small, "--quick", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["frames"], result["width"], result["height"]) == (8, 64, 48)
    rows = [row for row in result["methods"] if row["threads"] == result["threads"]]
    assert [(row["method"], row["form"], row["given"]) for row in rows] == [
        ("ScStream", "segment", False),
        ("MiniBatchKMeans", "partial_fit, labels_", True),
        ("MiniBatchKMeans", "partial_fit, predict", True),
        ("MiniBatchKMeans", "sample, predict", True),
    ]
    assert [row["clusters"] for row in result["by_clusters"]] == [4, 9]
    assert [row["width"] for row in result["by_pixels"]] == [64, 128]


def test_bench_video_saves_a_report(small, tmp_path, capsys):
    path = tmp_path / "speed.json"
    assert cli.main(["bench", "video", small, "--quick", "--threads", "1", "--save", str(path), "--json"]) == 0
    printed, saved = json.loads(capsys.readouterr().out), Report.load_file(path)
    assert (saved.benchmark, saved.command) == ("video_speed", "scstream bench video clip.mp4 --threads 1 --quick")
    assert saved.settings["source"] == "clip.mp4"
    assert printed["thread_counts"] == [1]
    for table in saved.tables:
        assert table.rows == printed[table.name]
        assert set(table.columns) <= table.rows[0].keys()


def test_bench_video_for_people(small, capsys):
    assert cli.main(["bench", "video", small, "--quick"]) == 0
    text = capsys.readouterr().out
    assert "ScStream" in text
    assert "k-means: sample, predict" in text


def test_sample_clip_has_the_size_of_the_papers():
    assert {frame.shape for frame in speed.read_frames(None, 3)} == {(480, 854, 3)}


def test_too_short_a_clip_is_named(tmp_path, capsys):
    path = write_video(tmp_path / "short.mp4", moving_square(2))
    assert cli.main(["bench", "video", str(path), "--quick"]) == 1
    assert "it has 2 frames, at least 3 are needed" in capsys.readouterr().err


# --- streams


class Oracle:
    """A learner that knows the labels in advance and records the order of its calls."""

    def __init__(self, answers):
        self.answers = answers
        self.calls = []

    def partial_fit(self, X):
        self.calls.append("learn")

    def predict(self, X):
        self.calls.append("predict")
        return self.answers[self.calls.count("learn")]


def test_every_batch_is_predicted_before_it_is_learned():
    batches = [(np.zeros((4, 2)), np.array([0, 0, 1, 1]))] * 3
    oracle = Oracle([None, np.array([7, 7, 9, 9]), np.array([9, 9, 7, 7])])
    scores = prequential.evaluate(oracle, batches)
    assert oracle.calls == ["learn", "predict", "learn", "predict", "learn"]
    assert (scores["ari"], scores["nmi"], scores["purity"], scores["pairwise_f"]) == (1.0, 1.0, 1.0, 1.0)
    assert scores["full_nmi"] == 0.0
    assert scores["clusters"] == 2


def test_counts_are_multinomial():
    rng = np.random.default_rng(0)
    assert isinstance(
        prequential.component_for(rng.multinomial(20, [0.5, 0.3, 0.2], 10).astype(float), 1.0), Multinomial
    )
    assert isinstance(prequential.component_for(rng.normal(size=(10, 3)), 1.0), Gaussian)
    assert isinstance(prequential.component_for(rng.integers(0, 2, (10, 1)), 1.0), Gaussian)


def test_bench_streams_on_a_file(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=(4, 200))
    np.savez(tmp_path / "s.npz", X=rng.normal(size=(4, 200, 2)) + 12.0 * np.eye(3, 2)[y], y=y)
    assert cli.main(["bench", "streams", str(tmp_path / "s.npz"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["batches"], result["true_clusters"]) == (4, 3)
    assert [(row["method"], row["given"]) for row in result["methods"]] == [
        ("ScStream", False),
        ("MiniBatchKMeans", True),
        ("GaussianMixture", True),
    ]
    assert min(row["ari"] for row in result["methods"]) > 0.95
    assert cli.main(["bench", "streams", str(tmp_path / "s.npz")]) == 0
    assert "full NMI" in capsys.readouterr().out


def test_counts_are_not_compared_with_a_gaussian_mixture(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(3, 100))
    np.savez(tmp_path / "s.npz", X=rng.multinomial(20, np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])[y]), y=y)
    rows = prequential.measure(tmp_path / "s.npz", seeds=2)["methods"]
    assert [row["method"] for row in rows] == ["ScStream", "MiniBatchKMeans"]


def test_scores_are_means_over_seeds():
    assert prequential.means([{"ari": 0.5, "clusters": 20.0}, {"ari": 0.7, "clusters": 21.0}]) == {
        "ari": 0.6,
        "clusters": 20.5,
    }


@pytest.mark.parametrize("kind", ["missing", "text", "names", "shapes"])
def test_bad_stream_file_is_one_clear_line(tmp_path, capsys, kind):
    path = tmp_path / "bad.npz"
    if kind == "text":
        path.write_text("no archive")
    elif kind == "names":
        np.savez(path, points=np.zeros(3))
    elif kind == "shapes":
        np.savez(path, X=np.zeros((5, 2)), y=np.zeros(5))
    with pytest.raises(SourceError):
        prequential.read_stream(path)
    assert cli.main(["bench", "streams", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(path) in error


# --- peers


@pytest.mark.parametrize("peer", [StreamKMeans, WarmGaussianMixture])
def test_peers_follow_clusters_that_move(peer):
    learner = peer(4, seed=0)
    for X, y in gaussian_stream(20, 400, n_clusters=4, spread=30.0, turn=0.0, seed=3):
        learner.partial_fit(X)
        assert ari(y, learner.labels_) > 0.95
        assert ari(learner.labels_, learner.predict(X)) == 1.0


def test_warm_mixture_starts_where_it_was():
    batches = [X for X, _ in gaussian_stream(2, 400, n_clusters=4, spread=30.0, drift=0.0, seed=3)]
    learner = WarmGaussianMixture(4, seed=0).partial_fit(batches[0])
    first = learner.predict(batches[1])
    # A mixture that started anew would number its components in another order.
    np.testing.assert_array_equal(learner.partial_fit(batches[1]).labels_, first)


# --- generated streams


@pytest.fixture
def few(monkeypatch):
    """Generated streams reduced to a second."""
    monkeypatch.setattr(generated, "warm_up", lambda video_only: None)
    monkeypatch.setattr(generated, "SPREADS", (10.0, 40.0))
    monkeypatch.setattr(generated, "STREAMS_PER_SPREAD", 2)
    monkeypatch.setattr(generated, "BATCHES", 3)
    monkeypatch.setattr(generated, "BATCH_SIZE", 300)
    monkeypatch.setattr(generated, "CLUSTERS", 5)


def test_a_generated_stream_is_always_the_same():
    one, again, other = (generated.make_stream(25.0, index) for index in (0, 0, 1))
    assert len(one.batches) == 25
    for (X, y), (same_X, same_y) in zip(one.batches, again.batches, strict=True):
        assert X.shape == (1000, 2)
        np.testing.assert_array_equal(X, same_X)
        np.testing.assert_array_equal(y, same_y)
    assert not np.array_equal(one.batches[0][0], other.batches[0][0])
    assert 0.9 < one.truth < 1.0


class Truth:
    """A learner that labels batches by the true parameters."""

    n_clusters_ = 20

    def __init__(self, labels):
        self.labels = iter(labels)

    def partial_fit(self, X):
        self.labels_ = next(self.labels)


def test_scores_are_relative_to_the_true_parameters():
    stream = generated.make_stream(5.0, 0)
    source = gaussian_stream(25, spread=5.0, turn=0.0, seed=np.random.default_rng([0, 5000]))
    assert generated.run(Truth([source.predict(X) for X, _ in source]), stream)["score"] == 1.0
    assert generated.run(Truth([y for _, y in stream.batches]), stream)["score"] == pytest.approx(
        1 / stream.truth, 1e-3
    )
    assert generated.run(Truth([np.zeros(len(y)) for _, y in stream.batches]), stream)["score"] == 0.0


def test_bench_generated_streams(few, capsys):
    assert cli.main(["bench", "streams", "--spreads", "--seeds", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["streams"], result["seeds"], result["alpha"], result["psi"]) == (4, 2, 1e4, 0.5)
    assert len(result["runs"]) == 4 * 2 * 3
    rows = {(row["spread"], row["method"]): row for row in result["methods"]}
    assert {spread for spread, _ in rows} == {10.0, 40.0, None}
    for method in ("ScStream", "MiniBatchKMeans", "GaussianMixture"):
        scores = [run["score"] for run in result["runs"] if run["method"] == method]
        assert rows[None, method]["mean"] == pytest.approx(np.mean(scores), abs=1e-4)
        assert rows[None, method]["worst"] == min(scores)
    assert rows[40.0, "GaussianMixture"]["mean"] > 0.9


def test_bench_generated_streams_for_people(few, capsys):
    assert cli.main(["bench", "streams", "--spreads", "--quick"]) == 0
    text = capsys.readouterr().out
    assert "2 streams of 5 drifting Gaussians" in text
    assert "5 given" in text


# --- data sets


def test_data_sets_are_ordinary():
    sets = {data.name: data for data in datasets.all_sets()}
    assert len(sets) >= 10
    assert {data.X.shape[1] for data in sets.values()} >= {1, 2, 5, 20, 64}
    for data in sets.values():
        assert data.X.ndim == 2
        assert data.y.shape == (len(data.X),)
        assert np.isfinite(data.X).all()
    np.testing.assert_allclose(sets["wine, standardised"].X.std(axis=0), 1.0)
    assert np.ptp(np.log10(sets["5-D blobs, mixed units"].X.std(axis=0))) > 8


def test_points_without_a_cluster_are_not_a_cluster():
    class Labels:
        def fit_predict(self, X):
            return np.array([-1, 0, 0, 1, 1, 1])

    data = datasets.DataSet("six points", np.zeros((6, 1)), np.array([0, 0, 0, 1, 1, 1]))
    row = datasets.evaluate(lambda seed: Labels(), data, seeds=2)
    assert (row["clusters"], row["fewest_clusters"], row["most_clusters"]) == (2.0, 2, 2)
    assert 0 < row["ari"] < 1


def test_summary_counts_the_sets_on_which_a_method_is_near_the_best():
    scores = [[0.9, 0.0, 0.92, 0.5], [0.4, 0.0, 0.5, 1.0]]
    results = [
        {"methods": [{"method": name, "ari": ari} for name, ari in zip(datasets.METHODS, row, strict=True)]}
        for row in scores
    ]
    rows = datasets.summary(results)
    assert [row["near_best"] for row in rows] == [1, 0, 1, 1]
    assert [row["mean_ari"] for row in rows] == pytest.approx([0.65, 0.0, 0.71, 0.75])


def test_bench_data_sets(monkeypatch, capsys):
    monkeypatch.setattr(datasets, "warm_up", lambda video_only: None)
    monkeypatch.setattr(datasets, "quick_sets", lambda: [datasets.bundled("iris")])
    assert cli.main(["bench", "datasets", "--quick", "--json"]) == 0
    [iris] = json.loads(capsys.readouterr().out)["datasets"]
    assert (iris["data"], iris["points"], iris["features"], iris["true_clusters"]) == ("iris", 150, 4, 3)
    rows = {row["method"]: row for row in iris["methods"]}
    assert rows.keys() == datasets.METHODS.keys()
    # A single component is the default.
    assert rows["BayesianGaussianMixture"]["clusters"] == 1
    assert rows["HDBSCAN"]["ari"] > 0.5
    assert cli.main(["bench", "datasets", "--quick"]) == 0
    assert "iris" in capsys.readouterr().out
