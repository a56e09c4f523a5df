"""Readers of label maps, the ids or object numbers of each frame: folders of images, npz files and sessions."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.errors import EvaluationError, reason
from scstream_app.render.label_images import read_label_image
from scstream_app.session import Session

Map = npt.NDArray[np.int32]


class LabelMaps(Protocol):
    """Integer maps (H, W) by frame number: segment ids if ``segments``, else object numbers with background 0."""

    name: str
    segments: bool

    @property
    def frames(self) -> list[int]:
        """Frame numbers, ascending."""
        ...

    def read(self, frame: int) -> Map:
        """The map of one frame."""
        ...

    def events(self, frame: int) -> tuple[Event, ...] | None:
        """The events of one frame; None if unknown."""
        ...


def open_maps(path: Path) -> LabelMaps:
    """Open a folder of images, an npz file with ``ids``, or a session."""
    if path.suffix == ".scstream" or (path / "manifest.json").exists():
        return SessionMaps(path)
    if path.is_dir():
        return ImageMaps(path)
    if path.suffix == ".npz" and path.is_file():
        return ArchiveMaps(path)
    if not path.exists():
        raise EvaluationError(f"Cannot read '{path}': no such file or folder.")
    raise EvaluationError(f"Cannot read '{path}': give a folder of PNG images, an .npz file or a .scstream session.")


class ImageMaps:
    """Images NNNNN.png, one per frame: object numbers (8 bits or a palette), or segment ids + 1 (16 bits).

    ``confidences`` are those of the objects, by frame, if a file objects.csv is in the folder or beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self.confidences = _read_confidences(folder)
        self._paths: dict[int, Path] = {}
        for path in sorted(folder.glob("*.png")):
            digits = re.findall(r"\d+", path.stem)
            if digits:
                self._paths[int(digits[-1])] = path
        if not self._paths:
            raise EvaluationError(f"Cannot read '{folder}': {_no_image_reason(folder)}.")
        self.segments = _read_image(next(iter(self._paths.values()))).dtype.itemsize > 1

    @property
    def frames(self) -> list[int]:
        return sorted(self._paths)

    def read(self, frame: int) -> Map:
        picture = _read_image(self._paths[frame])
        if (picture.dtype.itemsize > 1) != self.segments:
            raise EvaluationError(
                f"Cannot read '{self.name}': it mixes 8-bit images (objects) and 16-bit images (segments): "
                f"'{self._paths[frame].name}' differs from the first."
            )
        # In a colour image, every pixel that is not black belongs to the object.
        values = np.asarray(picture.any(axis=2) if picture.ndim == 3 else picture, np.int32)
        return values - 1 if self.segments else values

    def events(self, frame: int) -> None:
        return None


def _read_confidences(folder: Path) -> dict[int, tuple[float, ...]]:
    """Confidences of the objects by frame, from the table that the format csv writes; empty if there is none."""
    path = next((place / "objects.csv" for place in (folder, folder.parent) if (place / "objects.csv").is_file()), None)
    if path is None:
        return {}
    found: dict[int, tuple[float, ...]] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                frame = int(row["frame"])
                found[frame] = (*found.get(frame, ()), float(row["confidence"] or "nan"))
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise EvaluationError(f"Cannot read '{path}': it is not a table of objects.") from error
    return found


def _no_image_reason(folder: Path) -> str:
    below = sorted({path.parent.name for path in folder.glob("*/*.png")})
    if below:
        return f"the images are in subfolders; choose one of them: {', '.join(below[:5])}"
    return "it contains no PNG image with a frame number in its name"


def _read_image(path: Path) -> npt.NDArray[Any]:
    """The values of an image; for an indexed image, the indices."""
    try:
        return read_label_image(path).values
    except OSError as error:
        raise EvaluationError(f"Cannot read '{path}': {reason(error)}.") from error


class ArchiveMaps:
    """The array ``ids`` (frames, H, W) of an npz file, with optional frame numbers ``frames``."""

    segments = True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                ids = archive["ids"] if "ids" in archive else None
                numbers = archive["frames"] if "frames" in archive else None
        except Exception as error:
            # A damaged archive can raise errors of zipfile, zlib and NumPy.
            raise EvaluationError(f"Cannot read '{path}': {_archive_error(error)}.") from error
        problem = _array_problem(ids, numbers)
        if problem:
            raise EvaluationError(f"Cannot read '{path}': {problem}.")
        self._ids: npt.NDArray[Any] = np.asarray(ids)
        frames = range(len(self._ids)) if numbers is None else numbers
        self._place = {int(number): place for place, number in enumerate(frames)}

    @property
    def frames(self) -> list[int]:
        return sorted(self._place)

    def read(self, frame: int) -> Map:
        return np.asarray(self._ids[self._place[frame]], np.int32)

    def events(self, frame: int) -> None:
        return None


def _archive_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return reason(error)
    return f"it is not a NumPy archive, or it is damaged ({type(error).__name__})"


def _array_problem(ids: npt.NDArray[Any] | None, numbers: npt.NDArray[Any] | None) -> str | None:
    """Describe what is wrong with the arrays of an archive; None if they are valid."""
    if ids is None:
        return "it has no array 'ids'"
    if ids.ndim != 3 or ids.dtype.kind not in "iu" or not ids.size:
        return "'ids' must be integers of shape (frames, H, W)"
    limits = np.iinfo(np.int32)
    if int(ids.min()) < limits.min or int(ids.max()) > limits.max:
        return "'ids' must fit into 32 bits"
    if numbers is None:
        return None
    if numbers.shape != ids.shape[:1] or numbers.dtype.kind not in "iu":
        return "'frames' must be integers, one for each map of 'ids'"
    return "'frames' contains a number twice" if len(np.unique(numbers)) < len(numbers) else None


class SessionObjectMaps:
    """The tracked objects of a session."""

    segments = False

    def __init__(self, session: Session) -> None:
        self.name = f"objects of {session.path}"
        self._session, self._objects = session, session.objects
        #: Confidence of every object, by frame.
        self.confidences: dict[int, tuple[float, ...]] = {}
        for frame in session.frames.tolist():
            masks = session.read_object_masks(frame, self._objects)
            if masks is not None:
                self.confidences[frame] = masks.confidences

    @property
    def frames(self) -> list[int]:
        return sorted(self.confidences)

    def read(self, frame: int) -> Map:
        masks = self._session.read_object_masks(frame, self._objects)
        if masks is None:
            raise EvaluationError(f"Cannot read '{self.name}': the masks of frame {frame} are gone.")
        return masks.numbers.astype(np.int32)

    def events(self, frame: int) -> None:
        return None


class SessionMaps:
    """The ids and events of a session."""

    segments = True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._session = Session.open(path)

    @property
    def frames(self) -> list[int]:
        return sorted(int(frame) for frame in self._session.frames)

    def read(self, frame: int) -> Map:
        return self._session.ids(frame)

    def events(self, frame: int) -> tuple[Event, ...]:
        return self._session.record(frame).events

    @property
    def objects(self) -> SessionObjectMaps:
        """The tracked objects of the session."""
        return SessionObjectMaps(self._session)
