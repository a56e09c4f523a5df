"""Views: pictures drawn from a frame and its id map, for the window and exported movies."""

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
#: Colours of lines on dark and on bright background.
_LINES: tuple[RGB, RGB] = ((255, 225, 60), (20, 10, 60))
_LINE_TABLE = np.repeat(np.array(_LINES, np.uint8), 128, axis=0)
#: Size of the window whose mean brightness selects the line colour: single pixels would break lines into dots.
_GROUND = (9, 9)
#: Colour map whose lightness rises evenly from black, so that certain regions show only the picture.
_HEAT = np.asarray(cv2.applyColorMap(np.arange(256, dtype=np.uint8), cv2.COLORMAP_INFERNO), np.uint8).reshape(-1, 3)[
    :, ::-1
]
_DIM = 0.35


# --- views


def overlay(
    rgb: Picture, ids: IdMap, opacity: float = 0.5, borders: bool = True, colouring: Colouring = _PLAIN
) -> Picture:
    """Blend the frame with the colours of its segments (H, W, 3), with thin dark borders between segments.

    Hidden segments and pixels without a segment (negative id) show the frame unchanged.
    """
    plane, n = _without_negative_ids(ids)
    tint = paint(plane, colouring.table(n + 1))
    out = np.asarray(cv2.addWeighted(rgb, 1.0 - opacity, tint, opacity, 0.0), np.uint8)
    if colouring.hidden or plane is not ids:
        untinted = select(plane, {n, *colouring.hidden})
        out = np.asarray(cv2.copyTo(rgb, untinted, out), np.uint8)
        plane = np.where(untinted, np.int32(n), plane)
    return draw_borders(out, plane) if borders else out


def mean_colour(rgb: Picture, ids: IdMap) -> Picture:
    """Fill every segment with the mean colour of its pixels."""
    plane, n = _without_negative_ids(ids)
    rgba = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA)).reshape(-1, 4)
    # The indicator matrix (ids, pixels) sums all channels of all segments at once; float64 sums are exact.
    ones, columns = _indicator_columns(ids.size)
    sums = csc_array((ones, plane.ravel(), columns), shape=(n + 1, ids.size)) @ rgba.astype(np.float64)
    counts = np.maximum(sums[:, 3:] / 255.0, 1.0)
    return paint(plane, np.rint(sums[:, :3] / counts).astype(np.uint8))


def boundaries(rgb: Picture, ids: IdMap) -> Picture:
    """Draw lines between segments on the frame: bright lines on dark background and vice versa."""
    ground = cv2.blur(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), _GROUND)
    lines = paint(np.asarray(ground, np.uint8).reshape(ids.shape), _LINE_TABLE)
    return np.asarray(cv2.copyTo(lines, edges(ids).view(np.uint8), rgb.copy()), np.uint8)


def uncertainty(rgb: Picture, doubt: npt.NDArray[np.float32]) -> Picture:
    """Draw an uncertainty map (H, W) in [0, 1] as a heat map over the dimmed grey frame; bright is uncertain."""
    heat = paint(np.asarray(cv2.convertScaleAbs(doubt, alpha=255.0), np.uint8).reshape(doubt.shape), _HEAT)
    grey = cv2.cvtColor(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    return np.asarray(cv2.addWeighted(grey, _DIM, heat, 1.0 - _DIM, 0.0), np.uint8)


def matte(rgb: Picture, mask: Mask, margin: int = 0) -> Picture:
    """Cut out the frame: RGBA (H, W, 4) with straight alpha, which is ``mask``.

    Transparent pixels farther than ``margin`` from the mask are black. Codecs that blur colours need some margin,
    otherwise the cut-out gets a dark fringe.
    """
    kept = cv2.dilate(mask, np.ones((2 * margin + 1, 2 * margin + 1), np.uint8)) if margin else mask
    rgba = cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA)
    out = np.asarray(cv2.bitwise_and(rgba, rgba, mask=kept), np.uint8)
    out[..., 3] = mask
    return out


def white_on_black(mask: Mask) -> Picture:
    """Convert a mask (H, W) to a picture (H, W, 3)."""
    return np.asarray(cv2.cvtColor(mask, cv2.COLOR_GRAY2RGB), np.uint8)


def side_by_side(left: Picture, right: Picture, stacked: bool = False) -> Picture:
    """Join two pictures of the same size, or stack the first on the second; transparent pixels become black."""
    join = cv2.vconcat if stacked else cv2.hconcat
    return np.asarray(join([flatten(left), flatten(right)]), np.uint8)


# --- building blocks of views


def paint(ids: npt.NDArray[np.int32] | npt.NDArray[np.uint8], table: Picture) -> Picture:
    """Picture (H, W, 3) that gives each pixel the colour of its id, a row of ``table`` (n, 3)."""
    # Gathering four bytes at once is several times faster than three single ones.
    packed = np.zeros((len(table), 4), np.uint8)
    packed[:, :3] = table
    # mode="wrap" skips the bounds check of every index; no index is out of bounds.
    rgba = np.take(packed.view(np.uint32)[:, 0], ids, mode="wrap")
    return np.asarray(cv2.cvtColor(rgba.view(np.uint8).reshape(*ids.shape, 4), cv2.COLOR_RGBA2RGB), np.uint8)


def select(ids: IdMap, members: Iterable[int]) -> Mask:
    """Mask (H, W): 255 where the id is one of ``members``, else 0."""
    table = np.zeros(max(int(ids.max()) + 1, 0), np.uint8)
    table[[id for id in members if 0 <= id < len(table)]] = 255
    return look_up(ids, table)


def all_objects(numbers: npt.NDArray[np.uint8]) -> Mask:
    """Mask (H, W): 255 where there is the number of an object, else 0."""
    return np.where(numbers > 0, np.uint8(255), np.uint8(0))


def look_up(ids: IdMap, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Entry of ``table`` (n,) for each id (H, W), 0 for negative ids; n must exceed all ids."""
    # Index -1 wraps around to the zero appended here.
    with_none = np.append(table, np.uint8(0))
    return np.take(with_none, ids if ids.min() >= -1 else np.maximum(ids, -1), mode="wrap")


def edges(ids: IdMap) -> npt.NDArray[np.bool_]:
    """Boolean array (H, W): True where the right or the lower neighbour has another id."""
    out = np.zeros(ids.shape, bool)
    np.not_equal(ids[:, 1:], ids[:, :-1], out=out[:, :-1])
    out[:-1] |= ids[1:] != ids[:-1]
    return out


def draw_borders(rgb: Picture, ids: IdMap, keep: float = 0.35) -> Picture:
    """Darken the borders between segments to ``keep`` of their brightness."""
    dark = cv2.convertScaleAbs(rgb, alpha=keep)
    return np.asarray(cv2.copyTo(dark, edges(ids).view(np.uint8), rgb.copy()), np.uint8)


def flatten(picture: Picture) -> Picture:
    """Convert RGBA to RGB on black; RGB is returned as it is."""
    if picture.shape[2] == 3:
        return picture
    rgb = cv2.cvtColor(picture, cv2.COLOR_RGBA2RGB)
    return np.asarray(cv2.bitwise_and(rgb, rgb, mask=picture[..., 3].copy()), np.uint8)


def _without_negative_ids(ids: IdMap) -> tuple[IdMap, int]:
    """Replace negative ids by n = max(id) + 1; returns the ids (the same array if none is negative) and n."""
    n = max(int(ids.max()) + 1, 0)
    return (np.where(ids < 0, np.int32(n), ids) if ids.min() < 0 else ids), n


@lru_cache(maxsize=2)
def _indicator_columns(n: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Values and column pointers of a sparse matrix (CSC) with a single one in each of ``n`` columns."""
    return np.ones(n), np.arange(n + 1, dtype=np.int32)


# --- views by name


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of a view.

    Parameters
    ----------
    rgb : array (H, W, 3) uint8
    ids : array (H, W) int32
    uncertainty : array (H, W) float32 in [0, 1], optional
        See `VideoSegmenter.uncertainty`.
    mask : array (H, W) uint8, optional
        255 on all objects, else 0.
    opacity, borders
        Options of the overlay.
    colouring : Colouring
    beside : str
        Name of the view on the right side of "side_by_side".
    stacked : bool
        Whether "side_by_side" has that view below the original instead.
    """

    rgb: Picture
    ids: IdMap
    uncertainty: npt.NDArray[np.float32] | None = None
    mask: Mask | None = None
    opacity: float = 0.5
    borders: bool = True
    colouring: Colouring = field(default=_PLAIN)
    beside: str = "overlay"
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A way to draw a frame.

    Parameters
    ----------
    title : str
    stem : str
        Name in file names.
    draw : callable
        Draws a `Scene`: RGB (H, W, 3) or RGBA (H, W, 4).
    needs : frozenset of str
        Optional fields of `Scene` that it needs.
    uses_opacity : bool
        Whether the opacity changes the picture.
    in_window : bool
        Whether the window offers the view; if False, only movies do.
    """

    title: str
    stem: str
    draw: Callable[[Scene], Picture]
    needs: frozenset[str] = frozenset()
    uses_opacity: bool = False
    in_window: bool = True


def draw(name: str, scene: Scene) -> Picture:
    """Draw the named view: RGB (H, W, 3), or RGBA (H, W, 4) for "matte".

    >>> scene = Scene(np.zeros((2, 4, 3), np.uint8), np.zeros((2, 4), np.int32))
    >>> draw("side_by_side", scene).shape
    (2, 8, 3)
    """
    return view(name).draw(scene)


def view(name: str) -> View:
    """Entry of `VIEWS`; raises ValueError for an unknown name."""
    if name not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, got {name!r}")
    return VIEWS[name]


def _draw_uncertainty(scene: Scene) -> Picture:
    if scene.uncertainty is None:
        raise ValueError("the view 'uncertainty' needs an uncertainty map, but this frame has none")
    return uncertainty(scene.rgb, scene.uncertainty)


def _draw_matte(scene: Scene) -> Picture:
    return matte(scene.rgb, _mask_of(scene, "matte"))


def _draw_mask(scene: Scene) -> Picture:
    return white_on_black(_mask_of(scene, "mask"))


def _mask_of(scene: Scene, name: str) -> Mask:
    if scene.mask is None:
        raise ValueError(f"the view '{name}' needs the objects' mask, but this frame has none")
    return scene.mask


#: The window gives the digit keys to the views in this order, so new views come last.
VIEWS: Mapping[str, View] = MappingProxyType(
    {
        "original": View("Original", "original", lambda scene: scene.rgb),
        "overlay": View(
            "Overlay",
            "overlay",
            lambda scene: overlay(scene.rgb, scene.ids, scene.opacity, scene.borders, scene.colouring),
            uses_opacity=True,
        ),
        "mean_colour": View("Mean colour", "mean", lambda scene: mean_colour(scene.rgb, scene.ids)),
        "boundaries": View("Boundaries", "boundaries", lambda scene: boundaries(scene.rgb, scene.ids)),
        "uncertainty": View("Uncertainty", "uncertainty", _draw_uncertainty, frozenset({"uncertainty"})),
        "matte": View("Object matte", "matte", _draw_matte, frozenset({"mask"})),
        "mask": View("Object mask", "mask", _draw_mask, frozenset({"mask"}), in_window=False),
        "side_by_side": View(
            "Side by side",
            "side_by_side",
            lambda scene: side_by_side(scene.rgb, draw(scene.beside, scene), scene.stacked),
            uses_opacity=True,
        ),
    }
)
