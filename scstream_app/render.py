"""A frame and its map of ids as a picture: overlay and mean colour."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app import palette

Picture = npt.NDArray[np.uint8]
IdMap = npt.NDArray[np.int32]


def overlay(rgb: Picture, ids: IdMap, opacity: float = 0.5, borders: bool = True) -> Picture:
    """The segments' own colours over the frame (H, W, 3), with thin dark borders between them."""
    tint = paint(ids, palette.colours(int(ids.max()) + 1))
    out = np.asarray(cv2.addWeighted(rgb, 1.0 - opacity, tint, opacity, 0.0), np.uint8)
    return draw_borders(out, ids) if borders else out


def mean_colour(rgb: Picture, ids: IdMap) -> Picture:
    """Every segment in the mean colour of its pixels."""
    flat = ids.ravel()
    counts = np.maximum(np.bincount(flat), 1)
    sums = [np.bincount(flat, channel.ravel()) for channel in cv2.split(rgb)]
    return paint(ids, np.rint(np.stack(sums, axis=1) / counts[:, None]).astype(np.uint8))


def paint(ids: IdMap, table: Picture) -> Picture:
    """The picture (H, W, 3) in which each pixel has its id's colour, a row of ``table`` (n, 3)."""
    # One gather of four bytes is several times faster than one of three.
    packed = np.zeros((len(table), 4), np.uint8)
    packed[:, :3] = table
    rgba = np.take(packed.view(np.uint32)[:, 0], ids)
    return np.asarray(cv2.cvtColor(rgba.view(np.uint8).reshape(*ids.shape, 4), cv2.COLOR_RGBA2RGB), np.uint8)


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
