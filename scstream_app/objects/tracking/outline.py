"""The outline of an object in the full picture: filters that follow the edges of the picture."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import Picture

#: Radius in reduced pixels, and smoothness: a step of grey by the square root of it counts as an edge.
_RADIUS = 2
_SMOOTHNESS = 1e-3
#: The same for soft edges, in full pixels.
_SOFT_RADIUS = 4
_SOFT_SMOOTHNESS = 1e-4

Scores = npt.NDArray[np.float32]


def guided(scores: Scores, grey: Picture) -> tuple[Scores, Scores]:
    """Slope and offset of a guided filter: locally, scores are a linear function of the grey level (0 to 1).

    The filtered scores are slope * grey + offset, in this picture or, after enlarging both, in a larger one.
    """
    return _linear_fit(scores, grey.astype(np.float32) / 255.0, _RADIUS, _SMOOTHNESS)


def enlarged(slope: Scores, offset: Scores, brightness: Scores) -> Scores:
    """Filtered scores (H, W) in the full picture, given its grey levels (H, W) from 0 to 1; see `guided`."""
    height, width = brightness.shape
    scores = _resize(slope, height, width)
    scores *= brightness
    scores += _resize(offset, height, width)
    return scores


def soft_edges(mask: npt.NDArray[np.bool_], picture: Picture) -> npt.NDArray[np.float32]:
    """Opacity (H, W) from 0 to 1 that follows the edges of the picture near the outline of a mask.

    Examples
    --------
    >>> opacity = soft_edges(np.arange(30)[None, :].repeat(30, 0) < 15, np.zeros((30, 30, 3), np.uint8))
    >>> bool(opacity[15, 2] == 1.0), bool(0.2 < opacity[15, 15] < 0.8), bool(opacity[15, 28] == 0.0)
    (True, True, True)
    """
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255.0
    slope, offset = _linear_fit(mask.astype(np.float32), grey, _SOFT_RADIUS, _SOFT_SMOOTHNESS)
    opacity = np.clip(slope * grey + offset, 0.0, 1.0)
    return np.asarray(np.where(opacity < 0.01, 0.0, np.where(opacity > 0.99, 1.0, opacity)), np.float32)


def _linear_fit(values: Scores, guide: Scores, radius: int, smoothness: float) -> tuple[Scores, Scores]:
    def mean(image: Scores) -> Scores:
        return np.asarray(cv2.blur(image, (2 * radius + 1, 2 * radius + 1)), np.float32)

    mean_guide, mean_values = mean(guide), mean(values)
    covariance = mean(guide * values) - mean_guide * mean_values
    variance = mean(guide * guide) - mean_guide * mean_guide
    slope = np.asarray(covariance / (variance + smoothness), np.float32)
    return mean(slope), mean(mean_values - slope * mean_guide)


def _resize(image: Scores, height: int, width: int) -> Scores:
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
