"""Options shared by the commands, including one per setting, and the parsing of their values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scstream_app.errors import ExportError, SettingsError
from scstream_app.option_values import FORMATS, PALETTES, VIEWS
from scstream_app.settings import SPECS, Kind, Settings, Spec
from scstream_app.terminal.value_completion import formats_completion, matching

if TYPE_CHECKING:
    from scstream_app.export import ExportOptions

#: Largest frame number of an option.
_LARGEST_FRAME = 2**31 - 1

Json = Annotated[bool, typer.Option("--json", help="Print the results as one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Quick = Annotated[bool, typer.Option("--quick", help="Measure less, for a rough result in less time.")]
Save = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the results as a JSON file too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no summary.")]
QuietProgress = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Output folder; created if necessary.")]


def _checked_by(spec: Spec) -> Callable[[Any], Any]:
    """A callback that rejects values of an option which the description does not allow; None means not given."""

    def check(value: Any) -> Any:
        # The names of the choices are members of an enumeration.
        plain = getattr(value, "value", value)
        try:
            return None if plain is None else spec.check("", plain)
        except SettingsError:
            raise typer.BadParameter(f"must be {spec.expected}, got {plain!r}") from None

    return check


def in_range(kind: Kind, **limits: Any) -> Callable[[Any], Any]:
    """A callback that rejects numbers out of range, also NaN and infinity; ``limits`` are those of `Spec`."""
    return _checked_by(Spec("", "", kind, **limits))


Seeds = Annotated[
    int | None,
    typer.Option(
        callback=in_range("integer", low=1, high=1000),
        help="Number of runs of each method. Default: a few; with --quick one.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(callback=_checked_by(SPECS["threads"]), help=f"{SPECS['threads'].help} Default: one per core."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        callback=in_range("integer", low=1, high=1000),
        help="Several clips: segment this many at the same time, each in its own process (needs the extra 'cluster').",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Several clips: segment them on the workers of this Dask scheduler, such as tcp://host:8786.",
    ),
]


def _small_letters(text: str | None) -> str | None:
    return None if text is None else text.lower()


View = Annotated[
    str | None,
    typer.Option(
        autocompletion=matching(VIEWS),
        callback=_small_letters,
        help="View that movies show: overlay, mean_colour, boundaries, ... "
        "Default: overlay; for webm and prores the objects cut out, if there are any.",
    ),
]
PaletteOption = Annotated[
    str,
    typer.Option(
        "--palette",
        autocompletion=matching(PALETTES),
        callback=_small_letters,
        help="Colours of the overlay: vivid, or safe (for colour-blind viewers).",
    ),
]
Frames = Annotated[str, typer.Option(metavar="A:B", help="Process only frames A to B - 1, counted from 0.")]
Pattern = Annotated[
    str, typer.Option(metavar="TEXT", help="File names of images, without suffix. Fields: {frame}, {time}, {name}.")
]


def _object_option(after: str) -> Any:
    """The option --object; ``after`` says what else the command does with the objects."""
    return typer.Option(
        "--object",
        metavar="[NAME=]SPEC",
        help="An object in the first frame, which is tracked to the end: a mask file, a box x,y,width,height, or a "
        f"point x,y. Repeat it for several objects. {after}",
    )


Objects = Annotated[list[str] | None, _object_option("Also writes their masks (format object).")]
StoredObjects = Annotated[
    list[str] | None, _object_option("Stored in the session; written only by the formats of --formats.")
]
RemovedObjects = Annotated[
    list[str] | None,
    typer.Option(
        "--remove-object",
        metavar="NAME",
        help="Remove this object from the session for good, before objects are added. Repeat it for several objects.",
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
SourceOption = Annotated[
    str | None,
    typer.Option(help="The source, if it was moved or is at a network address, which is not opened unasked."),
]


class Existing(StrEnum):
    """What to do with existing files."""

    REPLACE = "replace"
    SKIP = "skip"
    REFUSE = "refuse"


def formats_option() -> Any:
    """The option --formats."""
    return typer.Option(
        "--formats",
        metavar="LIST",
        autocompletion=formats_completion(FORMATS, VIEWS),
        help=f"Comma-separated formats: {', '.join(FORMATS)}. A movie format may name its view: mp4:mean_colour.",
    )


def parse_frames(text: str) -> tuple[int, int | None]:
    """Parse A:B, both optional, like a Python slice: A is the first frame, B the first frame to leave out."""
    first, colon, last = text.partition(":")
    if not colon or not all(part == "" or part.isdecimal() for part in (first, last)):
        raise _bad_frames(f"must be A:B, such as 0:100, 50: or :20; got '{text[:30]}'")
    if max(len(first), len(last)) > 10 or max(int(first or 0), int(last or 0)) > _LARGEST_FRAME:
        raise _bad_frames(f"must be at most {_LARGEST_FRAME}, got '{text[:30]}'")
    start, stop = int(first or 0), int(last) if last else None
    if stop is not None and stop <= start:
        raise _bad_frames(f"in A:B, B must be greater than A; got '{text}'")
    return start, stop


def _bad_frames(problem: str) -> typer.BadParameter:
    return typer.BadParameter(problem, param_hint="'--frames'")


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of formats, in capitals or small letters."""
    from scstream_app.export import FORMATS

    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    for name in names:
        plain = name.partition(":")[0]
        if plain not in FORMATS:
            similar = get_close_matches(plain, FORMATS, 1)
            suggestion = f"did you mean '{similar[0]}'? The formats are" if similar else "choose from"
            raise typer.BadParameter(
                f"unknown format '{plain}'; {suggestion} {', '.join(FORMATS)}", param_hint="'--formats'"
            )
    return names


def validated(options: ExportOptions) -> ExportOptions:
    """Return the options if they are valid; otherwise raise a usage error."""
    from scstream_app.export import check_options

    try:
        check_options(options)
    except ExportError as error:
        raise typer.BadParameter(str(error).removeprefix("Cannot export: ")) from error
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
    details: dict[str, Any] = {"help": spec.help, "callback": _checked_by(spec), "case_sensitive": False}
    details["rich_help_panel"] = _panel(spec)
    if spec.kind == "choice" and spec.group == "advanced":
        # Long choices would squeeze the help, which explains each.
        details["metavar"] = "CHOICE"
    make_enum: Any = StrEnum
    kinds = {"number": float, "integer": int, "switch": bool}
    kind: Any = kinds.get(spec.kind) or make_enum(name, {choice: choice for choice in spec.choices})
    flag = f"{spec.flag}/--no-{spec.flag[2:]}" if spec.kind == "switch" else spec.flag
    if spec.none is not None:
        details |= {"parser": _integer_or_none, "metavar": "INT|none", "help": f"{spec.help} none: {spec.none}."}
    return Annotated[kind, typer.Option(flag, **details)]


def _panel(spec: Spec) -> str:
    """Part of the help text. Switches have one of their own: all rows of a part are as wide as the widest."""
    if spec.kind == "switch":
        return "Switches"
    return "Advanced settings" if spec.group == "advanced" else "Settings"


def _integer_or_none(text: str | int) -> int | None:
    try:
        return None if str(text).lower() == "none" else int(text)
    except ValueError:
        raise typer.BadParameter(f"must be a whole number or none, got '{text}'") from None


def examples(*lines: str) -> str:
    """The examples at the end of a help text; blank lines make the formatter keep the line breaks."""
    return "\n\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"[bold]{line}[/]" for line in lines)])
