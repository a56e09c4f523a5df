"""The JSON output of the commands has the fields that docs/command.md lists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from helpers.clips import moving_square, write_images
from helpers.paths import ROOT
from scstream_app import cli
from scstream_app.evaluation.bench import datasets

DESIGNED = {
    "frames", "width", "height", "ms_per_frame_median", "ms_per_frame_p95", "ms_engine_median", "fps",
    "segments_last", "segments_ever", "init_seconds", "seed", "threads",
}  # fmt: skip


def documented(heading: str) -> list[set[str]]:
    """The fields in each table of a section."""
    text = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    tables = section[1].split("| field | meaning |")[1:]
    return [
        {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
        for table in tables
    ]


def test_fields_of_the_data_sets_are_documented(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "warm_up", lambda video_only: None)
    monkeypatch.setattr(datasets, "quick_sets", lambda: [datasets.bundled("iris")])
    everything, data, method = documented("The JSON output of `bench datasets`")
    found = output(capsys, "bench", "datasets", "--quick")
    assert set(found) == everything - {"method", "mean_ari", "near_best"}
    assert [set(row) for row in found["datasets"]] == [data]
    assert all(set(row) == method for row in found["datasets"][0]["methods"])


def output(capsys: pytest.CaptureFixture[str], *words: Any) -> dict[str, Any]:
    assert cli.main([*map(str, words), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_every_field_is_documented(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clip, out = write_images(tmp_path / "clip", moving_square(3)), tmp_path / "out"
    options = ["--object", "10,20", "--formats", "IDS,Mp4", "--view", "Mean_Colour", "--palette", "SAFE"]
    segmented = output(capsys, "segment", clip, "-o", out, "-q", "--max-init-sweeps", 10, *options)
    (fields,) = documented("The JSON output of `segment` and `resume`")
    assert set(segmented) == fields >= DESIGNED
    assert (segmented["out"], segmented["formats"]) == (str(out), ["ids", "mp4", "object"])
    assert (out / "mean.mp4").is_file()
    manifest = json.loads((out / "clip.scstream" / "manifest.json").read_text())
    assert (manifest["export"]["view"], manifest["export"]["palette"]) == ("mean_colour", "safe")

    resumed = output(capsys, "resume", out, "-q")
    assert set(resumed) == fields - {"ms_wait_median", "ms_objects_median"}
    assert (resumed["frames"], resumed["out"], resumed["formats"]) == (0, str(out), ["ids", "mp4", "object"])

    exported = output(capsys, "export", out, "-o", tmp_path / "e", "-q", "--formats", "npz")
    assert [set(exported)] == documented("The JSON output of `export`")
    assert (exported["out"], exported["formats"]) == (str(tmp_path / "e"), ["npz"])

    program, session = documented("The JSON output of `info`")
    assert set(output(capsys, "info")) == program
    assert set(output(capsys, "info", out)) == session
