"""A frame as a batch of pixels in square tiles; labels them on several threads."""

from __future__ import annotations

from copy import copy
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components.base import Array, Component
from scstream.components.gaussian import Whitened
from scstream.components.second_moments import square_places
from scstream.kernels import BANDS, FORM, LIKELY, PIXEL_D, PIXEL_P, PIXELS, TILE, Noise, Queue
from scstream.sampler.sweep import Densities
from scstream.threads import queue_of, run_queue, split_evenly, threads_for

#: Maximum number of pieces that the rows of tiles are divided into. Fixed, so that the order in which the sums of the
#: pieces are added does not depend on the number of threads.
_PIECES = 32

#: Places of the squared chroma channels in a row of statistics.
_SQUARED_CHROMA = square_places(PIXEL_D)[2:4]

#: Number of different noise values: with fewer, improbable labels would be drawn too rarely. A tile takes PIXELS of
#: them for each cluster and twice as many for the sub-clusters, so these suffice for 4,094 clusters.
_NOISE = 2**20


@cache
def _channel_table(colour: str) -> npt.NDArray[np.float32]:
    """Value (256,) of each byte of a channel: byte / 255 for rgb, linear light for lab."""
    value = np.arange(256, dtype=np.float32) * np.float32(1.0 / 255.0)
    if colour == "lab":
        value = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return value.astype(np.float32)


def gumbel_noise(n_clusters: int = 1) -> Noise:
    """Gumbel noise: the cluster with the largest score + noise is a draw from the posterior of the label.

    The values are always the same; each tile starts at another place among them. There are enough for ``n_clusters``:
    two clusters with the same noise would not be drawn between at random.
    """
    needed = PIXELS * (n_clusters + 2)
    return _shuffled_gumbel(max(_NOISE, 1 << (needed - 1).bit_length()))


@cache
def _shuffled_gumbel(n: int) -> Noise:
    """Quantiles of the distribution at n equal steps, shuffled. Values rarer than one in n do not occur."""
    uniform = (np.random.Generator(np.random.Philox(0)).permutation(n) + 0.5) / n
    return _noise(-np.log(-np.log(uniform)))


@cache
def no_noise() -> Noise:
    """Noise of zeros, for deterministic sweeps: the largest score wins."""
    return _noise(np.zeros(PIXELS))


def _noise(numbers: Array) -> Noise:
    rows = numbers.astype(np.float32).reshape(-1, TILE)
    rows = np.concatenate([rows, rows[:TILE]])
    most = rows.max(axis=1)
    # windows[n, i]: of TILE rows from TILE n + i on.
    windows = np.lib.stride_tricks.sliding_window_view(most, TILE)[:-1].max(axis=1).reshape(-1, TILE)
    return Noise(rows.ravel(), most, np.ascontiguousarray(windows.T))


class Tiles:
    """Pixels of a frame as points (row / H, column / W, two chroma channels, lightness) in float32.

    Parameters
    ----------
    frame : array (H, W, 3) uint8
    colour : {"rgb", "lab"}, default="rgb"
    stride : int, default=1
        Use every ``stride``-th pixel in x and y, each with weight ``stride ** 2``.
    threads : int, default=1
        Largest number of threads; the attribute ``max_threads``, which can change.
    chroma_noise : float, default=0.0
        Standard deviation of an error of the chroma channels, which all statistics allow for.

    Attributes
    ----------
    pixels : array (tiles, 5, PIXELS) float32
        The points.
    labels : array (tiles, PIXELS) int32
        Label 2 k + j of each pixel: cluster k, sub-cluster j.
    used : array (2 K,) bool
        Whether any pixel has each label.
    """

    def __init__(
        self,
        frame: npt.NDArray[np.uint8],
        colour: str = "rgb",
        stride: int = 1,
        threads: int = 1,
        chroma_noise: float = 0.0,
    ) -> None:
        self.shape = frame.shape[:2]
        self.stride = stride
        self.max_threads = threads
        self.chroma_noise = chroma_noise
        self.rows, self.columns = (-(-n // stride) for n in self.shape)
        self.tile_rows, across = -(-self.rows // TILE), -(-self.columns // TILE)
        n_tiles = self.tile_rows * across
        self.pixels = np.empty((n_tiles, PIXEL_D, PIXELS), np.float32)
        self.low = np.empty((n_tiles, PIXEL_D), np.float32)
        self.high = np.empty((n_tiles, PIXEL_D), np.float32)
        self.bands = np.empty((n_tiles, 2, PIXEL_D, BANDS), np.float32)
        self.totals = np.empty((n_tiles, PIXEL_P))
        # Indices of the clusters with most pixels of each tile in the last sweep; a hint, as moves change the indices.
        self.likely = np.full((n_tiles, LIKELY), -1, np.int32)
        self.labels = np.zeros((n_tiles, PIXELS), np.int32)
        self.used = np.ones(2, bool)
        self.prune = True
        self._pieces = split_evenly(self.tile_rows, min(_PIECES, self.tile_rows))
        self._order = np.arange(len(self._pieces) - 1)
        # Allocated once, as are the pixels: fresh memory would cost as much as filling it.
        self._moments = np.empty((len(self._pieces) - 1, 0, 2, PIXEL_P))
        self.colour = colour
        self._fill(frame, placed=False)

    @property
    def threads(self) -> int:
        """Number of threads that work on the frame."""
        return threads_for(self.rows * self.columns, self.max_threads)

    def copy(self) -> Tiles:
        """Return tiles of the same pixels whose labels are independent."""
        other = copy(self)
        other.likely, other.labels = self.likely.copy(), self.labels.copy()
        return other

    def fill(self, frame: npt.NDArray[np.uint8]) -> None:
        """Replace the pixels by those of another frame of the same size, in the same memory."""
        self._fill(frame, placed=True)

    def _fill(self, frame: npt.NDArray[np.uint8], placed: bool) -> None:
        table, lab = _channel_table(self.colour), self.colour == "lab"

        flat = frame.reshape(len(frame), -1)

        def work(queue: Queue) -> None:
            kernels.fill_tiles(
                queue, flat, table, lab, self.stride, placed, self.pixels, self.low, self.high, self.bands, self.totals
            )

        run_queue(self.threads, queue_of(self._pieces), work)

    def label(self, component: Component, densities: Densities, keys: npt.NDArray[np.uint32], sampling: bool) -> Array:
        """Label every pixel; see `Batch.label`."""
        clusters = pack(densities.parameters, densities.log_weight)
        table = np.ascontiguousarray(clusters.T)
        subs = pack(densities.sub_parameters, densities.sub_log_weight)
        K = len(densities.log_weight)
        if self._moments.shape[1] < K:
            self._moments = np.empty((len(self._pieces) - 1, K + K // 4, 2, PIXEL_P))
        moments = self._moments
        touched = np.zeros((len(moments), K), bool)
        weight = np.float32(self.stride**2)
        noise = gumbel_noise(K) if sampling else no_noise()

        def work(queue: Queue) -> None:
            kernels.label_tiles(
                queue, self.pixels, self.low, self.high, self.bands, self.likely, self.totals, self.rows, self.columns,
                weight, clusters, table, subs, noise, keys[0], self.prune, self.labels, touched, moments,
            )  # fmt: skip

        run_queue(self.threads, queue_of(self._pieces, self._order), work)
        S: Array
        S, self.used, n_clusters = kernels.sum_touched(moments, touched)
        # Pieces with many clusters take longest: started first, they let all threads end at nearly the same time.
        self._order = (-n_clusters).argsort()
        return self.allow_for_noise(S)

    @cached_property
    def _border(self) -> npt.NDArray[np.int64]:
        """Indices of the frame's outermost pixels in the flattened labels."""
        inside = np.zeros((self.rows, self.columns), bool)
        inside[1:-1, 1:-1] = True
        return np.flatnonzero(self.tiled(~inside))

    def border_length(self) -> Array:
        """Length of the frame's border that each label touches, in pixels; see `Batch.border_length`."""
        return self.stride * np.bincount(self.labels.ravel()[self._border], minlength=len(self.used)).astype(float)

    def points(self) -> Array:
        """Return the points (rows * columns, 5) in the order of the frame's pixels, without padding."""
        across = -(-self.columns // TILE)
        grid = self.pixels.reshape(self.tile_rows, across, PIXEL_D, TILE, TILE).transpose(0, 3, 1, 4, 2)
        flat = grid.reshape(self.tile_rows * TILE, across * TILE, PIXEL_D)
        return flat[: self.rows, : self.columns].reshape(-1, PIXEL_D).astype(np.float64)

    def ids(self, id_of: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int32]:
        """Return the map (H, W) of ids, or of other integers, given that of each label 2 k + j."""
        return self._untiled(self.labels, id_of.astype(np.int32, copy=False))

    def _untiled(self, labels: npt.NDArray[np.int32], table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Map (H, W) of the table's entries for the labels."""
        out = np.empty(self.shape, table.dtype)
        run_queue(
            self.threads,
            queue_of(split_evenly(self.shape[0], _PIECES)),
            lambda queue: kernels.untile(queue, labels, table, self.stride, out),
        )
        return out

    def tiled(self, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return a mask (rows, columns) in the order of the labels (tiles, PIXELS), False in the padding."""
        across = -(-self.columns // TILE)
        padded = np.zeros((self.tile_rows * TILE, across * TILE), bool)
        padded[: self.rows, : self.columns] = mask
        return padded.reshape(self.tile_rows, TILE, across, TILE).transpose(0, 2, 1, 3).reshape(-1, PIXELS)

    def untiled(self, part: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return a mask (H, W) from one in the order of the labels; inverse of `tiled`."""
        return self._untiled(part.astype(np.int32), np.arange(2, dtype=np.int32)).astype(bool)

    def statistics(self, part: npt.NDArray[np.bool_]) -> Array:
        """Return the statistics (P,) of the pixels in a mask (tiles, PIXELS)."""
        points = self.pixels.transpose(0, 2, 1)[part].astype(np.float64)
        S: Array = np.zeros((1, PIXEL_P))
        weight = np.full(len(points), float(self.stride**2))
        kernels.gaussian_statistics(points, weight, np.zeros(len(points), np.int32), S)
        return self.allow_for_noise(S).ravel()

    def allow_for_noise(self, S: Array) -> Array:
        """Add to statistics (..., P) what an error of the chroma channels is expected to add."""
        if self.chroma_noise:
            S[..., _SQUARED_CHROMA] += S[..., :1] * self.chroma_noise**2
        return S

    def uncertainty(
        self, parameters: Whitened, log_weight: Array, owner: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return 1 - the posterior probability of each pixel's most likely cluster, (H, W).

        Clusters with the same ``owner`` (K,), a whole number below K, count as one; None: each on its own.
        """
        clusters = pack(parameters, log_weight)
        owners = np.arange(len(clusters)) if owner is None else owner
        table = np.ascontiguousarray(clusters.T)
        tiled = np.empty((len(self.pixels), PIXELS), np.float32)
        run_queue(
            self.threads,
            queue_of(self._pieces),
            lambda queue: kernels.tile_uncertainty(
                queue,
                self.pixels,
                self.low,
                self.high,
                self.bands,
                self.likely,
                self.columns,
                clusters,
                table,
                owners.astype(np.int32),
                no_noise(),
                tiled,
            ),
        )
        places = np.arange(tiled.size, dtype=np.int32).reshape(tiled.shape)
        return self._untiled(places, tiled.ravel())


def pack(whitened: Whitened, log_weight: Array) -> npt.NDArray[np.float32]:
    """Return densities in the layout (K, FORM) that the tile kernels take."""
    forms = np.empty((len(log_weight), FORM), np.float32)
    kernels.pack_forms(whitened.A, whitened.b, whitened.c, whitened.dof, log_weight, forms)
    return forms
