"""The benchmark on clips with masks: its inputs, peers, scores and report. Durations are not tested."""

import json
import sys
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from helpers.clips import moving_square
from scstream_app import cli
from scstream_app.errors import SettingsError, SourceError
from scstream_app.evaluation.bench.reports.report import Report
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads
from scstream_app.evaluation.bench.video import davis_clips, peak_memory, quality, superpixels
from scstream_app.evaluation.bench.video import methods as video_methods
from scstream_app.evaluation.bench.video.davis_clips import find_clips
from scstream_app.evaluation.bench.video.methods import Input, Method, Running, Setup
from scstream_app.evaluation.bench.video.run import StoredMaps
from scstream_app.evaluation.bench.video.speed import points
from scstream_app.evaluation.bench.video.superpixels import OverlapIds
from scstream_app.evaluation.bench.video.tables import speed_table


def square(picture):
    """1 on the bright square of the clip, which is the only red."""
    return np.asarray(picture[..., 0] > 130, np.int32)


def write_clip(root, name, n_frames=4, below="480p"):
    """A clip whose object is the bright square."""
    frames = moving_square(n_frames)
    for kind, suffix in (("JPEGImages", "jpg"), ("Annotations", "png")):
        folder = root / kind / below / name
        folder.mkdir(parents=True)
        for index, frame in enumerate(frames):
            mask = np.uint8(255) * square(frame).astype(np.uint8)
            cv2.imwrite(str(folder / f"{index:05}.{suffix}"), frame[..., ::-1] if suffix == "jpg" else mask)


def flipping(_):
    """A method that swaps its two ids in every frame."""
    frames = iter(range(100))
    return Running(lambda frame: (square(frame.picture) + next(frames)) % 2)


@pytest.fixture
def fakes(monkeypatch):
    """Two methods that know the square, and one that is missing."""
    started = []

    def steady(setup):
        started.append(setup)
        return Running(lambda frame: square(frame.picture), lambda: [])

    methods = (
        Method("steady", steady),
        Method("flipping", flipping),
        Method("absent", flipping, lambda: "it is not installed"),
    )
    monkeypatch.setattr(quality, "METHODS", methods)
    monkeypatch.setattr(quality, "warm_up", lambda: None)
    monkeypatch.setattr(peak_memory, "peak_memory", lambda name, *rest: 12.0)
    return started


# --- clips


@pytest.mark.parametrize("below", ["480p", ""])
def test_clips_are_found_with_and_without_a_folder_of_the_resolution(tmp_path, below):
    for name in ("b", "a"):
        write_clip(tmp_path, name, below=below)
    assert davis_clips.is_davis(tmp_path)
    assert not davis_clips.is_davis(tmp_path / "JPEGImages")
    assert [clip.name for clip in find_clips(tmp_path)] == ["a", "b"]
    [clip] = find_clips(tmp_path, ["b"])
    assert len(clip.read_pictures(3)) == 3
    assert [mask.sum() > 0 for mask in clip.read_masks(3)] == [True] * 3


def test_bad_clips_are_named(tmp_path):
    write_clip(tmp_path, "surf")
    with pytest.raises(SourceError, match=r"no clip 'serf'.*Did you mean 'surf'"):
        find_clips(tmp_path, ["serf"])
    (tmp_path / "Annotations/480p/surf/00003.png").unlink()
    with pytest.raises(SourceError, match="4 masks are needed, it has 3"):
        find_clips(tmp_path)[0].read_masks(4)
    (tmp_path / "empty/JPEGImages").mkdir(parents=True)
    with pytest.raises(SourceError, match="has no folder of pictures"):
        find_clips(tmp_path / "empty")


# --- methods


def test_ids_follow_the_largest_overlap():
    ids = OverlapIds()
    np.testing.assert_array_equal(ids.carry(np.array([[5, 5, 5, 8, 8, 8]])), [[0, 0, 0, 1, 1, 1]])
    # The labels are swapped and the border has moved: the ids stay.
    np.testing.assert_array_equal(ids.carry(np.array([[1, 1, 0, 0, 0, 0]])), [[0, 0, 1, 1, 1, 1]])
    # A third superpixel gets a new id, also after another has disappeared.
    np.testing.assert_array_equal(ids.carry(np.array([[0, 0, 1, 2, 2, 2]])), [[0, 0, 2, 1, 1, 1]])
    np.testing.assert_array_equal(ids.carry(np.array([[0, 0, 0, 0, 0, 0]])), [[1, 1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(ids.carry(np.array([[0, 0, 0, 0, 0, 3]])), [[1, 1, 1, 1, 1, 3]])


def test_pairs_of_superpixels_share_the_most_pixels_together():
    ids = OverlapIds()
    ids.carry(np.array([[0] * 9 + [1] * 4]))
    # The first superpixel shares most with id 0, but then the second would share nothing with id 1.
    np.testing.assert_array_equal(ids.carry(np.array([[0] * 5 + [1] * 4 + [0] * 4])), [[1] * 5 + [0] * 4 + [1] * 4])


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [method for method in video_methods.METHODS if "bare" not in method.name], ids=lambda method: method.name
)
def test_every_method_gives_lasting_ids_to_all_pixels(method, monkeypatch):
    if method.missing() is not None:
        pytest.skip(method.missing())
    monkeypatch.setattr(video_methods, "CLUSTERS", 6)
    running = method.start(Setup(1, 0, 12))
    frames = [Input(picture, points(picture)) for picture in moving_square(3)]
    with limit_threads(1):
        first, *_, last = [running.step(frame).copy() for frame in frames]
    assert first.shape == last.shape == (48, 64)
    assert 2 <= len(np.unique(last)) <= 40
    # Most of the picture does not move.
    assert (first == last).mean() > 0.5


def test_reasons_name_what_to_install(monkeypatch):
    monkeypatch.delattr(superpixels.cv2, "ximgproc", raising=False)
    assert "opencv-contrib-python-headless" in superpixels.missing_ximgproc()
    monkeypatch.setitem(sys.modules, "fast_slic", None)
    assert "pip install fast-slic" in superpixels.missing_fast_slic()


def test_methods_can_be_left_out():
    methods, skipped = quality.usable(["K-MEANS", "opencv", "slic"])
    assert [method.name for method in methods] == ["ScStream", "ScStream, bare model", "BayesianGaussianMixture"]
    assert {each.name for each in skipped} >= {"k-means: sample, predict", "SEEDS, OpenCV", "SLIC, scikit-image"}
    assert "BayesianGaussianMixture" not in [method.name for method in quality.usable((), quick=True)[0]]
    with pytest.raises(SettingsError, match="no method has 'kmeans' in its name"):
        quality.usable(["kmeans"])


# --- scores and report


def test_stored_maps_are_unchanged():
    maps = [np.arange(12, dtype=np.int32).reshape(3, 4), np.full((3, 4), 70_000, np.int32)]
    stored = StoredMaps()
    for each in maps:
        stored.append(each)
    np.testing.assert_array_equal(list(stored), maps)
    np.testing.assert_array_equal(list(stored), maps)


def test_perfect_and_flipping_ids_are_told_apart(tmp_path, fakes, monkeypatch):
    write_clip(tmp_path, "one")
    write_clip(tmp_path, "two", n_frames=6)
    report = Report("video", "")
    monkeypatch.setattr(quality.speed, "thread_counts", lambda: [1, 2])
    quality.measure(report, tmp_path, frames=5, seeds=2)
    speeds, scores, clips = report.tables
    assert [(row["method"], row["threads"]) for row in speeds.rows] == [
        ("steady", 1),
        ("flipping", 1),
        ("steady", 2),
        ("flipping", 2),
    ]
    # Two seeds of three and four frames after the first.
    assert {row["repetitions"] for row in speeds.rows} == {14}
    assert [row["to_ours"] for row in speeds.rows if row["method"] == "steady"] == [1.0, 1.0]
    assert [row["memory_mib"] for row in speeds.rows] == [12.0, 12.0, None, None]
    steady, flipped = scores.rows
    # The masks come from the pictures before they were compressed.
    assert steady["carried_j"] == pytest.approx(1.0, abs=0.05)
    assert (steady["segments"], steady["ids"], steady["pieces"], steady["life"]) == (2, 2, 2, 1)
    assert steady["kept"] > 0.9 > 0.1 > flipped["kept"]
    assert flipped["carried_j"] < 0.7
    assert [(row["clip"], row["method"]) for row in clips.rows] == [
        (clip, method) for clip in ("one", "two") for method in ("steady", "flipping")
    ]
    assert [(each.name, each.reason) for each in report.skipped] == [("absent", "it is not installed")]
    assert [setup.seed for setup in fakes] == [0, 0, 1, 1] * 2


def test_superpixels_are_as_many_as_the_segments_of_the_first_frame(tmp_path, fakes, monkeypatch):
    write_clip(tmp_path, "one")
    seen = []
    other = Method("other", lambda setup: seen.append(setup.segments) or flipping(setup))
    monkeypatch.setattr(quality, "METHODS", (quality.METHODS[0], other))
    quality.measure(Report("video", ""), tmp_path, frames=3, threads=1)
    assert seen == [2]


def test_frames_before_an_interruption_are_reported(tmp_path, fakes, monkeypatch):
    write_clip(tmp_path, "one", n_frames=6)

    def interrupt(setup):
        count = iter(range(9))

        def step(frame):
            if next(count) == 3:
                raise KeyboardInterrupt
            return square(frame.picture)

        return Running(step)

    monkeypatch.setattr(quality, "METHODS", (quality.METHODS[0], Method("stops", interrupt)))
    report = Report("video", "")
    with pytest.raises(KeyboardInterrupt):
        quality.measure(report, tmp_path, frames=6, threads=1)
    assert [row["method"] for row in report.tables[1].rows] == ["steady", "stops"]
    assert report.tables[0].rows[1]["repetitions"] == 2


def test_ratios_are_of_the_same_frames():
    def run(method, times):
        watch = Stopwatch(milliseconds=list(times), processor=[10.0 * time for time in times])
        first = Stopwatch(milliseconds=[1.0], processor=[1.0])
        return SimpleNamespace(method=method, clip="a", seed=0, threads=2, first=first, later=watch)

    # The machine is ten times slower for one frame; the interrupted run lacks the last.
    rows = speed_table([run("ours", [1.0, 10.0, 1.0]), run("other", [3.0, 30.0])], {}).rows
    assert [row["to_ours"] for row in rows] == [1.0, 3.0]
    assert [row["processor_to_ours"] for row in rows] == [1.0, 3.0]


def test_command_saves_and_prints_a_report(tmp_path, fakes, capsys):
    write_clip(tmp_path, "one")
    path = tmp_path / "found.json"
    assert cli.main(["bench", "video", str(tmp_path), "--quick", "--save", str(path), "--threads", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(path.read_text())
    assert printed["command"] == f"scstream bench video {tmp_path.name} --threads 1 --quick"
    assert printed["settings"] == {
        "clips": ["one"],
        "frames": 5,
        "seeds": 1,
        "threads": [1],
        "quick": True,
    }
    assert {"name": "peak memory", "reason": "not measured with --quick"} in printed["skipped"]
    assert [plot["name"] for plot in printed["plots"]] == ["video_oracle_j", "video_carried_j", "video_kept"]
    assert cli.main(["bench", "video", str(tmp_path), "--frames", "3"]) == 0
    assert "Skipped: absent: it is not installed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clip", "bear"], "--clip needs a folder in the layout of DAVIS, got 'no folder'"),
        (["clip.mp4", "--skip", "LSC"], "--skip needs a folder in the layout of DAVIS, got 'clip.mp4'"),
        (["--frames", "2"], "'--frames': must be a whole number, at least 3"),
    ],
)
def test_options_that_would_do_nothing_are_refused(words, message, capsys):
    assert cli.main(["bench", "video", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_memory_is_that_of_the_method(tmp_path):
    if peak_memory.missing() is not None:
        pytest.skip(peak_memory.missing())
    write_clip(tmp_path, "one")
    assert 0.0 <= peak_memory.peak_memory("k-means: sample, predict", find_clips(tmp_path)[0], 1, 2) < 500.0
