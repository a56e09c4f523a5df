"""Predictions against ground truth: object masks by J and F, segment ids by what they make possible."""

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
from scstream_app.render.masks import VOID, read_label_image
from scstream_app.session import Session

Map = npt.NDArray[np.int32]

#: From the J of a quarter of the frames at the start and at the end; the rest is DAVIS's definition.
_QUARTERS = 4


class Maps(Protocol):
    """Integer maps (H, W) by frame number. ``segments``: ids of segments, rather than objects with 0 around them."""

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
        """What happened in that frame; None if that is not known."""
        ...


def open_maps(path: Path) -> Maps:
    """Whatever holds maps: a folder of images, an npz file with ``ids``, or a session."""
    if path.suffix == ".scstream" or (path / "manifest.json").exists():
        return SessionMaps(path)
    if path.is_dir():
        return ImageMaps(path)
    if path.suffix == ".npz" and path.is_file():
        return ArchiveMaps(path)
    if not path.exists():
        raise EvaluationError(f"Cannot read '{path}': there is no such file or folder.")
    raise EvaluationError(f"Cannot read '{path}': give a folder of PNG images, an .npz file or a .scstream session.")


class ImageMaps:
    """NNNNN.png for frame N: objects by their index (8 bits or a palette), or segments as id + 1 (16 bits)."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._paths: dict[int, Path] = {}
        for path in sorted(folder.glob("*.png")):
            digits = re.findall(r"\d+", path.stem)
            if digits:
                self._paths[int(digits[-1])] = path
        if not self._paths:
            raise EvaluationError(f"Cannot read '{folder}': {_why_no_image(folder)}.")
        self.segments = _read_image(next(iter(self._paths.values()))).dtype.itemsize > 1

    @property
    def frames(self) -> list[int]:
        return sorted(self._paths)

    def read(self, frame: int) -> Map:
        picture = _read_image(self._paths[frame])
        if (picture.dtype.itemsize > 1) != self.segments:
            raise EvaluationError(
                f"Cannot read '{self.name}': it mixes images of 8 bits (objects) and of 16 bits (segments): "
                f"'{self._paths[frame].name}' differs from the first."
            )
        # A mask saved as colours: whatever is not black is the object.
        values = np.asarray(picture.any(axis=2) if picture.ndim == 3 else picture, np.int32)
        return values - 1 if self.segments else values

    def events(self, frame: int) -> None:
        return None


def _why_no_image(folder: Path) -> str:
    below = sorted({path.parent.name for path in folder.glob("*/*.png")})
    if below:
        return f"the images are in its subfolders, of which give one: {', '.join(below[:5])}"
    return "it holds no PNG image with a frame number in its name"


def _read_image(path: Path) -> npt.NDArray[Any]:
    """The image's values, of an indexed one the indices."""
    try:
        return read_label_image(path).values
    except OSError as error:
        raise EvaluationError(f"Cannot read '{path}': {reason(error)}.") from error


class ArchiveMaps:
    """``ids`` (frames, H, W) of an npz file, with the frames' numbers in ``frames`` if it has them."""

    segments = True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                ids = archive["ids"] if "ids" in archive else None
                numbers = archive["frames"] if "frames" in archive else None
        except Exception as error:
            # A damaged archive fails in the ways of zip files, of compression and of arrays.
            raise EvaluationError(f"Cannot read '{path}': {_why_no_archive(error)}.") from error
        trouble = _trouble(ids, numbers)
        if trouble:
            raise EvaluationError(f"Cannot read '{path}': {trouble}.")
        self._ids: npt.NDArray[Any] = np.asarray(ids)
        counted = range(len(self._ids)) if numbers is None else numbers
        self._place = {int(number): place for place, number in enumerate(counted)}

    @property
    def frames(self) -> list[int]:
        return sorted(self._place)

    def read(self, frame: int) -> Map:
        return np.asarray(self._ids[self._place[frame]], np.int32)

    def events(self, frame: int) -> None:
        return None


def _why_no_archive(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return reason(error)
    return f"it is no NumPy archive, or a damaged one ({type(error).__name__})"


def _trouble(ids: npt.NDArray[Any] | None, numbers: npt.NDArray[Any] | None) -> str | None:
    """What is wrong with the arrays of an archive."""
    if ids is None:
        return "it has no array 'ids'"
    if ids.ndim != 3 or ids.dtype.kind not in "iu" or not ids.size:
        return "'ids' must be whole numbers of shape (frames, H, W)"
    limits = np.iinfo(np.int32)
    if int(ids.min()) < limits.min or int(ids.max()) > limits.max:
        return "'ids' must fit into 32 bits"
    if numbers is None:
        return None
    if numbers.shape != ids.shape[:1] or numbers.dtype.kind not in "iu":
        return "'frames' must be whole numbers, one for each map of 'ids'"
    return "'frames' has a number twice" if len(np.unique(numbers)) < len(numbers) else None


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
    """A predicted and a true map of the same frame."""

    frame: int
    predicted: Map
    truth: Map


class Comparison:
    """The frames that predictions and truth share; read afresh for every pass, so that long videos fit in memory."""

    def __init__(self, predictions: Maps, truth: Maps, skip_ends: bool) -> None:
        self.predictions, self.truth = predictions, truth
        common = sorted(set(predictions.frames) & set(truth.frames))
        if skip_ends and 0 < len(common) < 3:
            raise EvaluationError(
                f"Nothing to compare: --skip-ends leaves out the first and the last frame, and only {len(common)} "
                "of them are common."
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
        """True on any object of the truth."""
        return (self.truth.read(frame) > 0 for frame in self.frames)


def _size(picture: Map) -> str:
    return f"{picture.shape[1]} x {picture.shape[0]}"


def evaluate(predictions: Path, truth: Path, skip_ends: bool = False) -> dict[str, Any]:
    """Every score that the two allow, as `scstream evaluate --json` prints them.

    ``skip_ends`` leaves out the first and the last common frame, as DAVIS does.
    """
    comparison = Comparison(open_maps(predictions), open_maps(truth), skip_ends)
    segments = comparison.predictions.segments
    scores = _segment_scores(comparison) if segments else _object_scores(comparison)
    return {"frames": len(comparison.frames), "kind": "segments" if segments else "objects", **scores}


def _object_scores(comparison: Comparison) -> dict[str, Any]:
    """J and F of each object of the truth, and their means."""
    objects = sorted({int(v) for pair in comparison for v in np.unique(pair.truth)} - {0})
    # One object may be 255 in a black and white mask; among several, that value means void.
    if len(objects) > 1:
        objects = [value for value in objects if value != VOID]
    if not objects:
        raise EvaluationError("Nothing to compare: the truth has no object in these frames.")
    single = len(objects) == 1
    scores: dict[int, tuple[list[float], list[float]]] = {value: ([], []) for value in objects}
    for pair in comparison:
        judged = np.ones(pair.truth.shape, bool) if single else pair.truth != VOID
        for value, (j, f) in scores.items():
            mine = (pair.predicted > 0 if single else pair.predicted == value) & judged
            j.append(metrics.jaccard(mine, pair.truth == value))
            f.append(metrics.boundary_f(mine, pair.truth == value))
    per_object = {str(value): {**_summary("j", j), **_summary("f", f)} for value, (j, f) in scores.items()}
    means = {name: _mean(each[name] for each in per_object.values()) for name in next(iter(per_object.values()))}
    return {**means, "j_and_f": _rounded((means["j_mean"] + means["f_mean"]) / 2), "objects": per_object}


def _summary(name: str, values: list[float]) -> dict[str, float]:
    """Mean, recall (share of frames above 0.5) and decay (first quarter less last) of a score over the frames."""
    quarters = np.array_split(np.array(values), _QUARTERS)
    decay = float(quarters[0].mean() - quarters[-1].mean()) if len(values) >= _QUARTERS else 0.0
    return {
        f"{name}_mean": _mean(values),
        f"{name}_recall": _mean(value > 0.5 for value in values),
        f"{name}_decay": _rounded(decay),
    }


def _segment_scores(comparison: Comparison) -> dict[str, Any]:
    """How well segments can make up the truth, and how steady they are."""
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
    known = [happened for happened in events if happened is not None]
    if len(known) == len(events) and comparison.frames == list(range(comparison.frames[0], comparison.frames[-1] + 1)):
        scores["j_carried"] = _mean(metrics.carried_jaccard(comparison.ids(), comparison.masks(), known))
    return scores


def _mean(values: Any) -> float:
    return _rounded(float(np.mean([float(value) for value in values])))


def _rounded(value: float) -> float:
    return round(value, 6)


def lines(scores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of every score but those of single objects, for a table."""
    for name, value in scores.items():
        if not isinstance(value, dict):
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)
