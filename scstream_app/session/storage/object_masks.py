"""object_masks/NNNNNN.mask: the objects of a frame as one line of JSON, followed by a PNG image of their numbers.

The masks follow from the pictures, the ids and the user's edits. A file that is missing, damaged or made from other
edits is computed again.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from scstream_app.objects import MarkedObject
from scstream_app.objects.fingerprint import fingerprint
from scstream_app.pipeline.frame_result import ObjectMasks
from scstream_app.session.storage import checks, files, marks
from scstream_app.session.storage.files import InvalidData

FOLDER = "object_masks"
#: Folder of masks that are to replace stored ones when all are there.
STAGED = "object_masks.new"
#: Largest file in bytes.
_LIMIT = 1 << 26
_LINE_LIMIT = 1 << 16
#: Filters of PNG are made for photographs: masks take four times as long with them.
_PNG = (cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE)


def write(
    folder: Path,
    index: int,
    masks: ObjectMasks,
    objects: Sequence[MarkedObject],
    merges: str = "",
    staged: bool = False,
) -> None:
    """Write the masks of a frame, which were made from the edits of these objects.

    ``merges`` identifies the merges in the result on which the masks depend. ``staged`` masks count after
    `commit_staged` only.
    """
    numbers = np.ascontiguousarray(masks.numbers)
    done, encoded = cv2.imencode(".png", numbers, _PNG)
    if not done:
        raise InvalidData("the masks cannot be encoded")
    confidences = [round(value, 4) if math.isfinite(value) else None for value in masks.confidences]
    line = json.dumps({"edits": fingerprint(objects, index) + merges, "confidences": confidences}).encode() + b"\n"
    place = folder / (STAGED if staged else FOLDER)
    place.mkdir(exist_ok=True)
    files.check_folder(place)
    files.replace(place / _name(index), line + encoded.tobytes())


def commit_staged(folder: Path) -> None:
    """Replace stored masks by the staged ones."""
    if os.path.lexists(folder / STAGED):
        files.check_folder(folder / STAGED)
        (folder / FOLDER).mkdir(exist_ok=True)
        files.check_folder(folder / FOLDER)
        for path in (folder / STAGED).iterdir():
            os.replace(path, folder / FOLDER / path.name)
        discard_staged(folder)


def discard_staged(folder: Path) -> None:
    """Remove staged masks; a link in their place stays."""
    shutil.rmtree(folder / STAGED, ignore_errors=True)


def read(
    folder: Path, index: int, objects: Sequence[MarkedObject], shape: tuple[int, int], merges: str = ""
) -> ObjectMasks | None:
    """Read the masks of a frame; None if there are none that were made from these edits and ``merges``."""
    path = folder / FOLDER / _name(index)
    if not objects or not os.path.lexists(path):
        return None
    files.check_folder(folder / FOLDER)
    line, _, image = files.read(path, _LIMIT).partition(b"\n")
    try:
        return _parse(line, image, fingerprint(objects, index) + merges, len(objects), shape)
    except InvalidData:
        return None


def _parse(line: bytes, image: bytes, edits: str, count: int, shape: tuple[int, int]) -> ObjectMasks | None:
    values = files.parse(line[:_LINE_LIMIT], "the masks of a frame")
    if not isinstance(values, Mapping) or values.get("edits") != edits:
        return None
    confidences = [_confidence(value) for value in checks.listing(values, "confidences", count)]
    numbers = marks.masks_from_png(image, *shape)
    if int(numbers.max()) > len(confidences):
        raise InvalidData("the masks of a frame are damaged")
    # Objects that begin later may have been added since.
    return ObjectMasks(numbers, (*confidences, *([0.0] * (count - len(confidences)))))


def _confidence(value: object) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise InvalidData("a confidence must be from 0 to 1")
    return float(value)


def _name(index: int) -> str:
    return f"{index:06d}.mask"
