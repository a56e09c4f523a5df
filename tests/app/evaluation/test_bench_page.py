"""The page of benchmarks: made from saved results, and in step with them."""

import importlib.util

import pytest

from helpers.paths import ROOT
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports.report import Plot, Report, Series, Skipped, Table

_spec = importlib.util.spec_from_file_location("benchmark_page", ROOT / "tools" / "benchmark_page.py")
page = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(page)


def make_report(**fields):
    table = Table("t", "Times", ["method", "ms"], [{"method": "ours", "ms": 1.0}], note="How to read it.")
    return Report("scaling", "scstream bench scaling", tables=[table], load=0.0, **fields)


def test_a_section_names_command_machine_versions_and_what_was_skipped():
    text = page.section(make_report(skipped=[Skipped("GB", "no figures")]))
    for part in (
        "```sh\nscstream bench scaling\n```",
        "| ours | 1.00 |",
        "How to read it.",
        "numpy ",
        "- GB: no figures",
    ):
        assert part in text
    assert "not idle" not in text


def test_rough_and_disturbed_results_are_marked():
    report = make_report(settings={"quick": True})
    report.load = 3.0
    text = page.section(report)
    assert "A quick run" in text
    assert "The machine was not idle before (load average 3)" in text


def test_interrupted_results_are_refused(tmp_path):
    make_report(interrupted=True).save(tmp_path / "scaling.json")
    with pytest.raises(EvaluationError, match=r"'scaling'.*interrupted"):
        page.read_reports(tmp_path)
    assert page.main(["--results", str(tmp_path), "--page", str(tmp_path / "a.md")]) == 1


def test_the_page_links_to_the_plots_that_it_draws(tmp_path, monkeypatch):
    plot = Plot("growth", "Growth", "x", "y", series=[Series("a", [1.0], [1.0])])
    make_report(plots=[plot]).save(tmp_path / "scaling.json")
    drawn = []
    monkeypatch.setattr(page, "save_svg", lambda plot, path: drawn.append(path))
    assert page.main(["--results", str(tmp_path), "--page", str(tmp_path / "a.md")]) == 0
    assert "![Growth](images/benchmarks/growth.svg)" in (tmp_path / "a.md").read_text(encoding="utf-8")
    assert drawn == [tmp_path / "images" / "benchmarks" / "growth.svg"]


def test_plots_of_an_earlier_page_are_removed(tmp_path):
    old = tmp_path / "images" / "benchmarks" / "old.svg"
    old.parent.mkdir(parents=True)
    old.touch()
    page.write_page(tmp_path, tmp_path / "a.md")
    assert not old.exists()


def test_the_page_of_the_documentation_is_made_from_its_results():
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert text == page.page_text(page.read_reports(ROOT / "docs" / "benchmarks"))
