"""Table of the statistics of two runs, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from scstream_app.evaluation.run_statistics import RunStatistics
from scstream_app.settings import SPECS, Settings
from scstream_app.ui.compare.comparison_view import FIRST, SECOND

_UNKNOWN = "–"
_EVENTS = {"birth": "Births", "split": "Splits", "merge": "Merges", "death": "Deaths"}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what is compared, the values of both runs, and an explanation."""

    name: str
    first: str
    second: str
    tip: str = field(default="", kw_only=True)


class StatisticsTable(QTableWidget):
    """Shows the settings that differ and the statistics of two runs; lines with different values are bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 3, parent)
        self.setAccessibleName("Statistics of the two runs")
        self.setHorizontalHeaderLabels(["", FIRST, SECOND])
        self.verticalHeader().hide()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.setMinimumWidth(260)

    def set_names(self, first: str, second: str) -> None:
        """Name the runs in the tooltips of their columns."""
        for column, name in ((1, first), (2, second)):
            item = self.horizontalHeaderItem(column)
            assert item is not None
            item.setToolTip(name)

    def show_statistics(self, first: RunStatistics, second: RunStatistics, kept: list[float]) -> None:
        """Fill the table; ``kept`` holds the share of pixels that each run keeps along the motion, if it is known."""
        rows = [*setting_rows(first.settings, second.settings), *statistics_rows(first, second, kept)]
        self.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for column, text in enumerate((row.name, row.first, row.second)):
                item = QTableWidgetItem(text)
                item.setToolTip(row.tip or text)
                font = item.font()
                font.setBold(row.first != row.second)
                item.setFont(font)
                if column:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(place, column, item)


def setting_rows(first: Settings, second: Settings) -> Iterator[Row]:
    """Yield a line for each setting that differs and affects the result; one line if there is none.

    >>> [(row.name, row.first, row.second) for row in setting_rows(Settings(), Settings(detail=4.0))]
    [('Detail', '1', '4')]
    """
    a, b = first.portable(), second.portable()
    different = [name for name in a if a[name] != b[name]]
    for name in different:
        spec = SPECS[name]
        texts = (spec.none or _UNKNOWN if value is None else _setting(value) for value in (a[name], b[name]))
        yield Row(spec.label, *texts, tip=spec.help)
    if not different:
        yield Row("Settings", "the same", "the same")


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def statistics_rows(first: RunStatistics, second: RunStatistics, kept: list[float]) -> Iterator[Row]:
    """Yield the lines with the numbers of the runs."""
    both = first, second
    yield Row("Frames", *(str(run.frames) for run in both))
    yield Row("Segments per frame", *(_number(run.segments, ".1f") for run in both), tip="Mean over the frames")
    yield Row("Segments in all", *(str(run.ids) for run in both), tip="Segments that ever lived")
    yield Row("Mean life, frames", *(_number(run.life, ".1f") for run in both))
    yield Row("Kept along motion", *_kept(kept), tip="Share of pixels that keep their id where the motion takes them")
    yield Row("Label churn", *(_percent(run.churn) for run in both), tip="Share of pixels that change their id")
    yield Row("Uncertainty", *(_percent(run.uncertainty) for run in both), tip="Mean over the pixels and frames")
    yield Row("ms per frame", *(_number(run.milliseconds, ".1f") for run in both), tip="Median time of the engine")
    for kind in first.events:
        yield Row(_EVENTS[str(kind)], *(str(run.events[kind]) for run in both))
    yield Row("Scene cuts", *(str(run.cuts) for run in both))
    yield Row("Edits", *(str(run.edits) for run in both), tip="Changes of the model by the user during the run")


def _kept(kept: list[float]) -> tuple[str, str]:
    return (_percent(kept[0]), _percent(kept[1])) if kept else (_UNKNOWN, _UNKNOWN)


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else _UNKNOWN


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f} %" if math.isfinite(value) else _UNKNOWN
