"""The result of a benchmark: tables and plots with the machine, the versions and the command they come from.

A row may hold more values than its table shows. The spread of a measured column ``ms`` is in ``ms_p10`` and ``ms_p90``
(percentiles) or in ``ms_std`` (standard deviation), the number of its measurements in ``repetitions``; `compare`
needs them to tell a change from noise.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, Self

from scstream_app import __version__
from scstream_app.errors import EvaluationError, reason

Row = dict[str, Any]
Better = Literal["lower", "higher"]

#: Packages whose versions every report names.
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "opencv-python-headless")
#: Files that are larger are no reports.
_LARGEST_FILE = 2**24


# --- where a report comes from ----------------------------------------------------------------------------


def read_project() -> str:
    """Version of the program, with the commit if it runs from a checkout."""
    root = Path(__file__).resolve().parents[4]
    if not (root / ".git").exists():
        return __version__
    commit = _git(root, "rev-parse", "--short", "HEAD")
    changed = ", with changes" if commit and _git(root, "status", "--porcelain", "--untracked-files=no") else ""
    return f"{__version__} ({commit}{changed})" if commit else __version__


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def read_machine() -> dict[str, Any]:
    """Processor, number of cores, memory and system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine() or "unknown"


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def read_load() -> float | None:
    """Load average of the last minute; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def read_versions(*more: str) -> dict[str, str]:
    """Versions of Python and of the installed packages among `PACKAGES` and ``more``."""
    found = {"python": platform.python_version()}
    for name in (*PACKAGES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


# --- the report ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Table:
    """Rows of values.

    ``keys`` are the columns that tell the rows apart, ``measures`` the columns that can get better or worse, with the
    direction that is better. The ``note`` says how to read the table.
    """

    name: str
    title: str
    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    note: str = ""
    keys: list[str] = field(default_factory=list)
    measures: dict[str, Better] = field(default_factory=dict)


@dataclass(slots=True)
class Series:
    """A line of a plot; ``published`` figures are quoted, not measured here."""

    name: str
    x: list[float]
    y: list[float]
    published: bool = False


@dataclass(slots=True)
class Plot:
    """Lines over common axes; ``x`` and ``y`` are the labels of the axes."""

    name: str
    title: str
    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    series: list[Series] = field(default_factory=list)


@dataclass(slots=True)
class Skipped:
    """Something that was not measured, and the reason."""

    name: str
    reason: str


@dataclass(slots=True)
class Report:
    """All that a benchmark found, so far if it was ``interrupted``.

    ``load`` is the system's load average over the minute before the benchmark, None if unknown: on an idle machine, it
    is near 0.
    """

    benchmark: str
    command: str
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    project: str = field(default_factory=read_project)
    machine: dict[str, Any] = field(default_factory=read_machine)
    versions: dict[str, str] = field(default_factory=read_versions)
    settings: dict[str, Any] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    load: float | None = field(default_factory=read_load)
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain values; numbers that JSON lacks (NaN, infinities) are None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """The report with these plain values; unknown ones are ignored."""
        report: Self = _made(cls, values)
        report.skipped = [_made(Skipped, each) for each in report.skipped]
        report.tables = [_made(Table, each) for each in report.tables]
        report.plots = [_made(Plot, each) for each in report.plots]
        for plot in report.plots:
            plot.series = [_made(Series, each) for each in plot.series]
        return report

    def save(self, path: Path) -> None:
        """Write the report to a JSON file."""
        temporary = path.with_name(f".{path.name}.tmp")
        try:
            temporary.write_text(json.dumps(self.as_json(), indent=1) + "\n", encoding="utf-8")
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise EvaluationError(f"Cannot write '{path}': {reason(error)}.") from error

    @classmethod
    def load_file(cls, path: Path) -> Self:
        """Read a report that `save` wrote."""
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise EvaluationError(f"Cannot read '{path}': it is too large for the result of a benchmark.")
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise EvaluationError(f"Cannot read '{path}': it is not the result of a benchmark ({error}).") from error
        except OSError as error:
            raise EvaluationError(f"Cannot read '{path}': {reason(error)}.") from error


def _made(kind: type[Any], values: Any) -> Any:
    if not isinstance(values, Mapping):
        raise TypeError(f"a {kind.__name__.lower()} must be an object, got {type(values).__name__}")
    names = {each.name for each in fields(kind)}
    made = kind(**{name: value for name, value in values.items() if name in names})
    for each in fields(kind):
        # The types of the fields are texts here; containers matter, as later code iterates over them.
        for container in ("list", "dict"):
            if str(each.type).startswith(container) and type(getattr(made, each.name)).__name__ != container:
                raise TypeError(f"'{each.name}' must be a {container}")
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- Markdown ---------------------------------------------------------------------------------------------


def markdown_table(table: Table) -> str:
    """The shown columns as a Markdown table; a value with a spread is followed by it."""
    lines = [[column.replace("_", " ") for column in table.columns], ["---"] * len(table.columns)]
    lines += [[cell(row, column) for column in table.columns] for row in table.rows]
    return "\n".join(f"| {' | '.join(each.replace('|', '/') for each in line)} |" for line in lines) + "\n"


def cell(row: Row, column: str) -> str:
    """A value as text, with its spread if the row has one: 10th and 90th percentile, or standard deviation."""
    text = number(row.get(column))
    low, high, deviation = (row.get(f"{column}_{name}") for name in ("p10", "p90", "std"))
    if not text:
        return ""
    if low is not None and high is not None:
        return f"{text} ({number(low)} to {number(high)})"
    return text if deviation is None else f"{text} ± {number(deviation)}"


def number(value: Any) -> str:
    """A value as text: floats with three significant digits, whole numbers in full, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if value == 0.0:
        return "0"
    if not 1e-4 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
