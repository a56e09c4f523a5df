"""Scores against a ground truth: J (overlap) and F (contour) of masks, and the best scores that segment ids allow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scstream import Event, metrics
from scstream_app.errors import EvaluationError, reason
from scstream_app.render.label_images import VOID, read_label_image
from scstream_app.session import Session

Map = npt.NDArray[np.int32]

#: DAVIS defines decay as the mean score of the first quarter of the frames less that of the last.
_QUARTERS = 4


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
    """Images NNNNN.png, one per frame: object numbers (8 bits or a palette), or segment ids + 1 (16 bits)."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
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


# --- scores -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """The predicted and the true map of one frame."""

    frame: int
    predicted: Map
    truth: Map


class Comparison:
    """The common frames of predictions and ground truth, read again in every pass so that long videos fit in memory."""

    def __init__(self, predictions: LabelMaps, truth: LabelMaps, skip_ends: bool) -> None:
        self.predictions, self.truth = predictions, truth
        common = sorted(set(predictions.frames) & set(truth.frames))
        if skip_ends and 0 < len(common) < 3:
            raise EvaluationError(
                f"Nothing to compare: --skip-ends ignores the first and the last frame, and only {len(common)} "
                "frames are common."
            )
        self.frames = common[1:-1] if skip_ends else common
        if not self.frames:
            raise EvaluationError(f"Nothing to compare: '{predictions.name}' and '{truth.name}' share no frame number.")

    def __iter__(self) -> Iterator[Pair]:
        for frame in self.frames:
            pair = Pair(frame, self.predictions.read(frame), self.truth.read(frame))
            if pair.predicted.shape != pair.truth.shape:
                raise EvaluationError(
                    f"Frame {frame} has {_size(pair.predicted)} pixels in '{self.predictions.name}' "
                    f"but {_size(pair.truth)} in '{self.truth.name}'."
                )
            yield pair

    def ids(self) -> Iterator[Map]:
        """The predicted maps."""
        return (pair.predicted for pair in self)

    def masks(self) -> Iterator[npt.NDArray[np.bool_]]:
        """Masks of all true objects together."""
        return (self.truth.read(frame) > 0 for frame in self.frames)


def _size(picture: Map) -> str:
    return f"{picture.shape[1]} x {picture.shape[0]}"


def evaluate(predictions: Path, truth: Path, skip_ends: bool = False) -> dict[str, Any]:
    """All scores that the inputs allow, as `scstream evaluate --json` prints them.

    ``skip_ends`` ignores the first and the last common frame, as DAVIS does.
    """
    comparison = Comparison(open_maps(predictions), open_maps(truth), skip_ends)
    segments = comparison.predictions.segments
    scores = _segment_scores(comparison) if segments else _object_scores(comparison)
    return {"frames": len(comparison.frames), "kind": "segments" if segments else "objects", **scores}


def _object_scores(comparison: Comparison) -> dict[str, Any]:
    """J and F of each true object, and their means."""
    objects = sorted({int(v) for pair in comparison for v in np.unique(pair.truth)} - {0})
    # In a black and white mask, 255 is the object; among several objects, it means void.
    if len(objects) > 1:
        objects = [value for value in objects if value != VOID]
    if not objects:
        raise EvaluationError("Nothing to compare: the ground truth has no object in these frames.")
    single = len(objects) == 1
    scores: dict[int, tuple[list[float], list[float]]] = {value: ([], []) for value in objects}
    for pair in comparison:
        valid = np.ones(pair.truth.shape, bool) if single else pair.truth != VOID
        for value, (j, f) in scores.items():
            predicted = (pair.predicted > 0 if single else pair.predicted == value) & valid
            j.append(metrics.jaccard(predicted, pair.truth == value))
            f.append(metrics.boundary_f(predicted, pair.truth == value))
    per_object = {str(value): {**_summary("j", j), **_summary("f", f)} for value, (j, f) in scores.items()}
    means = {name: _mean(each[name] for each in per_object.values()) for name in next(iter(per_object.values()))}
    return {**means, "j_and_f": _rounded((means["j_mean"] + means["f_mean"]) / 2), "objects": per_object}


def _summary(name: str, values: list[float]) -> dict[str, float]:
    """Mean, recall (fraction of frames above 0.5) and decay (first quarter less last) of a score over the frames."""
    quarters = np.array_split(np.array(values), _QUARTERS)
    decay = float(quarters[0].mean() - quarters[-1].mean()) if len(values) >= _QUARTERS else 0.0
    return {
        f"{name}_mean": _mean(values),
        f"{name}_recall": _mean(value > 0.5 for value in values),
        f"{name}_decay": _rounded(decay),
    }


def _segment_scores(comparison: Comparison) -> dict[str, Any]:
    """Oracle scores of segments, their temporal consistency and, for true segments, clustering scores."""
    scores: dict[str, Any] = {
        "segments_mean": _mean(len(np.unique(picture)) for picture in comparison.ids()),
        "temporal_consistency": _rounded(metrics.temporal_consistency(comparison.ids())),
    }
    if comparison.truth.segments:
        each = [metrics.clustering_scores(pair.truth.ravel(), pair.predicted.ravel()) for pair in comparison]
        return scores | {name: _mean(score[name] for score in each) for name in each[0]}
    scores["j_oracle"] = _mean(metrics.oracle_jaccard(comparison.ids(), comparison.masks()))
    scores["j_oracle_per_frame"] = _mean(metrics.oracle_jaccard_per_frame(comparison.ids(), comparison.masks()))
    events = [comparison.predictions.events(frame) for frame in comparison.frames]
    known = [each for each in events if each is not None]
    if len(known) == len(events) and comparison.frames == list(range(comparison.frames[0], comparison.frames[-1] + 1)):
        scores["j_carried"] = _mean(metrics.carried_jaccard(comparison.ids(), comparison.masks(), known))
    return scores


def _mean(values: Any) -> float:
    return _rounded(float(np.mean([float(value) for value in values])))


def _rounded(value: float) -> float:
    return round(value, 6)


def table_rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and value of every score except those of single objects, for a table."""
    for name, value in scores.items():
        if not isinstance(value, dict):
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)
