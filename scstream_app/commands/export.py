"""`scstream export`: write the frames of a session to files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from scstream_app import headless
from scstream_app.commands.shared import open_session, read_prompts, write_files
from scstream_app.export import ExportOptions
from scstream_app.sources import open_source
from scstream_app.terminal.command_options import (
    Corrections,
    Debug,
    Existing,
    Frames,
    Json,
    Objects,
    Pattern,
    Quiet,
    SoftEdges,
    SourceOption,
    examples,
    formats_option,
    parse_formats,
    parse_frames,
    validated,
)
from scstream_app.terminal.console import cancel_on_interrupt, exit_on_error, print_json
from scstream_app.terminal.lazy_group import command_app
from scstream_app.terminal.progress import progress_bar

app = command_app()


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
    with exit_on_error(debug), open_session(session, writable=given) as opened:
        with cancel_on_interrupt() as cancel, progress_bar(quiet) as bar, ExitStack() as stack:
            address = opened.source_address if given and source is None else source
            frames_of = stack.enter_context(open_source(address)) if address is not None else None
            if frames_of is not None and given:
                known = [one.name for one in headless.session_objects(opened)]
                headless.add_prompts(opened, read_prompts(frames_of, objects, corrections, known), frames_of)
            done = write_files(bar, opened, out, options, start, stop, cancel, frames_of)
        if as_json:
            print_json({"frames": done, "formats": list(options.formats), "out": str(out)})
        elif not quiet:
            print(f"{done} frames written to {out}: {', '.join(options.formats)}")
