"""HTML descriptions of results, which notebooks show in place of ``repr``."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream.cluster import Cluster
from scstream.sampler.genealogy import Genealogy

#: Maximum number of rows in a table.
_MAX_ROWS = 12
#: Maximum width and height of a thumbnail, in pixels.
_THUMBNAIL = 240
#: Colour of pixels whose segment is no longer alive.
_UNKNOWN = 128


def segmenter_html(
    title: str,
    statistics: npt.NDArray[np.void] | None = None,
    ids: npt.NDArray[np.int32] | None = None,
    genealogy: Genealogy | None = None,
) -> str:
    """Describe a segmenter: its parameters, a table of its largest segments, and a thumbnail of the last frame.

    Parameters
    ----------
    title : str
        The segmenter's ``repr``.
    statistics : structured array, optional
        `VideoSegmenter.statistics_`; None before the first frame.
    ids : array (H, W), optional
        `VideoSegmenter.ids_`; None if no frame has been segmented since the segmenter was created or loaded.
    genealogy : Genealogy, optional
        Given with ``ids``: segments that were merged since that frame have the colour of their survivor.
    """
    head = f"<pre>{escape(title)}</pre>"
    if statistics is None:
        return f"<div>{head}<p>No frame has been segmented yet.</p></div>"
    rows = [
        (
            _swatch(_colours(row[None])[0]),
            str(row["id"]),
            f"{100.0 * row['share']:.1f} %",
            str(row["age"]),
            f"{row['row']:.0f}, {row['column']:.0f}",
        )
        for row in statistics[:_MAX_ROWS]
    ]
    table = _table(("colour", "id", "share", "age", "row, column"), rows, len(statistics), "segments")
    picture = "" if ids is None or genealogy is None else _thumbnail(ids, statistics, genealogy)
    return f"<div>{head}{picture}{table}</div>"


def mixture_html(clusters: Sequence[Cluster]) -> str:
    """Describe the clusters of a mixture, largest first, by their ids, shares, counts and summaries."""
    names = list(clusters[0].summary)
    rows = [
        (
            str(cluster.id),
            f"{100.0 * cluster.share:.1f} %",
            f"{cluster.count:.6g}",
            *(escape(_short(cluster.summary[name])) for name in names),
        )
        for cluster in clusters[:_MAX_ROWS]
    ]
    return f"<div>{_table(('id', 'share', 'count', *names), rows, len(clusters), 'clusters')}</div>"


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]], n: int, what: str) -> str:
    """A table with a caption; the cells of ``rows`` are HTML already."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    caption = f"{n} {what}" if n <= _MAX_ROWS else f"the {_MAX_ROWS} largest of {n} {what}"
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _short(values: Any) -> str:
    """An array as one line of a few digits."""
    return np.array2string(np.asarray(values), precision=3, threshold=8, edgeitems=2).replace("\n", "")


def _colours(statistics: npt.NDArray[np.void]) -> npt.NDArray[np.uint8]:
    """Mean colours (K, 3) of segments."""
    rgb = np.stack([statistics[name] for name in ("red", "green", "blue")], axis=1)
    return np.rint(255.0 * rgb).astype(np.uint8)


def _swatch(colour: npt.NDArray[np.uint8]) -> str:
    code = "#" + bytes(colour).hex()
    return f'<span style="background:{code};display:inline-block;width:2em;height:1em" title="{code}"></span>'


def _thumbnail(ids: npt.NDArray[np.int32], statistics: npt.NDArray[np.void], genealogy: Genealogy) -> str:
    """The segments of a frame in their mean colours, as an image element with the picture inside."""
    step = -(-max(ids.shape) // _THUMBNAIL)
    live = _survivors(ids[::step, ::step], genealogy)
    by_id = statistics[np.argsort(statistics["id"])]
    place = np.minimum(np.searchsorted(by_id["id"], live), len(by_id) - 1)
    picture = np.where((by_id["id"][place] == live)[..., None], _colours(by_id)[place], np.uint8(_UNKNOWN))
    data = base64.b64encode(png(picture)).decode()
    return f'<img alt="segments of the last frame in their mean colours" src="data:image/png;base64,{data}">'


def _survivors(ids: npt.NDArray[np.int32], genealogy: Genealogy) -> npt.NDArray[np.int64]:
    """The live segment that each pixel (H, W) is now part of; -1 if there is none."""
    known, place = np.unique(ids, return_inverse=True)
    live = [genealogy.survivor(id) if id in genealogy else None for id in known.tolist()]
    return np.array([-1 if id is None else id for id in live], np.int64)[place.reshape(ids.shape)]


def png(picture: npt.NDArray[np.uint8]) -> bytes:
    """Encode a picture (H, W, 3) as a PNG file.

    >>> png(np.zeros((1, 1, 3), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, _ = picture.shape
    # Every row starts with its filter: 0, none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, 3 * width)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes())) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
