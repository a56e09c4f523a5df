"""frames.jsonl: one line per frame, written after all other data of the frame. Frames without a line do not count."""

from __future__ import annotations

import json
import math
import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData

_LINE_LIMIT = 1 << 24
_ROWS_LIMIT = 1 << 24
_CHECKSUM = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """A frame's line in frames.jsonl: the small fields of `FrameResult`, and where its ids and statistics are.

    ``ids_bytes`` is the size of its chunk in ids.zarr. Its statistics are the records first_row, ...,
    first_row + rows - 1 of statistics.bin.
    """

    index: int
    time: float
    cut: bool
    log_posterior: float
    milliseconds: Mapping[str, float]
    events: tuple[Event, ...]
    ids_bytes: int
    ids_checksum: int
    first_row: int
    rows: int
    rows_checksum: int
    edits: tuple[Edit, ...] = ()
    measures: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, result: FrameResult, ids: tuple[int, int], statistics: tuple[int, int, int]) -> Self:
        """Record of a result.

        ``ids`` are the size and checksum of its chunk; ``statistics`` are its first row, number of rows and checksum.
        """
        return cls(
            result.index,
            result.time,
            result.cut,
            result.log_posterior,
            result.milliseconds,
            result.events,
            *ids,
            *statistics,
            result.edits,
            result.measures,
        )

    def line(self) -> bytes:
        """The record as a line of JSON."""
        values: dict[str, Any] = {
            "index": self.index,
            "time": float(self.time),
            "cut": bool(self.cut),
            "log_posterior": float(self.log_posterior) if math.isfinite(self.log_posterior) else None,
            "milliseconds": {name: round(float(value), 3) for name, value in self.milliseconds.items()},
            "ids": {"bytes": self.ids_bytes, "crc32": self.ids_checksum},
            "statistics": {"first": self.first_row, "count": self.rows, "crc32": self.rows_checksum},
            "events": [event.as_dict() for event in self.events],
        }
        if self.edits:
            values["edits"] = [edit.as_dict() for edit in self.edits]
        measures = {name: round(float(value), 6) for name, value in self.measures.items() if math.isfinite(value)}
        if measures:
            values["measures"] = measures
        return json.dumps(values, allow_nan=False, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Inverse of `line`; checks all values."""
        values = _parse(line)
        ids, statistics = checks.section(values, "ids"), checks.section(values, "statistics")
        milliseconds = checks.section(values, "milliseconds")
        measures = checks.section(values, "measures") if "measures" in values else {}
        return cls(
            checks.integer(values, "index"),
            checks.number(values, "time"),
            checks.switch(values, "cut"),
            math.nan if values.get("log_posterior") is None else checks.number(values, "log_posterior"),
            MappingProxyType({name: checks.number(milliseconds, name) for name in milliseconds}),
            tuple(_event(value) for value in checks.listing(values, "events")),
            checks.integer(ids, "bytes"),
            checks.integer(ids, "crc32", high=_CHECKSUM),
            checks.integer(statistics, "first", high=1 << 60),
            checks.integer(statistics, "count", high=_ROWS_LIMIT),
            checks.integer(statistics, "crc32", high=_CHECKSUM),
            tuple(_edit(value) for value in checks.listing(values, "edits")) if "edits" in values else (),
            MappingProxyType({name: checks.number(measures, name) for name in measures}),
        )


def _parse(line: bytes) -> dict[str, Any]:
    values = files.parse(line, "a line of frames.jsonl")
    if not isinstance(values, dict):
        raise InvalidData("a line of frames.jsonl is damaged")
    return values


def _event(values: Any) -> Event:
    try:
        event = Event.from_dict(values)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidData("an event in frames.jsonl is invalid") from error
    if not all(0 <= id <= checks.MAX_INDEX for id in event.ids):
        raise InvalidData(f"an event in frames.jsonl has the invalid ids {event.ids}")
    return event


def _edit(values: Any) -> Edit:
    try:
        return Edit.from_dict(values)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidData("an edit in frames.jsonl is invalid") from error


class RecordIndex:
    """Index of the lines of frames.jsonl: a few bytes per frame, so that a session of any length can be opened.

    Lines are read on demand. ``end`` is the end of the last valid line in bytes, ``rows`` the total number of
    statistics records, and ``torn`` whether anything follows the last valid line. ``unwritten`` is whether that may be
    what a power failure left: an incomplete line, or one with zeros. One thread may add lines while others read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.frames = array("q")
        self._begin = array("q")
        self._rows = array("q")
        self._edited = array("q")
        self._lock = threading.Lock()
        self.end = 0
        self.torn = self.unwritten = False

    def __len__(self) -> int:
        return len(self.frames)

    def numbers(self) -> npt.NDArray[np.int64]:
        """Indices of the frames, ascending."""
        # The array cannot grow while NumPy accesses its buffer.
        with self._lock:
            return np.array(self.frames, np.int64)

    @property
    def rows(self) -> int:
        """Number of statistics records of all frames."""
        return self._rows[-1] if self._rows else 0

    def load(self) -> None:
        """Index the lines up to the first one that is incomplete or does not continue the one before it."""
        files.check_file(self.path)
        with open(self.path, "rb") as file:
            while line := file.readline(_LINE_LIMIT):
                try:
                    self._take(line)
                except InvalidData:
                    # A page that was not flushed reads as zeros, and pages after it may have been flushed.
                    self.torn, self.unwritten = True, not line.endswith(b"\n") or b"\0" in line
                    return

    def _take(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            raise InvalidData("the last line is incomplete")
        values = _parse(line)
        statistics = checks.section(values, "statistics")
        index = checks.integer(values, "index", low=self.frames[-1] + 1 if self.frames else 0)
        first = checks.integer(statistics, "first", low=self.rows, high=self.rows)
        rows = first + checks.integer(statistics, "count", high=_ROWS_LIMIT)
        self.add(index, len(line), rows, "edits" in values)

    def add(self, index: int, length: int, rows: int, edited: bool) -> None:
        """Add a line at the end; ``rows`` is the number of statistics records including its own."""
        with self._lock:
            if edited:
                self._edited.append(len(self))
            self._begin.append(self.end)
            self._rows.append(rows)
            self.end += length
            self.frames.append(index)

    def keep(self, count: int) -> None:
        """Drop all but the first ``count`` frames, because the others are incomplete."""
        if count < len(self):
            self.cut(count, self._begin[count])
            self.torn = True

    def cut(self, count: int, end: int) -> None:
        """Go back to ``count`` frames whose lines end at ``end``; also undoes an `add` that failed halfway."""
        with self._lock:
            for column in (self.frames, self._begin, self._rows):
                del column[count:]
            del self._edited[bisect_left(self._edited, count) :]
            self.end = end

    def extent(self, count: int) -> tuple[int, int]:
        """Bytes of the first ``count`` lines, and the number of their statistics records."""
        with self._lock:
            end = self._begin[count] if count < len(self) else self.end
            return end, self._rows[count - 1] if count else 0

    def count_with_rows(self, rows: int) -> int:
        """Number of frames whose statistics are complete if only ``rows`` records exist."""
        return next((n for n in range(len(self), 0, -1) if self._rows[n - 1] <= rows), 0)

    def place(self, index: int) -> int:
        """Line number of a frame; raises KeyError if it has none."""
        place = bisect_left(self.frames, index)
        if place == len(self) or self.frames[place] != index:
            raise KeyError(index)
        return place

    def places(self, start: int, stop: int) -> tuple[int, int]:
        """Range (first, last + 1) of the lines of frames start, ..., stop - 1."""
        with self._lock:
            return bisect_left(self.frames, start), bisect_left(self.frames, stop)

    def read_edited(self) -> Iterator[FrameRecord]:
        """Yield the records of frames with edits, without reading the other lines."""
        for place in tuple(self._edited):
            yield from self.read(place, place + 1)

    def read(self, first: int, last: int) -> Iterator[FrameRecord]:
        """Yield the records of lines first, ..., last - 1."""
        last = min(last, len(self))
        if first >= last:
            return
        files.check_file(self.path)
        with open(self.path, "rb") as file:
            file.seek(self._begin[first])
            for place in range(first, last):
                record = FrameRecord.parse(file.readline(_LINE_LIMIT))
                if record.index != self.frames[place]:
                    raise InvalidData("frames.jsonl was changed by another program")
                yield record
