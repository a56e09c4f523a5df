"""Final labels of a frame: those of the model, made to agree with their neighbours and with the frame before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream import kernels
from scstream.components.base import Array
from scstream.kernels import PIXEL_P, WINDOW
from scstream.pixels.motion import Luminance, Motion, find_motion, luminance, luminance_shape, luminance_step
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.pieces import find_pieces
from scstream.pixels.starts import NOMINAL_PIXELS
from scstream.pixels.tiles import Tiles, pack
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import sum_subclusters
from scstream.threads import even_queue, queue_of, run_queue, split_evenly, threads_for

#: Bonus, in nats, for the label that a pixel had, and the change of luminance, in grey levels, at which it is halved.
_BONUS = 3.0
_CONTRAST = 12.0
#: At borders, in squared grey levels: bonus of a label for each neighbour that has it, and doubt about the brightness
#: of one of which a single pixel is near. Less in frames smaller than 854 x 480, where a pixel shows more.
_NEIGHBOUR, _DOUBT = 130.0, 16_000.0
#: Sizes of pieces, at 854 x 480 and a smoothing of 1: always absorbed below, never from there on, length of a line.
_TINY, _SMALL, _LINE = 32, 160, 12
#: A piece in between stays if every neighbour is this many nats worse for each of its pixels.
_LOSS = 8.0
#: How far the past moves along with the picture; the rest of the way it follows the labels.
_MOVE = 0.5
_PIECES = 32
#: Id of a label that belongs to no cluster.
_NOBODY = -1

Labels = npt.NDArray[np.int32]
Forms = npt.NDArray[np.float32]


@dataclass(slots=True)
class FinalLabels:
    """Labels of the last frame, and what the next frame needs of it.

    Parameters
    ----------
    labels : array (h, w) int32
        Index into ``ids`` of each pixel.
    ids : array (n,) int64
        Ids of the sampler's clusters.
    names : array (n,) int64
        The id that each cluster is announced by.
    luminance : array uint8, optional
        The frame's `luminance`; None without steadiness.
    changes : array (n, 21), optional
        What the labels add to the statistics of each cluster by score alone. None: `count_changes` computes it.
    bare : array (h, w) int32, optional
        Labels by score alone, for `count_changes`.
    """

    labels: Labels
    ids: npt.NDArray[np.int64]
    names: npt.NDArray[np.int64]
    luminance: Luminance | None = None
    changes: Array | None = None
    bare: Labels | None = None

    def map_of(self, names: npt.NDArray[np.int64], threads: int) -> Labels:
        """Return the map (h, w) of the name (n,) of each pixel's cluster, such as its id."""
        out = np.empty(self.labels.shape, np.int32)
        table = names.astype(np.int32)
        run_queue(
            threads,
            even_queue(len(out), _PIECES),
            lambda queue: kernels.translate_labels(queue, self.labels, table, out),
        )
        return out

    def count_changes(self, tiles: Tiles | None) -> Array:
        """Return ``changes``, computed at the first call from the frame's tiles."""
        if self.changes is None:
            parts = np.zeros((_PIECES, len(self.ids), PIXEL_P))
            if self.bare is not None and tiles is not None:
                run_queue(
                    tiles.threads,
                    even_queue(len(self.labels), _PIECES),
                    lambda queue: kernels.sum_changes(queue, tiles.pixels, self.bare, self.labels, parts),
                )
            self.changes = parts.sum(axis=0)
            if tiles is not None:
                tiles.allow_for_noise(self.changes)
        return self.changes

    def released(self, id: int, tiles: Tiles | None) -> FinalLabels:
        """Return the labels after a split of segment ``id`` by hand: its pixels keep their name, but no cluster.

        Otherwise the next frame would hold them in the segment that the user has split them from.
        """
        changes = np.append(self.count_changes(tiles), np.zeros((1, PIXEL_P)), axis=0)
        labels = np.where((self.names == id)[self.labels], np.int32(len(self.ids)), self.labels)
        return FinalLabels(labels, np.append(self.ids, _NOBODY), np.append(self.names, id), self.luminance, changes)

    def statistics(self, sampler: Sampler, tiles: Tiles | None) -> Array:
        """Statistics (K, 21) of the sampler's clusters in the frame, by the final labels."""
        current: Array = sampler.state.current.sum(axis=1)
        # After a change of scale the model counts another number of pixels than the labels have.
        changes = self.count_changes(tiles) * (current[:, 0].sum() / self.labels.size)
        place = _places(sampler.state.ids, _survivors(self.ids, sampler))
        # np.add.at would take several times as long.
        belongs = place == np.arange(len(current))[:, None]
        current += belongs @ changes
        return current

    def state(self, tiles: Tiles | None) -> dict[str, npt.NDArray[Any]]:
        """Return the labels as plain arrays, for saving; `from_state` restores them."""
        luminance = {} if self.luminance is None else {"luminance": self.luminance}
        changes = self.count_changes(tiles)
        return {"labels": self.labels, "ids": self.ids, "names": self.names, "changes": changes, **luminance}

    @classmethod
    def from_state(cls, state: Mapping[str, npt.NDArray[Any]], shape: tuple[int, int]) -> FinalLabels | None:
        """Return the labels that `state` encoded, checked for frames of a shape (H, W); None if there are none.

        They may be smaller than the frames: the scale can change after a frame.
        """
        if not state:
            return None
        labels, ids, names, changes = (state[name] for name in ("labels", "ids", "names", "changes"))
        if any(array.dtype.kind not in "iu" for array in (labels, ids, names)):
            raise ValueError("final labels and ids must be whole numbers")
        if labels.ndim != 2 or (np.array(labels.shape) > shape).any() or not labels.size:
            raise ValueError("the final labels do not fit the frame")
        if ids.ndim != 1 or not ids.size or names.shape != ids.shape:
            raise ValueError("the ids of the final labels do not match")
        if labels.min() < 0 or labels.max() >= len(ids):
            raise ValueError("a final label has no id")
        if changes.shape != (len(ids), PIXEL_P) or not np.isfinite(changes).all():
            raise ValueError("the statistics of the final labels are damaged")
        picture = state.get("luminance")
        if picture is not None and (picture.dtype != np.uint8 or picture.shape != luminance_shape(labels.shape)):
            raise ValueError("the luminance does not fit the frame")
        return cls(
            labels.astype(np.int32),
            ids.astype(np.int64),
            names.astype(np.int64),
            picture,
            changes.astype(np.float64),
        )


class Finisher:
    """Turns a frame's labels by the model into final ones, frame by frame.

    Parameters
    ----------
    config : VideoParameters
    frame : array (h, w, 3) uint8
        The frame at the size at which it is segmented.
    last : FinalLabels, optional
        Of the frame before; None for a first frame.
    """

    def __init__(self, config: VideoParameters, frame: npt.NDArray[np.uint8], last: FinalLabels | None = None) -> None:
        self.config, self.frame, self.last = config, frame, last
        self.threads = threads_for(math.prod(frame.shape[:2]), config.n_threads)
        self.luminance: Luminance | None = None
        self.motion: Motion | None = None
        if config.steadiness:
            self.luminance = luminance(frame, self.threads)
            if last is not None and last.luminance is not None and last.labels.shape == frame.shape[:2]:
                step = luminance_step(frame.shape[:2])
                self.motion = find_motion(self.luminance, last.luminance, step, self.threads)

    def move_past(self, sampler: Sampler) -> None:
        """Shift the history of each segment along with the motion of its pixels, before the frame is segmented."""
        if self.motion is None or self.last is None:
            return
        sums = kernels.sum_motion(self.motion.vectors, self.motion.spacing, self.last.labels, len(self.last.ids))
        moved = _places(self.last.ids, sampler.state.ids)
        shift = np.zeros((len(sampler.state.ids), sampler.component.n_coordinates))
        known = moved >= 0
        # The two samples in the denominator keep segments of a few pixels in place.
        shift[known, :2] = _MOVE * (sums[:, :2] / (sums[:, 2:] + 2.0))[moved[known]] / self.frame.shape[:2]
        sampler.state.history.translate(sampler.component, shift)

    def finish(self, sampler: Sampler, tiles: Tiles) -> FinalLabels | None:
        """Return the final labels of the frame that the sampler has segmented; None if they are those of the model."""
        if not self.config.smoothing and not self.config.steadiness:
            return None
        config, state = self.config, sampler.state
        bare = tiles.ids(_places(state.ids, sampler.id_of))
        S = sum_subclusters(state.total)
        forms = pack(sampler.posterior_component.predictive(S), np.log(np.maximum(S[:, 0], 1e-300)))
        group = _places(state.ids, state.owner)
        if self.motion is None or self.last is None:
            labels = bare.copy()
        else:
            labels = self._hold(bare, tiles, forms, group, _places(state.ids, self.last.ids))
        if config.smoothing:
            labels = self._refine(labels)
            self._absorb(labels, tiles, forms, group)
        return FinalLabels(labels, state.ids.copy(), state.owner.copy(), self.luminance, bare=bare)

    def _hold(self, bare: Labels, tiles: Tiles, forms: Forms, group: Labels, table: Labels) -> Labels:
        """Let pixels keep the label that they had, found in ``table`` by its index in the frame before."""
        last, motion, labels = self.last, self.motion, np.empty_like(bare)
        assert last is not None
        assert motion is not None
        step = luminance_step(labels.shape)
        bonus, contrast = np.float32(_BONUS * self.config.steadiness), np.float32(1.0 / _CONTRAST**2)
        run_queue(
            self.threads,
            even_queue(len(labels), _PIECES),
            lambda queue: kernels.hold_labels(
                queue, motion.vectors, motion.spacing, step, last.labels, table, self.luminance, last.luminance, group,
                tiles.pixels, forms, bonus, contrast, bare, labels,
            ),
        )  # fmt: skip
        return labels

    def _size(self, labels: Labels) -> float:
        """Pixels that count like one of 854 x 480 at a smoothing of 1."""
        return self.config.smoothing * labels.size / NOMINAL_PIXELS

    def _refine(self, labels: Labels) -> Labels:
        """Return the labels with their borders where the picture's brightness changes."""
        if min(labels.shape) <= WINDOW:
            return labels
        values, out = np.empty_like(labels), np.empty_like(labels)
        rows = split_evenly(len(labels), _PIECES)
        part = min(self._size(labels), 1.0)
        bonus, doubt = np.float32(_NEIGHBOUR * part), np.float32(_DOUBT * part)
        run_queue(self.threads, queue_of(rows), lambda queue: kernels.weigh_pixels(queue, self.frame, labels, values))
        run_queue(
            self.threads,
            queue_of(rows),
            lambda queue: kernels.refine_borders(queue, labels, values, bonus, doubt, out),
        )
        return out

    def _absorb(self, labels: Labels, tiles: Tiles, forms: Forms, group: Labels) -> None:
        """Let neighbours absorb small pieces."""
        size = self._size(labels)
        limit, tiny, extent = size * _SMALL, size * _TINY, math.sqrt(size) * _LINE
        pieces = find_pieces(labels, group, limit, self.threads)
        left_over = np.zeros(len(pieces.small), bool)
        run_queue(
            self.threads,
            even_queue(len(left_over), _PIECES),
            lambda queue: kernels.absorb_pieces(
                queue, pieces, labels, tiles.pixels, forms, limit, tiny, extent, _LOSS, left_over
            ),
        )
        kernels.absorb_left_over(pieces, left_over, labels)


def _places(ids: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> Labels:
    """Index into ``ids`` of each of the wanted ids, or -1.

    >>> _places(np.array([5, 3, 9]), np.array([9, 4, 5]))
    array([ 2, -1,  0], dtype=int32)
    """
    places: Labels = kernels.find_places(ids, wanted)
    return places


def _survivors(ids: npt.NDArray[np.int64], sampler: Sampler) -> npt.NDArray[np.int64]:
    """The ids, those of clusters that were merged replaced by the survivors' ids."""
    live, genealogy = set(sampler.state.ids.tolist()), sampler.genealogy
    survivors = (genealogy.survivor(id) if id not in live and id in genealogy else id for id in ids.tolist())
    return np.array([-1 if id is None else id for id in survivors], np.int64)
