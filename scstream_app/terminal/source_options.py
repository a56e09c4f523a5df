"""Options that say what is segmented and how it is read, and frames on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from scstream_app.errors import SourceError
from scstream_app.option_values import RAW_CONTENTS
from scstream_app.terminal.console import print_message

if TYPE_CHECKING:
    from scstream_app.export import Job
    from scstream_app.pipeline.frame_result import FrameResult
    from scstream_app.sources import ImageOptions, Source

#: Part of the help text.
_PANEL = "Images and pipes"

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="A video file, a TIFF stack, a folder, pattern (frames/%05d.png, 'frames/*.png') or list of images, "
        "camera:0, the URL of a stream, or - for standard input. Several videos or folders are several clips.",
    ),
]
Range = Annotated[
    str,
    typer.Option(
        "--range",
        metavar="LOW:HIGH",
        rich_help_panel=_PANEL,
        help="Images: values that become black and white, one range or one per channel (0:4095,100:900). "
        "auto: measured if the images have more than 8 bits. full: the range of the data type.",
    ),
]
Rate = Annotated[
    float | None, typer.Option("--rate", rich_help_panel=_PANEL, help="Images: frames per second. Default: 24.")
]
Plane = Annotated[
    int | None,
    typer.Option(
        "--plane",
        rich_help_panel=_PANEL,
        help="TIFF with time and depth: the plane to use, from 0. Default: the maximum over all.",
    ),
]
Raw = Annotated[
    str | None,
    typer.Option(
        "--raw",
        metavar="FORMAT",
        rich_help_panel=_PANEL,
        help="Standard input is raw video of this size, rate and FFmpeg pixel format: WxH@RATE:PIXELS, such as "
        "854x480@30:rgb24.",
    ),
]
ToStdout = Annotated[
    str | None,
    typer.Option(
        "--to-stdout",
        metavar="CONTENT",
        rich_help_panel=_PANEL,
        help=f"Also write each frame to standard output as raw video: {', '.join(RAW_CONTENTS)}. "
        "ids are gray16le (id + 1, 0 for none), views rgb24, matte rgba.",
    ),
]


def image_options(value_range: str, rate: float | None, plane: int | None) -> ImageOptions:
    """How images are read; raises a usage error."""
    from scstream_app.sources import ImageOptions

    try:
        return ImageOptions.parse(value_range, rate, plane)
    except SourceError as error:
        raise typer.BadParameter(str(error).rstrip(".")) from error


def open_given(
    addresses: Sequence[str], value_range: str, rate: float | None, plane: int | None, raw: str | None
) -> Source:
    """Open the source that the arguments and options of a command describe."""
    from scstream_app.sources import ImageOptions, RawVideo, StandardInput, open_source

    options = image_options(value_range, rate, plane)
    try:
        described = None if raw is None else RawVideo.parse(raw)
    except SourceError as error:
        raise typer.BadParameter(str(error).rstrip(".")) from error
    if described is None:
        return open_source("\n".join(addresses), options)
    if list(addresses) != ["-"] or options != ImageOptions():
        raise typer.BadParameter("--raw describes video from standard input: SOURCE must be -, without other options")
    return StandardInput(described)


def check_stdout(content: str | None, as_json: bool, objects: bool) -> None:
    """Raise a usage error if frames cannot be written to standard output."""
    if content is None:
        return
    if content not in RAW_CONTENTS:
        raise typer.BadParameter(f"--to-stdout must be one of {', '.join(RAW_CONTENTS)}; got '{content}'")
    if as_json:
        raise typer.BadParameter("--json and --to-stdout cannot both write to standard output")
    if content in ("matte", "mask") and not objects:
        raise typer.BadParameter(f"--to-stdout {content} needs an object: give one with --object")
    if sys.stdout.isatty():
        raise typer.BadParameter("--to-stdout would write raw frames to the terminal: pipe them into another program")


def frame_writer(content: str | None, job: Job, quiet: bool) -> Callable[[FrameResult], None] | None:
    """Function that writes a frame to standard output; None if there is nothing to write."""
    if content is None:
        return None
    from scstream_app.export.raw_frames import RawFrames

    def announce(layout: str) -> None:
        if not quiet:
            print_message(f"Frames on standard output: {layout}")

    return RawFrames(sys.stdout.buffer, content, job, announce).write
