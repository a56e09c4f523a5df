"""measured.jsonl: measures (churn, uncertainty) of frames that were computed after the run, one line per frame."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from scstream_app.session.storage import checks, files
from scstream_app.session.storage.files import InvalidData

NAME = "measured.jsonl"
_LINE_LIMIT = 1 << 12


def read(folder: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (frame, measures). Invalid lines are skipped: those frames can be measured again."""
    path = folder / NAME
    if not os.path.lexists(path):
        return
    files.check_file(path)
    with open(files.open_file(path, os.O_RDONLY), "rb") as file:
        while line := file.readline(_LINE_LIMIT):
            try:
                yield _parse(line)
            except InvalidData:
                continue


def _parse(line: bytes) -> tuple[int, dict[str, float]]:
    values = files.parse(line, f"a line of {NAME}")
    measures = checks.section(values, "measures")
    return checks.integer(values, "index"), {name: checks.number(measures, name) for name in measures}


def append(folder: Path, found: Mapping[int, Mapping[str, float]]) -> None:
    """Append the measures of some frames."""
    lines = b"".join(_line(index, measures) for index, measures in found.items())
    descriptor = files.open_file(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        files.write_all(descriptor, lines)
    finally:
        os.close(descriptor)


def _line(index: int, measures: Mapping[str, float]) -> bytes:
    known = {name: round(float(value), 6) for name, value in measures.items() if math.isfinite(value)}
    return json.dumps({"index": index, "measures": known}, separators=(",", ":")).encode() + b"\n"
