"""CSV and Parquet tables, read back with independent readers."""

import csv
import json
import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from helpers.export_scenes import birth, death, merge, result, split, story
from helpers.exports import KITE, export
from scstream_app.export import FORMATS, ExportError
from scstream_app.export.formats.tables.csv_tables import _number
from scstream_app.export.tables import EVENTS, OBJECTS, SEGMENTS, TRACKS
from scstream_app.pipeline.frame_result import ObjectMasks


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parents(folder):
    return {int(child): above for child, above in json.loads((folder / "graph.json").read_text()).items()}


def test_segments_are_one_row_a_frame_and_segment(tmp_path):
    results = story(first=5)
    table = rows(export(tmp_path, "csv", results, names={1: 'a "kite", red'}))
    assert list(table[0]) == list(SEGMENTS)
    expected = [(one, line) for one in results for line in one.statistics]
    assert len(table) == len(expected)
    for row, (one, line) in zip(table, expected, strict=True):
        assert (int(row["frame"]), int(row["id"])) == (one.index, line["id"])
        assert float(row["time"]) == pytest.approx(one.time)
        assert int(row["pixels"]) == (one.ids == line["id"]).sum()
        assert row["name"] == ('a "kite", red' if line["id"] == 1 else "")
        for name in ("red", "green", "blue", "row", "column"):
            assert float(row[name]) == pytest.approx(line[name], rel=1e-6)
        covariance = np.zeros((5, 5))
        for i, j in zip(*np.triu_indices(5), strict=True):
            covariance[i, j] = covariance[j, i] = float(row[f"cov_{i + 1}{j + 1}"])
        np.testing.assert_allclose(covariance, line["covariance"], rtol=1e-6, atol=1e-12)


def test_events_are_their_own_table(tmp_path):
    export(tmp_path, "csv", story())
    table = rows(tmp_path / "events.csv")
    assert list(table[0]) == list(EVENTS)
    assert [(row["frame"], row["kind"], row["id"], row["other"]) for row in table] == [
        ("0", "birth", "0", "-1"),
        ("0", "birth", "1", "-1"),
        ("0", "birth", "2", "-1"),
        ("2", "split", "1", "3"),
        ("4", "merge", "0", "2"),
    ]
    assert [row["log_hastings"] for row in table] == ["NaN", "NaN", "NaN", "5.0", "4.0"]
    assert (table[3]["count"], table[3]["other_count"]) == ("60.0", "40.0")


def test_tracks_are_the_centroids_of_what_is_seen(tmp_path):
    results = story()
    export(tmp_path, "csv", results)
    table = rows(tmp_path / "tracks.csv")
    assert list(table[0]) == list(TRACKS)
    by_frame = {one.index: one for one in results}
    for row in table:
        y, x = np.nonzero(by_frame[int(row["frame"])].ids == int(row["track_id"]))
        assert (float(row["row"]), float(row["column"])) == pytest.approx((y.mean(), x.mean()), rel=1e-6)
    assert len(table) == sum(len(np.unique(one.ids)) for one in results)


def test_hidden_segments_have_a_row_but_no_track(tmp_path):
    one = story()[0]
    one.statistics["pixels"][-1] = 0
    assert len(rows(export(tmp_path, "csv", [one]))) == 3
    assert len(rows(tmp_path / "tracks.csv")) == 2


def check_graph(graph, tracks):
    """napari requires that parents and children have tracks, and that no track is its own ancestor."""
    assert set(graph) | {parent for above in graph.values() for parent in above} <= tracks
    for child in graph:
        seen, todo = set(), [child]
        while todo:
            for parent in graph.get(todo.pop(), []):
                assert parent != child
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)


def test_graph_holds_the_splits(tmp_path):
    export(tmp_path, "csv", story())
    graph = parents(tmp_path)
    assert graph == {3: [1]}
    check_graph(graph, {int(row["track_id"]) for row in rows(tmp_path / "tracks.csv")})


def test_graph_skips_those_that_were_never_seen(tmp_path):
    """7 is split from 0 and splits into 8 and is absorbed, all in one frame; 5 descends from before the export."""
    ids = np.zeros((4, 6), np.int32)
    ids[:, 2:4], ids[:, 4:] = 8, 5
    events = [split(1, 0, 7), split(1, 7, 8), merge(1, 8, 7), split(1, 99, 5), merge(1, 0, 99)]
    export(tmp_path, "csv", [result(0, np.zeros((4, 6)), [birth(0, 0)]), result(1, ids, events)])
    graph = parents(tmp_path)
    assert graph == {8: [0]}
    check_graph(graph, {0, 5, 8})


def test_graph_has_no_circle_when_a_child_absorbs_its_parent(tmp_path):
    one, two = np.zeros((2, 4), np.int32), np.zeros((2, 4), np.int32)
    two[:, 2:] = 1
    story = [
        result(0, one, [birth(0, 0)]),
        result(1, two, [split(1, 0, 1)]),
        result(2, np.ones((2, 4)), [merge(2, 1, 0), birth(2, 2), death(2, 2)]),
    ]
    export(tmp_path, "csv", story)
    assert parents(tmp_path) == {1: [0]}


def test_frames_without_segments_or_events_are_fine(tmp_path):
    one = result(0, np.full((2, 2), -1))
    assert rows(export(tmp_path, "csv", [one])) == []
    assert rows(tmp_path / "events.csv") == []
    assert parents(tmp_path) == {}


def test_types_of_whole_columns_follow_from_their_first_rows(tmp_path):
    """polars looks at a hundred rows: whole seconds, births only and unmeasured objects, before anything else comes."""
    polars = pytest.importorskip("polars")
    flat = np.zeros((2, 2), np.int32)
    early = [result(n, flat, [birth(n, n)], time=float(n), rgb=np.zeros((2, 2, 3), np.uint8)) for n in range(120)]
    late = [result(120, flat, [split(120, 0, 120)], time=1e-7), result(121, flat, time=123.25)]
    seen = {"numbers": np.ones((2, 2), np.uint8)}
    results = [replace(one, objects=ObjectMasks(**seen, confidences=(math.nan,))) for one in early]
    results += [replace(one, objects=ObjectMasks(**seen, confidences=(0.25,))) for one in late]
    export(tmp_path, "csv", results, objects=(KITE,))
    types = {int: polars.Int64, float: polars.Float64, str: polars.String}
    for name, columns in (("segments", SEGMENTS), ("events", EVENTS), ("tracks", TRACKS), ("objects", OBJECTS)):
        table = polars.read_csv(tmp_path / f"{name}.csv")
        assert table.schema == {column: types[kind] for column, kind in columns.items()}
        if "time" in columns and name != "events":
            assert table["time"].to_list() == [one.time for one in results]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 25.0, -3.0, 1e-12, 1.2345678e-30, 9.8765432e15, 1e22, 0.1, 1 / 3])
def test_floats_have_a_point_and_no_exponent(value):
    text = _number(value, float)
    assert re.fullmatch(r"-?\d+\.\d+", text)
    assert float(text) == pytest.approx(value, rel=5e-8)


def test_parquet_holds_the_same_tables(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export(tmp_path, "csv", story(), names={1: "kite"})
    export(tmp_path, "parquet", story(), names={1: "kite"})
    for name in ("segments", "events", "tracks"):
        table = parquet.read_table(tmp_path / f"{name}.parquet").to_pylist()
        plain = rows(tmp_path / f"{name}.csv")
        assert len(table) == len(plain)
        for row, line in zip(table, plain, strict=True):
            assert list(row) == list(line)
            for column, value in row.items():
                if isinstance(value, float):
                    assert float(line[column]) == pytest.approx(value, rel=1e-6)
                else:
                    missing = "-1" if column == "other" else "NaN"
                    assert line[column] == (missing if value is None else str(value))
    assert parquet.read_table(tmp_path / "graph.parquet").to_pylist() == [{"track_id": 3, "parent": 1}]


def test_parquet_writes_in_groups(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("scstream_app.export.formats.tables.parquet._GROUP", 5)
    file = parquet.ParquetFile(export(tmp_path, "parquet", story()))
    assert 1 < file.metadata.num_row_groups < 5
    assert file.metadata.num_rows == sum(len(one.statistics) for one in story())


def test_parquet_without_its_library_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match=r"pip install 'scstream-studio\[parquet\]'"):
        export(tmp_path, "parquet", story())
    assert not list(tmp_path.iterdir())
    assert "parquet" in FORMATS
