"""VideoSegmenter: RGB frames in, maps of persistent segment ids out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from scstream import persistence
from scstream.checks import check_choice, check_number
from scstream.components import Gaussian
from scstream.components.gaussian import Whitened
from scstream.kernels import PIXEL_D
from scstream.mixture import Mixture
from scstream.pixels.colour import COLOURS, channels, mean_rgb, turn_from_public, turn_to_public
from scstream.pixels.scaling import enlarged, scaled_size, shrunk
from scstream.pixels.statistics import STATISTICS
from scstream.pixels.tiles import Tiles
from scstream.sampler.genealogy import Event, Genealogy
from scstream.sampler.moves import Mover
from scstream.sampler.sampler import Progress
from scstream.sampler.sweep import counter_rng, mode_densities
from scstream.threads import cores

#: The first frame is first settled on about this many of its pixels.
_COARSE_PIXELS = 26_000
#: Sweeps over the first frame at each finer resolution: the coarse result is nearly right already.
_REFINING_SWEEPS = 150

#: A segment is cut along a mask when at least this share of it lies on either side; slivers would not last. One that
#: holds most of the mask is cut however small its share is: the thing would otherwise have no segment.
_STRADDLING = 0.25


@dataclass(frozen=True, slots=True)
class Preview:
    """The first frame on its way: ids (H, W) that are usable but not final, how far it has come, and the frame."""

    ids: npt.NDArray[np.int32]
    progress: Progress
    stride: int
    frame: npt.NDArray[np.uint8]


class VideoSegmenter:
    """Cut a video into segments that keep their ids from frame to frame.

    Every pixel is a point of five features (its colour, its row and column, each from 0 to about 1), every frame a
    batch, every cluster a segment.

    Parameters
    ----------
    colour : {"rgb", "lab"}
        Colour space in which segments are Gaussian.
    scale : float in (0, 1]
        Work on frames reduced to this size; the ids come back at full size.
    alpha : float
        Larger values favour more segments.
    decay : float
        How fast the past is forgotten: a frame one unit of time ago weighs 2 ** -decay.
    sweeps : int
        Stochastic sweeps a frame, before the deterministic one.
    seed : int, optional
        The same seed gives the same ids on any number of threads. None stands for 0.
    threads : int, optional
        None: as many as there are cores.
    detail : float
        Larger values cut the picture into smaller segments: the prior expects a segment's variances, in colour and in
        place, to be so many times smaller. `alpha` hardly matters beside thousands of pixels; this does.
    burn_in, kernel, epsilon, max_init_sweeps, split_last, restart, merge
        As in `ScStream`.

    Attributes
    ----------
    model_ : Mixture
        The mixture, in the engine's own pixel axes.
    statistics_ : structured array, one row per live segment, largest first
        id, pixels, share of the frame, time of birth, age in frames, mean red, green, blue in [0, 1], centroid in
        pixels, covariance (5, 5) over the colour space's three channels, row / H and column / W.
    events_ : list of Event
        Births, splits, merges and deaths in the last frame.

    Examples
    --------
    >>> import numpy as np
    >>> frame = np.zeros((48, 64, 3), np.uint8)
    >>> frame[:, 32:] = [250, 180, 20]
    >>> segmenter = VideoSegmenter(seed=0)
    >>> ids = segmenter.segment(frame)
    >>> len(set(ids[:, :32].ravel()) & set(ids[:, 32:].ravel()))
    0
    >>> bool((segmenter.segment(frame) == ids).mean() > 0.9)
    True
    """

    def __init__(
        self,
        colour: str = "rgb",
        scale: float = 1.0,
        alpha: float = 1000.0,
        decay: float = 2.9,
        sweeps: int = 1,
        seed: int | None = None,
        threads: int | None = None,
        *,
        detail: float = 1.0,
        burn_in: int = 5,
        kernel: str | Callable[[float], float] = "exponential",
        epsilon: float = 1e-8,
        max_init_sweeps: int = 200,
        split_last: bool = True,
        restart: int | None = 60,
        merge: str = "original",
    ) -> None:
        check_choice("colour", colour, COLOURS)
        check_number("scale", scale, 0.0, 1.0, strict=True)
        check_number("detail", detail, 0.0, strict=True)
        self.colour = colour
        self.scale = float(scale)
        self.detail = float(detail)
        self.model_ = Mixture(
            alpha=alpha,
            decay=decay,
            kernel=kernel,
            epsilon=epsilon,
            sweeps=sweeps,
            burn_in=burn_in,
            max_init_sweeps=max_init_sweeps,
            split_last=split_last,
            restart=restart,
            merge=merge,
            seed=seed,
            threads=threads,
        )
        self.model_._check_parameters()
        self.shape_: tuple[int, int] | None = None
        self._tiles: Tiles | None = None
        self._fresh = True

    # --- segmenting

    def segment(
        self,
        frame: npt.NDArray[np.uint8],
        time: float | None = None,
        on_preview: Callable[[Preview], None] | None = None,
        mask: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Segment the next frame.

        Parameters
        ----------
        frame : array (H, W, 3) uint8, RGB
        time : float, optional
            Later than the last frame's, in units of a frame. By default one more.
        on_preview : callable, optional
            Called with a `Preview` now and then while the first frame settles.
        mask : array (H, W) of bool or whole numbers, optional
            Of the first frame: 0 around the things that matter, one value for each of them. Segments with at least a
            quarter of their pixels on either side of an outline are cut along it.

        Returns
        -------
        array (H, W) int32 of segment ids
        """
        if self._fresh:
            for preview in self.start(frame, time, mask=mask):
                if on_preview is not None:
                    on_preview(preview)
            return self.ids_
        if mask is not None:
            raise ValueError("a mask can be given with the first frame only")
        self._check_frame(frame)
        moment = self.model_._check_time(time)
        reduced = self._reduced(frame)
        if self._tiles is None or self._tiles.shape != reduced.shape[:2]:
            self._tiles = self._cut(frame, 1)
        else:
            self._tiles.fill(reduced)
        self.model_._sampler.update(self._tiles, moment)
        return self.ids_

    def start(
        self,
        frame: npt.NDArray[np.uint8],
        time: float | None = None,
        every: int = 10,
        mask: npt.NDArray[Any] | None = None,
    ) -> Iterator[Preview]:
        """Segment the first frame step by step, from coarse to fine; `ids_` is final when the iterator ends.

        A preview comes every ``every`` sweeps. Abandoning the iterator leaves the segmenter as it was before.
        """
        if not self._fresh:
            raise RuntimeError("the first frame has already been segmented: use segment")
        self._check_frame(frame)
        if mask is not None:
            _check_mask(mask, frame)
        model, shape = self.model_, frame.shape[:2]
        moment = model._check_time(time)
        earlier, earlier_tiles = model.__dict__.get("_sampler"), self._tiles
        strides = _strides(round(shape[0] * self.scale), round(shape[1] * self.scale))
        try:
            finest = self._cut(frame, 1)
            prior = _prior(finest, self.detail)
            for level, stride in enumerate(strides):
                tiles = self._tiles = finest if stride == 1 else self._cut(frame, stride)
                if level == 0:
                    model._begin(prior, tiles, moment, earlier.state.batch + 1 if earlier else 0)
                    model.n_features_in_ = PIXEL_D
                limit = model.max_init_sweeps if level == 0 else min(_REFINING_SWEEPS, model.max_init_sweeps)
                for progress in model._sampler.converge(tiles, limit):
                    if progress.sweep % every == 0 or progress.converged:
                        ids = self._picture(tiles, shape)
                        yield Preview(ids + earlier.genealogy.n_ids if earlier else ids, progress, stride, frame)
            model._sampler.finish(tiles)
            if mask is not None:
                self._divide(tiles, mask)
            model._sampler.baptise(earlier.genealogy if earlier else Genealogy())
            if earlier:
                model._sampler.events[:0] = earlier.pending
        except BaseException:
            model.__dict__.pop("_sampler", None)
            if earlier:
                model._sampler, self._tiles = earlier, earlier_tiles
            raise
        self.shape_ = (int(shape[0]), int(shape[1]))
        self._fresh = False

    def restart(self) -> None:
        """Forget every segment, as at a scene cut: the next frame is segmented like a first one.

        It may have another size. Its segments get new ids, and the genealogy goes on, with the death of all that
        lived before.
        """
        self._fresh = True

    def copy(self) -> Self:
        """An independent segmenter that continues bit by bit alike."""
        return deepcopy(self)

    def become(self, other: Self) -> None:
        """Take over the state of another segmenter, such as a copy made earlier, which is not to be used any more."""
        self.__dict__.update(other.__dict__)

    # --- by hand, between two frames

    def merge(self, ids: Iterable[int]) -> int:
        """Make several segments one, from the next frame on; returns the id of the largest, which lives on."""
        sampler = self.model_._sampler_checked()
        first, *others = dict.fromkeys(int(id) for id in ids)
        if not others:
            raise ValueError("a merge takes at least two segments")
        for id in (first, *others):
            sampler.index(id)
        survivor = first
        for other in others:
            survivor = sampler.merge_by_hand(survivor, other)
        return survivor

    def split(self, id: int) -> int:
        """Divide a segment into its two sub-clusters, from the next frame on; returns the new id."""
        return self.model_._sampler_checked().split_by_hand(int(id))

    def halves(self, id: int) -> npt.NDArray[np.bool_]:
        """Where (H, W) on the last frame a segment would get the new id if it were split now; False all around it.

        Each of its pixels goes to the likelier of its two sub-clusters, as in a deterministic sweep. Nowhere if it has
        no second half, or is not on the frame.
        """
        sampler, tiles = self.model_._sampler_checked(), self._last_tiles()
        total = sampler.state.total[[sampler.index(int(id))]]
        own = sampler.id_of[tiles.labels] == id
        part = np.zeros(own.shape, bool)
        if total[0, :, 0].min() >= 1.0 and own.any():
            component = sampler.component
            densities = mode_densities(component, total, float(self.model_.alpha))
            points = component.prepare(tiles.pixels.transpose(0, 2, 1)[own].astype(np.float64))
            scores = component.scores(densities.sub_parameters, densities.sub_log_weight, points)
            # The smaller half is the one that leaves.
            small = int(np.argmin(total[0, :, 0]))
            part[own] = scores[:, small] > scores[:, 1 - small]
        return enlarged(tiles.untiled(part), self._last_shape(), self._threads)

    @property
    def locked_(self) -> frozenset[int]:
        """Ids of the segments that are neither split nor merged by themselves; they may still die."""
        return self.model_._sampler_checked().state.locked

    @locked_.setter
    def locked_(self, ids: Iterable[int]) -> None:
        self.model_._sampler_checked().state.locked = frozenset(int(id) for id in ids)

    def change(self, **parameters: Any) -> None:
        """Change parameters from the next frame on: alpha, decay, sweeps, burn_in, kernel, epsilon, ...

        With another scale the past counts as if it had been seen at that size, and segments keep their ids. The colour
        space decides what a pixel is, detail what a segment is expected to be: they cannot change without a `restart`.
        """
        if self._started and not self._fresh and {"colour", "detail"} & parameters.keys():
            raise ValueError("colour and detail can change at a restart only")
        colour, scale = parameters.pop("colour", self.colour), parameters.pop("scale", self.scale)
        detail = parameters.pop("detail", self.detail)
        before = self.model_.parameters
        try:
            self.model_.set_parameters(**parameters)
            check_choice("colour", colour, COLOURS)
            check_number("scale", scale, 0.0, 1.0, strict=True)
            check_number("detail", detail, 0.0, strict=True)
            self.model_._check_parameters()
        except (TypeError, ValueError):
            self.model_.set_parameters(**before)
            raise
        if self._started and not self._fresh:
            self._resize_past(float(scale))
        self.colour, self.scale, self.detail = colour, float(scale), float(detail)
        if self._started:
            self.model_._sampler.settings = self.model_._settings()

    def _resize_past(self, scale: float) -> None:
        """Let the past have as many pixels as it would have had at this scale."""
        before, after = (math.prod(scaled_size(self._last_shape(), each)) for each in (self.scale, scale))
        state = self.model_._sampler.state
        state.history.rescale(after / before)
        state.current = state.current * (after / before)

    @property
    def _started(self) -> bool:
        return self.model_._started

    def _divide(self, tiles: Tiles, mask: npt.NDArray[Any]) -> None:
        """Cut every segment that straddles the outline of a thing in two, along the outline."""
        sampler = self.model_._sampler
        mover = Mover(
            sampler.settings, sampler.component, sampler.state, sampler.genealogy, sampler.time, counter_rng(0, 0, 0)
        )
        rows, columns = (
            np.arange(n) * full // n for n, full in zip((tiles.rows, tiles.columns), mask.shape, strict=True)
        )
        small = mask[np.ix_(rows, columns)]
        for value in np.unique(small[small != 0]):
            inside = tiles.tiled(small == value)
            owner = sampler.id_of[tiles.labels]
            counts = np.bincount(owner[inside], minlength=int(sampler.state.ids.max()) + 1)
            most = counts.sum() / 2
            for k, id in enumerate(sampler.state.ids.copy()):
                share = counts[id] / max(sampler.state.current[k, :, 0].sum(), 1.0)
                if share <= 1.0 - _STRADDLING and (share >= _STRADDLING or counts[id] > most):
                    part = inside & (owner == id)
                    sampler.id_of = np.append(sampler.id_of, mover.take_out(k, tiles.statistics(part)))
                    tiles.labels[part] = len(sampler.id_of) - 1

    @property
    def ids_(self) -> npt.NDArray[np.int32]:
        """Segment ids (H, W) of the last frame."""
        return self._picture(self._last_tiles(), self._last_shape())

    def _cut(self, frame: npt.NDArray[np.uint8], stride: int) -> Tiles:
        return Tiles(self._reduced(frame), self.colour, stride, self._threads)

    @property
    def _threads(self) -> int:
        return self.model_.threads or cores()

    def _reduced(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        frame = np.ascontiguousarray(frame)
        if self.scale == 1.0:
            return frame
        return shrunk(frame, scaled_size(frame.shape[:2], self.scale), self._threads)

    def _picture(self, tiles: Tiles, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
        return enlarged(tiles.ids(self.model_._sampler.id_of), shape, self._threads)

    def _check_frame(self, frame: Any) -> None:
        if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8:
            kind = frame.dtype if isinstance(frame, np.ndarray) else type(frame).__name__
            raise TypeError(f"a frame must be an array of uint8, got {kind}")
        if frame.ndim != 3 or frame.shape[2] != 3 or 0 in frame.shape:
            raise ValueError(f"a frame must have shape (H, W, 3), got {frame.shape}")
        if not self._fresh and frame.shape[:2] != self.shape_:
            assert self.shape_ is not None
            raise ValueError(
                f"every frame must have the first one's size, {self.shape_[1]} x {self.shape_[0]}; "
                f"got {frame.shape[1]} x {frame.shape[0]}"
            )

    def _last_tiles(self) -> Tiles:
        if self._tiles is None:
            raise RuntimeError("no frame has been segmented since the segmenter was made or loaded")
        return self._tiles

    def _last_shape(self) -> tuple[int, int]:
        if self.shape_ is None:
            raise RuntimeError("no frame has been segmented yet")
        return self.shape_

    # --- what was found

    @property
    def events_(self) -> list[Event]:
        return self.model_.events_

    def uncertainty(self) -> npt.NDArray[np.float32]:
        """1 - the posterior probability of each pixel's likeliest segment, (H, W) in [0, 1], for the last frame."""
        sampler = self.model_._sampler_checked()
        densities = mode_densities(sampler.component, sampler.state.total, float(self.model_.alpha))
        picture = self._last_tiles().uncertainty(densities.parameters, densities.log_weight)
        return enlarged(picture, self._last_shape(), self._threads)

    @property
    def statistics_(self) -> npt.NDArray[np.void]:
        sampler = self.model_._sampler_checked()
        state, height_width = sampler.state, np.array(self._last_shape())
        component = sampler.component
        assert isinstance(component, Gaussian)
        now = state.current.sum(axis=1)
        # A segment hidden in this frame is shown as it was remembered.
        seen = np.where(now[:, :1] >= 1.0, now, state.total.sum(axis=1))
        mean, covariance = turn_to_public(*component.moments(seen), self.colour)
        rows = np.empty(len(state.ids), STATISTICS)
        rows["id"] = state.ids
        share = now[:, 0] / now[:, 0].sum()
        rows["pixels"] = np.rint(share * height_width.prod())
        rows["share"] = share
        rows["born"] = [sampler.genealogy.born(int(i)) for i in state.ids]
        rows["age"] = state.batch - state.born
        rgb = mean_rgb(mean[:, :3], self.colour)
        for n, name in enumerate(("red", "green", "blue")):
            rows[name] = rgb[:, n]
        rows["row"], rows["column"] = (mean[:, 3:] * height_width).T
        rows["covariance"] = covariance
        return rows[np.argsort(-rows["share"], kind="stable")]

    # --- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and how frames become points; a loaded segmenter continues bit by bit alike."""
        meta, arrays = self.model_._pack()
        shape = self._last_shape()
        video = {
            "colour": self.colour,
            "scale": self.scale,
            "detail": self.detail,
            "shape": shape,
            "fresh": self._fresh,
        }
        persistence.write(path, {**meta, "video": video}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a segmenter that `save` wrote."""
        meta, arrays = persistence.read(path)
        try:
            video = meta["video"]
            segmenter = cls(colour=video["colour"], scale=video["scale"], detail=video.get("detail", 1.0))
            segmenter.model_ = Mixture._unpack(meta, arrays)
            height, width = video["shape"]
            segmenter.shape_ = (int(height), int(width))
            segmenter._fresh = bool(video.get("fresh", False))
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise persistence.ModelFileError(f"Cannot load '{path}': not a video model ({error})") from error
        return segmenter


def uncertainty(
    frame: npt.NDArray[np.uint8], statistics: npt.NDArray[np.void], colour: str = "rgb", threads: int = 1
) -> npt.NDArray[np.float32]:
    """1 - the probability of each pixel's likeliest segment, (H, W), from a frame and its `statistics_` alone.

    For frames that are past: each segment is taken as the Gaussian that its statistics describe.
    """
    rows = statistics[statistics["pixels"] > 0]
    height, width = frame.shape[:2]
    if not len(rows):
        return np.zeros((height, width), np.float32)
    rgb = np.stack([rows["red"], rows["green"], rows["blue"]], axis=1).astype(np.float64)
    place = np.stack([rows["row"] / height, rows["column"] / width], axis=1)
    mean, covariance = turn_from_public(
        np.concatenate([channels(rgb, colour), place], axis=1), rows["covariance"].astype(np.float64), colour
    )
    # Half a grey level keeps segments of one colour from being infinitely sure.
    A = np.linalg.inv(np.linalg.cholesky(covariance + np.eye(PIXEL_D) * (0.5 / 255.0) ** 2))
    b = -np.einsum("kij,kj->ki", A, mean)
    c = np.log(np.diagonal(A, axis1=1, axis2=2)).sum(axis=1)
    density = Whitened(A, b, c, np.zeros(len(rows)))
    return Tiles(np.ascontiguousarray(frame), colour, 1, threads).uncertainty(density, np.log(rows["pixels"]))


def _strides(height: int, width: int) -> list[int]:
    """Strides from coarse to fine: quartered until the coarsest has few enough pixels."""
    strides = [1]
    while height * width / strides[0] ** 2 > 2 * _COARSE_PIXELS:
        strides.insert(0, strides[0] * 4)
    return strides


def _prior(tiles: Tiles, detail: float) -> Gaussian:
    """Prior from the first frame: its mean, twice its colours' covariance, position variances of 0.1, over detail."""
    points = tiles.points()
    # As products of matrices: np.mean and np.cov take five times as long.
    mean = np.full(len(points), 1.0 / len(points)) @ points
    covariance = points.T @ points / len(points) - np.outer(mean, mean)
    psi = np.diag(np.full(PIXEL_D, 0.1 / detail))
    # Half a grey level keeps the prior proper on a picture of one colour.
    psi[2:, 2:] = 2.0 / detail * covariance[2:, 2:] + np.eye(3) * (0.5 / 255.0) ** 2
    return Gaussian(kappa=1.0, m=mean, nu=5.0, psi=psi).bind(points[:1], np.ones(1))


def _check_mask(mask: Any, frame: npt.NDArray[np.uint8]) -> None:
    if not isinstance(mask, np.ndarray) or mask.dtype.kind not in "biu" or mask.shape != frame.shape[:2]:
        raise ValueError(f"mask must be an array of bool or whole numbers with the frame's shape {frame.shape[:2]}")
