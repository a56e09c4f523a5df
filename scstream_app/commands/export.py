"""`scstream export`: write the frames of a session to files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from scstream_app import headless
from scstream_app.commands.shared import changed_objects, open_session, open_session_source, write_files
from scstream_app.option_values import LARGEST_SCALE
from scstream_app.plural import counted
from scstream_app.terminal.command_options import (
    Corrections,
    Debug,
    Existing,
    Frames,
    Json,
    Out,
    PaletteOption,
    Pattern,
    Quiet,
    RemovedObjects,
    SoftEdges,
    SourceOption,
    StoredObjects,
    View,
    examples,
    formats_option,
    in_range,
    parse_formats,
    parse_frames,
    validated,
)
from scstream_app.terminal.console import exit_on_error, print_json
from scstream_app.terminal.interruption import cancel_on_interrupt
from scstream_app.terminal.lazy_group import command_app
from scstream_app.terminal.progress_display import progress_display

app = command_app()


@app.command(
    epilog=examples(
        "scstream export results/clip.scstream --formats coco,gif --out shared",
        "scstream export results/clip.scstream --formats object --out corrected --corrections masks",
        "scstream export results/clip.scstream --formats csv --out again --remove-object dog",
    )
)
def export(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.scstream folder.")],
    formats: Annotated[str, formats_option()],
    out: Out,
    frames: Frames = ":",
    scale: Annotated[
        float,
        typer.Option(
            callback=in_range("number", low=0.0, high=LARGEST_SCALE, above=True),
            help="Size of the output relative to the source.",
        ),
    ] = 1.0,
    pattern: Pattern = "{frame:05d}",
    view: View = None,
    palette: PaletteOption = "vivid",
    existing: Annotated[
        Existing,
        typer.Option(
            case_sensitive=False,
            metavar="CHOICE",
            help="Existing files: replace (an export of all frames also removes leftover images of an earlier one), "
            "skip (resumes image sequences), or refuse (stops with an error).",
        ),
    ] = Existing.REPLACE,
    soft_edges: SoftEdges = False,
    objects: StoredObjects = None,
    corrections: Corrections = None,
    removed: RemovedObjects = None,
    source: SourceOption = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Export the frames of a session. The source is needed for formats that show its pictures, and to track objects.

    --object, --corrections and --remove-object change the session for good, for the window and later exports too, once
    the files are written.
    """
    from scstream_app.export import ExportOptions

    start, stop = parse_frames(frames)
    options = validated(
        ExportOptions(parse_formats(formats), scale, pattern, existing.value, view, palette, soft_edges=soft_edges)
    )
    added = bool(objects) or corrections is not None
    changed = added or bool(removed)
    with exit_on_error(debug), open_session(session, writable=changed) as opened:
        with cancel_on_interrupt() as cancel, progress_display(quiet) as display, ExitStack() as stack:
            frames_of = stack.enter_context(open_session_source(opened, source)) if source or added else None
            now = changed_objects(opened, frames_of, objects, corrections, removed) if changed else None
            done = write_files(display, opened, out, options, start, stop, cancel, frames_of, now)
            # Only then: an export that fails or is interrupted must not have changed the session.
            if now is not None and not cancel.is_set():
                headless.replace_objects(opened, now)
        names = [one.name for one in headless.session_objects(opened)]
        if as_json:
            written = {"frames": done, "out": str(out), "formats": list(options.formats), "objects": names}
            print_json({**written, "session": str(opened.path)})
        elif not quiet:
            print(f"{counted(done, 'frame')} written to {out}: {', '.join(options.formats)}")
            if changed:
                print(f"Session changed: {opened.path}, objects: {', '.join(names) or 'none'}")
