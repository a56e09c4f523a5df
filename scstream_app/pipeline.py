"""Frames in, segmented frames out: the line that the window and the command line both drive."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import cv2
import numpy as np

from scstream import Preview, VideoSegmenter
from scstream_app import scenes
from scstream_app.edits import Edit
from scstream_app.errors import PipelineError, SourceError, StudioError, reason
from scstream_app.readahead import Decoded, Failure, ReadAhead
from scstream_app.results import FrameResult, IdMap, Picture
from scstream_app.scenes import Histogram
from scstream_app.sources import CameraStalled, DamagedFrame, Frame, Source

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know although the run goes on: a damaged frame, a camera that gives none, ..."""

    kind: Literal["damaged", "stalled", "size", "cut", "edit"]
    frame: int
    text: str


def run(
    source: Source,
    segmenter: VideoSegmenter,
    *,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    scene_cuts: bool = True,
    previous: FrameResult | None = None,
    masks: Picture | None = None,
    edits: Callable[[int], Sequence[Edit]] | None = None,
    on_preview: Callable[[Preview], None] | None = None,
    on_notice: Callable[[Notice], None] | None = None,
) -> Generator[FrameResult]:
    """Segment frames start, start + 1, ... up to but not including stop.

    Decoding runs ahead in a thread of its own; it has ended when the generator has. ``segmenter`` is always the one
    that made the last result, ready to be saved. To the engine frame i comes at time i, whatever its presentation
    time: in a recording that stood still for seconds the past would otherwise be forgotten, and every segment lose
    its id.

    Parameters
    ----------
    cancel : Event, optional
        When set, the run ends at once, also in the midst of a first frame; a frame not finished leaves no trace.
    scene_cuts : bool
        Whether to start afresh where a new scene begins.
    previous : FrameResult, optional
        The result before ``start``, for a segmenter that goes on. With it the decisions are those of an unbroken run.
    masks : array (H, W) uint8, optional
        Things on the first frame, a value for each: no segment of it is to straddle their outlines.
    edits : callable, optional
        Asked just before a frame is segmented, with its index, for what a person wants done to the model first.
    on_preview : callable, optional
        Hears how a first frame settles: that of the run, and that of every scene.
    on_notice : callable, optional
        Hears of damaged frames, which are left out, of a camera that is waited for, of changes of size, and of cuts.

    Raises
    ------
    PipelineError
        With the frame at which it happened and its cause, when the source or the engine fails.
    """
    notify = on_notice or (lambda notice: None)
    stage = _Stage(
        source, segmenter, cancel or threading.Event(), scene_cuts, on_preview, notify, previous, masks, edits
    )
    done, damaged = previous is not None, 0
    with ReadAhead(source, start, stop) as reader:
        while True:
            begin = perf_counter()
            item = reader.get(cancel)
            if item is None:
                break
            if isinstance(item, Failure):
                notify(_harmless(source, item))
                damaged += isinstance(item.error, DamagedFrame)
                continue
            wait = 1000.0 * (perf_counter() - begin)
            try:
                result = stage.segment(item, wait)
            except _Cancelled:
                return
            yield result
            done = True
    if damaged and not done and not (cancel and cancel.is_set()):
        raise PipelineError(f"Cannot read '{source.name}': none of its {damaged} frames can be decoded.", start)


def fitted(rgb: Picture, size: Size) -> Picture:
    """The picture at the given height and width."""
    if rgb.shape[:2] == size:
        return rgb
    smaller = size[0] * size[1] < rgb.shape[0] * rgb.shape[1]
    method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(rgb, (size[1], size[0]), interpolation=method), np.uint8)


def _harmless(source: Source, failure: Failure) -> Notice:
    """The notice of a failure that reading gets over; any other ends the run."""
    error, index = failure.error, failure.index
    if isinstance(error, DamagedFrame):
        return Notice("damaged", index, f"Frame {index} is damaged and was left out: {reason(error)}.")
    if isinstance(error, CameraStalled):
        return Notice("stalled", index, str(error))
    text = str(error) if isinstance(error, StudioError) else f"Cannot read frame {index} of '{source.name}': {error!r}."
    raise PipelineError(text, index) from error


class _Cancelled(Exception):
    """Raised out of the engine to abandon a frame."""


@dataclass(frozen=True, slots=True)
class _Before:
    """What a frame is compared with: the one before it. ``native`` is its size as the source has it."""

    ids: IdMap
    native: Size
    colours: Histogram | None


class _Stage:
    """The engine's place in the line: decides whether a frame goes on or starts afresh, and segments it."""

    def __init__(
        self,
        source: Source,
        segmenter: VideoSegmenter,
        cancel: threading.Event,
        scene_cuts: bool,
        on_preview: Callable[[Preview], None] | None,
        notify: Callable[[Notice], None],
        previous: FrameResult | None,
        masks: Picture | None,
        edits: Callable[[int], Sequence[Edit]] | None,
    ) -> None:
        self.segmenter, self.cancel, self.scene_cuts = segmenter, cancel, scene_cuts
        self.on_preview, self.notify = on_preview, notify
        self.size: Size = (source.height, source.width)
        self.before = None if previous is None else self._recall(source, previous)
        self.masks = masks
        self.edits = edits or (lambda index: ())

    def _recall(self, source: Source, previous: FrameResult) -> _Before:
        # Read again where that is possible: results hold the fitted picture, and the size matters too.
        rgb = previous.rgb if source.live else _read_again(source, previous)
        if rgb is None:
            return _Before(previous.ids, self.size, None)
        return _Before(previous.ids, _size(rgb), self._colours(fitted(rgb, self.size)))

    def segment(self, item: Decoded, wait: float) -> FrameResult:
        frame, begin = item.frame, perf_counter()
        wanted = tuple(self.edits(frame.index))
        untouched = self.segmenter.copy() if wanted else None
        try:
            edits = self._edit(frame.index, wanted)
            rgb = fitted(frame.rgb, self.size)
            colours = self._colours(rgb)
            afresh = self._asked_afresh(edits) or self._new_size(frame) or self._new_scene(frame, rgb, colours)
            if afresh:
                self.segmenter.restart()
            masks = self.masks if self.before is None else None
            ids = self.segmenter.segment(rgb, float(frame.index), self._preview, masks)
        except _Cancelled:
            if untouched is not None:
                self.segmenter.become(untouched)
            raise
        except StudioError:
            raise
        except Exception as error:
            raise PipelineError(f"Cannot segment frame {frame.index}: {reason(error)}.", frame.index) from error
        engine = 1000.0 * (perf_counter() - begin)
        self.before = _Before(ids, _size(frame.rgb), colours)
        return FrameResult(
            frame.index,
            frame.time,
            rgb,
            ids,
            tuple(self.segmenter.events_),
            self.segmenter.statistics_,
            self.segmenter.model_.log_posterior_,
            afresh,
            {"decode": item.milliseconds, "wait": wait, "engine": engine},
            edits,
        )

    def _edit(self, index: int, wanted: Sequence[Edit]) -> tuple[Edit, ...]:
        """Make the edits that can be made, each wholly or not at all; returns them."""
        made = []
        for edit in wanted:
            untouched = self.segmenter.copy()
            try:
                edit.apply(self.segmenter)
            except (KeyError, ValueError, TypeError) as error:
                self.segmenter.become(untouched)
                why = str(error.args[0]) if error.args else type(error).__name__
                self.notify(Notice("edit", index, f"Cannot {edit.kind} before frame {index}: {why.rstrip('.')}."))
            else:
                made.append(edit)
        return tuple(made)

    def _asked_afresh(self, edits: Sequence[Edit]) -> bool:
        return any(edit.kind == "restart" for edit in edits)

    def _colours(self, rgb: Picture) -> Histogram | None:
        return scenes.histogram(rgb) if self.scene_cuts else None

    def _new_size(self, frame: Frame) -> bool:
        size = _size(frame.rgb)
        if self.before is None or size == self.before.native:
            return False
        now, then, always = (f"{width} x {height}" for height, width in (size, self.before.native, self.size))
        text = (
            f"Frame {frame.index} is {now}, the one before was {then}: "
            f"frames are resized to {always}, and segments start afresh."
        )
        self.notify(Notice("size", frame.index, text))
        return True

    def _new_scene(self, frame: Frame, rgb: Picture, colours: Histogram | None) -> bool:
        before = self.before
        if before is None or before.colours is None or colours is None:
            return False
        if scenes.distance(before.colours, colours) < scenes.CANDIDATE:
            return False
        if scenes.churn(self.segmenter, before.ids, rgb, float(frame.index), self._watch) < scenes.CHURN:
            return False
        self.notify(Notice("cut", frame.index, f"A new scene begins at frame {frame.index}: segments start afresh."))
        return True

    def _preview(self, preview: Preview) -> None:
        self._watch(preview)
        if self.on_preview is not None:
            self.on_preview(preview)

    def _watch(self, preview: Preview) -> None:
        if self.cancel.is_set():
            raise _Cancelled


def _size(rgb: Picture) -> Size:
    return rgb.shape[0], rgb.shape[1]


def _read_again(source: Source, previous: FrameResult) -> Picture | None:
    try:
        source.seek(previous.index)
        frame = source.read()
    except SourceError:
        return previous.rgb
    return previous.rgb if frame is None or frame.index != previous.index else frame.rgb
