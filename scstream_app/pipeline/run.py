"""Frames in, segmented frames out: the line that the window and the command line both drive."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from scstream_app.errors import PipelineError, StudioError, reason
from scstream_app.pipeline import scene_cuts
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.readahead import Decoded, Failure, ReadAhead
from scstream_app.pipeline.scene_cuts import Histogram
from scstream_app.render.image_types import IdMap, Picture, Size, resized, size_of
from scstream_app.sources import CameraStalled, DamagedFrame, Frame, Source
from scstream_app.sources.video import clearly_short

if TYPE_CHECKING:
    from scstream import Preview, VideoSegmenter

Edits = Callable[[int], Sequence[Edit]]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know although the run goes on: a damaged frame, a camera that gives none, ...

    ``edit`` is the one that could not be made, where the notice is about one.
    """

    kind: Literal["damaged", "stalled", "back", "size", "cut", "edit"]
    frame: int
    text: str
    edit: Edit | None = None


def segment_frames(
    source: Source,
    segmenter: VideoSegmenter,
    *,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    scene_cuts: bool = True,
    previous: FrameResult | None = None,
    masks: Picture | None = None,
    edits: Edits | None = None,
    stale: Callable[[], bool] | None = None,
    on_preview: Callable[[Preview], None] | None = None,
    on_notice: Callable[[Notice], None] | None = None,
) -> Generator[FrameResult]:
    """Segment frames start, start + 1, ... up to but not including stop.

    Decoding runs ahead in a thread of its own; it ends with the generator (see `ReadAhead`). ``segmenter`` is always
    the one that made the last result, ready to be saved. To the engine frame i comes at time i, whatever its
    presentation time: in a recording that stood still for seconds the past would otherwise be forgotten, and every
    segment lose its id.

    Parameters
    ----------
    cancel : Event, optional
        When set, the run ends soon: between two frames, in the midst of a first frame, and while a source is waited
        for. A frame not finished leaves no trace.
    scene_cuts : bool
        Whether to start afresh where a new scene begins.
    previous : FrameResult, optional
        The result before ``start``, for a segmenter that goes on. With it the decisions are those of an unbroken run.
    masks : array (H, W) uint8, optional
        Things on the first frame, a value for each: no segment of it is to straddle their outlines.
    edits : callable, optional
        Asked just before a frame is segmented, with its index, for what a person wants done to the model first. Each
        edit comes back: in ``edits`` of the frame's result if it was made, otherwise as ``edit`` of a notice. Until
        then whoever gives it keeps it (`edits.EditQueue` does): a frame that is cancelled takes its edits back, and
        they are to be given to the next one.
    stale : callable, optional
        Asked when a frame has come, and may take its time: whether newer ones have overtaken it, so that it is to be
        left out.
    on_preview : callable, optional
        Hears how a first frame settles: that of the run, and that of every scene.
    on_notice : callable, optional
        Hears of damaged frames, which are left out, of a camera that is waited for and of its return, of changes of
        size, of cuts, and of edits that cannot be made.

    Raises
    ------
    PipelineError
        With the frame at which it happened and its cause, when the source or the engine fails. Also when reading
        ends clearly before the length that the source states even then: it was closed, or cut off.
    """
    notify = on_notice or (lambda notice: None)
    stage = _Stage(
        source, segmenter, cancel or threading.Event(), scene_cuts, on_preview, notify, previous, masks, edits
    )
    done, damaged, stalled, place = previous is not None, 0, False, start
    with ReadAhead(source, start, stop) as reader:
        while True:
            begin = perf_counter()
            item = reader.get(cancel)
            if item is None:
                break
            if isinstance(item, Failure):
                notice = _harmless(source, item)
                if not (stalled and notice.kind == "stalled"):
                    notify(notice)
                damaged += notice.kind == "damaged"
                place = max(place, item.index + (notice.kind == "damaged"))
                stalled |= notice.kind == "stalled"
                continue
            if stale is not None and stale():
                continue
            if stalled:
                notify(Notice("back", item.frame.index, f"'{source.name}' gives pictures again."))
                stalled = False
            place = item.frame.index + 1
            wait = 1000.0 * (perf_counter() - begin)
            try:
                result = stage.segment(item, wait)
            except _Cancelled:
                return
            yield result
            done = True
    if cancel is not None and cancel.is_set():
        return
    if damaged and not done:
        raise PipelineError(f"Cannot read '{source.name}': none of its {damaged} frames can be decoded.", start)
    _check_end(source, place, stop)


def _check_end(source: Source, place: int, stop: int | None) -> None:
    """A source that has come to its end knows its length; one that states more was closed or cut off."""
    if source.live or source.length is None:
        return
    end = source.length if stop is None else min(stop, source.length)
    if clearly_short(place, end):
        raise PipelineError(f"Cannot read '{source.name}' to its end: it stopped at frame {place} of {end}.", place)


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
        edits: Edits | None,
    ) -> None:
        self.segmenter, self.cancel, self.scene_cuts = segmenter, cancel, scene_cuts
        self.on_preview, self.notify = on_preview, notify
        self.live, self.size = source.live, (source.height, source.width)
        self.before = None if previous is None else self._recall(source, previous)
        self.masks = masks
        self.edits = edits or (lambda index: ())

    def _recall(self, source: Source, previous: FrameResult) -> _Before:
        # Read again where that is possible: results hold the fitted picture, and the size matters too.
        rgb = previous.rgb if source.live else _read_again(source, previous, self.cancel)
        if rgb is None:
            return _Before(previous.ids, self.size, None)
        return _Before(previous.ids, size_of(rgb), self._colours(resized(rgb, self.size)))

    def segment(self, item: Decoded, wait: float) -> FrameResult:
        frame = item.frame
        wanted = tuple(self.edits(frame.index))
        # Asking for edits may mean waiting while the run is paused.
        begin = perf_counter()
        self._stop_if_cancelled()
        untouched = self.segmenter.copy() if wanted else None
        try:
            edits = self._edit(frame.index, wanted)
            rgb = resized(frame.rgb, self.size)
            colours = self._colours(rgb)
            afresh = self._asked_afresh(edits) or self._new_size(frame) or self._new_scene(frame, rgb, colours)
            if afresh:
                untouched = self.segmenter.copy() if untouched is None else untouched
                self.segmenter.restart()
            masks = self.masks if self.before is None else None
            ids = self.segmenter.segment(rgb, float(frame.index), self._preview, masks)
        except _Cancelled:
            if untouched is not None:
                self.segmenter.restore(untouched)
            raise
        except StudioError:
            raise
        except Exception as error:
            raise PipelineError(f"Cannot segment frame {frame.index}: {reason(error)}.", frame.index) from error
        engine = 1000.0 * (perf_counter() - begin)
        # Whoever reads a live source mostly waits for it.
        decoding = {} if self.live else {"decode": item.milliseconds}
        self.before = _Before(ids, size_of(frame.rgb), colours)
        return FrameResult(
            frame.index,
            frame.time,
            rgb,
            ids,
            tuple(self.segmenter.events_),
            self.segmenter.statistics_,
            self.segmenter.log_posterior_,
            afresh,
            {**decoding, "wait": wait, "engine": engine},
            edits,
            frame.captured,
        )

    def _edit(self, index: int, wanted: Sequence[Edit]) -> tuple[Edit, ...]:
        """Make the edits that can be made, each wholly or not at all; returns them."""
        made = []
        for edit in wanted:
            untouched = self.segmenter.copy()
            try:
                edit.apply(self.segmenter)
            except (KeyError, ValueError, TypeError) as error:
                self.segmenter.restore(untouched)
                why = str(error.args[0]) if error.args else type(error).__name__
                text = f"Cannot {edit.kind} before frame {index}: {why.rstrip('.')}."
                self.notify(Notice("edit", index, text, edit))
            else:
                made.append(edit)
        return tuple(made)

    def _asked_afresh(self, edits: Sequence[Edit]) -> bool:
        return any(edit.kind == "restart" for edit in edits)

    def _colours(self, rgb: Picture) -> Histogram | None:
        return scene_cuts.histogram(rgb) if self.scene_cuts else None

    def _new_size(self, frame: Frame) -> bool:
        size = size_of(frame.rgb)
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
        if scene_cuts.distance(before.colours, colours) < scene_cuts.CANDIDATE:
            return False
        if scene_cuts.churn(self.segmenter, before.ids, rgb, float(frame.index), self._watch) < scene_cuts.CHURN:
            return False
        self.notify(Notice("cut", frame.index, f"A new scene begins at frame {frame.index}: segments start afresh."))
        return True

    def _preview(self, preview: Preview) -> None:
        self._stop_if_cancelled()
        if self.on_preview is not None:
            self.on_preview(preview)
            self._stop_if_cancelled()

    def _watch(self, preview: Preview) -> None:
        self._stop_if_cancelled()

    def _stop_if_cancelled(self) -> None:
        if self.cancel.is_set():
            raise _Cancelled


def _read_again(source: Source, previous: FrameResult, cancel: threading.Event) -> Picture | None:
    # Through a reader, because it may be a long way there, and that can be cancelled.
    with ReadAhead(source, previous.index, previous.index + 1) as reader:
        item = reader.get(cancel)
    if isinstance(item, Decoded) and item.frame.index == previous.index:
        return item.frame.rgb
    return previous.rgb
