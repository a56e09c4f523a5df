"""What the user chooses for an export: formats, size, file names, look and what happens to existing files."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Any, get_args

from scstream_app.errors import ExportError
from scstream_app.export.atomic_files import Overwrite
from scstream_app.option_values import DEFAULT_FORMATS, LARGEST_SCALE
from scstream_app.render import palette, views

#: Views that movies can show, those of plugins included. Results hold no uncertainty, so views of it are left out.
VIEWS = tuple(name for name, view in views.VIEWS.items() if "uncertainty" not in view.needs)

_FIELDS = ("frame", "time", "name")
#: Characters that at least one operating system forbids in file names.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
#: Names of devices on Windows, with any suffix.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")}
)
#: Larger widths and precisions make names too long for a file system or for memory.
_LARGEST_WIDTH = 64
_LONGEST_NAME = 200
#: Options that a session stores; formats have a separate key, and the overwrite policy is not stored.
_STORED = ("pattern", "scale", "view", "palette", "opacity", "soft_edges")


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Which files an export writes, and how they look.

    Parameters
    ----------
    formats : tuple of str
        Names of formats, see `FORMATS`. A movie format may name its view: "mp4:mean_colour".
    scale : float
        Output size relative to the source. Ids are resampled by nearest neighbour, pictures by area. Tables keep the
        pixel coordinates of the source.
    pattern : str
        File names of images, without suffix. Fields: ``{frame}`` (required) is the frame number in the source,
        ``{time}`` its time in seconds, ``{name}`` the format or, for object masks, the object.
    overwrite : {"replace", "skip", "refuse"}
        What to do with existing files: "skip" keeps them, which resumes an interrupted image sequence; "refuse" raises
        an error.
    view : str, optional
        The view that movies show, one of `VIEWS`. Default: the overlay or, if the clip has objects and the format has
        transparency, the objects cut out.
    palette : str
        One of `palette.PALETTES`.
    opacity : float in [0, 1]
        Opacity of the overlay.
    soft_edges : bool
        Whether objects that are cut out are partly transparent along their outline: in the images of the format "matte"
        and in movies with transparency.
    """

    formats: tuple[str, ...] = DEFAULT_FORMATS
    scale: float = 1.0
    pattern: str = "{frame:05d}"
    overwrite: Overwrite = "replace"
    view: str | None = None
    palette: str = "vivid"
    opacity: float = 0.5
    soft_edges: bool = False

    @property
    def opaque_view(self) -> str:
        """The view of movies without transparency."""
        return self.view or "overlay"

    def check(self) -> None:
        """Raise an ExportError if a value other than the formats is invalid for every clip."""
        require(
            0.0 < self.scale <= LARGEST_SCALE,
            f"scale must be above 0 and at most {LARGEST_SCALE:g}, got {self.scale}",
        )
        require(0.0 <= self.opacity <= 1.0, f"opacity must be from 0 to 1, got {self.opacity}")
        allowed = get_args(Overwrite)
        require(self.overwrite in allowed, f"overwrite must be one of {', '.join(allowed)}, got {self.overwrite!r}")
        _check_pattern(self.pattern)
        self._check_look()

    def _check_look(self) -> None:
        try:
            palette.check(self.palette)
        except ValueError as error:
            raise ExportError(f"Cannot export: {error}.") from error
        view = self.opaque_view
        require(view in views.VIEWS, f"view must be one of {', '.join(VIEWS)}, got {view!r}")
        require("uncertainty" not in views.view(view).needs, "results hold no uncertainty: choose another view")

    def as_dict(self) -> dict[str, Any]:
        """The options that a session manifest stores beside the formats, as plain values."""
        return {name: getattr(self, name) for name in _STORED}


def safe_name(name: str) -> str:
    """Make a user's name for something usable as part of a file name on every operating system.

    >>> safe_name("left / right"), safe_name(".."), safe_name("con")
    ('left _ right', '_', '_con')
    """
    safe = _FORBIDDEN.sub("_", name).strip(" .") or "_"
    return f"_{safe}" if _is_device(safe) else safe


def _is_device(stem: str) -> bool:
    """Whether Windows takes a file of this name for a device.

    >>> _is_device("COM1.left"), _is_device("comet")
    (True, False)
    """
    return stem.partition(".")[0].strip().casefold() in _DEVICES


def file_stem(pattern: str, frame: int, time: float, name: str) -> str:
    """The file name that a pattern makes, without suffix; raises ExportError if it is not the name of a visible file.

    The whole name is checked, not only its parts: a pattern such as {name:/>9} fills short names up with slashes, and
    the file would be in another folder.

    >>> file_stem("{name}_{frame:04d}", 12, 0.5, "ids")
    'ids_0012'
    """
    stem = pattern.format(frame=frame, time=time, name=safe_name(name))
    found = _FORBIDDEN.search(stem)
    require(found is None, f"the pattern {pattern!r} makes names with {found and found[0]!r}, which files cannot have")
    require(not stem.startswith("."), f"the pattern {pattern!r} makes names that begin with a dot, which are hidden")
    require(not _is_device(stem), f"the pattern {pattern!r} makes the name {stem!r}, which is a device on Windows")
    return stem


def require(condition: bool, problem: str) -> None:
    """Raise an ExportError that states the problem unless the condition holds."""
    if not condition:
        raise ExportError(f"Cannot export: {problem}.")


def matches_pattern(pattern: str, stem: str) -> bool:
    """Whether the pattern can produce this file name, for any frame, time and name.

    >>> [matches_pattern("{name}_{frame:04d}", stem) for stem in ("ids_0012", "ids_12", "ids_0012_old", "notes")]
    [True, False, False, False]
    """
    found = re.fullmatch(_expression(pattern), stem)
    if found is None:
        return False
    values: dict[str, Any] = {"time": 0.0, "name": "", **found.groupdict()}
    # The expression accepts any number format, so format the frame again and compare. A time was rounded when it was
    # formatted, so names with a time cannot be compared.
    if "time" in found.groupdict():
        return True
    return pattern.format(**{**values, "frame": int(values["frame"])}) == stem


def _check_pattern(pattern: str) -> None:
    try:
        _check_fields(pattern)
        names = [file_stem(pattern, frame, 0.5, "ids") for frame in (0, 1, 123_456, 123_457)]
        # A field may be filled up only if its value is short.
        names += [file_stem(pattern, 2, 0.0, "a"), file_stem(pattern, 3, 36_000.25, "a")]
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError) as error:
        raise ExportError(f"Cannot export: the pattern {pattern!r} does not work: {error}.") from error
    longest = max(len(name.encode(errors="replace")) for name in names)
    require(longest <= _LONGEST_NAME, f"the pattern makes names of {longest} bytes, and {_LONGEST_NAME} are the most")
    require(
        len(set(names)) == len(names), f"the pattern {pattern!r} must contain {{frame}}, or all images have one name"
    )


def _check_fields(pattern: str) -> None:
    """Reject unknown fields, and widths that would fill the memory when formatted."""
    for _, name, layout, _ in string.Formatter().parse(pattern):
        if name is None:
            continue
        known = ", ".join(f"{{{field}}}" for field in _FIELDS)
        require(name in _FIELDS, f"a pattern knows {known}; {pattern!r} has the field {{{name}}}")
        require("{" not in (layout or ""), f"the pattern {pattern!r} has a field within a field")
        wide = [
            number for number in re.findall(r"\d+", layout or "") if len(number) > 9 or int(number) > _LARGEST_WIDTH
        ]
        require(not wide, f"the pattern {pattern!r} asks for more than {_LARGEST_WIDTH} digits")


def _expression(pattern: str) -> str:
    """A regular expression that matches the names the pattern produces."""
    kinds = {"frame": r"\d+", "time": r"\d+(?:\.\d+)?", "name": r".+"}
    parts, seen = [], set()
    for text, field_name, _, _ in string.Formatter().parse(pattern):
        parts.append(re.escape(text))
        if field_name is not None:
            again = field_name in seen
            parts.append(f"(?P={field_name})" if again else f"(?P<{field_name}>{kinds[field_name]})")
            seen.add(field_name)
    return "".join(parts)
