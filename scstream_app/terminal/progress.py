"""Progress of a run, and the summary after it ended or was interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scstream_app import headless
from scstream_app.plural import counted
from scstream_app.terminal.compilation import on_compilation
from scstream_app.terminal.console import Interrupted, print_json
from scstream_app.terminal.interruption import exit_code
from scstream_app.terminal.progress_display import ProgressDisplay
from scstream_app.warmup_messages import COMPILING, PREPARING

if TYPE_CHECKING:
    from scstream import Preview
    from scstream_app.errors import ExportError
    from scstream_app.headless import Run, RunCallbacks, RunProgress
    from scstream_app.pipeline.run import Notice
    from scstream_app.session import Session
    from scstream_app.sources import Source


def start_progress(
    display: ProgressDisplay, cancel: threading.Event, source: Source, start: int, stop: int | None
) -> RunCallbacks:
    """Compile the engine, and return callbacks that show the progress of the run."""
    compile_engine(display)
    display.begin("First frame", headless.expected_frames(source, start, stop))
    repeated = 0

    def on_preview(preview: Preview) -> None:
        n = preview.progress
        display.update(text=f"First frame: sweep {n.sweep}, {n.n_clusters} segments")

    def on_notice(notice: Notice) -> None:
        display.print(notice.text)

    def on_repeated(index: int) -> None:
        nonlocal repeated
        repeated += 1
        display.update(repeated, f"Checking frame {index}")

    def on_failure(failure: ExportError) -> None:
        display.print(f"{failure} The other formats continue.")

    return headless.RunCallbacks(cancel, on_preview, on_notice, on_repeated, on_failure)


def compile_engine(display: ProgressDisplay) -> None:
    """Load the engine; show progress only if it has to be compiled, which takes long."""
    import scstream

    display.begin(PREPARING, None)
    step, steps, compiling = 0, 0, False

    def on_progress(done: int, total: int, _: str) -> None:
        nonlocal step, steps
        step, steps = done, total
        if compiling:
            display.update(done)

    def on_compiling() -> None:
        nonlocal compiling
        if not compiling:
            compiling = True
            display.begin(COMPILING, steps)
            display.update(step)

    with on_compilation(on_compiling):
        scstream.warm_up(on_progress)


def show_progress(display: ProgressDisplay, steps: Any, already: int = 0) -> None:
    """Consume the steps of a run and show its progress."""
    # Close the generator at once when interrupted, so that the files are complete before the command ends.
    with closing(steps):
        for progress in steps:
            _update(display, progress, already)


def _update(display: ProgressDisplay, progress: RunProgress, already: int) -> None:
    display.update(already + progress.frames, f"Segmenting, {progress.segments_last} segments", progress.rate)


def report_run(run: Run, as_json: bool, quiet: bool, resumed: bool = False) -> None:
    """Print the summary of a run."""
    report = run.report()
    if as_json:
        print_json(report)
    elif not quiet and resumed and not report["frames"]:
        frames, segments = counted(report["frames_in_session"], "frame"), counted(report["segments_last"], "segment")
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
    if report["dropped"]:
        line += f".\nDropped {counted(report['dropped'], 'frame')} that came while earlier ones were segmented"
    print(f"{line}.\nWritten to {out}: {', '.join([Path(report['session']).name, *formats])}")


@contextmanager
def explain_interruption(session: Callable[[], Session | None]) -> Iterator[None]:
    """After an interruption, report how many frames the session has and how to resume it."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Interrupted(_interruption_text(session()), exit_code(stop)) from None


def _interruption_text(session: Session | None) -> str:
    if session is None or not len(session):
        return "Interrupted before the first frame was finished. Nothing was written."
    from scstream_app.sources import STDIN

    done = f"Interrupted after {counted(len(session), 'frame')}."
    if session.manifest.source.address == STDIN:
        return f"{done} They are saved. What followed on standard input is lost, so the session cannot be resumed."
    if session.manifest.source.live:
        return f"{done} They are saved, but a live source cannot be resumed."
    return f"{done} Resume with: {headless.resume_command(session.path)}"
