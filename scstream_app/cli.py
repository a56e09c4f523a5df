"""The command `scstream`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from scstream_app import __version__, headless, system_info
from scstream_app.evaluation import scores
from scstream_app.export import DEFAULT_FORMATS, ExportOptions
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.terminal.console import forgiving_streams, print_json, reporting, say, status, stopping
from scstream_app.terminal.options import (
    Debug,
    Existing,
    Frames,
    Json,
    Moved,
    Pattern,
    Quick,
    Quiet,
    Threads,
    checked,
    examples,
    formats_option,
    parse_formats,
    parse_frames,
    with_settings,
)
from scstream_app.terminal.progress import follow, interruptible, prepare, progress_bar, report_run

app = typer.Typer(
    name="scstream",
    help="Cut any video into segments that keep their identity from frame to frame.\n\n"
    "[bold]scstream[/] or [bold]scstream SOURCE[/] opens the window; the commands do without one.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="The same work on other methods, side by side.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")


def main(args: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if args is None else args)
    with forgiving_streams():
        # A shell that wants to know how a word goes on calls the command without arguments.
        if not os.environ.get("_SCSTREAM_COMPLETE") and (not given or _is_source(given[0])):
            return _open_window(given)
        try:
            code = app(given, prog_name="scstream")
        except SystemExit as stop:
            code = stop.code
    return code if isinstance(code, int) else 0


def _is_source(text: str) -> bool:
    """Whether the first word is something to open, rather than an option or a command, mistyped or not."""
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    if text.startswith("-") or text in commands | {"bench"}:
        return False
    signs = (os.sep, os.altsep or os.sep, "://")
    return any(sign in text for sign in signs) or has_magic(text) or text.startswith("camera:") or os.path.exists(text)


def _open_window(given: Sequence[str]) -> int:
    if len(given) > 1:
        say(f"The window takes a source and nothing else, got '{given[1]}'. Try 'scstream segment --help'.")
        return 2
    try:
        from scstream_app.ui.window import app as window
    except ImportError as error:
        say(f"scstream: The window cannot be opened here: {error}.")
        return 1
    if not window.has_display():
        say("There is no display here: segment without a window with 'scstream segment SOURCE --out FOLDER'.")
        return 1
    return window.run(given[0] if given else None)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"scstream {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


# --- segment and resume -----------------------------------------------------------------------------------


@app.command(
    epilog=examples(
        "scstream segment clip.mp4 --out results",
        "scstream segment 'frames/*.png' --out results --formats ids,overlay,coco",
        "scstream segment clip.mp4 --out results --object mask.png --formats matte,prores",
        "scstream segment camera:0 --out results --frames :300",
    )
)
@with_settings
def segment(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A video file, a folder or glob of images, camera:0, or a stream's URL."),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results; made if need be.")],
    formats: Annotated[str, formats_option()] = ",".join(DEFAULT_FORMATS),
    frames: Frames = ":",
    mask: Annotated[
        Path | None,
        typer.Option(
            "--object", metavar="MASK.png", help="A mask of the first frame: the object is followed to the end."
        ),
    ] = None,
    *,
    settings: Settings,
    pattern: Pattern = "{frame:05d}",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE into the folder given by --out: a session (NAME.scstream) and files in the chosen formats."""
    start, stop = parse_frames(frames)
    options = checked(ExportOptions(parse_formats(formats), pattern=pattern))
    with reporting(debug), open_source(source) as opened:
        masks = None if mask is None else headless.read_masks(mask, opened)
        run = headless.begin(opened, out, settings, options, start=start, stop=stop, masks=masks, overwrite=overwrite)
        with interruptible(lambda: run.session), stopping() as cancel, progress_bar(quiet) as bar:
            listener, task = prepare(bar, cancel, opened, start, stop)
            follow(bar, task, headless.segment(run, listener))
        report_run(run, as_json, quiet)
        headless.raise_failures(run.tally.failures)


@app.command(epilog=examples("scstream resume results/clip.scstream"))
def resume(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    source: Moved = None,
    threads: Threads = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with a session that was interrupted; it ends with the same ids as if it had not been.

    Files are completed in the formats that were asked for, beside the session.
    """
    with reporting(debug), _open_session(session, writable=True) as opened:
        manifest = opened.manifest
        with interruptible(lambda: opened), stopping() as cancel, progress_bar(quiet) as bar:
            with open_source(source or opened.source_address) as frames:
                listener, task = prepare(bar, cancel, frames, manifest.start, manifest.stop)
                run, tallies = headless.resume(opened, frames, threads, listener)
                follow(bar, task, tallies, already=len(opened))
                if not cancel.is_set() and run.options.formats:
                    # Movies and tables of the interrupted run end where it did: all files are made anew.
                    _export(bar, opened, run.out, run.options, 0, None, cancel, frames)
        report_run(run, as_json, quiet, resumed=True)


def _open_session(path: Path, writable: bool = False) -> Session:
    """The session at ``path``, or the only one in that folder; what was found damaged in it is said."""
    session = Session.open(headless.find_session(path), writable)
    for text in session.damage:
        say(text)
    return session


# --- export -----------------------------------------------------------------------------------------------


@app.command(epilog=examples("scstream export results/clip.scstream --formats coco,gif --out shared"))
def export(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    formats: Annotated[str, formats_option()],
    out: Annotated[Path, typer.Option(help="Folder for the files; made if need be.")],
    frames: Frames = ":",
    scale: Annotated[float, typer.Option(help="Size of what is written against the source.")] = 1.0,
    pattern: Pattern = "{frame:05d}",
    view: Annotated[
        str | None,
        typer.Option(
            help="What movies show: overlay, mean_colour, boundaries, ... "
            "Default: the overlay; in webm and prores the objects cut out, if there are any."
        ),
    ] = None,
    palette: Annotated[str, typer.Option(help="Colours of the overlay: vivid or safe for the colour-blind.")] = "vivid",
    existing: Annotated[
        Existing,
        typer.Option(
            help="Files that are there: replace (once all frames are written, images left over from an earlier export "
            "go), skip (resumes image sequences), or refuse."
        ),
    ] = Existing.REPLACE,
    source: Moved = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a session's frames in other formats. The source is needed only for formats that show its picture."""
    start, stop = parse_frames(frames)
    options = checked(ExportOptions(parse_formats(formats), scale, pattern, existing.value, view, palette))
    with reporting(debug), _open_session(session) as opened:
        with stopping() as cancel, progress_bar(quiet) as bar, ExitStack() as stack:
            frames_of = stack.enter_context(open_source(source)) if source is not None else None
            done = _export(bar, opened, out, options, start, stop, cancel, frames_of)
        if as_json:
            print_json({"frames": done, "formats": list(options.formats), "out": str(out)})
        elif not quiet:
            print(f"{done} frames written to {out}: {', '.join(options.formats)}")


def _export(
    bar: Progress,
    session: Session,
    out: Path,
    options: ExportOptions,
    start: int,
    stop: int | None,
    cancel: threading.Event,
    source: Source | None = None,
) -> int:
    indices = [index for index in session.frames.tolist() if index >= start and (stop is None or index < stop)]
    task = bar.add_task("Writing files", total=len(indices), rate="")
    done = 0
    # Closed at once when interrupted, so that nothing half-written stays when the command ends.
    with closing(headless.export(session, out, options, start, stop, cancel, source)) as steps:
        for _ in steps:
            done += 1
            bar.update(task, completed=done)
    return done


# --- evaluate ---------------------------------------------------------------------------------------------


@app.command(epilog=examples("scstream evaluate results/object Annotations/480p/kite-surf"))
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
        found = scores.evaluate(predictions, truth, skip_ends)
        if as_json:
            print_json(found)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in scores.lines(found):
            table.add_row(name.replace("_", " "), value)
        Console().print(table)


# --- info -------------------------------------------------------------------------------------------------


@app.command(epilog=examples("scstream info", "scstream info results/clip.scstream"))
def info(
    session: Annotated[
        Path | None, typer.Argument(metavar="[SESSION]", help="A NAME.scstream folder, to show what it holds.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, codecs and cameras: what a bug report needs. Of a session: its frames, settings and source."""
    with reporting(debug):
        facts = system_info.facts() if session is None else _facts_of(session)
        if as_json:
            print_json(facts)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in facts.items():
            table.add_row(name.replace("_", " "), _in_words(value))
        # Names of folders may look like markup.
        Console(markup=False).print(table)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _facts_of(path: Path) -> dict[str, Any]:
    with _open_session(path) as session:
        return system_info.session_facts(session, headless.objects_of(session))


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
    from scstream_app.evaluation.bench import tables, video

    with reporting(debug):
        with status() as say:
            result = video.measure(source, quick, say)
        print_json(result) if as_json else tables.print_video(result)


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
    from scstream_app.evaluation.bench import streams, tables

    with reporting(debug):
        with status() as say:
            result = streams.measure(file, quick, alpha, decay, psi, say)
        print_json(result) if as_json else tables.print_streams(result)
