"""A source into a session and files, from its start or from where it was interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scstream_app.errors import ExportError, SessionError, SettingsError, SourceError
from scstream_app.export import Exporter, ExportObject, ExportOptions, Job, check_job
from scstream_app.headless.export_options import check_formats, make_job, stored_options
from scstream_app.headless.object_masks import Masks, catch, mark_objects, names_in
from scstream_app.headless.session_names import resume_command, session_name, sessions_in
from scstream_app.headless.tally import Listener, Tally
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.session import Names, Session, SourceFacts, write_run
from scstream_app.session import resume as prepare_resumption
from scstream_app.settings import Settings
from scstream_app.sources import Source

if TYPE_CHECKING:
    from scstream import VideoSegmenter


@dataclass(slots=True)
class Run:
    """A source to be segmented into a session, and the session's frames into files.

    Until the first frame is done nothing is on disk, and an earlier session is untouched: ``session`` is None.
    """

    source: Source
    out: Path
    settings: Settings
    options: ExportOptions
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
        return make_job(self.options, SourceFacts.of(self.source), Names(), objects, remove_stale=self.overwrite)

    def create(self) -> Session:
        """Begin the session, in place of an earlier one if that may go."""
        self.session = Session.create(
            self.path,
            self.source,
            self.settings,
            start=self.start,
            stop=self.stop,
            formats=self.options.formats,
            export=self.options.as_dict(),
            masks=self.masks,
            overwrite=self.overwrite,
        )
        return self.session


def begin(
    source: Source,
    out: Path,
    settings: Settings,
    options: ExportOptions,
    *,
    start: int = 0,
    stop: int | None = None,
    masks: Masks | None = None,
    overwrite: bool = False,
) -> Run:
    """Make ready to segment a source into ``out``: NAME.scstream and the files of the options.

    Nothing is written or held open; what would stop the run later is said now.
    """
    if source.live and start:
        raise SettingsError(f"'{source.name}' is live and begins now: --frames can say where to stop (:{start}) only")
    formats = options.formats if masks is None or "object" in options.formats else (*options.formats, "object")
    tally = Tally(source.width, source.height)
    options = replace(options, formats=formats)
    run = Run(source, out, settings, options, settings.segmenter(), tally, start, stop, masks, overwrite)
    check_formats(formats, masks is not None, "give its outline with --object MASK.png")
    check_job(out, run.job(tuple(ExportObject(name, frozenset()) for name in names_in(masks).values())))
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
    results = segment_frames(
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
    caught = catch(run.masks, first)
    job = run.job(tuple(ExportObject(thing.name, thing.ids, thing.frame) for thing in caught))
    with ExitStack() as stack:
        exporter = stack.enter_context(Exporter(run.out, job, _failing(run.tally, listener)))
        session = stack.enter_context(run.create())
        session.objects = caught
        everything = write_run(session, _with_first(first, results), run.segmenter, listener.cancel)
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


def resume(session: Session, source: Source, threads: int | None, listener: Listener) -> tuple[Run, Generator[Tally]]:
    """Go on with an interrupted session; yields the running tally of the new frames. Files are for `export`."""
    resumption = prepare_resumption(session, source, threads)
    manifest = session.manifest
    tally = Tally(manifest.source.width, manifest.source.height, fresh=not len(session))
    run = Run(
        source,
        session.path.parent,
        manifest.settings,
        stored_options(manifest),
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
