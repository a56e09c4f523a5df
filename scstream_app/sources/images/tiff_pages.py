"""Count the pages of a TIFF file by following the chain of their directories."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

#: Most pages of a file; a chain that is longer is damaged or malicious.
_MOST_PAGES = 1 << 24
#: Layouts of classic TIFF and BigTIFF: offset, number of entries, bytes of an entry, place of the first offset.
_CLASSIC, _BIG = ("I", "H", 12, 4), ("Q", "Q", 20, 8)


def count_pages(path: Path) -> tuple[int, bool]:
    """Number of pages whose directories are complete, and whether the chain ends as it should.

    tifffile stops at the first damaged directory without a word, or fails altogether.
    """
    with path.open("rb") as file:
        head = file.read(4)
        order = {b"II": "<", b"MM": ">"}.get(head[:2], "")
        if not order or len(head) < 4:
            return 0, False
        layout = _BIG if struct.unpack(f"{order}H", head[2:])[0] == 43 else _CLASSIC
        file.seek(layout[3])
        offset, seen = _number(file, order + layout[0]), set[int]()
        while offset:
            following = _following(file, order, layout, offset)
            if following is None or offset in seen or len(seen) >= _MOST_PAGES:
                return len(seen), False
            seen.add(offset)
            offset = following
        return len(seen), offset is not None


def _following(file: BinaryIO, order: str, layout: tuple[str, str, int, int], offset: int) -> int | None:
    """Offset of the directory after the one at ``offset``; None if that one is incomplete."""
    file.seek(offset)
    entries = _number(file, order + layout[1])
    if not entries:
        return None
    file.seek(entries * layout[2], 1)
    return _number(file, order + layout[0])


def _number(file: BinaryIO, layout: str) -> int | None:
    data = file.read(struct.calcsize(layout))
    return struct.unpack(layout, data)[0] if len(data) == struct.calcsize(layout) else None
