"""`scstream resume`: continue an interrupted session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scstream_app import headless
from scstream_app.commands.shared import open_session, open_session_source, write_files
from scstream_app.terminal.command_options import Debug, Json, Quiet, SourceOption, Threads, examples
from scstream_app.terminal.console import exit_on_error
from scstream_app.terminal.interruption import cancel_on_interrupt
from scstream_app.terminal.lazy_group import command_app
from scstream_app.terminal.progress import explain_interruption, report_run, show_progress, start_progress
from scstream_app.terminal.progress_display import progress_display

app = command_app()


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
    with exit_on_error(debug), open_session(session, writable=True) as opened:
        manifest = opened.manifest
        with explain_interruption(lambda: opened), cancel_on_interrupt() as cancel, progress_display(quiet) as display:
            with open_session_source(opened, source) as frames:
                callbacks = start_progress(display, cancel, frames, manifest.start, manifest.stop)
                run, steps = headless.resume(opened, frames, threads, callbacks)
                show_progress(display, steps, already=len(opened))
                if not cancel.is_set() and run.options.formats:
                    # Movies and tables of the interrupted run are incomplete: write all files again.
                    write_files(display, opened, run.out, run.options, 0, None, cancel, frames)
        report_run(run, as_json, quiet, resumed=True)
