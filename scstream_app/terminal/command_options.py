"""Options shared by the commands, including one per setting, and the parsing of their values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from scstream_app.errors import ExportError, SettingsError
from scstream_app.export import FORMATS, ExportOptions, check_options
from scstream_app.settings import SPECS, Settings, Spec

#: Largest frame number of an option.
_LARGEST_FRAME = 2**31 - 1

Json = Annotated[bool, typer.Option("--json", help="Print the results as one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Quick = Annotated[bool, typer.Option("--quick", help="Measure less, for a rough result in less time.")]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="Number of runs of each method. Default: a few; with --quick one.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress and no summary.")]


def _check_threads(value: int | None) -> int | None:
    try:
        SPECS["threads"].check("threads", value)
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    return value


Threads = Annotated[
    int | None,
    typer.Option(callback=_check_threads, help=f"{SPECS['threads'].help} Default: one per core."),
]
Frames = Annotated[str, typer.Option(metavar="A:B", help="Process only frames A to B - 1, counted from 0.")]
Pattern = Annotated[
    str, typer.Option(metavar="TEXT", help="File names of images, without suffix. Fields: {frame}, {time}, {name}.")
]
Objects = Annotated[
    list[str] | None,
    typer.Option(
        "--object",
        metavar="[NAME=]SPEC",
        help="An object in the first frame, which is tracked to the end: a mask file, a box x,y,width,height, or a "
        "point x,y. Repeat it for several objects.",
    ),
]
Corrections = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Corrections of objects on later frames: a folder of masks named by frame number, or a JSON file "
        "(docs/objects.md). Frames before a correction stay as they are.",
    ),
]
SoftEdges = Annotated[
    bool, typer.Option("--soft-edges", help="Mattes: let the opacity follow the edges of the picture near the outline.")
]
SourceOption = Annotated[str | None, typer.Option(help="New location of the source, if it was moved.")]


class Existing(StrEnum):
    """What to do with existing files."""

    REPLACE = "replace"
    SKIP = "skip"
    REFUSE = "refuse"


def formats_option() -> Any:
    """The option --formats."""
    return typer.Option(
        metavar="LIST",
        help=f"Comma-separated formats: {', '.join(FORMATS)}. A movie format may name its view: mp4:mean_colour.",
    )


def parse_frames(text: str) -> tuple[int, int | None]:
    """Parse A:B, both optional, like a Python slice: A is the first frame, B the first frame to leave out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise typer.BadParameter(f"frames must be A:B, such as 0:100, 50: or :20; got '{text}'")
    if max(len(first), len(last)) > 10 or max(int(first or 0), int(last or 0)) > _LARGEST_FRAME:
        raise typer.BadParameter(f"frames must be at most {_LARGEST_FRAME}, got '{text[:30]}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise typer.BadParameter(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of formats."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name.partition(":")[0] not in FORMATS:
            raise typer.BadParameter(f"unknown format '{name}'; choose from {', '.join(FORMATS)}")
    return names


def validated(options: ExportOptions) -> ExportOptions:
    """Return the options if they are valid; otherwise raise a usage error."""
    try:
        check_options(options)
    except ExportError as error:
        raise typer.BadParameter(str(error)) from error
    return options


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``settings`` of a command by one option per setting."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        values = {name: given.pop(name) for name in SPECS}
        try:
            settings = Settings.from_dict({name: getattr(value, "value", value) for name, value in values.items()})
        except SettingsError as error:
            raise typer.BadParameter(str(error)) from error
        command(**given, settings=settings)

    parameters = []
    for parameter in signature.parameters.values():
        parameters += _setting_options() if parameter.name == "settings" else [parameter]
    wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapped


def _setting_options() -> list[inspect.Parameter]:
    defaults = Settings().as_dict()
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, kind, default=defaults[name], annotation=_option(name, spec))
        for name, spec in SPECS.items()
    ]


def _option(name: str, spec: Spec) -> Any:
    """The option of a setting, with its type and help text."""
    details: dict[str, Any] = {"help": spec.help}
    if spec.group == "advanced":
        details["rich_help_panel"] = "Advanced"
    make_enum: Any = StrEnum
    kinds = {"number": float, "integer": int, "switch": bool}
    kind: Any = kinds.get(spec.kind) or make_enum(name, {choice: choice for choice in spec.choices})
    flag = f"{spec.flag}/--no-{spec.flag[2:]}" if spec.kind == "switch" else spec.flag
    if spec.none is not None:
        details |= {"parser": _integer_or_none, "metavar": "INTEGER|none", "help": f"{spec.help} none: {spec.none}."}
    return Annotated[kind, typer.Option(flag, **details)]


def _integer_or_none(text: str | int) -> int | None:
    return None if text == "none" else int(text)


def examples(*lines: str) -> str:
    """The examples at the end of a help text; blank lines make the formatter keep the line breaks."""
    return "\n\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"[bold]{line}[/]" for line in lines)])
