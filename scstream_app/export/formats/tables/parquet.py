"""Segments, events, tracks with their graph, and objects as Parquet tables; needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scstream_app.export import atomic_files, tables
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult

_TABLES: tuple[tuple[str, Mapping[str, type]], ...] = (
    ("segments.parquet", tables.SEGMENTS),
    ("events.parquet", tables.EVENTS),
    ("tracks.parquet", tables.TRACKS),
    ("graph.parquet", tables.GRAPH),
)
_OBJECTS = ("objects.parquet", tables.OBJECTS)
#: Rows per group: readers are slow on files with many small groups.
_GROUP = 50_000


class Parquet(FileWriter):
    """Writes segments, events, tracks, graph and, if there are objects, objects .parquet files.

    See `export.tables` for their columns.
    """

    format = "parquet"
    title = "Parquet tables"
    group = "Tables and volumes"
    position = 2
    about = "The tables of csv as Parquet files; needs the extra 'parquet'"
    library = "pyarrow.parquet"
    extra = "parquet"

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        arrow = self.load_library(self.path)
        self._lineage = tables.Lineage()
        self._tables: list[_Table] = []
        if not self.kept:
            with self._opening():
                for place, (_, columns) in enumerate(_tables(job)):
                    self._tables.append(_Table(arrow, self._staged[place], columns))

    @classmethod
    def target_names(cls, job: Job) -> tuple[str, ...]:
        return tuple(name for name, _ in _tables(job))

    def _write(self, result: FrameResult) -> None:
        parts = tables.segments(result, self.job.names), tables.events(result), tables.tracks(result)
        for table, rows in zip(self._tables[:3], parts, strict=True):
            table.add(rows)
        for table in self._tables[4:]:
            table.add(tables.objects(result, [one.name for one in self.job.objects]))
        self._lineage.add(result)

    def _finish(self) -> None:
        self._tables[3].add([(id, parent) for id, parents in self._lineage.graph().items() for parent in parents])
        for table in self._tables:
            table.finish()
        self._staged.commit()

    def _release(self) -> None:
        for table in self._tables:
            atomic_files.close_quietly(table.file)
        super()._release()


def _tables(job: Job) -> tuple[tuple[str, Mapping[str, type]], ...]:
    """The names and columns of the tables of a job."""
    return (*_TABLES, *([_OBJECTS] if job.objects else []))


class _Table:
    """One Parquet file, with a buffer of rows for the next group."""

    def __init__(self, arrow: Any, path: Path, columns: Mapping[str, type]) -> None:
        types = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
        self._arrow = arrow
        self._schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._rows: list[tables.Row] = []
        self.file = arrow.parquet.ParquetWriter(path, self._schema, compression="zstd")

    def add(self, rows: list[tables.Row]) -> None:
        self._rows += rows
        if len(self._rows) >= _GROUP:
            self._flush()

    def finish(self) -> None:
        self._flush()
        self.file.close()

    def _flush(self) -> None:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._schema)
        arrays = [self._arrow.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        self.file.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()
