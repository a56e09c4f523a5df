"""Progress bar of a run, and the summary after it ended or was interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

import scstream
from scstream_app.errors import ExportError
from scstream_app.headless import Run, RunCallbacks, RunProgress, resume_command
from scstream_app.pipeline.run import Notice
from scstream_app.plural import counted
from scstream_app.session import Session
from scstream_app.sources import Source
from scstream_app.terminal.console import Interrupted, print_json
from scstream_app.warmup_messages import COMPILING


def start_progress(
    bar: Progress, cancel: threading.Event, source: Source, start: int, stop: int | None
) -> tuple[RunCallbacks, TaskID]:
    """Compile the engine, and return callbacks that show the progress on the bar."""
    task = bar.add_task(COMPILING, total=None, rate="")
    scstream.warm_up(lambda done, total, _: bar.update(task, completed=done, total=total))
    bar.reset(task, description="First frame", total=_expected(source, start, stop))

    def on_preview(preview: scstream.Preview) -> None:
        n = preview.progress
        bar.update(task, description=f"First frame: sweep {n.sweep}, {n.n_clusters} segments")

    def on_notice(notice: Notice) -> None:
        bar.console.print(notice.text, highlight=False, markup=False)

    def on_repeated(index: int) -> None:
        bar.update(task, description=f"Checking frame {index}", advance=1)

    def on_failure(failure: ExportError) -> None:
        bar.console.print(f"{failure} The other formats continue.", highlight=False, markup=False)

    return RunCallbacks(cancel, on_preview, on_notice, on_repeated, on_failure), task


def show_progress(bar: Progress, task: TaskID, steps: Any, already: int = 0) -> None:
    """Consume the steps of a run and show its progress."""
    # Close the generator at once when interrupted, so that the files are complete before the command ends.
    with closing(steps):
        for progress in steps:
            _update_bar(bar, task, progress, already)


def _expected(source: Source, start: int, stop: int | None) -> int | None:
    """Number of frames of the run; None if the source does not know its length."""
    ends = [end for end in (source.length, stop) if end is not None]
    return max(1, min(ends) - start) if ends else None


def progress_bar(quiet: bool) -> Progress:
    """Make the progress bar on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True, quiet=quiet),
        disable=quiet,
    )


def _update_bar(bar: Progress, task: TaskID, progress: RunProgress, already: int) -> None:
    rate = "" if progress.rate is None else f"{progress.rate:.1f} frames/s"
    text = f"Segmenting, {progress.segments_last} segments"
    bar.update(task, completed=already + progress.frames, description=text, rate=rate)


def report_run(run: Run, as_json: bool, quiet: bool, resumed: bool = False) -> None:
    """Print the summary of a run."""
    session = run.session
    assert session is not None
    report = {
        **run.progress.report(run.segmenter),
        "session": str(session.path),
        "frames_in_session": len(session),
    }
    if not run.progress.frames and len(session):
        report["segments_last"] = session.record(int(session.frames[-1])).rows
    if as_json:
        print_json(report)
    elif not quiet and resumed and not report["frames"]:
        frames, segments = counted(len(session), "frame"), counted(report["segments_last"], "segment")
        print(f"Already complete: {frames}, {segments}; files written: {', '.join(run.options.formats) or 'none'}")
    elif not quiet:
        _print_summary(report, run.out, run.options.formats, resumed)


def _print_summary(report: dict[str, Any], out: Path, formats: Sequence[str], resumed: bool) -> None:
    done = counted(report["frames"], "frame")
    if resumed:
        done = f"{counted(report['frames'], 'new frame')}, {report['frames_in_session']} in all,"
    line = (
        f"{done} of {report['width']} x {report['height']}, "
        f"{counted(report['segments_last'], 'segment')} at the end, {report['segments_ever']} ever"
    )
    if report["fps"] is not None:
        line += f"; {report['fps']:.1f} frames/s ({report['ms_engine_median']:.1f} ms per frame in the engine)"
    print(f"{line}.\nWritten to {out}: {Path(report['session']).name}, {', '.join(formats)}")


@contextmanager
def explain_interruption(session: Callable[[], Session | None]) -> Iterator[None]:
    """On Ctrl-C, report how many frames the session has and how to resume it."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(_interruption_text(session())) from None


def _interruption_text(session: Session | None) -> str:
    if session is None or not len(session):
        return "Interrupted before the first frame was finished. Nothing was written."
    done = f"Interrupted after {counted(len(session), 'frame')}."
    if session.manifest.source.live:
        return f"{done} They are saved, but a live source cannot be resumed."
    return f"{done} Resume with: {resume_command(session.path)}"
