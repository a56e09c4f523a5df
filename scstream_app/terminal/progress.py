"""What is said of a run: a bar while it goes on, a summary when it has ended or was interrupted."""

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
from scstream_app.headless import Listener, Run, Tally, resume_command
from scstream_app.pipeline.run import Notice
from scstream_app.session import Session
from scstream_app.sources import Source
from scstream_app.terminal.console import Interrupted, print_json
from scstream_app.warmup_messages import COMPILING


def prepare(
    bar: Progress, cancel: threading.Event, source: Source, start: int, stop: int | None
) -> tuple[Listener, TaskID]:
    """Compile what has to be, and say on the bar what goes on."""
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
        bar.console.print(f"{failure} The other formats go on.", highlight=False, markup=False)

    return Listener(cancel, on_preview, on_notice, on_repeated, on_failure), task


def follow(bar: Progress, task: TaskID, tallies: Any, already: int = 0) -> None:
    """Go through a run, and show how far it has come."""
    # Closed at once when interrupted, so that the files are finished before the command ends.
    with closing(tallies):
        for tally in tallies:
            _show_tally(bar, task, tally, already)


def _expected(source: Source, start: int, stop: int | None) -> int | None:
    """How many frames the run will have, as far as the source tells."""
    ends = [end for end in (source.length, stop) if end is not None]
    return max(1, min(ends) - start) if ends else None


def progress_bar(quiet: bool) -> Progress:
    """The bar on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True, quiet=quiet),
        disable=quiet,
    )


def _show_tally(bar: Progress, task: TaskID, tally: Tally, already: int) -> None:
    rate = "" if tally.rate is None else f"{tally.rate:.1f} frames/s"
    text = f"Segmenting, {tally.segments_last} segments"
    bar.update(task, completed=already + tally.frames, description=text, rate=rate)


def report_run(run: Run, as_json: bool, quiet: bool, resumed: bool = False) -> None:
    """Say how a run went."""
    session = run.session
    assert session is not None
    report = {
        **run.tally.report(run.segmenter),
        "session": str(session.path),
        "frames_in_session": len(session),
    }
    if not run.tally.frames and len(session):
        report["segments_last"] = session.record(int(session.frames[-1])).rows
    if as_json:
        print_json(report)
    elif not quiet and resumed and not report["frames"]:
        frames, segments = _count(len(session), "frame"), _count(report["segments_last"], "segment")
        print(f"Already complete: {frames}, {segments}; files written: {', '.join(run.options.formats) or 'none'}")
    elif not quiet:
        _print_summary(report, run.out, run.options.formats, resumed)


def _print_summary(report: dict[str, Any], out: Path, formats: Sequence[str], resumed: bool) -> None:
    done = _count(report["frames"], "frame")
    if resumed:
        done = f"{_count(report['frames'], 'new frame')}, {report['frames_in_session']} in all,"
    line = (
        f"{done} of {report['width']} x {report['height']}, "
        f"{_count(report['segments_last'], 'segment')} at the end, {report['segments_ever']} ever"
    )
    if report["fps"] is not None:
        line += f"; {report['fps']:.1f} frames/s ({report['ms_engine_median']:.1f} ms a frame in the engine)"
    print(f"{line}.\nWritten to {out}: {Path(report['session']).name}, {', '.join(formats)}")


@contextmanager
def interruptible(session: Callable[[], Session | None]) -> Iterator[None]:
    """Say of an interruption how far the session came, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(_what_is_kept(session())) from None


def _what_is_kept(session: Session | None) -> str:
    if session is None or not len(session):
        return "Interrupted before the first frame was finished: nothing was written."
    done = f"Interrupted after {_count(len(session), 'frame')}."
    if session.manifest.source.live:
        return f"{done} All of it is kept, but a live source cannot be resumed."
    return f"{done} Go on with: {resume_command(session.path)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
