"""How a frame is drawn: the view and its options, without any widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.render.palette import RGB, Colouring


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
    members : frozenset of int
        Ids of the segments of all objects, which the matte cuts out unless the result has masks of the objects.
    selected : frozenset of int
        Ids of the outlined segments.
    isolated : frozenset of int
        Ids of the isolated segments; unless empty, all others are dimmed.
    divider : float in [0, 1]
        Where the wipe divides the picture.
    """

    view: str = "overlay"
    opacity: float = 0.5
    palette: str = "vivid"
    colours: Mapping[int, RGB] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()
    members: frozenset[int] = frozenset()
    selected: frozenset[int] = frozenset()
    isolated: frozenset[int] = frozenset()
    divider: float = 0.5

    @property
    def drawn_view(self) -> views.View:
        """The view that is drawn: for the wipe, the overlay."""
        return views.view("overlay" if self.view == "wipe" else self.view)


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
    """

    result: FrameResult
    look: Look
    picture: Picture
    objects: tuple[MarkedObject, ...] = ()


_DIMMED = 0.25
#: Id of pixels that are not segmented yet.
NO_ID = -1
_OUTLINE = (255, 255, 255)


def draw(result: FrameResult, look: Look, uncertainty: npt.NDArray[np.float32] | None = None) -> Shown:
    """Draw a result. Views that need ``uncertainty`` show the original if it is None, and all views without ids."""
    if result.ids[0, 0] == NO_ID:
        return Shown(result, look, result.picture)
    view = look.drawn_view
    if uncertainty is None and "uncertainty" in view.needs:
        view = views.view("original")
    scene = views.Scene(
        result.picture,
        result.ids,
        uncertainty=uncertainty,
        mask=_mask(result, look.members) if "mask" in view.needs else None,
        opacity=look.opacity,
        colouring=Colouring(look.palette, look.colours, look.hidden),
    )
    picture = view.draw(scene)
    if look.view == "wipe":
        edge = round(look.divider * picture.shape[1])
        picture = np.concatenate([result.picture[:, :edge], picture[:, edge:]], axis=1)
    if picture.shape[:2] == result.ids.shape and picture.shape[2] == 3:
        picture = _isolate(picture, result, look.isolated)
        picture = _outline(picture, result, look.selected)
    return Shown(result, look, np.ascontiguousarray(picture))


def _mask(result: FrameResult, members: frozenset[int]) -> views.Mask:
    """Return a mask of all objects: the tracked ones of the result or, if it has none, the segments ``members``."""
    if result.objects is None:
        return views.select(result.ids, members)
    return views.all_objects(result.objects.numbers)


def _isolate(picture: Picture, result: FrameResult, ids: frozenset[int]) -> Picture:
    if not ids:
        return picture
    inside = views.select(result.ids, ids) > 0
    return np.where(inside[..., None], picture, (picture * _DIMMED).astype(np.uint8))


def _outline(picture: Picture, result: FrameResult, ids: frozenset[int]) -> Picture:
    if not ids:
        return picture
    inside = (views.select(result.ids, ids) > 0).astype(np.int32)
    outlined = picture.copy()
    outlined[views.edges(inside)] = _OUTLINE
    return outlined
