"""Segments, events, tracks and objects as CSV tables."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from scstream_app.export import atomic_files, tables
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_TABLES: tuple[tuple[str, Mapping[str, type]], ...] = (
    ("segments.csv", tables.SEGMENTS),
    ("events.csv", tables.EVENTS),
    ("tracks.csv", tables.TRACKS),
)
_OBJECTS = ("objects.csv", tables.OBJECTS)


class Csv(FileWriter):
    """Writes segments.csv, events.csv, tracks.csv, graph.json and, if there are objects, objects.csv.

    See `export.tables` for their columns.
    """

    format = "csv"
    title = "CSV tables"
    group = "Tables and volumes"
    position = 1
    about = "Segments, events, tracks and objects as CSV tables, with the genealogy as a napari graph"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._columns = _tables(job)
        self._lineage = tables.Lineage()
        self._files: list[TextIO] = []
        if not self.kept:
            with self._opening():
                self._open()

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        return (*(name for name, _ in _tables(job)), "graph.json")

    def _open(self) -> None:
        for place, (_, columns) in enumerate(self._columns):
            file = self._staged[place].open("w", encoding="utf-8", newline="")
            self._files.append(file)
            csv.writer(file).writerow(columns)

    def _write(self, result: FrameResult) -> None:
        parts = [tables.segments(result, self.job.names), tables.events(result), tables.tracks(result)]
        if self.job.objects:
            parts.append(tables.objects(result, [one.name for one in self.job.objects]))
        for file, (_, columns), rows in zip(self._files, self._columns, parts, strict=True):
            csv.writer(file).writerows(_as_text(columns, rows))
        self._lineage.add(result)

    def _finish(self) -> None:
        for file in self._files:
            file.close()
        self._staged[len(self._columns)].write_text(json.dumps(self._lineage.graph()), encoding="utf-8")
        self._staged.commit()

    def _release(self) -> None:
        for file in self._files:
            atomic_files.close_quietly(file)
        super()._release()


def _tables(job: Job) -> tuple[tuple[str, Mapping[str, type]], ...]:
    """The names and columns of the tables of a job."""
    return (*_TABLES, *([_OBJECTS] if job.objects else []))


def _as_text(columns: Mapping[str, type], rows: Iterable[tables.Row]) -> Iterator[list[Any]]:
    """Rows with the floats as text, and with NaN or -1 where a number is missing."""
    return (
        [_number(value, kind) if kind is not str else value for value, kind in zip(row, columns.values(), strict=True)]
        for row in rows
    )


def _number(value: float | None, kind: type) -> str | int:
    """A number from which readers that look at the first rows only infer the type of the whole column.

    >>> [_number(value, float) for value in (3.0, 2 / 3, 1.5e-7, None)], _number(None, int)
    (['3.0', '0.66666667', '0.00000015', 'NaN'], -1)
    """
    if kind is int:
        return -1 if value is None else int(value)
    if value is None or math.isnan(value):
        return "NaN"
    # Eight significant digits keep the precision of the values and the files small.
    text = f"{value:.8g}"
    if "e" in text:
        return np.format_float_positional(float(text), trim="0")
    return text if "." in text or math.isinf(value) else f"{text}.0"
