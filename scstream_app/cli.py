"""The command-line program `scstream`."""

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
from rich.text import Text

from scstream_app import __version__, headless, system_info
from scstream_app.evaluation import scores
from scstream_app.export import DEFAULT_FORMATS, ExportOptions
from scstream_app.session import Session
from scstream_app.settings import Settings
from scstream_app.sources import Source, open_source
from scstream_app.terminal.command_options import (
    Corrections,
    Debug,
    Existing,
    Frames,
    Json,
    Objects,
    Pattern,
    Quick,
    Quiet,
    Seeds,
    SoftEdges,
    SourceOption,
    Threads,
    examples,
    formats_option,
    parse_formats,
    parse_frames,
    validated,
    with_settings,
)
from scstream_app.terminal.console import (
    cancel_on_interrupt,
    exit_on_error,
    fail_safe_streams,
    print_json,
    print_message,
    status,
)
from scstream_app.terminal.progress import explain_interruption, progress_bar, report_run, show_progress, start_progress

app = typer.Typer(
    name="scstream",
    help="Segment any video; segments keep their ids from frame to frame.\n\n"
    "[bold]scstream[/] or [bold]scstream SOURCE[/] opens the window; the commands below need no display.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="Compare the engine with other methods.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")


def main(args: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""
    given = list(sys.argv[1:] if args is None else args)
    with fail_safe_streams():
        # Shell completion calls the program without arguments.
        if not os.environ.get("_SCSTREAM_COMPLETE") and (not given or _is_source(given[0])):
            return _open_window(given)
        try:
            code = app(given, prog_name="scstream")
        except SystemExit as stop:
            code = stop.code
    return code if isinstance(code, int) else 0


def _is_source(text: str) -> bool:
    """Whether the first argument is a source, rather than an option or a (possibly misspelt) command."""
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    if text.startswith("-") or text in commands | {"bench"}:
        return False
    if text.startswith(("camera:", "live:", "live-loop:")) or has_magic(text) or os.path.exists(text):
        return True
    # No command has a suffix: that is the name of a file, if only of a missing one.
    return any(sign in text for sign in (os.sep, os.altsep or os.sep, "://")) or bool(os.path.splitext(text)[1])


def _open_window(given: Sequence[str]) -> int:
    if len(given) > 1:
        print_message(f"The window takes one source and no options, got '{given[1]}'. See 'scstream segment --help'.")
        return 2
    try:
        from scstream_app.ui.qt import display
        from scstream_app.ui.window import app as window
    except ImportError as error:
        print_message(f"scstream: Cannot open the window: {error}.")
        return 1
    if not display.has_display():
        print_message("No display found. Segment without a window: 'scstream segment SOURCE --out FOLDER'.")
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
        "scstream segment clip.mp4 --out results --object dog=120,80,200,150 --object ball=400,310",
        "scstream segment camera:0 --out results --frames :300",
    )
)
@with_settings
def segment(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A video file, a folder or glob pattern of images, camera:0, or the URL of a stream."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Output folder; created if necessary.")],
    formats: Annotated[str, formats_option()] = ",".join(DEFAULT_FORMATS),
    frames: Frames = ":",
    objects: Objects = None,
    corrections: Corrections = None,
    *,
    settings: Settings,
    pattern: Pattern = "{frame:05d}",
    soft_edges: SoftEdges = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE and write a session (NAME.scstream) and files in the chosen formats to the folder --out."""
    start, stop = parse_frames(frames)
    options = validated(ExportOptions(parse_formats(formats), pattern=pattern, soft_edges=soft_edges))
    with exit_on_error(debug), open_source(source) as opened:
        prompts = _prompts(opened, objects, corrections)
        run = headless.prepare(
            opened, out, settings, options, start=start, stop=stop, prompts=prompts, overwrite=overwrite
        )
        with explain_interruption(lambda: run.session), cancel_on_interrupt() as cancel, progress_bar(quiet) as bar:
            callbacks, task = start_progress(bar, cancel, opened, start, stop)
            show_progress(bar, task, headless.segment(run, callbacks))
        report_run(run, as_json, quiet)
        headless.raise_failures(run.progress.failures)


def _prompts(
    source: Source, objects: Sequence[str] | None, corrections: Path | None, known: Sequence[str] = ()
) -> list[headless.Prompt]:
    """The objects and corrections that the options name; ``known`` are the names of objects that exist already."""
    prompts = headless.read_prompts(objects or (), source)
    if corrections is not None:
        names = [*known, *(prompt.name for prompt in prompts)]
        prompts += headless.read_corrections(corrections, source, names)
    return prompts


@app.command(epilog=examples("scstream resume results/clip.scstream"))
def resume(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    source: SourceOption = None,
    threads: Threads = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Resume an interrupted session. The ids are the same as without the interruption.

    Files in the formats of the original command are written beside the session.
    """
    with exit_on_error(debug), _open_session(session, writable=True) as opened:
        manifest = opened.manifest
        with explain_interruption(lambda: opened), cancel_on_interrupt() as cancel, progress_bar(quiet) as bar:
            with open_source(source or headless.local_source(opened)) as frames:
                callbacks, task = start_progress(bar, cancel, frames, manifest.start, manifest.stop)
                run, steps = headless.resume(opened, frames, threads, callbacks)
                show_progress(bar, task, steps, already=len(opened))
                if not cancel.is_set() and run.options.formats:
                    # Movies and tables of the interrupted run are incomplete: write all files again.
                    _export(bar, opened, run.out, run.options, 0, None, cancel, frames)
        report_run(run, as_json, quiet, resumed=True)


def _open_session(path: Path, writable: bool = False) -> Session:
    """Open the session at ``path``, or the only one in that folder, and print which parts of it are damaged."""
    session = Session.open(headless.find_session(path), writable)
    for text in session.damage:
        print_message(text)
    return session


# --- export -----------------------------------------------------------------------------------------------


@app.command(
    epilog=examples(
        "scstream export results/clip.scstream --formats coco,gif --out shared",
        "scstream export results/clip.scstream --formats object --out corrected --corrections masks",
    )
)
def export(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    formats: Annotated[str, formats_option()],
    out: Annotated[Path, typer.Option(help="Output folder; created if necessary.")],
    frames: Frames = ":",
    scale: Annotated[float, typer.Option(help="Size of the output relative to the source.")] = 1.0,
    pattern: Pattern = "{frame:05d}",
    view: Annotated[
        str | None,
        typer.Option(
            help="View that movies show: overlay, mean_colour, boundaries, ... "
            "Default: overlay; for webm and prores the objects cut out, if there are any."
        ),
    ] = None,
    palette: Annotated[
        str, typer.Option(help="Colours of the overlay: vivid, or safe (for colour-blind viewers).")
    ] = "vivid",
    existing: Annotated[
        Existing,
        typer.Option(
            help="Existing files: replace (an export of all frames also removes leftover images of an earlier one), "
            "skip (resumes image sequences), or refuse (stops with an error)."
        ),
    ] = Existing.REPLACE,
    soft_edges: SoftEdges = False,
    objects: Objects = None,
    corrections: Corrections = None,
    source: SourceOption = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Export the frames of a session. The source is needed for formats that show its pictures, and to track objects.

    Objects and corrections given here are stored in the session.
    """
    start, stop = parse_frames(frames)
    options = validated(
        ExportOptions(parse_formats(formats), scale, pattern, existing.value, view, palette, soft_edges=soft_edges)
    )
    given = bool(objects) or corrections is not None
    with exit_on_error(debug), _open_session(session, writable=given) as opened:
        with cancel_on_interrupt() as cancel, progress_bar(quiet) as bar, ExitStack() as stack:
            address = headless.local_source(opened) if given and source is None else source
            frames_of = stack.enter_context(open_source(address)) if address is not None else None
            if frames_of is not None and given:
                known = [one.name for one in headless.session_objects(opened)]
                headless.add_prompts(opened, _prompts(frames_of, objects, corrections, known), frames_of)
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
    # Close the generator at once when interrupted, so that no partial file remains when the command ends.
    with closing(headless.export(session, out, options, start, stop, cancel, source)) as steps:
        for _ in steps:
            done += 1
            bar.update(task, completed=done)
    return done


# --- evaluate ---------------------------------------------------------------------------------------------


@app.command(
    epilog=examples(
        "scstream evaluate results/object Annotations/480p/kite-surf",
        "scstream evaluate results/clip.scstream labels --source clip.mp4 --void 0",
    )
)
def evaluate(
    predictions: Annotated[Path, typer.Argument(help="A folder of masks or of id images, an .npz file, or a session.")],
    truth: Annotated[Path, typer.Argument(help="The ground truth, in the same form; frames are matched by number.")],
    skip_ends: Annotated[
        bool, typer.Option("--skip-ends", help="Ignore the first and the last frame of the truth, as DAVIS does.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(help="The video that was segmented; adds the scores of segments that need its pictures."),
    ] = None,
    void: Annotated[
        int | None,
        typer.Option(
            metavar="LABEL",
            help="Label of true pixels that are not judged. Segments are then compared with all other labels, "
            "instead of with objects before a background 0.",
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Score masks (J and F) or segments (best possible J, pieces, lives of ids, supervoxels) against a ground truth.

    A frame of the truth without a prediction counts as missed; a prediction without truth is ignored.
    """
    with exit_on_error(debug):
        found = scores.evaluate(predictions, truth, skip_ends, source, void)
        if as_json:
            print_json(found)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in scores.table_rows(found):
            table.add_row(name.replace("_", " "), value)
        Console().print(table)


# --- info -------------------------------------------------------------------------------------------------


@app.command(epilog=examples("scstream info", "scstream info results/clip.scstream"))
def info(
    session: Annotated[
        Path | None, typer.Argument(metavar="[SESSION]", help="A NAME.scstream folder to describe.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show versions, codecs and cameras for a bug report or, given a session, its frames, settings and source."""
    with exit_on_error(debug):
        facts = system_info.facts() if session is None else _session_facts(session)
        if as_json:
            print_json(facts)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in facts.items():
            # A long path is folded; a cell of plain text would be cut.
            table.add_row(name.replace("_", " "), Text(_as_text(value), overflow="fold"))
        # Names of folders may contain square brackets, which rich takes for markup.
        Console(markup=False).print(table)


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_as_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_as_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _session_facts(path: Path) -> dict[str, Any]:
    with _open_session(path) as session:
        return system_info.session_facts(session, headless.session_objects(session))


# --- bench ------------------------------------------------------------------------------------------------


@bench_app.command("video")
def bench_video(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="A video file or a folder of images. Default: a sample clip."),
    ] = None,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Compare the speed of the engine with several forms of scikit-learn's MiniBatchKMeans on the same frames."""
    from scstream_app.evaluation.bench import tables, video

    with exit_on_error(debug):
        with status() as on_status:
            result = video.measure(source, quick, on_status)
        print_json(result) if as_json else tables.print_video(result)


@bench_app.command("streams", epilog=examples("scstream bench streams", "scstream bench streams stream.npz"))
def bench_streams(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="An npz file with X (batches, n, D) and y (batches, n). Default: forty generated streams.",
        ),
    ] = None,
    seeds: Seeds = None,
    alpha: Annotated[
        float | None,
        typer.Option(min=0.0, help="Larger values favour more clusters. Default: 10 with a file, otherwise 10000."),
    ] = None,
    decay: Annotated[
        float, typer.Option(min=0.0, help="How fast old batches lose weight: by 2 ** -decay per batch.")
    ] = 0.3,
    psi: Annotated[
        float | None,
        typer.Option(help="Prior variance of a Gaussian cluster. Default: 1 with a file, otherwise 0.5."),
    ] = None,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Compare scores on streams with MiniBatchKMeans and GaussianMixture, which are given the number of clusters.

    On a file, each batch is predicted before it is learned.

    On generated streams, each batch is labelled once it is learned, and scores are relative to the true parameters.
    """
    from scstream_app.evaluation.bench import generated, streams, tables

    given = {name: value for name, value in (("alpha", alpha), ("psi", psi)) if value is not None}
    with exit_on_error(debug):
        with status() as on_status:
            if file is None:
                result = generated.measure(quick, seeds, decay=decay, on_status=on_status, **given)
            else:
                result = streams.measure(file, quick, seeds, decay=decay, on_status=on_status, **given)
        show = tables.print_generated if file is None else tables.print_streams
        print_json(result) if as_json else show(result)


@bench_app.command("datasets")
def bench_datasets(
    seeds: Seeds = None,
    as_json: Json = False,
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Compare ScStream with BayesianGaussianMixture and HDBSCAN, all with their defaults, on ordinary data sets."""
    from scstream_app.evaluation.bench import datasets, tables

    with exit_on_error(debug):
        with status() as on_status:
            result = datasets.measure(quick, seeds, on_status)
        print_json(result) if as_json else tables.print_datasets(result)
