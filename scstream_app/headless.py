"""Whole jobs without a window: a source into a session and files, a session resumed, a session exported."""

from __future__ import annotations

import os
import shutil
import threading
from array import array
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import Preview, TrackedObject, VideoSegmenter, metrics
from scstream_app import palette, pipeline
from scstream_app.errors import ExportError, SessionError, SourceError, reason
from scstream_app.export import Exporter, Job, needs_object, needs_picture
from scstream_app.export.files import Overwrite
from scstream_app.pipeline import Notice
from scstream_app.results import FrameResult
from scstream_app.session import SUFFIX, MarkedObject, Session, record
from scstream_app.session import resume as prepare_resumption
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.stills import read_values

Masks = npt.NDArray[np.uint8]

#: What `scstream segment` writes when it is not told.
DEFAULT_FORMATS = ("ids", "csv", "mp4")


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of what, and how a job is stopped."""

    cancel: threading.Event = field(default_factory=threading.Event)
    on_preview: Callable[[Preview], None] | None = None
    on_notice: Callable[[Notice], None] | None = None
    on_repeated: Callable[[int], None] | None = None


@dataclass(slots=True)
class Tally:
    """What there is to say about a run, gathered frame by frame.

    The first frame has to settle and is timed on its own (``init_seconds``); rates are those of the others.
    """

    width: int
    height: int
    init_seconds: float = 0.0
    segments_last: int = 0
    stages: dict[str, array[float]] = field(default_factory=dict)
    whole: array[float] = field(default_factory=lambda: array("d"))
    notices: list[Notice] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)

    @property
    def frames(self) -> int:
        """Frames done."""
        return len(self.whole)

    def add(self, result: FrameResult) -> None:
        """Count a frame that has just been finished, from reading to writing."""
        now = perf_counter()
        self.whole.append(1000.0 * (now - self._begin))
        self._begin = now
        for stage, milliseconds in result.milliseconds.items():
            self.stages.setdefault(stage, array("d")).append(milliseconds)
        self.segments_last = len(result.statistics)
        if self.frames == 1:
            self.init_seconds = result.milliseconds.get("engine", 0.0) / 1000.0

    def report(self, segmenter: VideoSegmenter) -> dict[str, Any]:
        """The run in numbers, as `scstream segment --json` prints them; None for what one frame cannot tell."""
        whole = np.array(self.whole[1:])
        stages = {stage: np.array(times[1:]) for stage, times in self.stages.items()}
        several = len(whole) > 0
        model = segmenter.model_
        engine = float(stages["engine"].sum()) if several else 0.0
        return {
            "frames": self.frames,
            "width": self.width,
            "height": self.height,
            "ms_per_frame_median": _rounded(np.median(whole)) if several else None,
            "ms_per_frame_p95": _rounded(np.percentile(whole, 95)) if several else None,
            **{
                f"ms_{stage}_median": _rounded(np.median(times)) if several else None for stage, times in stages.items()
            },
            "share_not_engine": _rounded(1.0 - engine / whole.sum()) if several else None,
            "fps": _rounded(1000.0 / whole.mean()) if several else None,
            "segments_last": self.segments_last,
            "segments_ever": model.genealogy_.n_ids,
            "init_seconds": _rounded(self.init_seconds),
            "seed": model.seed or 0,
            "threads": model.threads or os.cpu_count() or 1,
            "notices": [{"kind": n.kind, "frame": n.frame, "text": n.text} for n in self.notices],
        }


def _rounded(value: float) -> float:
    return round(float(value), 3)


@dataclass(frozen=True, slots=True)
class Order:
    """Which files an export makes, and how; see `export.Job`."""

    formats: tuple[str, ...] = DEFAULT_FORMATS
    scale: float = 1.0
    pattern: str = "{frame:05d}"
    overwrite: Overwrite = "replace"
    view: str = "overlay"
    palette: str = "vivid"

    def exporter(self, folder: Path, session: Session, objects: tuple[TrackedObject, ...]) -> Exporter:
        """The writers of all formats, for what the session holds."""
        facts, names = session.manifest.source, session.names
        job = Job(
            facts.width,
            facts.height,
            facts.rate,
            scale=self.scale,
            pattern=self.pattern,
            overwrite=self.overwrite,
            view=self.view,
            palette=self.palette,
            names=names.names,
            colours=names.colours,
            hidden=names.hidden,
            objects=objects,
        )
        return Exporter(folder, self.formats, job)


# --- segmenting -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """A source being segmented into a session, and the session's frames into files."""

    session: Session
    segmenter: VideoSegmenter
    tally: Tally
    order: Order
    out: Path

    def steps(self, results: Generator[FrameResult]) -> Generator[Tally]:
        """Write every result; yields the running tally. Leaving early keeps the frames so far, as whole files."""
        with ExitStack() as stack:
            frames = stack.enter_context(closing(results))
            exporter: Exporter | None = None
            for result in frames:
                if exporter is None:
                    exporter = stack.enter_context(self._exporter(result))
                exporter.write(result)
                self.tally.add(result)
                yield self.tally

    def _exporter(self, first: FrameResult) -> Exporter:
        mark_objects(self.session, first)
        objects = tuple(TrackedObject(thing.name, thing.ids) for thing in self.session.objects)
        return self.order.exporter(self.out, self.session, objects)


def begin(
    source: Source,
    out: Path,
    settings: Settings,
    order: Order,
    *,
    start: int = 0,
    stop: int | None = None,
    masks: Masks | None = None,
    overwrite: bool = False,
) -> Run:
    """Make ready to segment a source into ``out``: NAME.scstream and the files of the order."""
    formats = order.formats if masks is None or "object" in order.formats else (*order.formats, "object")
    check_formats(formats, objects=masks is not None)
    order = replace(order, formats=formats)
    path = out / session_name(source)
    if path.exists() and not overwrite:
        raise SessionError(
            f"There is a session '{path}' already: go on with it ('scstream resume'), or replace it with --overwrite."
        )
    session = Session.create(
        path,
        source,
        settings,
        start=start,
        stop=stop,
        formats=formats,
        masks=masks,
        overwrite=overwrite,
    )
    return Run(session, settings.segmenter(), Tally(source.width, source.height), order, out)


def segment(run: Run, source: Source, listener: Listener) -> Generator[Tally]:
    """Segment the source of a run that `begin` made; yields the running tally after every frame."""
    manifest = run.session.manifest
    results = pipeline.run(
        source,
        run.segmenter,
        start=manifest.start,
        stop=manifest.stop,
        masks=run.session.masks,
        cancel=listener.cancel,
        scene_cuts=manifest.settings.scene_cuts,
        on_preview=listener.on_preview,
        on_notice=_noting(run.tally, listener),
    )
    try:
        with run.session:
            yield from run.steps(record(run.session, results, run.segmenter, listener.cancel))
    finally:
        if not len(run.session):
            _remove_empty(run.session.path)
    if not run.tally.frames and not listener.cancel.is_set():
        raise SourceError(
            f"Nothing to do: '{source.name}' ends before frame {manifest.start}. Choose an earlier --frames start."
        )


def _remove_empty(path: Path) -> None:
    """Take away a session that no frame ever came into, and the folder made for it."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.parent.rmdir()


def _noting(tally: Tally, listener: Listener) -> Callable[[Notice], None]:
    def note(notice: Notice) -> None:
        tally.notices.append(notice)
        if listener.on_notice is not None:
            listener.on_notice(notice)

    return note


def session_name(source: Source) -> str:
    """What the session of a source is called: the source's name, as far as files can be called so."""
    stem = Path(source.name).stem
    safe = "".join(sign if sign.isalnum() or sign in " -_.()" else "_" for sign in stem).strip(" .")
    return f"{safe or 'video'}{SUFFIX}"


def check_formats(formats: tuple[str, ...], objects: bool) -> None:
    """Say what is wrong with a list of formats before hours of work depend on it."""
    for name in formats:
        if needs_object(name) and not objects:
            raise ExportError(f"The format '{name}' needs an object: give its outline with --object MASK.png.")


# --- objects ----------------------------------------------------------------------------------------------


def read_masks(path: Path, source: Source) -> Masks:
    """A mask of the first frame: 0 is background, every other value an object of its own."""
    try:
        picture = read_values(path)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    if picture.shape[:2] != (source.height, source.width):
        raise SourceError(
            f"Cannot use '{path}': it is {picture.shape[1]} x {picture.shape[0]}, "
            f"the frames of '{source.name}' are {source.width} x {source.height}."
        )
    flat = picture.reshape(-1, 1) if picture.ndim == 2 else picture[..., :3].reshape(-1, 3)
    values, index = np.unique(flat, axis=0, return_inverse=True)
    # Several shades of grey between black and white are a soft edge, not objects.
    grey = bool((values == values[:, :1]).all())
    if grey and values.max() == 255 and len(values) > 2:
        labels = (flat[:, 0] >= 128).astype(np.uint8)
    else:
        black = (values == 0).all(axis=1)
        number = np.where(black, 0, np.cumsum(~black))
        labels = number[index.ravel()]
    if not labels.any():
        raise SourceError(f"Cannot use '{path}': the mask is empty.")
    if labels.max() > 255:
        raise SourceError(f"Cannot use '{path}': it has {labels.max()} colours; a mask has one for each object.")
    return labels.reshape(picture.shape[:2]).astype(np.uint8)


def mark_objects(session: Session, first: FrameResult) -> None:
    """Make the segments that each mask mostly covers an object, unless that was done before."""
    masks = session.masks
    if masks is None or session.objects:
        return
    numbers = [int(n) for n in np.unique(masks) if n]
    names = ["object"] if len(numbers) == 1 else [f"object {n}" for n in numbers]
    colours = palette.colours(len(numbers))
    session.objects = [
        MarkedObject(
            name,
            (int(colour[0]), int(colour[1]), int(colour[2])),
            first.index,
            metrics.ids_inside(first.ids, masks == number),
        )
        for name, number, colour in zip(names, numbers, colours, strict=True)
    ]


# --- resuming and exporting -------------------------------------------------------------------------------


def resume(session: Session, source: Source, threads: int | None, listener: Listener) -> tuple[Run, Generator[Tally]]:
    """Go on with an interrupted session; yields the running tally of the new frames. Files are for `export`."""
    resumption = prepare_resumption(session, source, threads)
    facts = session.manifest.source
    run = Run(session, resumption.segmenter, Tally(facts.width, facts.height), Order(()), session.path.parent)
    results = resumption.run(
        cancel=listener.cancel,
        on_preview=listener.on_preview,
        on_notice=_noting(run.tally, listener),
        on_repeated=listener.on_repeated,
    )
    return run, run.steps(results)


def export(
    session: Session,
    out: Path,
    order: Order,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    source: Source | None = None,
) -> Iterator[int]:
    """Write a session's frames in the formats of the order; yields the index of every frame done.

    The session's source is opened, if none is given, only for formats that show its picture.
    """
    check_formats(order.formats, objects=bool(session.objects))
    with ExitStack() as stack:
        if source is None and needs_picture(order.formats):
            source = stack.enter_context(open_source(session.manifest.source.address))
        exporter = stack.enter_context(order.exporter(out, session, objects_before(session, start)))
        for result in session.results(start, stop, source):
            if cancel is not None and cancel.is_set():
                return
            exporter.write(result)
            yield result.index


def objects_before(session: Session, start: int) -> tuple[TrackedObject, ...]:
    """The session's objects as they are just before frame ``start``."""
    tracked = []
    for thing in session.objects:
        ids = thing.ids
        for index, members in session.members(thing, stop=start):
            ids = members if index >= thing.frame else ids
        tracked.append(TrackedObject(thing.name, ids))
    return tuple(tracked)
