"""`scstream segment` with several clips: one after another, or side by side on Dask."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import typer

from scstream_app.errors import ClusterError
from scstream_app.export import ExportOptions
from scstream_app.headless import many_clips
from scstream_app.headless.many_clips import Clip
from scstream_app.settings import Settings
from scstream_app.sources import ImageOptions
from scstream_app.terminal.clips_progress import ClipsProgress
from scstream_app.terminal.console import Interrupted, print_json, print_message
from scstream_app.terminal.exit_codes import FAILED
from scstream_app.terminal.interruption import cancel_on_interrupt, exit_code
from scstream_app.terminal.progress import compile_engine
from scstream_app.terminal.progress_display import ProgressDisplay, progress_display


def make_clips(
    sources: Sequence[str],
    out: Path,
    settings: Settings,
    options: ExportOptions,
    reading: ImageOptions,
    start: int,
    stop: int | None,
    overwrite: bool,
    alone: Mapping[str, object],
) -> list[Clip]:
    """The clips that the sources are, each with its folder; ``alone`` are options for a single clip, by name."""
    for name, value in alone.items():
        if value:
            raise typer.BadParameter(
                f"{name} is for one clip: leave out --workers and --scheduler, and give one SOURCE"
            )
    given = sources if len(sources) == 1 or many_clips.are_several_clips(sources) else ["\n".join(sources)]
    addresses = many_clips.clip_addresses(given)
    names = many_clips.folder_names(addresses)
    return [
        Clip(address, out.absolute() / name, settings, options, reading, start, stop, overwrite)
        for address, name in zip(addresses, names, strict=True)
    ]


def segment_clips(
    clips: Sequence[Clip], workers: int | None, scheduler: str | None, as_json: bool, quiet: bool, debug: bool
) -> None:
    """Segment the clips, and print how each of them ended; exits with a code other than 0 if one failed."""
    if workers is not None and scheduler is not None:
        raise typer.BadParameter("--workers starts workers on this machine, --scheduler has its own: give one of them")
    begin = monotonic()
    with progress_display(quiet) as display:
        progress = ClipsProgress(clips, display, quiet, debug)
        with _explained(progress), cancel_on_interrupt() as cancel:
            _run(clips, workers, scheduler, cancel, display, progress)
    seconds = monotonic() - begin
    if as_json:
        print_json(progress.report(seconds))
    elif not quiet:
        print(progress.summary(seconds))
    if progress.count("failed"):
        print_message(
            f"scstream: {progress.count('failed')} of {len(clips)} clips failed. The same command tries them again."
        )
        raise typer.Exit(FAILED)


def _run(
    clips: Sequence[Clip],
    workers: int | None,
    scheduler: str | None,
    cancel: threading.Event,
    display: ProgressDisplay,
    progress: ClipsProgress,
) -> None:
    if scheduler is None:
        # Before workers start, which would all compile the same.
        compile_engine(display)
    if workers is None and scheduler is None:
        progress.begin()
        many_clips.run_in_turn(clips, cancel, progress.update)
        return
    try:
        from scstream_app.headless.many_clips import dask_run
    except ImportError as error:
        raise ClusterError(
            f"--workers and --scheduler need Dask ({error}). Install it: pip install 'scstream-studio[cluster]'"
        ) from error
    if scheduler is not None:
        display.begin(f"Connecting to {scheduler}", None)
        cluster = dask_run.connected(scheduler, cancel)
    else:
        display.begin("Starting workers", None)
        cluster = dask_run.local_workers(min(workers or 1, len(clips)))
    with cluster as client:
        progress.begin()
        dask_run.run_on_dask(client, clips, cancel, progress.update)


@contextmanager
def _explained(progress: ClipsProgress) -> Iterator[None]:
    """After an interruption, report how many clips are complete."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Interrupted(progress.interruption(), exit_code(stop)) from None
