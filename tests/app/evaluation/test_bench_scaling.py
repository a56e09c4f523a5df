"""The benchmark of growth: its frames, bounds and axes. Durations are not tested."""

import json

import numpy as np
import pytest

from helpers.clips import moving_square, write_video
from scstream import ScStream
from scstream.metrics import ari
from scstream.streams import gaussian_stream
from scstream_app import cli
from scstream_app.errors import SourceError
from scstream_app.evaluation.bench.scaling import curves, machine_rates
from scstream_app.evaluation.bench.scaling.frames import Mosaics
from scstream_app.evaluation.bench.scaling.machine_rates import Rates, measure_rates
from scstream_app.evaluation.bench.scaling.true_start import start_from_truth


def numbered_clip(value, n=4, height=6, width=8):
    """Frames whose red is the clip's number, green the frame's, and blue the column."""
    frames = np.zeros((n, height, width, 3), np.uint8)
    frames[..., 0] = value
    frames[..., 1] = np.arange(n)[:, None, None]
    frames[..., 2] = np.arange(width)
    return list(frames)


# --- frames


def test_large_frames_are_tiled_with_different_clips_at_their_own_resolution():
    frame = Mosaics([numbered_clip(10), numbered_clip(20)]).frame(1, 20, 9)
    assert frame.shape == (9, 20, 3)
    assert frame[0, [0, 8, 16], 0].tolist() == [10, 20, 10]
    np.testing.assert_array_equal(frame[0, :8, 2], np.arange(8))
    # The third tile shows the first clip again: mirrored and seven frames ahead.
    np.testing.assert_array_equal(frame[0, 16:, 2], [7, 6, 5, 4])
    assert frame[0, [0, 16], 1].tolist() == [1, 2]


def test_clips_are_played_to_and_fro():
    mosaics = Mosaics([numbered_clip(10)])
    assert [int(mosaics.frame(index, 8, 6)[0, 0, 1]) for index in range(8)] == [0, 1, 2, 3, 2, 1, 0, 1]


def test_small_frames_are_reduced():
    assert Mosaics([numbered_clip(10)]).frame(0, 4, 3).shape == (3, 4, 3)


def test_clips_of_different_sizes_are_cropped_around_their_centres():
    mosaics = Mosaics([numbered_clip(10, width=12), numbered_clip(20, height=10)])
    assert (mosaics.width, mosaics.height) == (8, 6)
    np.testing.assert_array_equal(mosaics.frame(0, 8, 6)[0, :, 2], np.arange(2, 10))


def test_short_clips_are_refused(tmp_path):
    path = str(write_video(tmp_path / "short.mp4", moving_square(2)))
    with pytest.raises(SourceError, match=r"short\.mp4.*2 frames"):
        Mosaics.open([path], 10)


# --- bounds


def test_rates_of_the_machine_are_work_over_the_least_time(monkeypatch):
    times = iter([0.5, 0.25, 0.125])
    monkeypatch.setattr(machine_rates, "_least_seconds", lambda work: work() is None or next(times))
    rates = measure_rates(2, copied_bytes=2**16, matrix=10)
    assert rates == Rates(2 * 2**16 / 0.5, 1000 / 0.25, 1000 / 0.125)


def test_a_copy_covers_all_bytes(monkeypatch):
    copied = []
    copyto = np.copyto
    monkeypatch.setattr(machine_rates.np, "copyto", lambda to, source: copied.append(len(source)) or copyto(to, source))
    machine_rates._bandwidth(3, 2**16)
    assert sum(copied) == machine_rates._REPETITIONS * 2**16


def test_bounds_follow_from_the_rates():
    found = curves.pixel_bounds(1000, 8, Rates(bandwidth=7e6, float32=2e6, float64=1.0))
    # 7 bytes a pixel; two sweeps over 8 clusters and 2 sub-clusters, 15 + 5 multiply-adds each.
    assert found == {"memory_ms": pytest.approx(1.0), "brute_force_ms": pytest.approx(200.0)}
    found = curves.point_bounds(1000, 8, 1, 5, Rates(bandwidth=16e6, float32=1.0, float64=1e8))
    assert found == {"memory_ms": pytest.approx(1.0), "brute_force_ms": pytest.approx(1.0)}


@pytest.mark.parametrize(("most", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_thread_counts_double(most, counts):
    assert curves.thread_counts(most) == counts


# --- streams


@pytest.mark.slow
def test_a_model_that_starts_from_the_truth_has_its_clusters_and_continues():
    batches = list(gaussian_stream(2, 3000, 60, 2, turn=0.0, spread=80.0, seed=0))
    model = start_from_truth(ScStream(curves.gaussian(2), alpha=1e4, decay=0.3, seed=0, threads=1), *batches[0])
    assert abs(model.n_clusters_ - 60) <= 3
    model.partial_fit(batches[1][0])
    assert ari(batches[1][1], model.labels_) > 0.9


# --- the command


def test_an_unknown_axis_is_named(capsys):
    assert cli.main(["bench", "scaling", "--only", "pixels,time"]) == 2
    assert "unknown axis 'time'; choose from pixels, k, d, points, threads" in capsys.readouterr().err


@pytest.fixture
def small(monkeypatch):
    """The benchmark reduced to seconds."""
    monkeypatch.setattr(curves, "measure_rates", lambda threads: Rates(1e9, 1e9, 1e9))
    monkeypatch.setattr(curves, "SIZES", ((32, 24), (64, 48), (96, 64)))
    monkeypatch.setattr(curves, "SIZE", (64, 48))
    monkeypatch.setattr(curves, "DETAILS", (0.1, 1.0))
    monkeypatch.setattr(curves, "CLUSTERS", (3, 5))
    monkeypatch.setattr(curves, "DIMENSIONS", (2, 3))
    monkeypatch.setattr(curves, "POINTS", (200, 400))
    monkeypatch.setattr(curves, "STREAM_CLUSTERS", 4)


@pytest.mark.slow
def test_all_axes_are_measured_and_saved(small, tmp_path, capsys):
    clip = str(write_video(tmp_path / "clip.mp4", moving_square(10)))
    saved = tmp_path / "scaling.json"
    command = ["bench", "scaling", clip, "--threads", "2", "--quick", "-q", "--json", "--save", str(saved)]
    assert cli.main(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == json.loads(saved.read_text(encoding="utf-8"))
    assert report["command"] == "scstream bench scaling clip.mp4 --threads 2 --quick"
    tables = {table["name"]: table for table in report["tables"]}
    assert {name: len(table["rows"]) for name, table in tables.items()} == {
        "machine": 2,
        "pixels": 3,
        "k_video": 2,
        "k_streams": 2,
        "d": 4,
        "points": 2,
        "threads": 2,
    }
    for table in list(tables.values())[1:]:
        for row in table["rows"]:
            assert row["ms_p10"] <= row["ms"] <= row["ms_p90"]
            assert row["repetitions"] == 4
            assert row["clusters"] >= 1
            assert set(table["columns"]) <= row.keys()
    assert [plot["name"] for plot in report["plots"]] == [f"scaling_{name}" for name in list(tables)[1:]]


@pytest.mark.slow
def test_results_so_far_are_kept_if_the_user_interrupts(small, tmp_path, monkeypatch, capsys):
    def stop(bench):
        raise KeyboardInterrupt

    monkeypatch.setitem(curves.AXES, "points", stop)
    saved = tmp_path / "scaling.json"
    clip = str(write_video(tmp_path / "clip.mp4", moving_square(10)))
    assert cli.main(["bench", "scaling", clip, "--only", "d,points", "--quick", "--save", str(saved)]) == 130
    report = json.loads(saved.read_text(encoding="utf-8"))
    assert report["interrupted"]
    assert [table["name"] for table in report["tables"]] == ["machine", "d"]
    assert "DiagonalGaussian" in capsys.readouterr().out.replace("\n", "")
