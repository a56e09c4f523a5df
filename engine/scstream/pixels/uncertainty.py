"""Uncertainty of the segmentation of a frame, from the frame and its statistics alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream.components.gaussian import Whitened
from scstream.kernels import PIXEL_D
from scstream.pixels.colour import from_public_axes, from_rgb
from scstream.pixels.statistics import scale_covariance
from scstream.pixels.tiles import Tiles


def uncertainty(
    frame: npt.NDArray[np.uint8], statistics: npt.NDArray[np.void], colour: str = "rgb", threads: int = 1
) -> npt.NDArray[np.float32]:
    """Return 1 - the probability of each pixel's most likely segment, (H, W), for a frame of the past.

    Each segment is the Gaussian with weight, mean and covariance from `VideoSegmenter.statistics_`.

    Parameters
    ----------
    frame : array (H, W, 3) uint8
    statistics : structured array
        `VideoSegmenter.statistics_` of that frame.
    colour : {"rgb", "lab"}
    threads : int
    """
    rows = statistics[statistics["pixels"] > 0]
    height, width = frame.shape[:2]
    if not len(rows):
        return np.zeros((height, width), np.float32)
    rgb = np.stack([rows["red"], rows["green"], rows["blue"]], axis=1).astype(np.float64)
    place = np.stack([rows["row"] / height, rows["column"] / width], axis=1)
    spread = scale_covariance(rows["covariance"].astype(np.float64), (1.0 / height, 1.0 / width))
    mean, covariance = from_public_axes(np.concatenate([from_rgb(rgb, colour), place], axis=1), spread, colour)
    # Half a grey level keeps the densities of segments of one colour finite.
    A = np.linalg.inv(np.linalg.cholesky(covariance + np.eye(PIXEL_D) * (0.5 / 255.0) ** 2))
    b = -np.einsum("kij,kj->ki", A, mean)
    c = np.log(np.diagonal(A, axis1=1, axis2=2)).sum(axis=1)
    density = Whitened(A, b, c, np.zeros(len(rows)))
    return Tiles(np.ascontiguousarray(frame), colour, 1, threads).uncertainty(density, np.log(rows["pixels"]))
