"""Log odds and probabilities."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def log_odds(shares: npt.NDArray[np.floating], limit: float) -> npt.NDArray[np.floating]:
    """Log odds of probabilities, at most ``limit`` in either direction.

    >>> log_odds(np.array([0.0, 0.5, 1.0]), 3.0).round(6).tolist()
    [-3.0, 0.0, 3.0]
    """
    low = 1.0 / (1.0 + math.exp(limit))
    clipped = np.clip(shares, low, 1.0 - low)
    return np.asarray(np.log(clipped / (1.0 - clipped)))


def probabilities(odds: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Probabilities of log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-odds)), np.float32)
