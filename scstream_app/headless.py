"""Whole jobs without a window: a source into a session and files, a session resumed, a session exported."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from glob import has_magic
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import Preview, VideoSegmenter, metrics
from scstream_app import palette, pipeline
from scstream_app.errors import ExportError, SessionError, SettingsError, SourceError, reason
from scstream_app.export import Exporter, ExportObject, Job, check, needs_object, needs_picture
from scstream_app.export.files import Overwrite
from scstream_app.pipeline import Notice
from scstream_app.results import FrameResult
from scstream_app.session import SUFFIX, Manifest, MarkedObject, Names, Session, SourceFacts, check_source, record
from scstream_app.session import resume as prepare_resumption
from scstream_app.settings import Settings
from scstream_app.sources import Camera, ImageSequence, Source, open_source
from scstream_app.stills import read_values

Masks = npt.NDArray[np.uint8]

#: What `scstream segment` writes when it is not told.
DEFAULT_FORMATS = ("ids", "csv", "mp4")
#: Frames of which the rate shown is that of the moment.
_RECENT = 30
#: Longest name of a session without its suffix, in bytes: systems allow 255, temporary names need some of them.
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of what, and how a job is stopped."""

    cancel: threading.Event = field(default_factory=threading.Event)
    on_preview: Callable[[Preview], None] | None = None
    on_notice: Callable[[Notice], None] | None = None
    on_repeated: Callable[[int], None] | None = None
    on_failure: Callable[[ExportError], None] | None = None


@dataclass(slots=True)
class Tally:
    """What there is to say about a run, gathered frame by frame.

    The first frame has to settle and is timed on its own (``init_seconds``, None where a run goes on from an earlier
    one); rates are those of the others. ``failures`` are those of formats that could not be written to the end.
    """

    width: int
    height: int
    fresh: bool = True
    init_seconds: float | None = None
    segments_last: int = 0
    stages: dict[str, array[float]] = field(default_factory=dict)
    whole: array[float] = field(default_factory=lambda: array("d"))
    notices: list[Notice] = field(default_factory=list)
    failures: list[ExportError] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)

    @property
    def frames(self) -> int:
        """Frames done."""
        return len(self.whole)

    @property
    def rate(self) -> float | None:
        """Frames a second of late; None while there is only the first."""
        recent = self.whole[max(1, self.frames - _RECENT) :]
        return 1000.0 * len(recent) / sum(recent) if recent else None

    def add(self, result: FrameResult) -> None:
        """Count a frame that has just been finished, from reading to writing."""
        now = perf_counter()
        self.whole.append(1000.0 * (now - self._begin))
        self._begin = now
        for stage, milliseconds in result.milliseconds.items():
            self.stages.setdefault(stage, array("d")).append(milliseconds)
        self.segments_last = len(result.statistics)
        if self.fresh and self.frames == 1:
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
            "init_seconds": None if self.init_seconds is None else _rounded(self.init_seconds),
            "seed": model.seed or 0,
            "threads": model.threads or os.cpu_count() or 1,
            "notices": [{"kind": n.kind, "frame": n.frame, "text": n.text} for n in self.notices],
            "failures": [str(failure) for failure in self.failures],
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
    view: str | None = None
    palette: str = "vivid"

    def check(self) -> None:
        """Raise the ExportError that says what is wrong with the order itself, whatever it is made of."""
        facts = SourceFacts("", "", 1, 1, 1.0, None, False)
        job = self.job(facts, Names(), (ExportObject("object", frozenset()),), whole=True)
        for name in self.formats:
            # Refuses formats and views that there are none of.
            needs_object(name)
            replace(job, view=name.partition(":")[2] or self.view)

    def job(self, facts: SourceFacts, names: Names, objects: tuple[ExportObject, ...], whole: bool) -> Job:
        """The order, for a source and what is known of its segments."""
        return Job(
            facts.width,
            facts.height,
            facts.rate,
            scale=self.scale,
            pattern=self.pattern,
            overwrite=self.overwrite,
            whole=whole,
            view=self.view,
            palette=self.palette,
            names=names.names,
            colours=names.colours,
            hidden=names.hidden,
            objects=objects,
        )

    def as_dict(self) -> dict[str, Any]:
        """What a session keeps besides the formats, as plain values."""
        return {"pattern": self.pattern, "scale": self.scale, "view": self.view, "palette": self.palette}

    @classmethod
    def of(cls, manifest: Manifest) -> Order:
        """The order that a session was begun with."""
        return cls(manifest.formats, **manifest.export)


# --- segmenting -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """A source to be segmented into a session, and the session's frames into files.

    Until the first frame is done nothing is on disk, and an earlier session is untouched: ``session`` is None.
    """

    source: Source
    out: Path
    settings: Settings
    order: Order
    segmenter: VideoSegmenter
    tally: Tally
    start: int = 0
    stop: int | None = None
    masks: Masks | None = None
    overwrite: bool = False
    session: Session | None = None

    @property
    def path(self) -> Path:
        """Where the session goes."""
        return self.out / session_name(self.source)

    def job(self, objects: tuple[ExportObject, ...]) -> Job:
        """What the writers have in common."""
        # Without being asked to, nothing is cleared away: it may be of another source.
        return self.order.job(SourceFacts.of(self.source), Names(), objects, whole=self.overwrite)

    def create(self) -> Session:
        """Begin the session, in place of an earlier one if that may go."""
        self.session = Session.create(
            self.path,
            self.source,
            self.settings,
            start=self.start,
            stop=self.stop,
            formats=self.order.formats,
            export=self.order.as_dict(),
            masks=self.masks,
            overwrite=self.overwrite,
        )
        return self.session


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
    """Make ready to segment a source into ``out``: NAME.scstream and the files of the order.

    Nothing is written or held open; what would stop the run later is said now.
    """
    if source.live and start:
        raise SettingsError(f"'{source.name}' is live and begins now: --frames can say where to stop (:{start}) only")
    formats = order.formats if masks is None or "object" in order.formats else (*order.formats, "object")
    tally = Tally(source.width, source.height)
    order = replace(order, formats=formats)
    run = Run(source, out, settings, order, settings.segmenter(), tally, start, stop, masks, overwrite)
    check_formats(formats, masks is not None, "give its outline with --object MASK.png")
    check(out, formats, run.job(tuple(ExportObject(name, frozenset()) for name in _names(masks).values())))
    if not overwrite:
        _check_unused(run.path)
    _check_folder(run.path)
    return run


def _check_unused(path: Path) -> None:
    """Refuse to replace a session, or the files of one: those of two sources have the same names."""
    if os.path.exists(path):
        raise SessionError(
            f"There is a session '{path}' already: go on with it ({resume_command(path)}), or replace it with "
            "--overwrite."
        )
    others = sessions_in(path.parent)
    if others:
        raise SessionError(
            f"'{path.parent}' holds the session '{others[0].name}' of another source: choose another --out, or say "
            "--overwrite."
        )


def _check_folder(path: Path) -> None:
    """Say now that no session could be made at ``path``, not after the first frame."""
    nearest = next(folder for folder in path.absolute().parents if os.path.exists(folder))
    if not os.path.isdir(nearest):
        raise SessionError(f"Cannot create '{path}': '{nearest}' is a file.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise SessionError(f"Cannot create '{path}': Permission denied.")


def segment(run: Run, listener: Listener) -> Generator[Tally]:
    """Segment the source of a run that `begin` made; yields the running tally after every frame.

    Leaving early keeps the frames so far, as whole files. A format that fails is noted, and the others go on.
    """
    results = pipeline.run(
        run.source,
        run.segmenter,
        start=run.start,
        stop=run.stop,
        masks=run.masks,
        cancel=listener.cancel,
        scene_cuts=run.settings.scene_cuts,
        on_preview=listener.on_preview,
        on_notice=_noting(run.tally, listener),
    )
    with closing(results):
        first = next(results, None)
        if first is not None:
            yield from _fill(run, first, results, listener)
        elif not listener.cancel.is_set():
            raise SourceError(
                f"Nothing to do: '{run.source.name}' ends before frame {run.start}. Choose an earlier --frames start."
            )


def _fill(run: Run, first: FrameResult, results: Generator[FrameResult], listener: Listener) -> Generator[Tally]:
    """Write the first result and all others, into the session and the files."""
    caught = _catch(run.masks, first)
    job = run.job(tuple(ExportObject(thing.name, thing.ids, thing.frame) for thing in caught))
    with ExitStack() as stack:
        exporter = stack.enter_context(Exporter(run.out, run.order.formats, job, _failing(run.tally, listener)))
        session = stack.enter_context(run.create())
        session.objects = caught
        everything = record(session, _with_first(first, results), run.segmenter, listener.cancel)
        for result in stack.enter_context(closing(everything)):
            exporter.write(result)
            run.tally.add(result)
            yield run.tally


def _with_first(first: FrameResult, others: Generator[FrameResult]) -> Generator[FrameResult]:
    with closing(others):
        yield first
        yield from others


def _noting(tally: Tally, listener: Listener) -> Callable[[Notice], None]:
    def note(notice: Notice) -> None:
        tally.notices.append(notice)
        if listener.on_notice is not None:
            listener.on_notice(notice)

    return note


def _failing(tally: Tally, listener: Listener) -> Callable[[ExportError], None]:
    def note(failure: ExportError) -> None:
        tally.failures.append(failure)
        if listener.on_failure is not None:
            listener.on_failure(failure)

    return note


def session_name(source: Source) -> str:
    """What the session of a source is called: the source's name, as far as files can be called so."""
    safe = "".join(sign if sign.isalnum() or sign in " -_.()" else "_" for sign in _plain_name(source))
    short = safe.encode()[:_LONGEST_NAME].decode(errors="ignore").strip(" .")
    return f"{short or 'video'}{SUFFIX}"


def _plain_name(source: Source) -> str:
    """The name without a suffix, if it is a file's; for a pattern that of the folder which it looks in."""
    address = source.address
    if isinstance(source, ImageSequence) and not os.path.isfile(address):
        # Names of folders may contain full stops, and signs that a pattern would be made of.
        if os.path.isdir(address) or "\n" in address or not has_magic(address):
            return source.name
        return next((folder.name for folder in Path(address).parents if not has_magic(str(folder))), "")
    return source.name if isinstance(source, Camera) else Path(source.name).stem


def resume_command(path: Path) -> str:
    """What to type to go on with a session."""
    words = ["scstream", "resume", str(path)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def sessions_in(folder: Path) -> list[Path]:
    """The sessions in a folder, by name."""
    try:
        return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def find_session(path: Path) -> Path:
    """The session that is meant: ``path`` itself, or the only one in the folder at ``path``."""
    if path.suffix == SUFFIX or os.path.exists(path / "manifest.json"):
        return path
    found = sessions_in(path)
    beside = path.with_name(f"{path.name}{SUFFIX}") if path.name else path
    if not found and not os.path.exists(path) and os.path.isdir(beside):
        found = [beside]
    elif len(found) == 1:
        return found[0]
    if found:
        meant = " or ".join(f"'{each}'" for each in found[:3])
        raise SessionError(f"Cannot open '{path}': it is no session; did you mean {meant}?")
    return path


def check_formats(formats: tuple[str, ...], objects: bool, remedy: str) -> None:
    """Say what is wrong with a list of formats before hours of work depend on it, and what to do about it."""
    for name in formats:
        if needs_object(name) and not objects:
            raise ExportError(f"The format '{name}' needs an object: {remedy}.")


# --- objects ----------------------------------------------------------------------------------------------


def read_masks(path: Path, source: Source) -> Masks:
    """A mask of the first frame: 0 is background, every other value an object of its own; see `Still.objects`."""
    try:
        still = read_values(path)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    height, width = still.values.shape[:2]
    if (height, width) != (source.height, source.width):
        raise SourceError(
            f"Cannot use '{path}': it is {width} x {height}, "
            f"the frames of '{source.name}' are {source.width} x {source.height}."
        )
    labels = still.objects()
    if not labels.any():
        raise SourceError(f"Cannot use '{path}': the mask is empty.")
    if labels.max() > 255:
        raise SourceError(
            f"Cannot use '{path}': it has {labels.max()} colours; a mask has one for each object. "
            "If it has few, save it as PNG: JPEG makes new ones."
        )
    return labels.astype(np.uint8)


def _names(masks: Masks | None) -> dict[int, str]:
    """What the object of each value of the masks is called."""
    numbers = [] if masks is None else [int(number) for number in np.unique(masks) if number]
    return {number: "object" if len(numbers) == 1 else f"object {number}" for number in numbers}


def _catch(masks: Masks | None, first: FrameResult) -> list[MarkedObject]:
    """The segments of the first frame that each mask mostly covers, as objects."""
    if masks is None:
        return []
    names, things = _names(masks), []
    for (number, name), colour in zip(names.items(), palette.colours(len(names)), strict=True):
        ids = metrics.ids_inside(first.ids, np.equal(masks, number))
        if not ids:
            raise SourceError(
                f"Cannot follow '{name}': its mask catches no segment of frame {first.index}. "
                "Draw it larger, or work on larger frames (--scale)."
            )
        things.append(MarkedObject(name, (int(colour[0]), int(colour[1]), int(colour[2])), first.index, ids))
    return things


def objects_of(session: Session) -> Sequence[MarkedObject]:
    """The session's objects; those of its masks also where a run was killed before they were noted."""
    noted, masks = session.objects, session.masks
    if noted or masks is None or not len(session):
        return noted
    index = int(session.frames[0])
    return _catch(masks, next(session.results(index, index + 1)))


def mark_objects(session: Session) -> None:
    """Note the objects of the session's masks, unless that was done before."""
    if not session.objects and (objects := objects_of(session)):
        session.objects = objects


def objects_before(session: Session, start: int) -> tuple[ExportObject, ...]:
    """The session's objects for an export that begins at frame ``start``."""
    things = []
    for thing in objects_of(session):
        ids = thing.ids
        if thing.frame < start:
            last = deque(session.members(thing, thing.frame, start), maxlen=1)
            ids = last[0][1] if last else ids
        things.append(ExportObject(thing.name, ids, thing.frame))
    return tuple(things)


# --- resuming and exporting -------------------------------------------------------------------------------


def resume(session: Session, source: Source, threads: int | None, listener: Listener) -> tuple[Run, Generator[Tally]]:
    """Go on with an interrupted session; yields the running tally of the new frames. Files are for `export`."""
    resumption = prepare_resumption(session, source, threads)
    manifest = session.manifest
    tally = Tally(manifest.source.width, manifest.source.height, fresh=not len(session))
    run = Run(
        source,
        session.path.parent,
        manifest.settings,
        Order.of(manifest),
        resumption.segmenter,
        tally,
        manifest.start,
        manifest.stop,
        session=session,
    )
    results = resumption.run(
        cancel=listener.cancel,
        on_preview=listener.on_preview,
        on_notice=_noting(tally, listener),
        on_repeated=listener.on_repeated,
    )
    return run, _go_on(session, results, tally)


def _go_on(session: Session, results: Generator[FrameResult], tally: Tally) -> Generator[Tally]:
    with closing(results):
        mark_objects(session)
        for result in results:
            if not tally.frames:
                mark_objects(session)
            tally.add(result)
            yield tally


def export(
    session: Session,
    out: Path,
    order: Order,
    start: int = 0,
    stop: int | None = None,
    cancel: threading.Event | None = None,
    source: Source | None = None,
) -> Generator[int]:
    """Write a session's frames in the formats of the order; yields the index of every frame done.

    The session's source is opened, if none is given, only for formats that show its picture. When a format fails, the
    others go on, and its failure is raised at the end. When cancelled, or left early, files of an earlier export stay.
    """
    frames = session.frames
    chosen = frames[(frames >= start) & (frames < (np.inf if stop is None else stop))]
    if not len(chosen):
        raise ExportError(f"Nothing to write: '{session.path}' has no such frame{_what_there_is(session)}.")
    objects = objects_before(session, start)
    check_formats(order.formats, bool(objects), "segment again with --object MASK.png")
    failures: list[ExportError] = []
    with ExitStack() as stack:
        pictures = stack.enter_context(_pictures(session, order, source))
        job = order.job(session.manifest.source, session.names, objects, whole=len(chosen) == len(frames))
        exporter = stack.enter_context(Exporter(out, order.formats, job, failures.append))
        # Unless all frames are written, what is there already is worth more.
        stack.callback(exporter.abandon)
        for result in session.results(start, stop, pictures):
            if (cancel is not None and cancel.is_set()) or exporter.failed:
                break
            exporter.write(result)
            yield result.index
        else:
            exporter.close()
    raise_failures(failures)


def raise_failures(failures: Sequence[ExportError]) -> None:
    """Raise the first one, if there is any, with the others as its notes."""
    if failures:
        for other in failures[1:]:
            failures[0].add_note(str(other))
        raise failures[0]


def _what_there_is(session: Session) -> str:
    frames = session.frames
    return f"; it holds frames {frames[0]} to {frames[-1]}" if len(frames) else ": it is empty"


@contextmanager
def _pictures(session: Session, order: Order, source: Source | None) -> Iterator[Source | None]:
    """The source to take pictures from, if any are needed; it must be the session's."""
    if not needs_picture(order.formats):
        yield None
        return
    facts = session.manifest.source
    if facts.live:
        shown = ", ".join(name for name in order.formats if needs_picture([name]))
        raise ExportError(
            f"Cannot write {shown}: '{facts.name}' was live, and its pictures are gone. "
            "Choose ids, csv or another format without pictures, or have these written while segmenting."
        )
    with ExitStack() as stack:
        opened = stack.enter_context(open_source(facts.address)) if source is None else source
        check_source(session, opened)
        yield opened
