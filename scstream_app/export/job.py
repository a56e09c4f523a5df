"""What all writers of an export have in common: sizes, names, looks, objects."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, get_args

import cv2
import numpy as np

from scstream_app.errors import ExportError
from scstream_app.export.files import Overwrite
from scstream_app.export.objects import ExportObject
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import palette, views
from scstream_app.render.image_types import IdMap, Picture
from scstream_app.render.palette import RGB, Colouring

_FIELDS = ("frame", "time", "name")
#: Characters that some system does not allow in a file's name.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_LARGEST_SCALE = 8.0
#: Widths and precisions beyond this make names that no file can have, or that no memory can hold.
_LARGEST_WIDTH = 64
_LONGEST_NAME = 200
#: What movies can show: everything that can be drawn from results alone.
VIEWS = tuple(name for name, view in views.VIEWS.items() if "uncertainty" not in view.needs)


@dataclass(frozen=True, slots=True)
class Job:
    """One export.

    Parameters
    ----------
    width, height : int
        Of the source's frames.
    rate : float
        Its frames a second.
    scale : float
        Size of what is written against the source: ids by nearest neighbour, pictures by area. Tables keep the
        source's pixels.
    pattern : str
        Names of images, without suffix. Fields: ``{frame}``, which must be there, is the frame's place in the
        source; ``{time}`` its seconds; ``{name}`` the format, or the object for masks of one object.
    overwrite : {"replace", "skip", "refuse"}
        What to do about files that are there: "skip" keeps them, which resumes an interrupted sequence of images;
        "refuse" is an error.
    whole : bool
        Whether this is all that there is to be: with "replace", images of an earlier export that are not written
        again are removed at the end.
    view : str, optional
        What movies show, one of `VIEWS`. By default the overlay or, where objects are given and the format has
        transparency, those cut out.
    opacity : float in [0, 1]
        Of the overlay.
    palette : str
        One of `palette.PALETTES`.
    names : mapping of id to str
    colours : mapping of id to RGB
        Segments with a colour of their own.
    hidden : frozenset of int
        Segments that the overlay does not tint.
    objects : tuple of ExportObject
        What there is to follow along the genealogy.
    """

    width: int
    height: int
    rate: float
    scale: float = 1.0
    pattern: str = "{frame:05d}"
    overwrite: Overwrite = "replace"
    whole: bool = True
    view: str | None = None
    opacity: float = 0.5
    palette: str = "vivid"
    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[int, RGB] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()
    objects: tuple[ExportObject, ...] = ()

    def __post_init__(self) -> None:
        _check(self.width >= 1 and self.height >= 1, f"a size of {self.width} x {self.height} holds no picture")
        _check(0.0 < self.rate < math.inf, f"rate must be a positive number of frames a second, got {self.rate}")
        _check(
            0.0 < self.scale <= _LARGEST_SCALE,
            f"scale must be above 0 and at most {_LARGEST_SCALE:g}, got {self.scale}",
        )
        _check(0.0 <= self.opacity <= 1.0, f"opacity must be from 0 to 1, got {self.opacity}")
        allowed = get_args(Overwrite)
        _check(self.overwrite in allowed, f"overwrite must be one of {', '.join(allowed)}, got {self.overwrite!r}")
        _check_pattern(self.pattern)
        self._check_view()

    def _check_view(self) -> None:
        try:
            palette.check(self.palette)
        except ValueError as error:
            raise ExportError(f"Cannot export: {error}.") from error
        _check(self.shown in views.VIEWS, f"view must be one of {', '.join(VIEWS)}, got {self.shown!r}")
        needs = views.view(self.shown).needs
        _check("uncertainty" not in needs, "results hold no uncertainty: choose another view")
        _check(
            "members" not in needs or bool(self.objects), f"the view '{self.shown}' needs an object, and none is given"
        )

    @property
    def shown(self) -> str:
        """The view of movies that have no transparency."""
        return self.view or "overlay"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of what is written."""
        return max(1, round(self.height * self.scale)), max(1, round(self.width * self.scale))

    @property
    def colouring(self) -> Colouring:
        """The colours of the overlay."""
        return Colouring(self.palette, self.colours, self.hidden)

    def stem(self, result: FrameResult, name: str) -> str:
        """The name of a frame's image, without suffix."""
        return self.pattern.format(frame=result.index, time=result.time, name=safe_name(name))

    def ids(self, result: FrameResult) -> IdMap:
        """The frame's ids at the size of the export."""
        height, width = self.shape
        if result.ids.shape == (height, width):
            return result.ids
        rows = _centres(self.height, height)
        return result.ids[rows[:, None], _centres(self.width, width)]

    def picture(self, result: FrameResult) -> Picture:
        """The frame's RGB at the size of the export."""
        height, width = self.shape
        rgb = result.picture
        if rgb.shape[:2] == (height, width):
            return rgb
        way = cv2.INTER_AREA if self.scale < 1.0 else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(rgb, (width, height), interpolation=way), np.uint8)

    def scene(self, result: FrameResult, members: frozenset[int] = frozenset()) -> views.Scene:
        """What views are drawn from, at the size of the export."""
        return views.Scene(
            self.picture(result),
            self.ids(result),
            members=members,
            opacity=self.opacity,
            colouring=self.colouring,
        )

    def written(self, stem: str) -> bool:
        """Whether the pattern makes such a name, for whatever frame, time and name.

        >>> job = Job(8, 8, 25.0, pattern="{name}_{frame:04d}")
        >>> [job.written(stem) for stem in ("ids_0012", "ids_12", "ids_0012_old", "notes")]
        [True, False, False, False]
        """
        found = re.fullmatch(_expression(self.pattern), stem)
        if found is None:
            return False
        values: dict[str, Any] = {"time": 0.0, "name": "", **found.groupdict()}
        # A number may be written in other ways than the pattern's; of times the digits that were cut off are lost.
        if "time" in found.groupdict():
            return True
        return self.pattern.format(**{**values, "frame": int(values["frame"])}) == stem


def safe_name(name: str) -> str:
    """A person's name for something as part of a file name that every system allows.

    >>> safe_name("left / right")
    'left _ right'
    """
    return _FORBIDDEN.sub("_", name).strip(" .") or "_"


def _check(fine: bool, trouble: str) -> None:
    if not fine:
        raise ExportError(f"Cannot export: {trouble}.")


def _check_pattern(pattern: str) -> None:
    try:
        _check_fields(pattern)
        names = [_fill(pattern, frame) for frame in (0, 1, 123_456, 123_457)]
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError) as error:
        raise ExportError(f"Cannot export: the pattern {pattern!r} does not work: {error}.") from error
    longest = max(len(name.encode(errors="replace")) for name in names)
    _check(longest <= _LONGEST_NAME, f"the pattern makes names of {longest} bytes, and {_LONGEST_NAME} are the most")
    _check(
        len(set(names)) == len(names), f"the pattern {pattern!r} must contain {{frame}}, or all images have one name"
    )
    # Looked for in names, not in the pattern: formats such as {time:.3f} contain a colon.
    found = _FORBIDDEN.search(names[0])
    _check(found is None, f"the pattern {pattern!r} makes names with {found and found[0]!r}, which files cannot have")
    _check(not names[0].startswith("."), f"the pattern {pattern!r} makes names that begin with a dot, which are hidden")


def _check_fields(pattern: str) -> None:
    """Refuse what is not worth trying: fields that there are none of, and widths that would fill the memory."""
    for _, name, layout, _ in string.Formatter().parse(pattern):
        if name is None:
            continue
        known = ", ".join(f"{{{field}}}" for field in _FIELDS)
        _check(name in _FIELDS, f"a pattern knows {known}; {pattern!r} has the field {{{name}}}")
        _check("{" not in (layout or ""), f"the pattern {pattern!r} has a field within a field")
        wide = [
            number for number in re.findall(r"\d+", layout or "") if len(number) > 9 or int(number) > _LARGEST_WIDTH
        ]
        _check(not wide, f"the pattern {pattern!r} asks for more than {_LARGEST_WIDTH} digits")


def _expression(pattern: str) -> str:
    """A regular expression of the names that the pattern makes."""
    kinds = {"frame": r"\d+", "time": r"\d+(?:\.\d+)?", "name": r".+"}
    parts, seen = [], set()
    for text, field_name, _, _ in string.Formatter().parse(pattern):
        parts.append(re.escape(text))
        if field_name is not None:
            again = field_name in seen
            parts.append(f"(?P={field_name})" if again else f"(?P<{field_name}>{kinds[field_name]})")
            seen.add(field_name)
    return "".join(parts)


def _fill(pattern: str, frame: int) -> str:
    values: dict[str, Any] = {"frame": frame, "time": 0.5, "name": "ids"}
    return pattern.format(**values)


def _centres(n: int, scaled: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Which of ``n`` pixels lies at the centre of each of ``scaled`` ones."""
    centres: np.ndarray[tuple[int], np.dtype[np.intp]] = (2 * np.arange(scaled) + 1) * n // (2 * scaled)
    return centres
