"""Data type of the statistics of segments: one row for each segment of a frame."""

import numpy as np

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
