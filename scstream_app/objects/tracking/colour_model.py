"""Colours of an object and of its surroundings, as histograms."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture

#: Cells along each axis of the colour space.
_CELLS = 16
_CELL_LEVELS = 256 // _CELLS
#: Probability added to every cell: colours that neither side has seen say little.
_UNSEEN = 2e-5
#: Largest evidence of a colour, in nats.
_LIMIT = 3.0

Histogram = npt.NDArray[np.float64]

# What each level of the three axes of the colour space contributes to the number of a cell.
_LEVELS = np.arange(256, dtype=np.int16)
_STRETCHED = np.clip(2 * (_LEVELS - 128) + 128, 0, 255) // _CELL_LEVELS
# Moves a quarter of each cell of an axis to either neighbour; beyond the ends it stays.
_SMOOTHING = 0.25 * (2.0 * np.eye(_CELLS) + np.eye(_CELLS, k=1) + np.eye(_CELLS, k=-1))
_SMOOTHING[[0, -1], [0, -1]] += 0.25
_LIGHTNESS, _RED_GREEN, _YELLOW_BLUE = _LEVELS // _CELL_LEVELS * _CELLS**2, _STRETCHED * _CELLS, _STRETCHED


@dataclass(frozen=True, slots=True)
class ColourModel:
    """Two histograms over the cells of the colour space, each with the sum 1.

    Examples
    --------
    >>> cells = codes(np.array([[[250, 0, 0], [250, 0, 0], [0, 0, 250]]], np.uint8))
    >>> model = ColourModel.of(cells, np.array([[1, 1, 0]], np.float32))
    >>> (model.log_odds()[cells] > 0).tolist()
    [[True, True, False]]
    """

    inside: Histogram
    outside: Histogram

    @classmethod
    def of(cls, cells: npt.NDArray[np.intp], shares: npt.NDArray[np.float32]) -> ColourModel:
        """Count the cells of a picture; ``shares`` of its pixels are inside."""
        flat = cells.ravel()
        inside = np.asarray(np.bincount(flat, shares.ravel(), _CELLS**3), np.float64)
        return cls(_normalised(inside), _normalised(np.bincount(flat, minlength=_CELLS**3) - inside))

    def moved_to(self, other: ColourModel, share: float) -> ColourModel:
        """Mix with another model, which counts ``share``."""
        return ColourModel(
            (1.0 - share) * self.inside + share * other.inside, (1.0 - share) * self.outside + share * other.outside
        )

    def log_odds(self) -> npt.NDArray[np.float32]:
        """Log of the ratio inside / outside for every cell, limited to a few nats."""
        ratio = np.log((self.inside + _UNSEEN) / (self.outside + _UNSEEN))
        return np.clip(ratio, -_LIMIT, _LIMIT).astype(np.float32)


def codes(picture: Picture) -> npt.NDArray[np.intp]:
    """Cell of each pixel (h, w): CIE Lab, with both chroma axes stretched by two."""
    lightness, red_green, yellow_blue = cv2.split(cv2.cvtColor(picture, cv2.COLOR_RGB2LAB))
    cells = cv2.LUT(lightness, _LIGHTNESS) + cv2.LUT(red_green, _RED_GREEN) + cv2.LUT(yellow_blue, _YELLOW_BLUE)
    return np.asarray(cells, np.intp)


def _normalised(counts: npt.NDArray[np.float64]) -> Histogram:
    """Counts of all cells, smoothed and with the sum 1."""
    # Light and shadow move colours to neighbouring cells, along all three axes.
    planes = _SMOOTHING @ counts.reshape(_CELLS, _CELLS**2)
    smooth = _SMOOTHING @ planes.reshape(_CELLS, _CELLS, _CELLS) @ _SMOOTHING.T
    return np.asarray(smooth.ravel() / max(smooth.sum(), 1e-9), np.float64)
