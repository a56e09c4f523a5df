"""A segmenter with a fixed number of clusters, to measure how the cost of a step grows with that number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream import Event, Genealogy, Parameters
from scstream.components import PixelGaussian
from scstream.pixels.tiles import Tiles
from scstream.sampler.genealogy import Kind
from scstream.sampler.history import History
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import State, mode_densities

_NEVER = 10**9


class FixedClusterSegmenter:
    """The engine's step on a model with a fixed number of clusters and no splits or merges.

    The engine infers the number of clusters, so the cost for a given number is measured on an artificial model: the K
    cells of a grid, each with the statistics of its pixels in ``frame`` and with its left and right half as
    sub-clusters. Use each instance for one step only: a grid is not a natural segmentation, and clusters that the
    engine would have merged soon lose all their pixels.
    """

    def __init__(self, frame: npt.NDArray[np.uint8], n_clusters: int, threads: int, stride: int = 4) -> None:
        tiles = Tiles(frame, "rgb", stride, threads)
        points = tiles.points()
        weight = np.full(len(points), float(stride**2))
        component = PixelGaussian(nu=5.0).bind(points, weight)
        labels = grid_labels(tiles.rows, tiles.columns, n_clusters).ravel()
        S = component.statistics(component.prepare(points), weight, labels, 2 * n_clusters)
        self._sampler = Sampler(
            Parameters(alpha=1000.0, decay=2.9, burn_in=_NEVER),
            component,
            _state(S.reshape(n_clusters, 2, -1)),
            _births(n_clusters),
            0.0,
            np.repeat(np.arange(n_clusters), 2),
        )
        # Label the frame, as the engine would have done before the next one.
        self._tiles = Tiles(frame, "rgb", 1, threads)
        state = self._sampler.state
        self._tiles.label(component, mode_densities(component, state.current, 1000.0), np.zeros(2, np.uint32), False)
        self._tiles.border_length()

    def segment(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
        """Do the work of `VideoSegmenter.segment` for a later frame."""
        self._tiles.fill(frame)
        self._sampler.update(self._tiles, self._sampler.time + 1.0)
        return self._tiles.ids(self._sampler.id_of)


def grid_labels(rows: int, columns: int, n_cells: int) -> npt.NDArray[np.int32]:
    """Labels 2 k + j (rows, columns) of ``n_cells`` cells k of about equal size; j is 0 in the left half, else 1."""
    n_bands = max(1, round((n_cells * rows / columns) ** 0.5))
    edges = np.linspace(0, n_cells, n_bands + 1).round().astype(np.int64)
    band = np.arange(rows) * n_bands // rows
    across = (np.arange(columns) + 0.5) / columns * (edges[band + 1] - edges[band])[:, None]
    cell = across.astype(np.int64)
    label = 2 * (edges[band][:, None] + cell) + (across - cell >= 0.5)
    return np.asarray(label, np.int32)


def _state(S: npt.NDArray[np.float64]) -> State:
    K, _, P = S.shape
    history = History(K, P)
    history.append(0.0, S)
    zeros = np.zeros(K, np.int64)
    return State(history, S, np.arange(K), zeros, zeros.copy(), zeros.copy())


def _births(n_clusters: int) -> Genealogy:
    genealogy = Genealogy()
    for _ in range(n_clusters):
        genealogy.record(Event(Kind.BIRTH, 0.0, 0, (genealogy.new_id(),), float("nan"), (1.0,)))
    return genealogy
