"""Motion of an object and of its surroundings, each as an affine map, and what the flow says about every pixel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

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
#: width of the window for it, at half the size.
_DIFFERENCE = 8.0
_WINDOW = 3
#: Outside the object, the difference counts less this times what the flow leaves unexplained: spray, smoke and ripples
#: change their looks as they move, and so do not move like a thing.
_UNEXPLAINED = 1.2
#: Largest evidence of the motion, in nats.
_LIMIT = 2.0

Axis = npt.NDArray[np.float32]
_Number = TypeVar("_Number", np.uint8, np.float32)
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
    is a guess. For what has not been part of the object, they count only as far as the flow explains the difference.

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
    half = HalfRegion.of(motion, region)
    evidence = half.log_odds(own, around)
    differs = half.difference(grey, around, warped)
    differs *= 1.0 / _DIFFERENCE
    np.clip(differs, 0.0, 1.0, out=differs)
    differs *= evidence
    # The lesser of the two: less evidence for the object, all of that against it.
    np.minimum(evidence, differs, out=evidence)
    return _resized(evidence, warped[region].shape)


@dataclass(frozen=True, slots=True)
class HalfRegion:
    """A region of a picture at half the size: the flow has no finer details.

    Parameters
    ----------
    motion : Motion
    region : two slices
    flow : two arrays (n, m)
        Displacement along columns, and along rows.
    rows, columns : arrays (n,), (m,)
        Positions, as `AffineMotion` takes them.
    """

    motion: Motion
    region: tuple[slice, slice]
    flow: tuple[Image, Image]
    rows: Axis
    columns: Axis

    @classmethod
    def of(cls, motion: Motion, region: tuple[slice, slice]) -> HalfRegion:
        """Reduce the flow of a region."""
        whole = motion.flow[region]
        shape = (whole.shape[0] + 1) // 2, (whole.shape[1] + 1) // 2
        along, down = cv2.split(_resized(whole, shape))
        rows, columns = (axis[part] for axis, part in zip(_positions(*motion.before.shape), region, strict=True))
        return cls(
            motion,
            region,
            (np.asarray(along, np.float32), np.asarray(down, np.float32)),
            _resized(rows[:, None], (shape[0], 1)).ravel(),
            _resized(columns[None], (1, shape[1])).ravel(),
        )

    def log_odds(self, own: AffineMotion, around: AffineMotion) -> Image:
        """Log odds of the object's map and that of its surroundings for the flow."""
        outer, inner = (
            one.density(self.flow, self.rows, self.columns, weight)
            for one, weight in ((around, 1.0), (own, 1.0 - _STRAY_INSIDE))
        )
        inner += _STRAY_INSIDE * _STRAY_DENSITY
        inner += _CARRIED * outer
        outer *= 1.0 - _STRAY_OUTSIDE
        outer += _STRAY_OUTSIDE * _STRAY_DENSITY
        inner /= outer
        return np.asarray(np.clip(np.log(inner, out=inner), -_LIMIT, _LIMIT, out=inner), np.float32)

    def difference(self, grey: Picture, around: AffineMotion, warped: Image) -> Image:
        """Mean difference of the picture from the one before, moved like the surroundings, in a window.

        Where the object, ``warped``, has not been, what the flow cannot explain either is taken off.
        """
        shape = self.flow[0].shape
        now, object_shares = _resized(grey[self.region], shape), _resized(warped[self.region], shape)
        drift = [
            (constant + slope * self.columns) + (descent * self.rows)[:, None]
            for constant, slope, descent in around.matrix.T.astype(np.float32)
        ]
        by_drift, by_flow = (cv2.absdiff(before, now) for before in self._moved(drift, self.flow))
        unexplained = by_flow * (_UNEXPLAINED * (1.0 - object_shares))
        return np.asarray(cv2.boxFilter(by_drift - unexplained, cv2.CV_32F, (_WINDOW, _WINDOW)), np.float32)

    def _moved(self, *displacements: Sequence[Image]) -> Iterator[Picture]:
        """The picture before, moved along each of some displacements along columns and rows."""
        height, width = self.motion.before.shape
        small = (height + 1) // 2, (width + 1) // 2
        before = _resized(self.motion.before, small)
        scales = small[1] / width, small[0] / height
        # Pixels are squares: the centre of the first one of the small picture is no pixel of the large one.
        places = (self.columns * width + (width + 1) / 2)[None], (self.rows * width + (height + 1) / 2)[:, None]
        for moves in displacements:
            maps = [
                ((place + move) * scale - 0.5).astype(np.float32)
                for place, move, scale in zip(places, moves, scales, strict=True)
            ]
            moved = cv2.remap(before, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            yield np.asarray(moved, np.uint8)


def _resized(image: npt.NDArray[_Number], shape: tuple[int, ...]) -> npt.NDArray[_Number]:
    return np.asarray(cv2.resize(image, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR), image.dtype)


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
