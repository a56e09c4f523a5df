"""`scstream segment`: segment a source into a session and files."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

import typer

from scstream_app import headless
from scstream_app.commands.shared import read_prompts
from scstream_app.option_values import DEFAULT_FORMATS
from scstream_app.settings import Settings
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
    Scheduler,
    SoftEdges,
    View,
    Workers,
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
from scstream_app.terminal.source_options import (
    Plane,
    Range,
    Rate,
    Raw,
    Sources,
    ToStdout,
    check_stdout,
    frame_writer,
    image_options,
    open_given,
)

app = command_app()


@app.command(
    epilog=examples(
        "scstream segment clip.mp4 --out results",
        "scstream segment frames/*.png --out results --formats ids,overlay,coco --rate 12",
        "scstream segment stack.tif --out results --range 100:4000",
        "scstream segment clip.mp4 --out results --object mask.png --formats matte,prores",
        "scstream segment clip.mp4 --out results --object dog=120,80,200,150 --object ball=400,310",
        "scstream segment camera:0 --out results --frames :300",
        "scstream segment clips/*.mp4 --out results --workers 4",
        "ffmpeg -i clip.mp4 -f matroska - | scstream segment - --out results",
    )
)
@with_settings
def segment(
    source: Sources,
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
    value_range: Range = "auto",
    rate: Rate = None,
    plane: Plane = None,
    raw: Raw = None,
    to_stdout: ToStdout = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing session and its files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Segment SOURCE and write a session (NAME.scstream) and files in the chosen formats to the folder --out.

    Several clips get a folder each, --out/NAME. The same command again skips those that are complete.
    """
    from scstream_app.commands.segment_clips import make_clips, segment_clips
    from scstream_app.export import ExportOptions
    from scstream_app.headless.many_clips import are_several_clips

    start, stop = parse_frames(frames)
    options = validated(
        ExportOptions(parse_formats(formats), pattern=pattern, view=view, palette=palette, soft_edges=soft_edges)
    )
    check_stdout(to_stdout, as_json, bool(objects))
    if are_several_clips(source) or workers is not None or scheduler is not None:
        reading = image_options(value_range, rate, plane)
        alone = {"--object": objects, "--corrections": corrections, "--to-stdout": to_stdout, "--raw": raw}
        with exit_on_error(debug):
            clips = make_clips(source, out, settings, options, reading, start, stop, overwrite, alone)
            segment_clips(clips, workers, scheduler, as_json, quiet, debug)
        return
    with exit_on_error(debug), open_given(source, value_range, rate, plane, raw) as opened:
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
            on_result = frame_writer(to_stdout, run.job(()), quiet)
            show_progress(display, headless.segment(run, callbacks, on_result))
        with redirect_stdout(sys.stdout if to_stdout is None else sys.stderr):
            report_run(run, as_json, quiet)
        headless.raise_failures(run.progress.failures)
