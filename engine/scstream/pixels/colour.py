"""Colour spaces: the one that the engine computes in, and those that users can choose."""

from __future__ import annotations

import numpy as np

from scstream.checks import Array

COLOURS = ("rgb", "lab")

# Rows: red - blue, magenta - green, lightness, in R, G, B. Orthonormal: the inverse is the transpose.
_OPPONENT = np.array([[1.0, 0.0, -1.0], [1.0, -2.0, 1.0], [1.0, 1.0, 1.0]]) / np.sqrt([[2.0], [6.0], [3.0]])
_XYZ_TO_RGB = np.array([[3.2405, -1.5371, -0.4985], [-0.9693, 1.8760, 0.0416], [0.0556, -0.2040, 1.0572]])
_WHITE = np.array([0.95047, 1.0, 1.08883])


def _turn(colour: str) -> Array:
    """Matrix (5, 5) from the kernels' axes (row, column, two chroma, lightness) to (three channels, row, column)."""
    turn = np.zeros((5, 5))
    turn[3, 0] = turn[4, 1] = 1.0
    # The kernels order the channels a, b, L; the public order is L, a, b.
    turn[:3, 2:] = _OPPONENT.T if colour == "rgb" else np.eye(3)[[2, 0, 1]]
    return turn


def to_public_axes(mean: Array, covariance: Array, colour: str) -> tuple[Array, Array]:
    """Convert means (..., 5) and covariances (..., 5, 5) from the kernels' axes to (channels, row / H, column / W)."""
    turn = _turn(colour)
    return mean @ turn.T, turn @ covariance @ turn.T


def from_public_axes(mean: Array, covariance: Array, colour: str) -> tuple[Array, Array]:
    """Inverse of `to_public_axes`."""
    turn = _turn(colour)
    return mean @ turn, turn.T @ covariance @ turn


def from_rgb(rgb: Array, colour: str) -> Array:
    """Convert colours (N, 3) from R, G, B in [0, 1] to the colour space's own channels; inverse of `to_rgb`."""
    if colour == "rgb":
        return rgb
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = linear @ np.linalg.inv(_XYZ_TO_RGB).T / _WHITE
    f = np.where(t > (6.0 / 29.0) ** 3, np.cbrt(t), t / (3.0 * (6.0 / 29.0) ** 2) + 4.0 / 29.0)
    lab: Array = np.stack([1.16 * f[:, 1] - 0.16, 5.0 * (f[:, 0] - f[:, 1]), 2.0 * (f[:, 1] - f[:, 2])], axis=1)
    return lab


def to_rgb(channels: Array, colour: str) -> Array:
    """Convert colours (N, 3) from the colour space's own channels to R, G, B, clipped to [0, 1]."""
    if colour == "lab":
        L, a, b = 100.0 * channels.T
        fy = (L + 16.0) / 116.0
        f = np.stack([fy + a / 500.0, fy, fy - b / 200.0], axis=1)
        xyz = _WHITE * np.where(f > 6.0 / 29.0, f**3, 3.0 * (6.0 / 29.0) ** 2 * (f - 4.0 / 29.0))
        linear = np.clip(xyz @ _XYZ_TO_RGB.T, 0.0, 1.0)
        channels = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.clip(channels, 0.0, 1.0)
