"""Reports of benchmarks: their files, tables and plots."""

import json

import numpy as np
import pytest

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports import report as reports
from scstream_app.evaluation.bench.reports.output import print_report, reported
from scstream_app.evaluation.bench.reports.plots import save_svg
from scstream_app.evaluation.bench.reports.report import (
    Plot,
    Report,
    Series,
    Skipped,
    Table,
    cell,
    markdown_table,
    number,
)


@pytest.fixture
def report():
    """A report with one row, one plot and one thing left out."""
    row = {"method": "a|b", "ms": 12.345, "ms_p10": 11.0, "ms_p90": 14.0, "repetitions": 5}
    return Report(
        "streams",
        "scstream bench streams",
        settings={"seeds": 3},
        skipped=[Skipped("river", "not installed")],
        tables=[Table("times", "Times", ["method", "ms"], [row], "A note.", ["method"], {"ms": "lower"})],
        plots=[Plot("growth", "Growth", "points", "ms", True, True, [Series("ours", [1.0, 10.0], [2.0, 3.0], True)])],
    )


def test_a_saved_report_is_read_back_as_it_was(report, tmp_path):
    report.save(tmp_path / "a.json")
    assert Report.load_file(tmp_path / "a.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_values_of_numpy_and_missing_numbers_are_plain(report):
    report.tables[0].rows.append({"method": "c", "ms": np.float32(1.5), "k": np.int64(3), "ari": float("nan")})
    values = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert values["tables"][0]["rows"][1] == {"method": "c", "ms": 1.5, "k": 3, "ari": None}


def test_a_report_of_the_least_values_can_be_read():
    made = Report.from_json(
        {"benchmark": "x", "command": "y", "new": 1, "tables": [{"name": "t", "title": "", "columns": []}]}
    )
    assert (made.benchmark, made.tables[0].rows) == ("x", [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "must be an object"),
        ("{", "Expecting"),
        ("{}", "missing"),
        ('{"benchmark": "x", "command": "y", "tables": 3}', "'tables' must be a list"),
        ('{"benchmark": "x", "command": "y", "tables": [3]}', "must be an object"),
    ],
)
def test_other_files_are_refused_by_name(text, problem, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"other\.json.*not the result of a benchmark") as caught:
        Report.load_file(path)
    assert problem in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(EvaluationError, match=r"none\.json"):
        Report.load_file(tmp_path / "none.json")


def test_a_report_says_where_it_comes_from(report):
    assert report.machine["cores"] >= 1
    assert report.machine["processor"]
    assert {"python", "numpy", "numba"} <= set(report.versions)
    assert "pytest" in reports.read_versions("pytest", "no-such-package")
    assert "no-such-package" not in reports.read_versions("no-such-package")


def test_a_checkout_names_its_commit(monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(reports, "__file__", f"{tmp_path.joinpath(*reports.__name__.split('.'))}.py")
    answers = {"rev-parse": "1234567", "status": " M file"}
    monkeypatch.setattr(reports, "_git", lambda root, *arguments: answers[arguments[0]])
    assert reports.read_project() == f"{reports.__version__} (1234567, with changes)"
    (tmp_path / ".git").rmdir()
    assert reports.read_project() == reports.__version__


def test_markdown_shows_the_spread_and_escapes_bars(report):
    assert markdown_table(report.tables[0]).splitlines() == [
        "| method | ms |",
        "| --- | --- |",
        "| a/b | 12.3 (11.0 to 14.0) |",
    ]


def test_a_standard_deviation_is_shown():
    assert cell({"ari": 0.9, "ari_std": 0.0123}, "ari") == "0.900 ± 0.0123"
    assert cell({"ari": None, "ari_std": 0.0123}, "ari") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "yes"),
        ("x", "x"),
        (1234567, "1,234,567"),
        (0.0, "0"),
        (0.12345, "0.123"),
        (-4.5678, "-4.57"),
        (1234.5, "1,234"),
        (12345678.0, "1.23e+07"),
        (0.00001234, "1.23e-05"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


# --- output


def test_an_interrupted_report_keeps_what_was_measured(report, tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt), reported(report, save=tmp_path / "a.json"):
        raise KeyboardInterrupt
    assert Report.load_file(tmp_path / "a.json").interrupted
    printed = capsys.readouterr().out
    assert "12.3 (11.0 to 14.0)" in printed
    assert "Skipped: river: not installed" in printed


def test_a_wide_table_is_printed_with_all_its_digits(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    wide = Table("wide", "Wide", [f"column {n}" for n in range(12)])
    wide.rows = [{f"column {n}": 1234.5678 + n for n in range(12)}]
    print_report(Report("wide", "", tables=[wide]))
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("1,23")]
    assert row.split() == [number(1234.5678 + n) for n in range(12)]


def test_nothing_is_written_if_nothing_was_measured(report, tmp_path, capsys):
    report.tables[0].rows.clear()
    with pytest.raises(KeyboardInterrupt), reported(report, True, tmp_path / "a.json"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


def test_a_report_for_programs(report, capsys):
    with reported(report, as_json=True):
        report.settings["seeds"] = 4
    assert json.loads(capsys.readouterr().out)["settings"] == {"seeds": 4}


@pytest.mark.parametrize("name", ["", "none/a.json"])
def test_a_file_that_cannot_be_written_is_refused_before_measuring(report, name, tmp_path):
    with pytest.raises(EvaluationError, match="Cannot write"), reported(report, save=tmp_path / name):
        pytest.fail("measured")


# --- plots


def test_plots_are_the_same_bytes_each_time_and_say_what_is_published(report, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        save_svg(report.plots[0], tmp_path / "images" / name)
    first, second = (path.read_bytes() for path in sorted((tmp_path / "images").iterdir()))
    assert first == second
    assert b"ours (published)" in first


def test_a_missing_matplotlib_is_named(report, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(EvaluationError, match=r"scstream-studio\[bench\]"):
        save_svg(report.plots[0], tmp_path / "a.svg")
