"""A frame and its map of ids as a picture: the views that the window shows and movies hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from scstream_app.render.image_types import IdMap, Picture
from scstream_app.render.palette import RGB, Colouring

Mask = npt.NDArray[np.uint8]

_PLAIN = Colouring()
#: Lines over dark and over bright ground.
_LINES: tuple[RGB, RGB] = ((255, 225, 60), (20, 10, 60))
_LINE_TABLE = np.repeat(np.array(_LINES, np.uint8), 128, axis=0)
#: Sides of the square whose mean brightness decides which line is drawn: single pixels would break lines into dots.
_GROUND = (9, 9)
#: Evenly rising lightness from black, so that what is certain shows the picture alone.
_HEAT = np.asarray(cv2.applyColorMap(np.arange(256, dtype=np.uint8), cv2.COLORMAP_INFERNO), np.uint8).reshape(-1, 3)[
    :, ::-1
]
_DIM = 0.35


# --- views


def overlay(
    rgb: Picture, ids: IdMap, opacity: float = 0.5, borders: bool = True, colouring: Colouring = _PLAIN
) -> Picture:
    """The segments' own colours over the frame (H, W, 3), with thin dark borders between them.

    Hidden segments, and pixels of no segment (a negative id), show the frame as it is.
    """
    plane, n = _none_above(ids)
    tint = paint(plane, colouring.table(n + 1))
    out = np.asarray(cv2.addWeighted(rgb, 1.0 - opacity, tint, opacity, 0.0), np.uint8)
    if colouring.hidden or plane is not ids:
        untinted = select(plane, {n, *colouring.hidden})
        out = np.asarray(cv2.copyTo(rgb, untinted, out), np.uint8)
        plane = np.where(untinted, np.int32(n), plane)
    return draw_borders(out, plane) if borders else out


def mean_colour(rgb: Picture, ids: IdMap) -> Picture:
    """Every segment in the mean colour of its pixels."""
    plane, n = _none_above(ids)
    rgba = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA)).reshape(-1, 4)
    # A matrix with a one in each pixel's column, in its id's row, sums all channels at once; doubles stay exact.
    ones, columns = _one_a_column(ids.size)
    sums = csc_array((ones, plane.ravel(), columns), shape=(n + 1, ids.size)) @ rgba.astype(np.float64)
    counts = np.maximum(sums[:, 3:] / 255.0, 1.0)
    return paint(plane, np.rint(sums[:, :3] / counts).astype(np.uint8))


def boundaries(rgb: Picture, ids: IdMap) -> Picture:
    """The frame with a line between segments, light on dark ground and dark on light."""
    ground = cv2.blur(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), _GROUND)
    lines = paint(np.asarray(ground, np.uint8).reshape(ids.shape), _LINE_TABLE)
    return np.asarray(cv2.copyTo(lines, edges(ids).view(np.uint8), rgb.copy()), np.uint8)


def uncertainty(rgb: Picture, doubt: npt.NDArray[np.float32]) -> Picture:
    """A map of [0, 1] (H, W) as heat over the dimmed frame: dark where segments are certain, bright where not."""
    heat = paint(np.asarray(cv2.convertScaleAbs(doubt, alpha=255.0), np.uint8).reshape(doubt.shape), _HEAT)
    grey = cv2.cvtColor(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    return np.asarray(cv2.addWeighted(grey, _DIM, heat, 1.0 - _DIM, 0.0), np.uint8)


def matte(rgb: Picture, mask: Mask, margin: int = 0) -> Picture:
    """The frame cut out: RGBA (H, W, 4), straight alpha, opaque where ``mask`` is 255.

    Pixels farther than ``margin`` from the mask are black under their transparency. Codecs that blur colours
    need some margin, or the cut-out gets a dark fringe.
    """
    kept = cv2.dilate(mask, np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)) if margin else mask
    rgba = cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA)
    out = np.asarray(cv2.bitwise_and(rgba, rgba, mask=kept), np.uint8)
    if margin:
        out[..., 3] = mask
    return out


def white_on_black(mask: Mask) -> Picture:
    """A mask (H, W) as a picture (H, W, 3)."""
    return np.asarray(cv2.cvtColor(mask, cv2.COLOR_GRAY2RGB), np.uint8)


def side_by_side(left: Picture, right: Picture) -> Picture:
    """Two pictures of one height in one; a transparent one lies on black."""
    return np.asarray(cv2.hconcat([flatten(left), flatten(right)]), np.uint8)


# --- what views are made of


def paint(ids: npt.NDArray[np.int32] | npt.NDArray[np.uint8], table: Picture) -> Picture:
    """The picture (H, W, 3) in which each pixel has its id's colour, a row of ``table`` (n, 3)."""
    # One gather of four bytes is several times faster than one of three.
    packed = np.zeros((len(table), 4), np.uint8)
    packed[:, :3] = table
    # Wrapping never happens, but spares the check of every index.
    rgba = np.take(packed.view(np.uint32)[:, 0], ids, mode="wrap")
    return np.asarray(cv2.cvtColor(rgba.view(np.uint8).reshape(*ids.shape, 4), cv2.COLOR_RGBA2RGB), np.uint8)


def select(ids: IdMap, members: Iterable[int]) -> Mask:
    """255 where the id is one of the members, else 0 (H, W)."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    table[[id for id in members if 0 <= id < len(table)]] = 255
    return look_up(ids, table)


def look_up(ids: IdMap, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The entry of ``table`` (n,) for each id (H, W), 0 for a negative one; n is larger than any id."""
    # Negative ids wrap round to the zero that is added at the end.
    with_none = np.append(table, np.uint8(0))
    return np.take(with_none, ids if ids.min() >= -1 else np.maximum(ids, -1), mode="wrap")


def edges(ids: IdMap) -> npt.NDArray[np.bool_]:
    """True (H, W) where the pixel to the right or the one below has another id: lines one pixel wide."""
    out = np.zeros(ids.shape, bool)
    np.not_equal(ids[:, 1:], ids[:, :-1], out=out[:, :-1])
    out[:-1] |= ids[1:] != ids[:-1]
    return out


def draw_borders(rgb: Picture, ids: IdMap, keep: float = 0.35) -> Picture:
    """Darken the borders between segments to ``keep`` of their brightness."""
    dark = cv2.convertScaleAbs(rgb, alpha=keep)
    return np.asarray(cv2.copyTo(dark, edges(ids).view(np.uint8), rgb.copy()), np.uint8)


def flatten(picture: Picture) -> Picture:
    """A picture without transparency: RGBA is laid on black."""
    if picture.shape[2] == 3:
        return picture
    rgb = cv2.cvtColor(picture, cv2.COLOR_RGBA2RGB)
    return np.asarray(cv2.bitwise_and(rgb, rgb, mask=picture[..., 3].copy()), np.uint8)


def _none_above(ids: IdMap) -> tuple[IdMap, int]:
    """The ids with n in place of negative ones, and n, which is above all of them; the same array where none is."""
    n = max(int(ids.max()) + 1, 0)
    return (np.where(ids < 0, np.int32(n), ids) if ids.min() < 0 else ids), n


@lru_cache(maxsize=2)
def _one_a_column(n: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Values and column starts of a sparse matrix with a single one in each of ``n`` columns."""
    return np.ones(n), np.arange(n + 1, dtype=np.int32)


# --- views by name


@dataclass(frozen=True, slots=True)
class Scene:
    """What a view is drawn from.

    Parameters
    ----------
    rgb : array (H, W, 3) uint8
    ids : array (H, W) int32
    uncertainty : array (H, W) float32 in [0, 1], optional
        As `VideoSegmenter.uncertainty`.
    members : frozenset of int
        The ids that make up the objects.
    opacity, borders
        Of the overlay.
    colouring : Colouring
    beside : str
        The view on the right of "side_by_side".
    """

    rgb: Picture
    ids: IdMap
    uncertainty: npt.NDArray[np.float32] | None = None
    members: frozenset[int] = frozenset()
    opacity: float = 0.5
    borders: bool = True
    colouring: Colouring = field(default=_PLAIN)
    beside: str = "overlay"


@dataclass(frozen=True, slots=True)
class View:
    """A way to look at a frame: its title, its short name in file names, what it needs besides picture and ids."""

    title: str
    stem: str
    draw: Callable[[Scene], Picture]
    needs: frozenset[str] = frozenset()


def draw(name: str, scene: Scene) -> Picture:
    """The view of that name: RGB (H, W, 3), or RGBA (H, W, 4) for "matte".

    >>> scene = Scene(np.zeros((2, 4, 3), np.uint8), np.zeros((2, 4), np.int32))
    >>> draw("side_by_side", scene).shape
    (2, 8, 3)
    """
    return view(name).draw(scene)


def view(name: str) -> View:
    """The entry of `VIEWS`; ValueError if there is none."""
    if name not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, got {name!r}")
    return VIEWS[name]


def _draw_uncertainty(scene: Scene) -> Picture:
    if scene.uncertainty is None:
        raise ValueError("the view 'uncertainty' needs a map of it, and there is none for this frame")
    return uncertainty(scene.rgb, scene.uncertainty)


VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "original": View("Original", "original", lambda scene: scene.rgb),
        "overlay": View(
            "Overlay",
            "overlay",
            lambda scene: overlay(scene.rgb, scene.ids, scene.opacity, scene.borders, scene.colouring),
        ),
        "mean_colour": View("Mean colour", "mean", lambda scene: mean_colour(scene.rgb, scene.ids)),
        "boundaries": View("Boundaries", "boundaries", lambda scene: boundaries(scene.rgb, scene.ids)),
        "uncertainty": View("Uncertainty", "uncertainty", _draw_uncertainty, frozenset({"uncertainty"})),
        "matte": View(
            "Object matte",
            "matte",
            lambda scene: matte(scene.rgb, select(scene.ids, scene.members)),
            frozenset({"members"}),
        ),
        "mask": View(
            "Object mask",
            "mask",
            lambda scene: white_on_black(select(scene.ids, scene.members)),
            frozenset({"members"}),
        ),
        "side_by_side": View(
            "Side by side", "side_by_side", lambda scene: side_by_side(scene.rgb, draw(scene.beside, scene))
        ),
    }
)
