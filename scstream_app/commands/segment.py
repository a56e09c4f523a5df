"""`scstream segment`: segment a source into a session and files."""

from __future__ import annotations

from typing import Annotated

import typer

from scstream_app import headless
from scstream_app.commands.shared import read_prompts
from scstream_app.export import DEFAULT_FORMATS, ExportOptions
from scstream_app.settings import Settings
from scstream_app.sources import open_source
from scstream_app.terminal.command_options import (
    Corrections,
    Debug,
    Frames,
    Json,
    Objects,
    Out,
    PaletteOption,
    Pattern,
    Quiet,
    SoftEdges,
    View,
    examples,
    formats_option,
    parse_formats,
    parse_frames,
    validated,
    with_settings,
)
from scstream_app.terminal.console import exit_on_error
from scstream_app.terminal.interruption import cancel_on_interrupt
from scstream_app.terminal.lazy_group import command_app
from scstream_app.terminal.progress import explain_interruption, report_run, show_progress, start_progress
from scstream_app.terminal.progress_display import progress_display

app = command_app()


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
    out: Out,
    formats: Annotated[str, formats_option()] = ",".join(DEFAULT_FORMATS),
    frames: Frames = ":",
    objects: Objects = None,
    corrections: Corrections = None,
    *,
    settings: Settings,
    pattern: Pattern = "{frame:05d}",
    view: View = None,
    palette: PaletteOption = "vivid",
    soft_edges: SoftEdges = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE and write a session (NAME.scstream) and files in the chosen formats to the folder --out."""
    start, stop = parse_frames(frames)
    options = validated(
        ExportOptions(parse_formats(formats), pattern=pattern, view=view, palette=palette, soft_edges=soft_edges)
    )
    with exit_on_error(debug), open_source(source) as opened:
        prompts = read_prompts(opened, objects, corrections)
        run = headless.prepare(
            opened, out, settings, options, start=start, stop=stop, prompts=prompts, overwrite=overwrite
        )
        with (
            explain_interruption(lambda: run.session),
            cancel_on_interrupt() as cancel,
            progress_display(quiet) as display,
        ):
            callbacks = start_progress(display, cancel, opened, start, stop)
            show_progress(display, headless.segment(run, callbacks))
        report_run(run, as_json, quiet)
        headless.raise_failures(run.progress.failures)
