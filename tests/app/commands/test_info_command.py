"""`scstream info`."""

import json
import os
import re
from pathlib import Path

import numpy as np

from helpers.clips import moving_square, square_mask
from helpers.command_line import segment
from helpers.paths import ROOT, SAMPLES
from scstream_app import cli


def test_info_names_every_package_and_folds_long_paths(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert "PySide6-Essentials" in text
    assert str(SAMPLES) in text.replace("\n", "").replace(" ", "")
    assert "…" not in text


def test_info_for_programs(capsys):
    assert cli.main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cores"] == os.cpu_count()
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["codecs"]["libx264"] == "yes"
    assert "cameras" in facts
    assert Path(facts["numba_cache"]).is_absolute()


def test_info_for_people(capsys):
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert "numba cache" in text
    assert "scikit-learn" in text


def test_info_of_a_session(clip, tmp_path, capsys):
    mask = square_mask(tmp_path, moving_square(1)[0])
    assert segment(clip, tmp_path / "o[u]t", "--quiet", "--seed", "7", "--object", str(mask), "--formats", "npz") == 0
    session = str(tmp_path / "o[u]t" / "clip.scstream")
    assert cli.main(["info", session, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["frames"], facts["size"], facts["seed"], facts["complete"]) == (6, "64 x 48", 7, True)
    assert (facts["objects"], facts["source"]) == (["object"], str(clip))
    assert facts["settings"]["scale"] == 1.0
    assert cli.main(["info", session]) == 0
    text = capsys.readouterr().out
    assert re.search(r"complete +yes", text)
    assert "o[u]t" in "".join(text.split())


def test_readme_and_help_describe_info_alike(capsys):
    assert cli.main(["info", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "versions, codecs and cameras" in words
    assert "versions, codecs and cameras" in (ROOT / "README.md").read_text("utf-8")
