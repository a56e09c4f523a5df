"""Write docs/benchmarks.md and its plots from the saved results of benchmarks.

    python tools/benchmark_page.py [--results docs/benchmarks] [--page docs/benchmarks.md]

Results are the files that `scstream bench NAME --save docs/benchmarks/NAME.json` writes. `make bench` runs all
benchmarks and this script.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scstream_app.errors import EvaluationError, StudioError
from scstream_app.evaluation.bench.reports.plots import save_svg
from scstream_app.evaluation.bench.reports.report import Report, markdown_table, number

ROOT = Path(__file__).resolve().parents[1]
INTRODUCTION = """# Benchmarks

`make bench` runs the benchmarks, some only if it is told where their data lie, and writes the page; each section names
its own command. Times are medians with the 10th and 90th percentile of the repetitions in parentheses, scores are means
with their standard deviation. Series and rows that are called published are quoted from the literature.
"""
#: Folder of the plots, beside the page.
IMAGES = "images/benchmarks"
#: Load average before a benchmark above which its times may be too long.
MOST_LOAD = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the page of benchmarks from their saved results.")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "benchmarks", help="folder of JSON files")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md", help="Markdown file to write")
    options = parser.parse_args(arguments)
    try:
        write_page(options.results, options.page)
    except StudioError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def write_page(results: Path, page: Path) -> None:
    """Write the page, and its plots to images/benchmarks beside it; plots of earlier pages are removed."""
    reports = read_reports(results)
    plots = {page.parent / IMAGES / f"{plot.name}.svg": plot for report in reports for plot in report.plots}
    for path, plot in plots.items():
        save_svg(plot, path)
    for path in set((page.parent / IMAGES).glob("*.svg")) - set(plots):
        path.unlink()
    page.write_text(page_text(reports), encoding="utf-8")


def read_reports(results: Path) -> list[Report]:
    """The complete results in a folder."""
    reports = [Report.load_file(path) for path in sorted(results.glob("*.json"))]
    for report in reports:
        if report.interrupted:
            raise EvaluationError(f"The benchmark '{report.benchmark}' in '{results}' was interrupted: run it again.")
    return reports


def page_text(reports: Sequence[Report]) -> str:
    """The whole page as Markdown."""
    return "\n".join(
        [INTRODUCTION, *map(section, reports)] if reports else [INTRODUCTION, "No results are saved yet.\n"]
    )


def section(report: Report) -> str:
    """The part of the page for one benchmark."""
    parts = [f"## {report.benchmark.capitalize()}\n", f"```sh\n{report.command}\n```\n", origin(report)]
    for table in report.tables:
        parts.append(f"### {table.title}\n\n{markdown_table(table)}")
        if table.note:
            parts.append(f"{table.note}\n")
    parts += [f"![{plot.title}]({IMAGES}/{plot.name}.svg)\n" for plot in report.plots]
    if report.skipped:
        items = "".join(f"- {skipped.name}: {skipped.reason}\n" for skipped in report.skipped)
        parts.append(f"Not measured:\n\n{items}")
    return "\n".join(parts)


def origin(report: Report) -> str:
    """Date, program, machine and versions, with warnings about what limits the figures."""
    machine = report.machine
    memory = f", {number(machine['memory_gib'])} GiB" if machine.get("memory_gib") else ""
    lines = [
        f"Measured on {report.date[:10]} with ScStream Studio {report.project}.",
        f"Machine: {machine.get('processor')}, {machine.get('cores')} cores{memory}, {machine.get('system')}.",
        f"Versions: {', '.join(f'{name} {value}' for name, value in report.versions.items())}.",
    ]
    if report.settings.get("quick"):
        lines.append("**A quick run: the figures are rough.**")
    if report.load is not None and report.load > MOST_LOAD:
        lines.append(f"**The machine was not idle before (load average {report.load:g}): times may be too long.**")
    return "".join(f"- {line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
