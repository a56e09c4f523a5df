"""Statistics of segments: their data type, one row for each segment of a frame, and their units."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: `VideoSegmenter.statistics_` describes the columns.
STATISTICS = np.dtype(
    [
        ("id", np.int64),
        ("pixels", np.int64),
        ("share", np.float64),
        ("born", np.float64),
        ("age", np.int64),
        ("red", np.float64),
        ("green", np.float64),
        ("blue", np.float64),
        ("row", np.float64),
        ("column", np.float64),
        ("covariance", np.float64, (5, 5)),
    ]
)


def scale_covariance(covariance: npt.NDArray[np.float64], factors: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return covariances (..., 5, 5) after rows and columns, the last two axes, have been multiplied by two factors.

    >>> scale_covariance(np.eye(5), (480, 854))[3:, 3:]
    array([[230400.,      0.],
           [     0., 729316.]])
    """
    rows, columns = np.asarray(factors, np.float64)
    unit = np.array([1.0, 1.0, 1.0, rows, columns])
    return covariance * np.outer(unit, unit)
