"""Options that commands share, one for every setting among them, and how their values are read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from scstream_app.errors import ExportError, SettingsError
from scstream_app.export import FORMATS, ExportOptions, check_options
from scstream_app.settings import SPECS, Settings, Spec

#: Frames are counted so far.
_LARGEST_FRAME = 2**31 - 1

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]
Quick = Annotated[bool, typer.Option("--quick", help="A rough figure in less time.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")]


def _check_threads(value: int | None) -> int | None:
    try:
        SPECS["threads"].check("threads", value)
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
    return value


Threads = Annotated[
    int | None,
    typer.Option(callback=_check_threads, help=f"{SPECS['threads'].help} Default: one for each core."),
]
Frames = Annotated[str, typer.Option(metavar="A:B", help="Only frames A to B - 1, counted from 0.")]
Pattern = Annotated[str, typer.Option(metavar="TEXT", help="Names of images, without suffix: {frame}, {time}, {name}.")]
Moved = Annotated[str | None, typer.Option(help="Where the source is now, if it was moved.")]


class Existing(StrEnum):
    """What to do about files that are there already."""

    REPLACE = "replace"
    SKIP = "skip"
    REFUSE = "refuse"


def formats_option() -> Any:
    """The option that lists formats."""
    return typer.Option(
        metavar="LIST",
        help=f"Comma-separated: {', '.join(FORMATS)}. A movie may say what it shows: mp4:mean_colour.",
    )


def parse_frames(text: str) -> tuple[int, int | None]:
    """A:B, either of them optional, as in a Python slice: A is the first frame, B the first one left out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise typer.BadParameter(f"frames are given as A:B, such as 0:100, 50: or :20; got '{text}'")
    if max(len(first), len(last)) > 10 or max(int(first or 0), int(last or 0)) > _LARGEST_FRAME:
        raise typer.BadParameter(f"frames are counted up to {_LARGEST_FRAME}, got '{text[:30]}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise typer.BadParameter(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


def parse_formats(text: str) -> tuple[str, ...]:
    """Names of formats, separated by commas."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name.partition(":")[0] not in FORMATS:
            raise typer.BadParameter(f"there is no format '{name}'; those known are {', '.join(FORMATS)}")
    return names


def checked(options: ExportOptions) -> ExportOptions:
    """Return the options if they are valid; otherwise raise a usage error."""
    try:
        check_options(options)
    except ExportError as error:
        raise typer.BadParameter(str(error)) from error
    return options


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every entry of the table of settings; it takes them together, as ``settings``."""
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
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, place, default=defaults[name], annotation=_option(name, spec))
        for name, spec in SPECS.items()
    ]


def _option(name: str, spec: Spec) -> Any:
    """The option of a setting: its type, and what the help says."""
    more: dict[str, Any] = {"help": spec.help}
    if spec.group == "advanced":
        more["rich_help_panel"] = "Advanced"
    make: Any = StrEnum
    kinds = {"number": float, "integer": int, "switch": bool}
    kind: Any = kinds.get(spec.kind) or make(name, {choice: choice for choice in spec.choices})
    flag = f"{spec.flag}/--no-{spec.flag[2:]}" if spec.kind == "switch" else spec.flag
    if spec.none is not None:
        more |= {"parser": _whole_or_none, "metavar": "INTEGER|none", "help": f"{spec.help} none: {spec.none}."}
    return Annotated[kind, typer.Option(flag, **more)]


def _whole_or_none(text: str | int) -> int | None:
    return None if text == "none" else int(text)


def examples(*lines: str) -> str:
    """What help ends with; blank lines keep the lines apart."""
    return "\n\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"[bold]{line}[/]" for line in lines)])
