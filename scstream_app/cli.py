"""The command `scstream`."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from scstream import Preview, VideoSegmenter, warm_up
from scstream_app import diagnosis, headless
from scstream_app.errors import StudioError
from scstream_app.sources import Source, open_source

app = typer.Typer(
    name="scstream",
    help="Cut any video into segments that keep their identity from frame to frame.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="The same work on other methods, side by side.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

INTERRUPTED = 130

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
Quick = Annotated[bool, typer.Option("--quick", help="A rough figure in less time.")]


class Colour(StrEnum):
    """Colour spaces to segment in."""

    RGB = "rgb"
    LAB = "lab"


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        code = app(args, prog_name="scstream")
    except SystemExit as stop:
        code = stop.code
    return code if isinstance(code, int) else 0


@contextmanager
def reporting(debug: bool = False) -> Iterator[None]:
    """Turn what goes wrong inside into one line on standard error and the right exit code."""
    try:
        yield
    except KeyboardInterrupt:
        _say("Interrupted. What was finished is kept.")
        raise typer.Exit(INTERRUPTED) from None
    except StudioError as error:
        _fail(str(error), debug)
    except (typer.Exit, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:
        hint = "" if debug else " Run again with --debug for the details."
        _fail(f"Unexpected failure: {type(error).__name__}: {error}.{hint}", debug)


def _fail(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    _say(f"scstream: {message}")
    raise typer.Exit(1) from None


def _say(line: str) -> None:
    print(" ".join(line.split()), file=sys.stderr)


def _print_json(values: dict[str, Any]) -> None:
    print(json.dumps(values, indent=2))


# --- segment ----------------------------------------------------------------------------------------------


def _parse_frames(text: str) -> tuple[int, int | None]:
    """A:B, either of them optional, as in a Python slice: A is the first frame, B the first one left out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise typer.BadParameter(f"frames are given as A:B, such as 0:100, 50: or :20; got '{text}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise typer.BadParameter(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


@app.command()
def segment(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A video file, or a folder of images.")],
    out: Annotated[Path, typer.Option(help="Folder for the results; made if need be.")],
    frames: Annotated[str, typer.Option(metavar="A:B", help="Only frames A to B - 1, counted from 0.")] = ":",
    scale: Annotated[float, typer.Option(help="Work on frames reduced to this size: above 0, at most 1.")] = 1.0,
    colour: Annotated[Colour, typer.Option(help="Colour space to segment in.")] = Colour.RGB,
    alpha: Annotated[float, typer.Option(help="Larger values favour more segments.")] = 1000.0,
    decay: Annotated[float, typer.Option(help="How fast the past is forgotten: 2 ** -decay a frame.")] = 2.9,
    sweeps: Annotated[int, typer.Option(help="Stochastic sweeps a frame.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same ids.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads to use. Default: one for each core.")] = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")] = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE into the folder given by --out: ids/NNNNN.png, mean.mp4 and overlay.mp4."""
    start, stop = _parse_frames(frames)
    try:
        segmenter = VideoSegmenter(colour.value, scale, alpha, decay, sweeps, seed, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with reporting(debug):
        opened = open_source(source)
        earlier = sum(1 for _ in (out / "ids").glob("*.png"))
        if earlier and not quiet:
            _say(f"Note: '{out / 'ids'}' holds {earlier} images already; those of other frames will stay there.")
        tally = _segment_with_progress(opened, out, segmenter, start, stop, quiet)
        report = tally.report(segmenter)
        if as_json:
            _print_json(report)
        elif not quiet:
            _print_summary(report, out)


def _segment_with_progress(
    source: Source, out: Path, segmenter: VideoSegmenter, start: int, stop: int | None, quiet: bool
) -> headless.Tally:
    with _progress_bar(quiet) as bar:
        task = bar.add_task("Preparing the engine (compiles for half a minute the first time)", total=None, rate="")
        warm_up(lambda done, total, _: bar.update(task, completed=done, total=total))
        bar.reset(task, description="First frame", total=_expected(source, start, stop))

        def on_preview(preview: Preview) -> None:
            n = preview.progress
            bar.update(task, description=f"First frame: sweep {n.sweep}, {n.n_clusters} segments")

        # Closed at once when interrupted, so that the files are finished before the command ends.
        with closing(headless.segment_into(out, source, segmenter, start, stop, on_preview)) as tallies:
            for tally in tallies:
                _show_tally(bar, task, tally)
        bar.update(task, total=tally.frames)
    return tally


def _expected(source: Source, start: int, stop: int | None) -> int | None:
    """How many frames the run will have, as far as the source tells."""
    ends = [end for end in (source.length, stop) if end is not None]
    return max(1, min(ends) - start) if ends else None


def _progress_bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        disable=quiet,
    )


def _show_tally(bar: Progress, task: TaskID, tally: headless.Tally) -> None:
    recent = tally.whole[1:][-30:]
    rate = f"{1000.0 * len(recent) / sum(recent):.1f} frames/s" if recent else ""
    text = f"Segmenting, {tally.segments_last} segments"
    bar.update(task, completed=tally.frames, description=text, rate=rate)


def _print_summary(report: dict[str, Any], out: Path) -> None:
    line = (
        f"{report['frames']} frames of {report['width']} x {report['height']}, "
        f"{report['segments_last']} segments at the end, {report['segments_ever']} ever"
    )
    if report["fps"] is not None:
        line += f"; {report['fps']:.1f} frames/s ({report['ms_engine_median']:.1f} ms a frame in the engine)"
    print(f"{line}.\nWritten to {out}: ids/, mean.mp4, overlay.mp4")


# --- info -------------------------------------------------------------------------------------------------


@app.command()
def info(as_json: Json = False) -> None:
    """Show versions, cores and the cache folder: what a bug report needs."""
    with reporting():
        facts = diagnosis.facts()
        if as_json:
            _print_json(facts)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in facts.items():
            text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            table.add_row(name.replace("_", " "), text)
        Console().print(table)


# --- bench ------------------------------------------------------------------------------------------------


@bench_app.command("video")
def bench_video(
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="A video file or folder of images. Default: a sample clip.")
    ] = None,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Time the engine beside scikit-learn's MiniBatchKMeans on the same frames."""
    from scstream_app.bench import tables, video

    with reporting(debug):
        with _status() as say:
            result = video.measure(source, quick, say)
        _print_json(result) if as_json else tables.print_video(result)


@bench_app.command("streams")
def bench_streams(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="An npz file with X (batches, n, D) and y (batches, n).")
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.0, help="Larger values favour more clusters.")] = 10.0,
    decay: Annotated[float, typer.Option(min=0.0, help="How fast the past is forgotten: 2 ** -decay a batch.")] = 0.3,
    psi: Annotated[float, typer.Option(help="Prior guess of a Gaussian cluster's variance.")] = 1.0,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Predict every batch of a stream before learning from it, beside MiniBatchKMeans."""
    from scstream_app.bench import streams, tables

    with reporting(debug):
        with _status() as say:
            result = streams.measure(file, quick, alpha, decay, psi, say)
        _print_json(result) if as_json else tables.print_streams(result)


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done."""
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(text)
