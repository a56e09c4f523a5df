"""Motion of an object and of its surroundings, each as an affine map, and what the flow says about every pixel."""

from __future__ import annotations

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

    def displacement(self, rows: Axis, columns: Axis) -> list[Image]:
        """Displacement along columns and along rows at the given positions."""
        return [
            np.asarray((constant + along * columns) + (down * rows)[:, None], np.float32)
            for constant, along, down in self.matrix.T.astype(np.float32)
        ]

    def density(self, flow: Image, expected: list[Image]) -> Image:
        """Density of the flow around an expected displacement: a Student distribution with one degree of freedom."""
        ratio = np.ones(flow.shape[:2], np.float32)
        for axis, displacement in enumerate(expected):
            rest = flow[..., axis] - displacement
            rest *= np.float32(1.0 / self.spread)
            rest *= rest
            ratio += rest
        ratio *= np.sqrt(ratio)
        return np.divide(np.float32(self.spread**-2), ratio, out=ratio)


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
    shares, moves = warped[_SOME, _SOME].ravel(), motion.flow[_SOME, _SOME].reshape(-1, 2).astype(np.float64)
    inside, outside = shares > 0.5, shares < 0.1
    if inside.sum() < _FEWEST or outside.sum() < _FEWEST:
        return np.zeros_like(warped[region])
    around = fit_motion(places[outside], moves[outside])
    own = fit_motion(places[inside], moves[inside])
    rows, columns = _positions(*warped.shape)
    here, where = motion.flow[region], (rows[region[0]], columns[region[1]])
    drift = around.displacement(*where)
    outer = around.density(here, drift)
    inner = (1.0 - _STRAY_INSIDE) * own.density(here, own.displacement(*where))
    inner += _CARRIED * outer + _STRAY_INSIDE * _STRAY_DENSITY
    outer *= 1.0 - _STRAY_OUTSIDE
    outer += _STRAY_OUTSIDE * _STRAY_DENSITY
    inner /= outer
    evidence = np.clip(np.log(inner, out=inner), -_LIMIT, _LIMIT)
    differs = np.minimum(_difference(grey, motion.before, drift, region) / _DIFFERENCE, 1.0)
    return np.asarray(np.where(evidence > 0.0, evidence * differs, evidence), np.float32)


def fit_motion(places: npt.NDArray[np.float64], moves: npt.NDArray[np.float64]) -> AffineMotion:
    """Fit a map to displacements by least squares, in rounds that give less weight to distant ones.

    Examples
    --------
    >>> places = np.column_stack([np.ones(100), np.linspace(-0.5, 0.5, 100), np.tile([-0.2, 0.2], 50)])
    >>> moves = places @ np.array([[3.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
    >>> moves[::10] += 20.0
    >>> (fit_motion(places, moves).matrix.round(1) + 0.0).tolist()
    [[3.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
    """
    if len(places) < _FEWEST_AFFINE:
        matrix = np.vstack([np.median(moves, axis=0), np.zeros((2, 2))])
        return AffineMotion(matrix, _spread(moves - places @ matrix))
    weight = np.ones(len(places))
    for _ in range(_ROUNDS):
        weighted = (places * weight[:, None]).T
        matrix = np.linalg.solve(weighted @ places + 1e-6 * np.eye(3), weighted @ moves)
        rest = moves - places @ matrix
        spread = _spread(rest)
        weight = 1.0 / (1.0 + (rest**2).sum(axis=1) / (1.5 * spread) ** 2)
    return AffineMotion(matrix, spread)


def _spread(rest: npt.NDArray[np.float64]) -> float:
    middle = len(rest) // 2
    # A median, without what takes np.median most of its time.
    return max(float(np.partition(np.hypot(rest[:, 0], rest[:, 1]), middle)[middle]), _SMALLEST_SPREAD)


def _difference(grey: Picture, before: Picture, shift: list[Image], region: tuple[slice, slice]) -> Image:
    """Mean difference of a region from the picture before, moved by ``shift``, in a window around every pixel."""
    down, along = (np.arange(n, dtype=np.float32)[part] for n, part in zip(grey.shape, region, strict=True))
    moved = cv2.remap(
        before, along + shift[0], down[:, None] + shift[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    difference = cv2.absdiff(moved, grey[region]).astype(np.float32)
    return np.asarray(cv2.blur(difference, (_WINDOW, _WINDOW)), np.float32)


@lru_cache(4)
def _sample_places(height: int, width: int) -> npt.NDArray[np.float64]:
    """Every n-th position (n, 3), as `AffineMotion` takes it. Cached: callers must not change it."""
    rows, columns = _positions(height, width)
    down, along = (axis.ravel() for axis in np.meshgrid(rows[_SOME], columns[_SOME], indexing="ij"))
    return np.column_stack([np.ones(len(along)), along, down])


def _positions(height: int, width: int) -> tuple[Axis, Axis]:
    """Coordinates of rows and of columns, with the origin at the centre and the width as unit."""
    rows = (np.arange(height, dtype=np.float32) - height / 2) / width
    columns = (np.arange(width, dtype=np.float32) - width / 2) / width
    return rows.astype(np.float32), columns.astype(np.float32)
