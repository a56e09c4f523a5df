"""The command `scstream`."""

from __future__ import annotations

import json
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from scstream import Preview, warm_up
from scstream_app import diagnosis, evaluation, headless
from scstream_app.errors import SettingsError, StudioError
from scstream_app.export import FORMATS
from scstream_app.pipeline import Notice
from scstream_app.session import Session
from scstream_app.settings import SPECS, Settings
from scstream_app.sources import Source, open_source

app = typer.Typer(
    name="scstream",
    help="Cut any video into segments that keep their identity from frame to frame.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="The same work on other methods, side by side.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")

INTERRUPTED = 130

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
Quick = Annotated[bool, typer.Option("--quick", help="A rough figure in less time.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")]
Threads = Annotated[int | None, typer.Option(help=f"{SPECS['threads'].help} Default: one for each core.")]
Frames = Annotated[str, typer.Option(metavar="A:B", help="Only frames A to B - 1, counted from 0.")]
Pattern = Annotated[str, typer.Option(metavar="TEXT", help="Names of images, without suffix: {frame}, {time}, {name}.")]
DEFAULTS = Settings()


class Colour(StrEnum):
    """Colour spaces to segment in."""

    RGB = "rgb"
    LAB = "lab"


class Existing(StrEnum):
    """What to do about files that are there already."""

    REPLACE = "replace"
    SKIP = "skip"
    REFUSE = "refuse"


def _setting(name: str) -> Any:
    """The option of a setting, as the table of settings describes it."""
    return typer.Option(SPECS[name].flag, help=SPECS[name].help)


def _formats_option(default: str) -> Any:
    return typer.Option(
        metavar="LIST",
        help=f"Comma-separated: {', '.join(FORMATS)}. A movie may say what it shows: mp4:mean_colour.{default}",
    )


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


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, so that the frame at hand is finished and kept; a second Ctrl-C stops at once."""
    cancel = threading.Event()

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)
    if cancel.is_set():
        raise KeyboardInterrupt


# --- segment and resume -----------------------------------------------------------------------------------


def _parse_frames(text: str) -> tuple[int, int | None]:
    """A:B, either of them optional, as in a Python slice: A is the first frame, B the first one left out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise typer.BadParameter(f"frames are given as A:B, such as 0:100, 50: or :20; got '{text}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise typer.BadParameter(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


def _parse_formats(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name.partition(":")[0] not in FORMATS:
            raise typer.BadParameter(f"there is no format '{name}'; those known are {', '.join(FORMATS)}")
    return names


@app.command(
    epilog="Examples:  [bold]scstream segment clip.mp4 --out results[/]   "
    "[bold]scstream segment 'frames/*.png' --out results --formats ids,overlay,coco[/]   "
    "[bold]scstream segment clip.mp4 --out results --object mask.png --formats matte,prores[/]   "
    "[bold]scstream segment camera:0 --out results --frames :300[/]"
)
def segment(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A video file, a folder or glob of images, camera:0, or a stream's URL."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results; made if need be.")],
    formats: Annotated[str, _formats_option("")] = ",".join(headless.DEFAULT_FORMATS),
    frames: Frames = ":",
    mask: Annotated[
        Path | None,
        typer.Option(
            "--object", metavar="MASK.png", help="A mask of the first frame: the object is followed to the end."
        ),
    ] = None,
    colour: Annotated[Colour, _setting("colour")] = Colour.RGB,
    scale: Annotated[float, _setting("scale")] = DEFAULTS.scale,
    alpha: Annotated[float, _setting("alpha")] = DEFAULTS.alpha,
    decay: Annotated[float, _setting("decay")] = DEFAULTS.decay,
    sweeps: Annotated[int, _setting("sweeps")] = DEFAULTS.sweeps,
    seed: Annotated[int, _setting("seed")] = DEFAULTS.seed,
    scene_cuts: Annotated[bool, typer.Option(help=SPECS["scene_cuts"].help)] = DEFAULTS.scene_cuts,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other setting, such as burn_in=10.")
    ] = None,
    threads: Threads = None,
    pattern: Pattern = "{frame:05d}",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE into the folder given by --out: a session (NAME.scstream) and files in the chosen formats."""
    start, stop = _parse_frames(frames)
    order = headless.Order(_parse_formats(formats), pattern=pattern)
    chosen = {
        "colour": colour.value, "scale": scale, "alpha": alpha, "decay": decay, "sweeps": sweeps, "seed": seed,
        "scene_cuts": scene_cuts, "threads": threads, **_parse_settings(settings or []),
    }  # fmt: skip
    try:
        table = Settings.from_dict(chosen)
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    with reporting(debug), open_source(source) as opened:
        masks = None if mask is None else headless.read_masks(mask, opened)
        with stopping() as cancel, _progress_bar(quiet) as bar:
            run = headless.begin(opened, out, table, order, start=start, stop=stop, masks=masks, overwrite=overwrite)
            listener, task = _prepare(bar, cancel, opened, start, stop)
            _follow(bar, task, headless.segment(run, opened, listener))
        _report(run, out, order.formats, as_json, quiet)


def _parse_settings(pairs: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise typer.BadParameter(f"a setting is given as NAME=VALUE, such as burn_in=10; got '{pair}'")
        try:
            values[name] = json.loads(text)
        except json.JSONDecodeError:
            values[name] = text
    return values


@app.command(epilog="Example:  [bold]scstream resume results/clip.scstream[/]")
def resume(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    source: Annotated[str | None, typer.Option(help="Where the source is now, if it was moved.")] = None,
    threads: Threads = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a session that was interrupted; it ends with the same ids as if it had not been.

    Files are completed in the formats that were asked for, beside the session.
    """
    with reporting(debug), Session.open(session, writable=True) as opened:
        manifest = opened.manifest
        with stopping() as cancel, _progress_bar(quiet) as bar:
            with open_source(source or manifest.source.address) as frames:
                listener, task = _prepare(bar, cancel, frames, manifest.start, manifest.stop)
                run, tallies = headless.resume(opened, frames, threads, listener)
                _follow(bar, task, tallies, already=len(opened))
                if not cancel.is_set() and manifest.formats:
                    # Movies and tables of the interrupted run end where it did: all files are made anew.
                    order = headless.Order(manifest.formats)
                    _export(bar, opened, session.parent, order, 0, None, cancel, frames)
        _report(run, session.parent, manifest.formats, as_json, quiet)


def _prepare(
    bar: Progress, cancel: threading.Event, source: Source, start: int, stop: int | None
) -> tuple[headless.Listener, TaskID]:
    """Compile what has to be, and say on the bar what goes on."""
    task = bar.add_task("Preparing the engine (compiles for half a minute the first time)", total=None, rate="")
    warm_up(lambda done, total, _: bar.update(task, completed=done, total=total))
    bar.reset(task, description="First frame", total=_expected(source, start, stop))

    def on_preview(preview: Preview) -> None:
        n = preview.progress
        bar.update(task, description=f"First frame: sweep {n.sweep}, {n.n_clusters} segments")

    def on_notice(notice: Notice) -> None:
        bar.console.print(notice.text, highlight=False, markup=False)

    def on_repeated(index: int) -> None:
        bar.update(task, description=f"Checking frame {index}", advance=1)

    return headless.Listener(cancel, on_preview, on_notice, on_repeated), task


def _follow(bar: Progress, task: TaskID, tallies: Any, already: int = 0) -> None:
    # Closed at once when interrupted, so that the files are finished before the command ends.
    with closing(tallies):
        for tally in tallies:
            _show_tally(bar, task, tally, already)


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
        console=Console(stderr=True, quiet=quiet),
        disable=quiet,
    )


def _show_tally(bar: Progress, task: TaskID, tally: headless.Tally, already: int) -> None:
    recent = tally.whole[1:][-30:]
    rate = f"{1000.0 * len(recent) / sum(recent):.1f} frames/s" if recent else ""
    text = f"Segmenting, {tally.segments_last} segments"
    bar.update(task, completed=already + tally.frames, description=text, rate=rate)


def _report(run: headless.Run, out: Path, formats: Sequence[str], as_json: bool, quiet: bool) -> None:
    report = {
        **run.tally.report(run.segmenter),
        "session": str(run.session.path),
        "frames_in_session": len(run.session),
    }
    if as_json:
        _print_json(report)
    elif not quiet:
        _print_summary(report, out, formats)


def _print_summary(report: dict[str, Any], out: Path, formats: Sequence[str]) -> None:
    line = (
        f"{report['frames']} frames of {report['width']} x {report['height']}, "
        f"{report['segments_last']} segments at the end, {report['segments_ever']} ever"
    )
    if report["fps"] is not None:
        line += f"; {report['fps']:.1f} frames/s ({report['ms_engine_median']:.1f} ms a frame in the engine)"
    print(f"{line}.\nWritten to {out}: {Path(report['session']).name}, {', '.join(formats)}")


# --- export -----------------------------------------------------------------------------------------------


@app.command(epilog="Example:  [bold]scstream export results/clip.scstream --formats coco,gif --out shared[/]")
def export(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    formats: Annotated[str, _formats_option("")],
    out: Annotated[Path, typer.Option(help="Folder for the files; made if need be.")],
    frames: Frames = ":",
    scale: Annotated[float, typer.Option(help="Size of what is written against the source.")] = 1.0,
    pattern: Pattern = "{frame:05d}",
    view: Annotated[str, typer.Option(help="What movies show: overlay, mean_colour, boundaries, ...")] = "overlay",
    palette: Annotated[str, typer.Option(help="Colours of the overlay: vivid or safe for the colour-blind.")] = "vivid",
    existing: Annotated[
        Existing, typer.Option(help="Files that are there: replace, skip (resumes image sequences), or refuse.")
    ] = Existing.REPLACE,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a session's frames in other formats. The source is needed only for formats that show its picture."""
    start, stop = _parse_frames(frames)
    order = headless.Order(_parse_formats(formats), scale, pattern, existing.value, view, palette)
    with reporting(debug), Session.open(session) as opened:
        with stopping() as cancel, _progress_bar(quiet) as bar:
            done = _export(bar, opened, out, order, start, stop, cancel)
        if as_json:
            _print_json({"frames": done, "formats": list(order.formats), "out": str(out)})
        elif not quiet:
            print(f"{done} frames written to {out}: {', '.join(order.formats)}")


def _export(
    bar: Progress,
    session: Session,
    out: Path,
    order: headless.Order,
    start: int,
    stop: int | None,
    cancel: threading.Event,
    source: Source | None = None,
) -> int:
    indices = [index for index in session.frames.tolist() if index >= start and (stop is None or index < stop)]
    task = bar.add_task("Writing files", total=len(indices), rate="")
    done = 0
    for _ in headless.export(session, out, order, start, stop, cancel, source):
        done += 1
        bar.update(task, completed=done)
    return done


# --- evaluate ---------------------------------------------------------------------------------------------


@app.command(epilog="Example:  [bold]scstream evaluate results/object Annotations/480p/kite-surf[/]")
def evaluate(
    predictions: Annotated[Path, typer.Argument(help="A folder of masks or id images, an .npz file, or a session.")],
    truth: Annotated[Path, typer.Argument(help="The same for the ground truth; frames are matched by number.")],
    skip_ends: Annotated[
        bool, typer.Option("--skip-ends", help="Leave out the first and the last frame, as DAVIS does.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Score masks (J and F) or segments (what they make possible, how steady they are) against a ground truth."""
    with reporting(debug):
        scores = evaluation.evaluate(predictions, truth, skip_ends)
        if as_json:
            _print_json(scores)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in evaluation.lines(scores):
            table.add_row(name.replace("_", " "), value)
        Console().print(table)


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
