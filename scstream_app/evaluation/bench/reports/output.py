"""Print and save the report of a benchmark, also of one that was interrupted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports.compare import Comparison
from scstream_app.evaluation.bench.reports.report import Report, Table, cell

#: Most characters of a line of a table.
_WIDEST = 1000


@contextmanager
def reported(report: Report, as_json: bool = False, save: Path | None = None) -> Iterator[None]:
    """Print and save the report when the body ends; if that fails or is interrupted, the tables so far."""
    if save is not None:
        check_file(save)
    try:
        yield
    except BaseException:
        report.interrupted = True
        raise
    finally:
        if not report.interrupted or any(table.rows for table in report.tables):
            if save is not None:
                report.save(save)
            print(json.dumps(report.as_json(), indent=2)) if as_json else print_report(report)


def check_file(path: Path) -> None:
    """Raise if a report cannot be saved there, before anything is measured."""
    if path.is_dir():
        raise EvaluationError(f"Cannot write '{path}': it is a folder.")
    if not path.parent.is_dir():
        raise EvaluationError(f"Cannot write '{path}': there is no folder '{path.parent}'.")


def print_report(report: Report) -> None:
    """Print the tables and what was skipped."""
    console = Console()
    for table in report.tables:
        if table.rows:
            _print_whole(_rich(table))
            if table.note:
                console.print(f"{table.note}\n", highlight=False, markup=False)
    for skipped in report.skipped:
        console.print(f"Skipped: {skipped.name}: {skipped.reason}", highlight=False, markup=False)


def _rich(table: Table) -> RichTable:
    rich = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        is_text = all(isinstance(row.get(column), str | None) for row in table.rows)
        rich.add_column(column.replace("_", " "), justify="left" if is_text else "right", no_wrap=True)
    for row in table.rows:
        rich.add_row(*(cell(row, column) for column in table.columns))
    return rich


def _print_whole(table: RichTable) -> None:
    """Print a table with all its digits, also on a narrower terminal, which wraps the lines, and to a file."""
    console = Console()
    needed = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    Console(width=max(console.width, needed)).print(table)


def print_comparison(comparison: Comparison) -> None:
    """Print the values that changed, and how many did not."""
    console = Console()
    for warning in comparison.warnings:
        console.print(warning, highlight=False, markup=False)
    changed = [change for change in comparison.changes if change.verdict in ("worse", "better")]
    if changed:
        names = ("table", "row", "column", "old", "new", "change", "noise", "verdict")
        rich = RichTable(*names, box=box.SIMPLE_HEAD, pad_edge=False)
        for each in changed:
            noise = "unknown" if each.noise is None else f"{each.noise:.1%}"
            rich.add_row(
                each.table, each.row, each.column, each.old, each.new, f"{each.change:+.1%}", noise, each.verdict
            )
        _print_whole(rich)
    counts = Counter(change.verdict for change in comparison.changes)
    console.print(
        ", ".join(f"{counts[name]} {name}" for name in ("worse", "better", "same", "not judged")), highlight=False
    )
