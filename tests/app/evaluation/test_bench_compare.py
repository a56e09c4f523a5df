"""Two reports of a benchmark: which changes are beyond noise."""

import json

import pytest

from scstream_app import cli
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports.compare import compare, standard_error, verdict
from scstream_app.evaluation.bench.reports.report import Report, Table


def report(*rows, measures=None, machine="a", **fields):
    """A report with one table; a row is (method, ms, spread, ari)."""
    made = [
        {"method": name, "ms": ms, "ms_p10": ms - spread, "ms_p90": ms + spread, "repetitions": 16, "ari": ari}
        for name, ms, spread, ari in rows
    ]
    chosen = {"ms": "lower", "ari": "higher"} if measures is None else measures
    table = Table("t", "T", ["method", "ms", "ari"], made, keys=["method"], measures=chosen)
    return Report("x", "x", machine={"processor": machine, "cores": 2}, tables=[table], **fields)


def verdicts(old, new, **options):
    return [(change.row, change.column, change.verdict) for change in compare(old, new, **options).changes]


def test_only_changes_beyond_noise_and_tolerance_count():
    old = report(("slower", 100.0, 5.0, 0.9), ("noisy", 100.0, 90.0, 0.9), ("little", 100.0, 0.1, 0.9))
    new = report(("slower", 120.0, 5.0, 0.9), ("noisy", 120.0, 90.0, 0.9), ("little", 104.0, 0.1, 0.9))
    assert verdicts(old, new) == [
        ("slower", "ms", "worse"),
        ("slower", "ari", "same"),
        ("noisy", "ms", "same"),
        ("noisy", "ari", "same"),
        ("little", "ms", "same"),
        ("little", "ari", "same"),
    ]
    assert ("little", "ms", "worse") in verdicts(old, new, tolerance=0.03)


def test_scores_are_better_if_higher_and_times_if_lower():
    old, new = report(("a", 100.0, 1.0, 0.5)), report(("a", 50.0, 1.0, 0.9))
    assert verdicts(old, new) == [("a", "ms", "better"), ("a", "ari", "better")]
    assert verdicts(new, old) == [("a", "ms", "worse"), ("a", "ari", "worse")]


def test_times_of_other_machines_are_not_judged():
    old, new = report(("a", 100.0, 1.0, 0.5)), report(("a", 200.0, 1.0, 0.1), machine="b")
    found = compare(old, new)
    assert [change.verdict for change in found.changes] == ["not judged", "worse"]
    assert "different machines" in found.warnings[0]


def test_times_are_judged_if_a_table_names_no_measures():
    old, new = report(("a", 100.0, 1.0, 0.5), measures={}), report(("a", 200.0, 1.0, 0.1), measures={})
    assert verdicts(old, new) == [("a", "ms", "worse")]


def test_rows_are_matched_by_their_keys_and_equal_ones_by_their_order():
    old = report(("a", 100.0, 1.0, None), ("b", 10.0, 0.1, None), ("b", 30.0, 0.1, None))
    new = report(("b", 10.0, 0.1, None), ("b", 60.0, 0.1, None), ("c", 1.0, 0.1, None))
    found = compare(old, new)
    assert [(change.row, change.verdict) for change in found.changes] == [("b", "same"), ("b", "worse")]
    assert found.warnings == ["1 rows of the first report are not in the second."]


def test_other_settings_and_interrupted_runs_are_named():
    rows = ("a", 1.0, 0.0, 0.5)
    found = compare(report(rows, settings={"quick": True}), report(rows, settings={"quick": False}, interrupted=True))
    assert found.warnings == [
        "The second report is incomplete: its benchmark was interrupted.",
        "The settings differ: quick.",
    ]


def test_reports_of_different_benchmarks_are_refused():
    with pytest.raises(EvaluationError, match="'x' and 'y'"):
        compare(report(("a", 1.0, 0.0, 0.5)), Report("y", "y"))
    with pytest.raises(EvaluationError, match="Nothing to compare"):
        compare(report(("a", 1.0, 0.0, 0.5)), report(("b", 1.0, 0.0, 0.5)))


def test_standard_error_of_means_and_medians():
    assert standard_error({"ari_std": 0.3, "repetitions": 9}, "ari") == pytest.approx(0.1)
    # Of a normal distribution with a standard deviation of 1.
    row = {"ms_p10": -1.2816, "ms_p90": 1.2816, "repetitions": 3, "ms_repetitions": 100}
    assert standard_error(row, "ms") == pytest.approx(0.1253, abs=1e-3)
    assert standard_error({"ms_p10": 1.0, "ms_p90": 2.0, "repetitions": 1}, "ms") is None
    assert standard_error({"repetitions": 5}, "ms") is None


def test_without_a_spread_the_tolerance_decides():
    assert verdict(0.2, None, "lower", 0.05) == "worse"
    assert verdict(0.04, None, "lower", 0.05) == "same"


def test_the_command_fails_if_something_got_worse(tmp_path, capsys):
    report(("a", 100.0, 1.0, 0.5)).save(tmp_path / "a.json")
    report(("a", 200.0, 1.0, 0.5)).save(tmp_path / "b.json")
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert cli.main(["bench", "compare", *paths]) == 1
    assert "+100.0%" in capsys.readouterr().out
    assert cli.main(["bench", "compare", *reversed(paths)]) == 0
    capsys.readouterr()
    assert cli.main(["bench", "compare", *paths, "--tolerance", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [change["verdict"] for change in found["changes"]] == ["same", "same"]
    assert cli.main(["bench", "compare", paths[0], str(tmp_path / "none.json")]) == 1
    assert "none.json" in capsys.readouterr().err
