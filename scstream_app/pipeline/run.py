"""Segment the frames of a source: the loop that the window and the command line share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
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
    """Message for the user about a run that continues: how images are read, a damaged frame, a scene cut, ...

    ``edit`` is the edit that could not be applied, if the notice is about one. ``adjustable`` are the options of images
    that change what the text says; the text does not mention them, because the window and the command take them in
    different ways.
    """

    kind: Literal["source", "damaged", "stalled", "back", "size", "gap", "cut", "edit"]
    frame: int
    text: str
    edit: Edit | None = None
    adjustable: tuple[str, ...] = ()

    def with_advice(self, advice: Callable[[Sequence[str]], str]) -> Notice:
        """Add to the text how to set the options; ``advice`` says it."""
        return replace(self, text=f"{self.text} {advice(self.adjustable)}") if self.adjustable else self


class EndOfRun(Exception):
    """Raised by the caller's ``edits`` to end a run before the frame; the results so far are all there is."""


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
    on_picture: Callable[[Picture], None] | None = None,
    on_preview: Callable[[Preview], None] | None = None,
    on_notice: Callable[[Notice], None] | None = None,
) -> Generator[FrameResult]:
    """Segment frames start, ..., stop - 1 and yield their results.

    A separate thread decodes ahead; it ends with the generator (see `ReadAhead`). After each result, ``segmenter`` is
    in the state that produced it, ready to be saved. The engine sees frame i at time i, whatever its presentation time:
    otherwise a pause of seconds in a recording would make the model forget the past, and every segment lose its id.

    Parameters
    ----------
    cancel : Event, optional
        Set it to end the run soon: between two frames, within a first frame, or while the source blocks. An unfinished
        frame leaves the segmenter unchanged.
    scene_cuts : bool
        Whether to restart the model where a new scene begins.
    previous : FrameResult, optional
        The result before ``start``, for a segmenter that continues a run. With it, all decisions equal those of an
        uninterrupted run.
    masks : array (H, W) uint8, optional
        Objects on the first frame, one value each: no segment of that frame crosses their outlines.
    edits : callable, optional
        Called with the index of a frame just before it is segmented; returns the user's edits to apply first. An edit
        that was applied appears in ``edits`` of the frame's result, any other as ``edit`` of a notice. The caller must
        keep its edits until then, as `PendingEdits` does: if a frame is cancelled, its edits are not applied and have
        to be returned for the next frame. It may raise `EndOfRun`.
    stale : callable, optional
        Called when a frame has arrived, and may block; returns whether newer frames have replaced it, so that it is
        skipped.
    on_picture : callable, optional
        Called with the picture of a frame just before it is segmented, the same array as in its result; must not block.
    on_preview : callable, optional
        Called with previews while the first frame of the run or of a scene converges.
    on_notice : callable, optional
        Called with a `Notice` about damaged frames (which are skipped), a stalled camera and its return, changes of
        size, gaps after which the model has forgotten the past, scene cuts, and edits that cannot be applied.

    Raises
    ------
    PipelineError
        If the source or the engine fails; it names the frame and has the error as its cause. Also if the source ends
        clearly before its stated length: it was closed or truncated.
    """
    notify = on_notice or (lambda notice: None)
    stage = _Stage(
        source,
        segmenter,
        cancel or threading.Event(),
        scene_cuts,
        on_picture or (lambda picture: None),
        on_preview,
        notify,
        previous,
        masks,
        edits,
    )
    done, damaged, stalled, place = previous is not None, 0, False, start
    notes = _Notes(source, notify)
    notes.report_new(start)
    with ReadAhead(source, start, stop) as reader:
        while True:
            begin = perf_counter()
            item = reader.get(cancel)
            notes.report_new(place)
            if item is None:
                break
            if isinstance(item, Failure):
                notice = _recoverable(source, item)
                if not (stalled and notice.kind == "stalled"):
                    notify(notice)
                damaged += notice.kind == "damaged"
                place = max(place, item.index + (notice.kind == "damaged"))
                stalled |= notice.kind == "stalled"
                continue
            if stale is not None and stale():
                continue
            if stalled:
                notify(Notice("back", item.frame.index, f"'{source.name}' delivers pictures again."))
                stalled = False
            place = item.frame.index + 1
            wait = 1000.0 * (perf_counter() - begin)
            try:
                result = stage.segment(item, wait)
            except (_Cancelled, EndOfRun):
                return
            yield result
            done = True
    if cancel is not None and cancel.is_set():
        return
    if damaged and not done:
        raise PipelineError(f"Cannot read '{source.name}': none of its {damaged} frames can be decoded.", start)
    _check_end(source, place, stop)


class _Notes:
    """Reports the notes of a source, to which reading may add some, once each."""

    def __init__(self, source: Source, notify: Callable[[Notice], None]) -> None:
        self._source, self._notify = source, notify
        self._reported, self._options = 0, 0

    def report_new(self, frame: int) -> None:
        notes, options = self._source.notes[self._reported :], self._source.adjustable[self._options :]
        if notes:
            self._notify(Notice("source", frame, " ".join(notes), adjustable=options))
            self._reported += len(notes)
            self._options += len(options)


def _check_end(source: Source, place: int, stop: int | None) -> None:
    """Raise PipelineError if the source ended before its stated length, because it was closed or truncated."""
    if source.live or source.length is None:
        return
    end = source.length if stop is None else min(stop, source.length)
    if clearly_short(place, end):
        raise PipelineError(f"Cannot read '{source.name}' to its end: it ended at frame {place} of {end}.", place)


def _recoverable(source: Source, failure: Failure) -> Notice:
    """Notice about a failure after which reading continues; raises PipelineError for any other failure."""
    error, index = failure.error, failure.index
    if isinstance(error, DamagedFrame):
        return Notice("damaged", index, f"Frame {index} is damaged and was skipped: {reason(error)}.")
    if isinstance(error, CameraStalled):
        return Notice("stalled", index, str(error))
    text = str(error) if isinstance(error, StudioError) else f"Cannot read frame {index} of '{source.name}': {error!r}."
    raise PipelineError(text, index) from error


class _Cancelled(Exception):
    """Raised inside the engine to abandon a frame."""


@dataclass(frozen=True, slots=True)
class _Previous:
    """The previous frame, for comparison. ``native`` is its size in the source, before resizing."""

    ids: IdMap
    native: Size
    colours: Histogram | None


class _Stage:
    """Segments one frame after another; decides for each whether the model continues or restarts."""

    def __init__(
        self,
        source: Source,
        segmenter: VideoSegmenter,
        cancel: threading.Event,
        scene_cuts: bool,
        on_picture: Callable[[Picture], None],
        on_preview: Callable[[Preview], None] | None,
        notify: Callable[[Notice], None],
        previous: FrameResult | None,
        masks: Picture | None,
        edits: Edits | None,
    ) -> None:
        self.segmenter, self.cancel, self.scene_cuts = segmenter, cancel, scene_cuts
        self.on_picture, self.on_preview, self.notify = on_picture, on_preview, notify
        self.live, self.size = source.live, (source.height, source.width)
        self.previous = None if previous is None else self._restore_previous(source, previous)
        self.masks = masks
        self.edits = edits or (lambda index: ())

    def _restore_previous(self, source: Source, previous: FrameResult) -> _Previous:
        # Read the frame again if possible: the result holds the resized picture, but the native size matters too.
        rgb = previous.rgb if source.live else _read_again(source, previous, self.cancel)
        if rgb is None:
            return _Previous(previous.ids, self.size, None)
        return _Previous(previous.ids, size_of(rgb), self._colours(resized(rgb, self.size)))

    def segment(self, item: Decoded, wait: float) -> FrameResult:
        frame = item.frame
        wanted = tuple(self.edits(frame.index))
        # self.edits may have blocked while the run was paused.
        begin = perf_counter()
        self._stop_if_cancelled()
        untouched = self.segmenter.copy() if wanted else None
        try:
            edits = self._apply_edits(frame.index, wanted)
            rgb = resized(frame.rgb, self.size)
            # Before the tracker of objects starts on its thread and competes for the interpreter's lock.
            colours = self._colours(rgb)
            self.on_picture(rgb)
            restarted = (
                self._restart_requested(edits)
                or self._size_changed(frame)
                or self._has_faded(frame)
                or self._is_cut(frame, rgb, colours)
            )
            if restarted:
                untouched = self.segmenter.copy() if untouched is None else untouched
                self.segmenter.restart()
            masks = self.masks if self.previous is None else None
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
        # For a live source this is mostly waiting time.
        decoding = {} if self.live else {"decode": item.milliseconds}
        self.previous = _Previous(ids, size_of(frame.rgb), colours)
        return FrameResult(
            frame.index,
            frame.time,
            rgb,
            ids,
            tuple(self.segmenter.events_),
            self.segmenter.statistics_,
            self.segmenter.log_posterior_,
            restarted,
            {**decoding, "wait": wait, "engine": engine},
            edits,
            frame.captured,
        )

    def _apply_edits(self, index: int, wanted: Sequence[Edit]) -> tuple[Edit, ...]:
        """Apply each edit completely or not at all; returns the edits that were applied."""
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

    def _restart_requested(self, edits: Sequence[Edit]) -> bool:
        return any(edit.kind == "restart" for edit in edits)

    def _colours(self, rgb: Picture) -> Histogram | None:
        return scene_cuts.histogram(rgb) if self.scene_cuts else None

    def _size_changed(self, frame: Frame) -> bool:
        size = size_of(frame.rgb)
        if self.previous is None or size == self.previous.native:
            return False
        now, then, always = (f"{width} x {height}" for height, width in (size, self.previous.native, self.size))
        text = (
            f"Frame {frame.index} is {now}, the one before was {then}. "
            f"Frames are resized to {always}, and segmentation restarts with new ids."
        )
        self.notify(Notice("size", frame.index, text))
        return True

    def _has_faded(self, frame: Frame) -> bool:
        """Whether so many frames are missing, damaged ones mostly, that the engine starts again by itself."""
        if self.previous is None or not self.segmenter.has_faded(float(frame.index)):
            return False
        text = f"The frames before frame {frame.index} are missing: segmentation restarts with new ids."
        self.notify(Notice("gap", frame.index, text))
        return True

    def _is_cut(self, frame: Frame, rgb: Picture, colours: Histogram | None) -> bool:
        previous = self.previous
        if previous is None or previous.colours is None or colours is None:
            return False
        both = (previous.colours, colours)
        if not scene_cuts.is_cut(self.segmenter, previous.ids, both, rgb, float(frame.index), self._watch):
            return False
        text = f"A new scene begins at frame {frame.index}: segmentation restarts with new ids."
        self.notify(Notice("cut", frame.index, text))
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
    # ReadAhead can be cancelled, and seeking may take long.
    with ReadAhead(source, previous.index, previous.index + 1) as reader:
        item = reader.get(cancel)
    if isinstance(item, Decoded) and item.frame.index == previous.index:
        return item.frame.rgb
    return previous.rgb
