"""How a frame is drawn: the view and its options, without any widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scstream_app.objects import MarkedObject, member_masks
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import markings, views
from scstream_app.render.image_types import Picture
from scstream_app.render.palette import RGB, Colouring


@dataclass(frozen=True, slots=True)
class ObjectLook:
    """An object on a frame: its colour, and the ids of its segments, which are drawn unless the result has its mask."""

    colour: RGB
    ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class Look:
    """How a frame is drawn.

    Parameters
    ----------
    view : str
        One of `render.views.VIEWS`, or "wipe": the original left of the divider, the overlay right of it.
    opacity : float
        Opacity of the overlay.
    palette : str
    colours : mapping of int to RGB
        Colours that the user gave to segments.
    hidden : frozenset of int
        Ids of hidden segments.
    objects : tuple of ObjectLook
        All objects.
    show_objects : bool
        Whether views other than the matte show the objects in their colours.
    selected : frozenset of int
        Ids of the selected segments.
    isolated : frozenset of int
        Ids of the isolated segments; unless empty, all others are dimmed.
    divider : float in [0, 1]
        Where the wipe divides the picture.
    stacked : bool
        Whether the side-by-side view has its pictures below each other.
    """

    view: str = "overlay"
    opacity: float = 0.5
    palette: str = "vivid"
    colours: Mapping[int, RGB] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()
    objects: tuple[ObjectLook, ...] = ()
    show_objects: bool = True
    selected: frozenset[int] = frozenset()
    isolated: frozenset[int] = frozenset()
    divider: float = 0.5
    stacked: bool = False

    @property
    def drawn_view(self) -> views.View:
        """The view that is drawn: for the wipe, the overlay."""
        return views.view("overlay" if self.view == "wipe" else self.view)

    @property
    def members(self) -> frozenset[int]:
        """Ids of the segments of all objects."""
        return frozenset[int]().union(*(one.ids for one in self.objects))


@dataclass(frozen=True, slots=True)
class Shown:
    """A drawn frame.

    Parameters
    ----------
    result : FrameResult
    look : Look
    picture : array (H, W, 3) or (H, W, 4)
    objects : tuple of MarkedObject
        The objects whose masks the result has, if it has any.
    outline : Lines, optional
        Outline of the selected segments in the coordinates of the frame; see `render.markings.outline`.
    object_outlines : tuple of (RGB, Lines)
        Colours and outlines of the objects in the same coordinates.
    """

    result: FrameResult
    look: Look
    picture: Picture
    objects: tuple[MarkedObject, ...] = ()
    outline: markings.Lines | None = None
    object_outlines: tuple[tuple[RGB, markings.Lines], ...] = ()

    @property
    def segmented(self) -> bool:
        """Whether the frame has segments, possibly those of a draft."""
        return is_segmented(self.result)


_DIMMED = 0.25
#: Id of pixels that are not segmented yet.
NO_ID = -1


def is_segmented(result: FrameResult) -> bool:
    """Return whether a result has ids; frames that are shown before they are segmented have none."""
    return bool(result.ids[0, 0] != NO_ID)


def draw(result: FrameResult, look: Look, uncertainty: npt.NDArray[np.float32] | None = None) -> Shown:
    """Draw a result. Views that need ``uncertainty`` show the original if it is None, and all views without ids."""
    if not is_segmented(result):
        return Shown(result, look, result.picture)
    view = look.drawn_view
    if uncertainty is None and "uncertainty" in view.needs:
        view = views.view("original")
    cuts_out = "mask" in view.needs
    numbers = _numbers(result, look) if look.objects or cuts_out else None
    picture = _draw_view(result, look, view, uncertainty, numbers)
    object_outlines: tuple[tuple[RGB, markings.Lines], ...] = ()
    if look.show_objects and numbers is not None and not cuts_out:
        colours = [one.colour for one in look.objects]
        picture = markings.tint_objects(picture, numbers, colours)
        object_outlines = markings.object_outlines(numbers, colours)
    if picture.shape[:2] == result.ids.shape and picture.shape[2] == 3:
        picture = _isolate(picture, result, look.isolated)
    outline = None
    if look.selected:
        selected = views.select(result.ids, look.selected)
        picture, outline = markings.mark_selection(picture, selected), markings.outline(selected)
    return Shown(result, look, np.ascontiguousarray(picture), outline=outline, object_outlines=object_outlines)


def _draw_view(
    result: FrameResult,
    look: Look,
    view: views.View,
    uncertainty: npt.NDArray[np.float32] | None,
    numbers: npt.NDArray[np.uint8] | None,
) -> Picture:
    """Draw a view without marks; ``numbers`` are those of the objects (H, W)."""
    scene = views.Scene(
        result.picture,
        result.ids,
        uncertainty=uncertainty,
        mask=views.all_objects(numbers) if numbers is not None and "mask" in view.needs else None,
        opacity=look.opacity,
        colouring=Colouring(look.palette, look.colours, look.hidden),
        stacked=look.stacked,
    )
    picture = view.draw(scene)
    if look.view != "wipe":
        return picture
    edge = round(look.divider * picture.shape[1])
    return np.concatenate([result.picture[:, :edge], picture[:, edge:]], axis=1)


def _numbers(result: FrameResult, look: Look) -> npt.NDArray[np.uint8]:
    """Numbers of the objects (H, W): the tracked masks of the result or, if it has none, the objects' segments."""
    if result.objects is None:
        return member_masks(result.ids, tuple(one.ids for one in look.objects)).numbers
    return result.objects.numbers


def _isolate(picture: Picture, result: FrameResult, ids: frozenset[int]) -> Picture:
    if not ids:
        return picture
    inside = views.select(result.ids, ids) > 0
    return np.where(inside[..., None], picture, (picture * _DIMMED).astype(np.uint8))
