"""`scstream evaluate`: scores against a ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from scstream_app.terminal.command_options import Debug, Frames, Json, examples, in_range, parse_frames
from scstream_app.terminal.console import exit_on_error, print_json
from scstream_app.terminal.lazy_group import command_app

app = command_app()


@app.command(
    epilog=examples(
        "scstream evaluate results/object Annotations/480p/kite-surf",
        "scstream evaluate results/clip.scstream labels --source clip.mp4 --void 0",
        "scstream evaluate results/clip.scstream masks --frames 100:200",
    )
)
def evaluate(
    predictions: Annotated[Path, typer.Argument(help="A folder of masks or of id images, an .npz file, or a session.")],
    truth: Annotated[Path, typer.Argument(help="The ground truth, in the same form; frames are matched by number.")],
    frames: Frames = ":",
    skip_ends: Annotated[
        bool, typer.Option("--skip-ends", help="Ignore the first and the last frame of the whole truth, as DAVIS does.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(help="The video that was segmented; adds the scores of segments that need its pictures."),
    ] = None,
    void: Annotated[
        int | None,
        typer.Option(
            metavar="LABEL",
            callback=in_range("integer", low=-(2**31), high=2**31 - 1),
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
    from scstream_app.evaluation import scores

    start, stop = parse_frames(frames)
    with exit_on_error(debug):
        found = scores.evaluate(predictions, truth, skip_ends, source, void, start, stop)
        if as_json:
            print_json(found)
            return
        table = Table(show_header=False, box=None, pad_edge=False)
        for name, value in scores.table_rows(found):
            table.add_row(name.replace("_", " "), value)
        Console().print(table)
