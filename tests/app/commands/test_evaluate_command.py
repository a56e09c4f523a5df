"""`scstream evaluate`."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from helpers.clips import moving_square, square_mask
from helpers.command_line import segment
from scstream_app import cli


def test_evaluate_for_people(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(moving_square(6)):
        square_mask(tmp_path, frame).rename(truth / f"{n:05d}.png")
    assert cli.main(["evaluate", str(tmp_path / "out" / "clip.scstream"), str(truth)]) == 0
    text = capsys.readouterr().out
    assert "j oracle" in text
    assert "j carried" in text
    assert re.search(r"frames without prediction +0 *\n", text)
    assert "kept along flow" not in text


def test_evaluate_with_the_video_and_dense_labels(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(moving_square(6)):
        labels = np.where(frame[..., 0] > 128, 1, np.where(np.arange(48)[:, None] < 24, 0, 2)).astype(np.uint8)
        labels[:, 60:] = 7
        Image.fromarray(labels).save(truth / f"{n:05d}.png")
    given = ["evaluate", str(tmp_path / "out" / "clip.scstream"), str(truth), "--json"]
    assert cli.main([*given, "--source", str(clip), "--void", "7"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert 0.7 < scores["kept_along_flow"] < 1.0
    assert scores["explained_variation"] > 0.9
    assert scores["sa3d"] > 0.9
    assert scores["purity"] > 0.9
    assert cli.main([*given, "--source", str(tmp_path / "absent.mp4")]) == 1
    assert "absent.mp4" in capsys.readouterr().err


@pytest.fixture
def truth(tmp_path):
    """True masks of the clip's square."""
    folder = tmp_path / "truth"
    folder.mkdir()
    for n, frame in enumerate(moving_square(6)):
        square_mask(tmp_path, frame).rename(folder / f"{n:05d}.png")
    return folder


def test_evaluate_a_range_of_frames(clip, truth, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--object", str(truth / "00000.png"), "--formats", "ids", "--quiet") == 0
    for predictions in ("clip.scstream", "object", "ids"):
        given = ["evaluate", str(tmp_path / "out" / predictions), str(truth), "--json"]
        capsys.readouterr()
        for frames, count in (("2:5", 3), ("4:", 2), (":99", 6)):
            assert cli.main([*given, "--frames", frames]) == 0
            assert json.loads(capsys.readouterr().out)["frames"] == count


def test_tracked_objects_are_left_out_of_a_range_in_which_there_are_none(clip, truth, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--object", str(truth / "00000.png"), "--formats", "ids", "--quiet") == 0
    session = tmp_path / "out" / "clip.scstream"
    for index in (4, 5):
        (session / "object_masks" / f"{index:06d}.mask").unlink()
    given = ["evaluate", str(session), str(truth), "--json"]
    capsys.readouterr()
    assert cli.main([*given, "--frames", "3:5"]) == 0
    assert json.loads(capsys.readouterr().out)["tracked"]["frames_without_prediction"] == 1
    assert cli.main([*given, "--frames", "4:6"]) == 0
    assert "tracked" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("frames", "code", "message"),
    [
        ("5:5", 2, "in A:B, B must be greater than A; got '5:5'"),
        ("5", 2, "must be A:B, such as 0:100, 50: or :20; got '5'"),
        ("20:30", 1, "has no such frame; it holds frames 0 to 5"),
    ],
)
def test_ranges_that_hold_no_frame(truth, capsys, frames, code, message):
    assert cli.main(["evaluate", str(truth), str(truth), "--frames", frames]) == code
    assert message in capsys.readouterr().err
