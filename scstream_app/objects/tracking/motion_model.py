"""Motion of an object and of its surroundings, each as an affine map, and what the flow says about every pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.flow import Motion
from scstream_app.render.image_types import Picture

#: The maps are fitted to every n-th pixel along rows and columns.
_STRIDE = 6
_SOME = slice(_STRIDE // 2, None, _STRIDE)
#: Smallest number of these pixels for an affine map; with fewer, the median displacement is used.
_FEWEST_AFFINE = 30
_FEWEST = 8
_ROUNDS = 3
#: Smallest spread of the flow around a map, in pixels: the flow itself is not more exact.
_SMALLEST_SPREAD = 0.15
#: Density of displacements that follow neither map, per square pixel, and shares of such displacements.
_STRAY_DENSITY = 0.01
_STRAY_INSIDE, _STRAY_OUTSIDE = 0.1, 0.03
#: Weight of the surroundings' motion inside the object: parts of it may stand still.
_CARRIED = 0.3
#: Difference of the pictures in grey levels from which motion unlike that of the surroundings fully counts, and the
#: width of the window for it.
_DIFFERENCE = 10.0
_WINDOW = 5
#: Largest evidence of the motion, in nats.
_LIMIT = 2.0

Axis = npt.NDArray[np.float32]
Image = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AffineMotion:
    """Displacement as an affine function of the position, and the spread of the flow around it.

    Parameters
    ----------
    matrix : array (3, 2)
        Maps (1, column, row), as in `_positions`, to a displacement along columns and rows.
    spread : float
        Median distance of the flow from it, in pixels.
    """

    matrix: npt.NDArray[np.float64]
    spread: float

    def density(self, flow: Sequence[Image], rows: Axis, columns: Axis, weight: float) -> Image:
        """Density of the flow around the map, times a weight: a Student distribution with one degree of freedom.

        Parameters
        ----------
        flow : two arrays (n, m)
            Displacement along columns, and along rows.
        rows, columns : arrays (n,), (m,)
            Positions.
        weight : float
        """
        # weight / spread^2 * (1 + distance^2 / spread^2)^(-3/2), with as few operations per pixel as possible.
        squares: list[Image] = []
        for plane, (constant, along, down) in zip(flow, self.matrix.T.astype(np.float32), strict=True):
            rest = plane - (constant + along * columns)
            rest -= (down * rows)[:, None]
            rest *= rest
            squares.append(rest)
        distance, power = squares
        distance += power
        distance += self.spread**2
        np.sqrt(distance, out=power)
        distance *= power
        np.divide(weight * self.spread, distance, out=distance)
        return distance


def motion_evidence(motion: Motion, grey: Picture, warped: Image, region: tuple[slice, slice]) -> Image:
    """Log odds of the object from the motion of every pixel in a region.

    Displacements that neither the object nor its surroundings explain speak for the object, which may bend. But they
    count only where the picture really differs from the one before, moved like the surroundings: in flat areas the flow
    is a guess.

    Parameters
    ----------
    motion : Motion
    grey : array (h, w) uint8
        The reduced picture.
    warped : array (h, w)
        Probability of the object, moved here from the frame before.
    region : two slices
    """
    places = _sample_places(*warped.shape)
    shares, moves = warped[_SOME, _SOME].ravel(), motion.flow[_SOME, _SOME].reshape(-1, 2).T.astype(np.float64)
    inside, outside = shares > 0.5, shares < 0.1
    if inside.sum() < _FEWEST or outside.sum() < _FEWEST:
        return np.zeros_like(warped[region])
    around, own = (fit_motion(places.compress(some, 1), moves.compress(some, 1)) for some in (outside, inside))
    evidence = _log_odds(motion, own, around, region)
    differs = _difference(grey, motion.before, around, region)
    differs *= 1.0 / _DIFFERENCE
    np.minimum(differs, 1.0, out=differs)
    differs *= evidence
    # The lesser of the two: less evidence for the object, all of that against it.
    return np.minimum(evidence, differs, out=evidence)


def _log_odds(motion: Motion, own: AffineMotion, around: AffineMotion, region: tuple[slice, slice]) -> Image:
    """Log odds of two maps for the flow in a region, found at half the size: the flow itself has no finer details."""
    flow = motion.flow[region]
    height, width = flow.shape[:2]
    half = (width + 1) // 2, (height + 1) // 2
    here = [np.asarray(plane, np.float32) for plane in cv2.split(_resized(flow, *half))]
    rows, columns = (axis[part] for axis, part in zip(_positions(*motion.flow.shape[:2]), region, strict=True))
    down, across = _resized(rows[:, None], 1, half[1]).ravel(), _resized(columns[None], half[0], 1).ravel()
    outer, inner = (
        one.density(here, down, across, weight) for one, weight in ((around, 1.0), (own, 1.0 - _STRAY_INSIDE))
    )
    inner += _STRAY_INSIDE * _STRAY_DENSITY
    inner += _CARRIED * outer
    outer *= 1.0 - _STRAY_OUTSIDE
    outer += _STRAY_OUTSIDE * _STRAY_DENSITY
    inner /= outer
    odds = np.clip(np.log(inner, out=inner), -_LIMIT, _LIMIT, out=inner)
    return _resized(odds, width, height)


def _resized(image: Image, width: int, height: int) -> Image:
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def fit_motion(places: npt.NDArray[np.float64], moves: npt.NDArray[np.float64]) -> AffineMotion:
    """Fit a map to displacements (2, n) at positions (3, n) by least squares, with less weight for distant ones.

    Examples
    --------
    >>> places = np.stack([np.ones(100), np.linspace(-0.5, 0.5, 100), np.tile([-0.2, 0.2], 50)])
    >>> moves = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]) @ places
    >>> moves[:, ::10] += 20.0
    >>> (fit_motion(places, moves).matrix.round(1) + 0.0).tolist()
    [[3.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
    """
    if places.shape[1] < _FEWEST_AFFINE:
        matrix = np.vstack([np.median(moves, axis=1), np.zeros((2, 2))])
        return AffineMotion(matrix, _spread(_squares(places, moves, matrix)))
    weighted = places
    for round in range(_ROUNDS):
        matrix = np.asarray(np.linalg.solve(weighted @ places.T + 1e-6 * np.eye(3), weighted @ moves.T), np.float64)
        squares = _squares(places, moves, matrix)
        spread = _spread(squares)
        if round < _ROUNDS - 1:
            weighted = places / (1.0 + squares / (1.5 * spread) ** 2)
    return AffineMotion(matrix, spread)


def _squares(
    places: npt.NDArray[np.float64], moves: npt.NDArray[np.float64], matrix: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Squared distances (n,) of displacements (2, n) from those that a map has at positions (3, n)."""
    rest = moves - matrix.T @ places
    rest *= rest
    return np.asarray(rest[0] + rest[1], np.float64)


def _spread(squares: npt.NDArray[np.float64]) -> float:
    middle = len(squares) // 2
    # A median, without what takes np.median most of its time.
    return max(math.sqrt(np.partition(squares, middle)[middle]), _SMALLEST_SPREAD)


def _difference(grey: Picture, before: Picture, drift: AffineMotion, region: tuple[slice, slice]) -> Image:
    """Mean difference of a region from the picture before, moved like ``drift``, in a window around every pixel."""
    down, along = (np.arange(n, dtype=np.float32)[part] for n, part in zip(grey.shape, region, strict=True))
    rows, columns = (axis[part] for axis, part in zip(_positions(*grey.shape), region, strict=True))
    from_columns, from_rows = (
        (constant + slope * columns) + (descent * rows)[:, None]
        for constant, slope, descent in drift.matrix.T.astype(np.float32)
    )
    from_columns += along
    from_rows += down[:, None]
    moved = cv2.remap(before, from_columns, from_rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.boxFilter(cv2.absdiff(moved, grey[region]), cv2.CV_32F, (_WINDOW, _WINDOW)), np.float32)


@lru_cache(4)
def _sample_places(height: int, width: int) -> npt.NDArray[np.float64]:
    """Every n-th position (3, n), as `AffineMotion` takes it. Cached: callers must not change it."""
    rows, columns = _positions(height, width)
    down, along = (axis.ravel() for axis in np.meshgrid(rows[_SOME], columns[_SOME], indexing="ij"))
    return np.stack([np.ones(len(along)), along, down])


def _positions(height: int, width: int) -> tuple[Axis, Axis]:
    """Coordinates of rows and of columns, with the origin at the centre and the width as unit."""
    rows = (np.arange(height, dtype=np.float32) - height / 2) / width
    columns = (np.arange(width, dtype=np.float32) - width / 2) / width
    return rows.astype(np.float32), columns.astype(np.float32)
