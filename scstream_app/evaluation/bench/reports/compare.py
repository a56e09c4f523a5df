"""Compare two reports of the same benchmark: which values changed by more than their noise.

A change counts if it is larger than a tolerance (a share of the old value), and larger than three standard errors of
the difference if the rows tell their spread. Times are only judged if both reports come from the same kind of machine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.bench.reports.report import Better, Report, Row, Table, cell

#: Smallest change that counts, relative to the old value.
TOLERANCE = 0.05
#: Standard errors of the difference by which a change must exceed chance.
_ERRORS = 3.0
#: Distance of the 10th and the 90th percentile of a normal distribution, in standard deviations.
_P10_TO_P90 = 2.563
#: Standard error of a median relative to that of a mean.
_MEDIAN = math.sqrt(math.pi / 2.0)
#: Columns with times, which are comparable on the same machine only.
_TIMES = ("ms", "seconds", "ns")

Verdict = Literal["worse", "better", "same", "not judged"]


@dataclass(frozen=True, slots=True)
class Change:
    """A value in two reports; ``change`` is relative to the old one, ``noise`` the part of it that chance explains."""

    table: str
    row: str
    column: str
    old: str
    new: str
    change: float
    noise: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes from one report to another, and what limits the comparison."""

    changes: list[Change]
    warnings: list[str]

    @property
    def worse(self) -> list[Change]:
        """Values that got worse beyond noise."""
        return [change for change in self.changes if change.verdict == "worse"]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        columns = Change.__slots__
        return {
            "warnings": self.warnings,
            "worse": len(self.worse),
            "changes": [{name: getattr(change, name) for name in columns} for change in self.changes],
        }


def compare(old: Report, new: Report, tolerance: float = TOLERANCE) -> Comparison:
    """Compare all measured values that both reports have."""
    if old.benchmark != new.benchmark:
        raise EvaluationError(
            f"Cannot compare reports of different benchmarks: '{old.benchmark}' and '{new.benchmark}'."
        )
    same_machine = _same_machine(old, new)
    changes: list[Change] = []
    later = {table.name: table for table in new.tables}
    for table in old.tables:
        if table.name in later:
            changes += _table_changes(table, later[table.name], tolerance, same_machine)
    if not changes:
        raise EvaluationError("Nothing to compare: the reports have no measured value in common.")
    return Comparison(changes, list(_warnings(old, new, same_machine)))


def _same_machine(old: Report, new: Report) -> bool:
    return all(old.machine.get(name) == new.machine.get(name) for name in ("processor", "cores"))


def _warnings(old: Report, new: Report, same_machine: bool) -> Iterator[str]:
    if not same_machine:
        yield "The reports come from different machines: times are not judged."
    for name, report in (("first", old), ("second", new)):
        if report.interrupted:
            yield f"The {name} report is incomplete: its benchmark was interrupted."
    names = [
        name for name in old.settings.keys() | new.settings.keys() if old.settings.get(name) != new.settings.get(name)
    ]
    if names:
        yield f"The settings differ: {', '.join(sorted(names))}."
    missing = sum(len(_missing(table, new)) for table in old.tables)
    if missing:
        yield f"{missing} rows of the first report are not in the second."


def _missing(table: Table, new: Report) -> set[tuple[Any, ...]]:
    later = next((each for each in new.tables if each.name == table.name), None)
    return set(_by_key(table)) - set(_by_key(later) if later is not None else ())


def _by_key(table: Table) -> dict[tuple[Any, ...], Row]:
    """The rows by the values of their keys; equal ones are numbered."""
    keys = table.keys or [name for name in table.columns if all(isinstance(row.get(name), str) for row in table.rows)]
    seen: Counter[tuple[Any, ...]] = Counter()
    found = {}
    for row in table.rows:
        key = tuple(row.get(name) for name in keys)
        found[(*key, seen[key])] = row
        seen[key] += 1
    return found


def _measures(table: Table) -> dict[str, Better]:
    """The measured columns; where a table names none, its times."""
    return table.measures or {name: "lower" for name in table.columns if _is_time(name)}


def _is_time(column: str) -> bool:
    return any(part in _TIMES for part in column.split("_"))


def _table_changes(old: Table, new: Table, tolerance: float, same_machine: bool) -> Iterator[Change]:
    later = _by_key(new)
    for key, before in _by_key(old).items():
        after = later.get(key)
        for column, better in _measures(old).items():
            if after is None or _number(before.get(column)) is None or _number(after.get(column)) is None:
                continue
            change, noise = relative_change(before, after, column)
            judged = same_machine or not _is_time(column)
            yield Change(
                old.name,
                ", ".join(str(value) for value in key[:-1]) or str(key[-1] + 1),
                column,
                cell(before, column),
                cell(after, column),
                round(change, 4),
                None if noise is None else round(noise, 4),
                verdict(change, noise, better, tolerance) if judged else "not judged",
            )


def _number(value: Any) -> float | None:
    """A finite number, or None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def relative_change(before: Row, after: Row, column: str) -> tuple[float, float | None]:
    """The change relative to the old value, and the largest that noise explains (None if the spread is unknown)."""
    old, new = float(before[column]), float(after[column])
    size = abs(old) or 1.0
    errors = [standard_error(row, column) for row in (before, after)]
    known = [error for error in errors if error is not None]
    noise = _ERRORS * math.hypot(*known) / size if len(known) == 2 else None
    return (new - old) / size, noise


def standard_error(row: Row, column: str) -> float | None:
    """Standard error of a mean or median from the spread of its measurements; None if that is unknown."""
    n = _number(row.get(f"{column}_repetitions", row.get("repetitions")))
    deviation, low, high = (_number(row.get(f"{column}_{name}")) for name in ("std", "p10", "p90"))
    if n is None or n < 2:
        return None
    if deviation is not None:
        return deviation / math.sqrt(n)
    if low is not None and high is not None:
        return _MEDIAN * (high - low) / _P10_TO_P90 / math.sqrt(n)
    return None


def verdict(change: float, noise: float | None, better: Better, tolerance: float) -> Verdict:
    """Whether a change is beyond the tolerance and the noise, and in which direction."""
    if abs(change) <= max(tolerance, noise or 0.0):
        return "same"
    return "better" if (change < 0.0) == (better == "lower") else "worse"
