"""Where the second moments are in a row of Gaussian statistics (n, sum of x, lower triangle of sum of x x')."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt


@cache
def lower_triangle(D: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Row and column of each of the second moments, in their order."""
    return np.tril_indices(D)


@cache
def square_places(D: int) -> npt.NDArray[np.intp]:
    """Places (D,) of the sums of squares.

    >>> square_places(3).tolist()
    [4, 6, 9]
    """
    i = np.arange(D)
    return 1 + D + i * (i + 3) // 2
