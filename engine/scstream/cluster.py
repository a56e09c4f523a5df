"""Description of one cluster of a mixture."""

from __future__ import annotations

from dataclasses import dataclass

from scstream.components.base import Array


@dataclass(frozen=True, slots=True)
class Cluster:
    """A live cluster.

    Parameters
    ----------
    id : int
    count : float
        Time-weighted number of points.
    share : float
        Its count over that of all clusters.
    summary : dict of arrays
        What `Component.summary` returns, such as the mean.
    """

    id: int
    count: float
    share: float
    summary: dict[str, Array]
