"""The benchmark of supervoxels: its layouts of folders, scores and published figures."""

import imageio.v3 as iio
import numpy as np
import pytest

from scstream_app import cli
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench import supervoxels
from scstream_app.evaluation.bench.reports.report import Report
from scstream_app.evaluation.bench.supervoxels import MEASURES, PUBLISHED, at_ids, find_clips, plots, read_labels


def write_clip(pictures, truths, n=3, first=10):
    """Two colours side by side, labelled 1 and 2."""
    for folder in (pictures, truths):
        folder.mkdir(parents=True)
    for number in range(first, first + n):
        picture = np.random.default_rng(number).integers(0, 8, (32, 48, 3), np.uint8)
        picture[:, 24:] += np.array([240, 180, 20], np.uint8)
        labels = np.ones((32, 48), np.uint8)
        labels[:, 24:] = 2
        iio.imwrite(pictures / f"clip_{number}.png", picture)
        iio.imwrite(truths / f"clip_{number}.png", labels)


@pytest.mark.parametrize(
    ("pictures", "truths", "name"),
    [
        ("frames", "labels", None),
        ("JPEGImages/dog", "Annotations/dog", "dog"),
        ("girl/frames", "girl/gt", "girl"),
    ],
)
def test_layouts(pictures, truths, name, tmp_path):
    write_clip(tmp_path / pictures, tmp_path / truths)
    (clip,) = find_clips(tmp_path)
    assert clip.name == (name or tmp_path.name)
    assert [path.name for path in clip.pictures] == ["clip_10.png", "clip_11.png", "clip_12.png"]
    assert clip.truths == [tmp_path / truths / path.name for path in clip.pictures]


def test_frames_without_labels_are_kept_and_sorted_by_number(tmp_path):
    write_clip(tmp_path / "frames", tmp_path / "gt", first=8)
    (tmp_path / "gt" / "clip_9.png").unlink()
    (clip,) = find_clips(tmp_path)
    assert [path.name for path in clip.pictures] == ["clip_8.png", "clip_9.png", "clip_10.png"]
    assert [truth is None for truth in clip.truths] == [False, True, False]


def test_a_folder_without_clips_is_refused(tmp_path):
    with pytest.raises(EvaluationError, match="it needs a folder of pictures"):
        find_clips(tmp_path)
    with pytest.raises(EvaluationError, match="no such folder"):
        find_clips(tmp_path / "none")


def test_every_colour_is_a_label_and_black_is_0(tmp_path):
    colours = np.array([[[0, 0, 0], [0, 0, 7], [1, 2, 3], [0, 0, 7]]], np.uint8)
    iio.imwrite(tmp_path / "a.png", colours)
    np.testing.assert_array_equal(read_labels(tmp_path / "a.png"), [[0, 7, 0x010203, 7]])


def row(clip, ids, value, detail=1.0):
    return {"clip": clip, "detail": detail, "ids": ids, **dict.fromkeys(MEASURES, value)}


def test_scores_at_a_number_of_ids_are_interpolated_for_clips_that_have_so_many():
    rows = [row("a", 100.0, 0.0), row("a", 300.0, 1.0), row("b", 50.0, 0.0), row("b", 150.0, 1.0)]
    table = at_ids(rows, "data")
    ours = [each for each in table.rows if each["method"] == "ScStream"]
    assert [(each["ids"], each["clips"]) for each in ours] == [(200, "1 of 2"), (500, "0 of 2")]
    assert ours[0]["sa3d"] == 0.5
    assert "sa3d" not in ours[1]


def test_published_figures_are_marked_as_such():
    rows = [row("a", 100.0, 0.2, 0.3), row("b", 300.0, 0.4, 0.3), row("a", 500.0, 0.6, 3.0), row("b", 700.0, 0.8, 3.0)]
    assert {each["clips"] for each in at_ids(rows, "data").rows if each["method"] in PUBLISHED} == {"published"}
    for plot in plots(rows, "data"):
        ours, *others = plot.series
        assert (ours.x, ours.published) == ([200.0, 600.0], False)
        assert ours.y == pytest.approx([0.3, 0.7])
        assert [series.published for series in others] == [True] * len(PUBLISHED)


@pytest.mark.slow
def test_two_plain_regions_are_perfect_supervoxels(tmp_path):
    write_clip(tmp_path / "a" / "frames", tmp_path / "a" / "labels", 4)
    report = Report("supervoxels", "x")
    supervoxels.measure(report, tmp_path, seeds=2, quick=True)
    runs, found = report.tables
    assert [(each["clip"], each["detail"]) for each in runs.rows] == [("a", 0.3), ("a", 3.0)]
    coarse = runs.rows[0]
    assert coarse["ids"] >= 2
    assert coarse["sa3d"] == 1.0
    assert coarse["br3d"] == 1.0
    assert (coarse["repetitions"], coarse["ms_repetitions"]) == (2, 6)
    assert {"sa3d_std", "ms_p10", "ms_p90"} <= coarse.keys()
    assert found.name == "at_ids"
    assert {skipped.name for skipped in report.skipped} == {"Meanshift", "GB", "Nystrom"}
    assert Report.from_json(report.as_json()).tables == report.tables


@pytest.mark.slow
def test_the_command_names_what_is_wrong(tmp_path, capsys):
    write_clip(tmp_path / "frames", tmp_path / "labels")
    iio.imwrite(tmp_path / "labels" / "clip_10.png", np.ones((8, 8), np.uint8))
    assert cli.main(["bench", "supervoxels", str(tmp_path), "--quick", "-q"]) == 1
    assert "clip_10.png' has shape (8, 8)" in capsys.readouterr().err
    for number in range(10, 13):
        iio.imwrite(tmp_path / "labels" / f"clip_{number}.png", np.full((32, 48), 9, np.uint8))
    assert cli.main(["bench", "supervoxels", str(tmp_path), "--quick", "-q", "--void", "9"]) == 1
    assert "with --void 9" in capsys.readouterr().err
