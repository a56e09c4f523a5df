"""`scstream evaluate`."""

import json
import re

import numpy as np
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
