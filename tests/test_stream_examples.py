"""The examples that read streams from elsewhere run as they are, on small data."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.paths import ROOT


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / name))


def test_an_interrupted_consumer_continues_with_the_ids_of_an_uninterrupted_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = example("micro_batches.py")
    names["main"]()
    printed = capsys.readouterr().out
    assert re.search(r"^after 1\d00 messages: (split|birth), ids", printed, re.MULTILINE)
    assert printed.splitlines()[-1] == "2000 messages, 3 clusters"

    def labels(folder: Path, *stops: int | None) -> dict[int, list[int]]:
        folder.mkdir()
        found = {}
        for stop in stops:
            messages = list(names["synthetic_messages"](700))[:stop]
            for model, learned in names["consume"](iter(messages), folder):
                found[learned] = model.labels_.tolist()
        return found

    assert labels(tmp_path / "one", None) == labels(tmp_path / "two", 600, None)


def test_a_consumer_reads_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.random.default_rng(0).normal(np.repeat([0.0, 20.0], 75), 1.0)
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps({"time": n, "values": [x]}) + "\n" for n, x in enumerate(values)))
    example("micro_batches.py")["main"](file, tmp_path / "checkpoints")
    assert capsys.readouterr().out.splitlines()[-1] == "150 messages, 2 clusters"


def test_parquet_files_get_an_id_for_each_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    names = example("parquet_stream.py")
    for n in range(2):
        names["write_synthetic"](tmp_path / f"{n}.parquet", 6000, seed=n)
    sizes = [len(X) for X in names["read_batches"]([tmp_path / "0.parquet", tmp_path / "1.parquet"])]
    assert max(sizes) <= names["ROWS"]
    names["main"](tmp_path / "ids.parquet", tmp_path / "0.parquet", tmp_path / "1.parquet")
    printed = capsys.readouterr().out
    assert "12000 rows read, 12000 ids written, 4 clusters" in printed
    ids = parquet.read_table(tmp_path / "ids.parquet")["id"].to_numpy()
    table = parquet.read_table(tmp_path / "1.parquet")
    # Four groups: along x, y, z, or at zero.
    values = np.column_stack([table[name].to_numpy() for name in "xyz"])
    group = np.where(values.max(axis=1) > 5.0, values.argmax(axis=1), 3)
    assert len(set(zip(group.tolist(), ids[6000:].tolist(), strict=True))) == 4


def test_a_river_pipeline_predicts_before_it_learns(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("river")
    names = example("river_pipeline.py")
    names["main"]()
    printed = capsys.readouterr().out
    assert "1500 samples, 3 clusters" in printed
    assert float(re.search(r"index ([\d.]+)", printed)[1]) > 0.95


def test_the_adapter_follows_the_rules_of_river() -> None:
    """A clone is new, features are found by name, and nothing is predicted before the first batch."""
    pytest.importorskip("river")
    from scstream import Gaussian, ScStream

    clusterer = example("river_pipeline.py")["BatchClusterer"](ScStream(Gaussian(psi=1.0), seed=0), batch_size=40)
    assert clusterer.predict_one({"a": 0.0, "b": 0.0}) == -1
    for n in range(40):
        clusterer.learn_one({"a": 30.0 * (n % 2) + 0.01 * n, "b": 0.02 * n})
    near, far = (clusterer.predict_one({"b": 0.4, "a": a}) for a in (0.2, 30.2))
    assert near != far
    assert clusterer.predict_one({"a": 0.2, "b": 0.4}) == near
    assert clusterer.clone().predict_one({"a": 0.0, "b": 0.0}) == -1
