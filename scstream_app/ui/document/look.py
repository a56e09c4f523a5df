"""How frames are to be shown: a view and its options, free of any widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import Picture
from scstream_app.render.palette import RGB, Colouring


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that decides how a frame is drawn.

    Parameters
    ----------
    view : str
        One of `render.VIEWS`, or "wipe": the original left of the divider, the overlay right of it.
    opacity : float
        Of the overlay.
    palette : str
    colours, hidden
        Of single segments.
    members : frozenset of int
        Ids of the object to cut out, in the matte.
    selected : frozenset of int
        Segments that are outlined.
    isolated : frozenset of int
        If there are any, everything else is dimmed.
    divider : float in [0, 1]
        Of the wipe.
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


@dataclass(frozen=True, slots=True)
class Shown:
    """A frame as it is on the screen: the result, how it was to look, and the picture (H, W, 3) or (H, W, 4)."""

    result: FrameResult
    look: Look
    picture: Picture


_DIMMED = 0.25
#: Where nothing has been segmented yet.
NO_ID = -1
_OUTLINE = (255, 255, 255)


def draw(result: FrameResult, look: Look, uncertainty: npt.NDArray[np.float32] | None = None) -> Shown:
    """The picture of a result; without its uncertainty that view shows the original, as all do without ids."""
    if result.ids[0, 0] == NO_ID:
        return Shown(result, look, result.picture)
    wiped = look.view == "wipe"
    name = "overlay" if wiped else look.view
    if name == "uncertainty" and uncertainty is None:
        name = "original"
    scene = views.Scene(
        result.picture,
        result.ids,
        uncertainty=uncertainty,
        members=look.members,
        opacity=look.opacity,
        colouring=Colouring(look.palette, look.colours, look.hidden),
    )
    picture = views.draw(name, scene)
    if wiped:
        edge = round(look.divider * picture.shape[1])
        picture = np.concatenate([result.picture[:, :edge], picture[:, edge:]], axis=1)
    if picture.shape[:2] == result.ids.shape and picture.shape[2] == 3:
        picture = _isolate(picture, result, look.isolated)
        picture = _outline(picture, result, look.selected)
    return Shown(result, look, np.ascontiguousarray(picture))


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
