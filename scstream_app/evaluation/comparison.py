"""The frames of predictions and of their ground truth, matched by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scstream_app.errors import EvaluationError
from scstream_app.evaluation.label_maps import LabelMaps, Map
from scstream_app.render.image_types import Picture
from scstream_app.sources import open_source


@dataclass(frozen=True, slots=True)
class Pair:
    """The predicted and the true map of one frame."""

    frame: int
    predicted: Map
    truth: Map


class Comparison:
    """The frames of a ground truth with their predictions, read again in every pass so that long videos fit in memory.

    Predictions for frames without a ground truth are ignored.

    Attributes
    ----------
    frames : numbers of the true frames from ``start`` to ``stop`` - 1, ascending; if ``skip_ends``, without the first
        and the last frame of the whole truth.
    predicted : numbers of those that have a prediction.
    source : address of the video that was segmented; None if it is not given.
    """

    def __init__(
        self,
        predictions: LabelMaps,
        truth: LabelMaps,
        skip_ends: bool = False,
        source: str | None = None,
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        self.predictions, self.truth, self.source = predictions, truth, source
        frames = truth.frames
        if skip_ends and len(frames) < 3:
            raise EvaluationError(
                "Nothing to compare: --skip-ends ignores the first and the last frame, and the ground truth has only "
                f"{len(frames)} frames."
            )
        frames = frames[1:-1] if skip_ends else frames
        self.frames = [frame for frame in frames if start <= frame and (stop is None or frame < stop)]
        if not self.frames:
            if not frames:
                raise EvaluationError(f"Nothing to compare: '{truth.name}' has no frames.")
            raise EvaluationError(
                f"Nothing to compare: '{truth.name}' has no such frame; it holds frames {frames[0]} to {frames[-1]}. "
                "Change --frames."
            )
        known = set(predictions.frames)
        self.predicted = [frame for frame in self.frames if frame in known]
        if not self.predicted:
            raise EvaluationError(f"Nothing to compare: '{predictions.name}' and '{truth.name}' share no frame number.")

    @property
    def missing(self) -> int:
        """Number of true frames without a prediction."""
        return len(self.frames) - len(self.predicted)

    @cached_property
    def labels(self) -> frozenset[int]:
        """All values of the ground truth."""
        return frozenset(int(value) for frame in self.frames for value in np.unique(self.truth.read(frame)))

    def __iter__(self) -> Iterator[Pair]:
        """Yield the frames that have a prediction."""
        for frame in self.predicted:
            yield self.pair(frame)

    def pair(self, frame: int) -> Pair:
        """Read one frame that has a prediction."""
        pair = Pair(frame, self.predictions.read(frame), self.truth.read(frame))
        if pair.predicted.shape != pair.truth.shape:
            raise EvaluationError(
                f"Frame {frame} has {_size(pair.predicted)} pixels in '{self.predictions.name}' "
                f"but {_size(pair.truth)} in '{self.truth.name}'."
            )
        return pair

    def ids(self) -> Iterator[Map]:
        """Yield the predicted maps, which must have one size."""
        first: Map | None = None
        for pair in self:
            first = pair.predicted if first is None else first
            if pair.predicted.shape != first.shape:
                raise EvaluationError(
                    f"Frame {pair.frame} of '{self.predictions.name}' has {_size(pair.predicted)} pixels, but the "
                    f"first has {_size(first)}: segments are compared over frames of one size."
                )
            yield pair.predicted

    def masks(self) -> Iterator[npt.NDArray[np.bool_]]:
        """Yield the mask of all true objects together, for each frame that has a prediction."""
        return (self.truth.read(frame) > 0 for frame in self.predicted)

    def pictures(self) -> Iterator[Picture]:
        """Yield the picture of each frame that has a prediction; needs ``source``."""
        if self.source is None:
            raise ValueError("a comparison without a source has no pictures")
        wanted = iter(self.predicted)
        shape = self.predictions.read(self.predicted[0]).shape
        number = next(wanted, None)
        with open_source(self.source) as source:
            if source.live:
                raise EvaluationError(f"Cannot read the frames of '{source.name}' again: it is a live source.")
            # A damaged frame matters only if it has a prediction, and then it is missing below.
            for frame in source.frames(self.predicted[0], self.predicted[-1] + 1, on_damage=lambda damage: None):
                if frame.index != number:
                    continue
                if frame.rgb.shape[:2] != shape:
                    raise EvaluationError(
                        f"Frame {number} has {_size(frame.rgb)} pixels in '{source.name}' but {shape[1]} x {shape[0]} "
                        f"in '{self.predictions.name}'."
                    )
                yield frame.rgb
                number = next(wanted, None)
            if number is not None:
                raise EvaluationError(f"Cannot read frame {number} of '{source.name}'.")


def _size(picture: npt.NDArray[np.generic]) -> str:
    return f"{picture.shape[1]} x {picture.shape[0]}"
