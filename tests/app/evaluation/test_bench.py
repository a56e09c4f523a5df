"""The benchmarks: their inputs, models and reports. Durations are not tested."""

import json

import numpy as np
import pytest

from helpers.clips import moving_square, write_video
from scstream import Gaussian, Multinomial
from scstream_app import cli
from scstream_app.errors import SourceError
from scstream_app.evaluation.bench import streams, video
from scstream_app.evaluation.bench.fixed_clusters import FixedClusterSegmenter, grid_labels
from scstream_app.evaluation.bench.timing import Stopwatch

pytestmark = pytest.mark.slow


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A short clip, with a benchmark reduced to a second."""
    monkeypatch.setattr(video, "warm_up", lambda: None)
    monkeypatch.setattr(video, "CLUSTERS", (4, 9))
    monkeypatch.setattr(video, "SIZES", ((64, 48), (128, 96)))
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
    X = video.points(frame)
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


def test_ratios_are_to_k_80():
    rows = [{"given": False, "clusters": 80, "ms_median": 5.0}, {"given": True, "clusters": 80, "ms_median": 20.0}]
    assert [row["speed_ratio"] for row in video.with_ratios(rows)] == [4.0, 1.0]


def test_every_method_is_timed_on_every_frame(small, monkeypatch):
    seen = []
    step = video.kmeans_step
    monkeypatch.setattr(video, "kmeans_step", lambda model, X: seen.append(model.n_clusters) or step(model, X))
    video.measure(small, quick=True)
    assert seen == [30, 80] * 7


def test_bench_video_for_programs(small, capsys):
    assert cli.main(["bench", "video", small, "--quick", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["frames"], result["width"], result["height"]) == (8, 64, 48)
    assert [(row["method"], row["given"]) for row in result["methods"]] == [
        ("ScStream", False),
        ("MiniBatchKMeans", True),
        ("MiniBatchKMeans", True),
    ]
    assert [row["clusters"] for row in result["by_clusters"]] == [4, 9]
    assert [row["width"] for row in result["by_pixels"]] == [64, 128]


def test_bench_video_for_people(small, capsys):
    assert cli.main(["bench", "video", small, "--quick"]) == 0
    text = capsys.readouterr().out
    assert "ScStream" in text
    assert "MiniBatchKMeans" in text


def test_sample_clip_has_the_size_of_the_papers():
    assert {frame.shape for frame in video.read_frames(None, 3)} == {(480, 854, 3)}


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
    scores = streams.evaluate(oracle, batches)
    assert oracle.calls == ["learn", "predict", "learn", "predict", "learn"]
    assert (scores["ari"], scores["nmi"], scores["purity"], scores["pairwise_f"]) == (1.0, 1.0, 1.0, 1.0)
    assert scores["full_nmi"] == 0.0
    assert scores["clusters"] == 2


def test_counts_are_multinomial():
    rng = np.random.default_rng(0)
    assert isinstance(streams.component_for(rng.multinomial(20, [0.5, 0.3, 0.2], 10).astype(float), 1.0), Multinomial)
    assert isinstance(streams.component_for(rng.normal(size=(10, 3)), 1.0), Gaussian)
    assert isinstance(streams.component_for(rng.integers(0, 2, (10, 1)), 1.0), Gaussian)


def test_bench_streams_on_a_file(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=(4, 200))
    np.savez(tmp_path / "s.npz", X=rng.normal(size=(4, 200, 2)) + 12.0 * np.eye(3, 2)[y], y=y)
    assert cli.main(["bench", "streams", str(tmp_path / "s.npz"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    ours, theirs = result["methods"]
    assert (result["batches"], result["true_clusters"]) == (4, 3)
    assert ours["ari"] > 0.95
    assert (ours["given"], theirs["given"]) == (False, True)
    assert cli.main(["bench", "streams", str(tmp_path / "s.npz")]) == 0
    assert "full NMI" in capsys.readouterr().out


def test_default_stream_drifts():
    X, y = next(streams.default_stream())
    assert X.shape == (1000, 2)
    assert len(np.unique(y)) == 20


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
        streams.read_stream(path)
    assert cli.main(["bench", "streams", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(path) in error
