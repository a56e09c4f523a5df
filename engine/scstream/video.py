"""VideoSegmenter: takes RGB frames, returns maps of persistent segment ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from copy import copy, deepcopy
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from scstream import persistence
from scstream.checks import check_frame, check_integer, check_time
from scstream.errors import ModelFileError, NotSegmentedError
from scstream.interruption import interrupt_afterwards
from scstream.kernels import PIXEL_D
from scstream.mixture import Mixture
from scstream.notebook import segmenter_html
from scstream.params import Parameter, Parametrised, check_names, default_params
from scstream.phases import phase
from scstream.pixels.final_labels import FinalLabels, Finisher
from scstream.pixels.first_frame import Preview, segment_first
from scstream.pixels.mask_cut import check_mask
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.scaling import enlarge, reduce_frame, resize_model, scaled_size
from scstream.pixels.segment_statistics import segment_statistics
from scstream.pixels.split_mask import smaller_half
from scstream.pixels.tiles import Tiles
from scstream.sampler.forgetting import Kernel
from scstream.sampler.genealogy import Event
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import mode_densities

#: Largest height and width in a model file.
_MAX_SIDE = 2**20


class VideoSegmenter(Parametrised):
    """Segment a video into regions that keep their ids from frame to frame.

    Every pixel is a point with five features (its colour, its row and its column, each from 0 to about 1), every frame
    a batch, every cluster a segment.

    Parameters
    ----------
    colour : {"rgb", "lab"}, default="rgb"
        Colour space in which segments are Gaussian.
    scale : float in (0, 1], default=1.0
        Size at which frames are segmented, relative to their own. Ids are returned at full size.
    alpha : float, default=1000.0
        Concentration of the Dirichlet process: larger values favour more segments.
    decay : float, default=2.9
        How fast the past is forgotten: a frame of age t has weight 2 ** (-decay * t / 4**steadiness).
    sweeps : int, default=1
        Stochastic sweeps over each frame after the first, before the deterministic one.
    seed : int, default=None
        The same seed gives the same ids on any number of threads. None stands for 0.
    threads : int, default=None
        Number of threads. None: one for each core.
    detail : float, default=1.0
        Larger values give smaller segments: the prior variances of a segment's colour and position are divided by this.
        Has a much larger effect than `alpha`, whose influence is small compared to thousands of pixels.
    smoothing : float in [0, 10], default=1.0
        How large an isolated piece of a segment may be for a neighbour to absorb it: up to 1 / 2500 of the frame with
        the default, unless no neighbour comes near to fitting. Also how much error of the chroma channels segments
        allow for: a standard deviation of 1.5 grey levels with the default, so that segments do not follow the blocks
        of a codec. With any value but 0, pixels at the border of two segments go to the one whose pixels nearby are
        most alike in brightness. 0 leaves every speck and border where it is.
    steadiness : float in [0, 2], default=1.0
        How long ids last. Larger values forget the past more slowly, move it along with the picture, let a pixel keep
        the id that it had unless another fits clearly better, and announce a new segment only when it has lasted for
        12 * ``steadiness`` frames; until then its pixels have the id of the segment that it split from. 0 leaves each
        frame to the sampler.
    burn_in, kernel, epsilon, max_init_sweeps, split_last, restart, merge
        As in `ScStream`.

    Attributes
    ----------
    colour, scale, alpha, ...
        The parameters above, except ``restart`` and ``merge``, which are methods here. Assigning to one calls
        `set_params`.
    parameters : VideoParameters
        All parameters, read-only.
    model_ : Mixture
        The mixture, with summaries in the engine's own pixel axes.
    ids_ : array (H, W) int32
        Segment ids of the last frame.
    statistics_ : structured array
        One row for each live segment, largest first: id, pixels, share of the frame, time of birth, age in frames, mean
        red, green, blue in [0, 1], centroid (row, column) in pixels, covariance (5, 5) over the colour space's three
        channels (0 to about 1), row and column (in pixels), with the error of the chroma channels.
    events_ : list of Event
        Births, splits, merges and deaths in the last frame.
    log_posterior_ : float
        Log of p(labels, pixels) after the last frame, up to a constant.
    locked_ : frozenset of int
        Ids of segments that the sampler neither splits nor merges; they may still die. Can be set.
    shape_ : (int, int) or None
        Height and width of the frames; None before the first.

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
    >>> segmenter.set_params(decay=1.0)
    VideoSegmenter(decay=1.0, seed=0)
    """

    colour = Parameter[str]()
    scale = Parameter[float]()
    alpha = Parameter[float]()
    decay = Parameter[float]()
    sweeps = Parameter[int]()
    seed = Parameter[int | None]()
    threads = Parameter[int | None]()
    detail = Parameter[float]()
    smoothing = Parameter[float]()
    steadiness = Parameter[float]()
    burn_in = Parameter[int]()
    kernel = Parameter[str | Kernel]()
    epsilon = Parameter[float]()
    max_init_sweeps = Parameter[int]()
    split_last = Parameter[bool]()

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
        smoothing: float = 1.0,
        steadiness: float = 1.0,
        burn_in: int = 5,
        kernel: str | Kernel = "exponential",
        epsilon: float = 1e-8,
        max_init_sweeps: int = 200,
        split_last: bool = True,
        restart: int | None = 60,
        merge: str = "original",
    ) -> None:
        self._parameters = VideoParameters(
            colour=colour,
            scale=scale,
            alpha=alpha,
            decay=decay,
            sweeps=sweeps,
            seed=seed,
            threads=threads,
            detail=detail,
            smoothing=smoothing,
            steadiness=steadiness,
            burn_in=burn_in,
            kernel=kernel,
            epsilon=epsilon,
            max_init_sweeps=max_init_sweeps,
            split_last=split_last,
            restart=restart,
            merge=merge,
        )
        self.shape_: tuple[int, int] | None = None
        self._sampler: Sampler | None = None
        self._tiles: Tiles | None = None
        self._final: FinalLabels | None = None
        self._next_is_first = True
        self._is_starting = False

    # --- parameters

    @property
    def parameters(self) -> VideoParameters:
        return self._parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` is ignored, as no parameter has parameters of its own."""
        return {name: getattr(self._parameters, name) for name in default_params(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change parameters from the next frame on; returns the segmenter itself.

        With another scale the statistics of earlier frames are rescaled to that size, as is the prior's weight;
        segments keep their ids.
        ``colour`` defines the features of a pixel and ``detail`` the prior: they can only change before the first
        frame or after a `restart`. While a first frame is being segmented, nothing can change.
        """
        if self._is_starting:
            raise RuntimeError("parameters cannot change while the first frame is being segmented")
        check_names(params, default_params(type(self)))
        changed = self._parameters.changed(**params)
        running = self._sampler is not None and not self._next_is_first
        if running and (changed.colour, changed.detail) != (self.colour, self.detail):
            raise ValueError("colour and detail can change at a restart only")
        if self._sampler is not None:
            if running:
                before, after = (scaled_size(self._shape(), scale) for scale in (self.scale, changed.scale))
                resize_model(self._sampler, before, after)
            # The results of the last frame keep its colour space until the next frame.
            self._sampler.config = changed.changed(colour=self._last_colour())
        if self._tiles is not None:
            self._tiles.max_threads = changed.n_threads
        self._parameters = changed
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("merge", "restart"):
            raise AttributeError(f"{name} is a method of VideoSegmenter; set_params({name}=...) sets the parameter")
        super().__setattr__(name, value)

    # --- segmenting

    def segment(
        self,
        frame: npt.NDArray[np.uint8],
        time: float | None = None,
        on_preview: Callable[[Preview], None] | None = None,
        mask: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Segment the next frame. Ctrl-C takes effect when it is segmented, except during the first one.

        Parameters
        ----------
        frame : array (H, W, 3) uint8, RGB
        time : float, default=None
            Later than the last frame's, in units of a frame. None: one more. If the past has faded after a gap (see
            `has_faded`), the frame is segmented like the first one after a `restart`: all segments die and the new ones
            get new ids.
        on_preview : callable, optional
            Called with a `Preview` from time to time during the first frame, and after a gap.
        mask : array (H, W) of bool or whole numbers, optional
            For the first frame: 0 on the background, one value for each object. Segments with at least a quarter of
            their pixels on either side of an object's outline, or with more than half of an object, are cut along it.
            This frame is then not smoothed.

        Returns
        -------
        ids : array (H, W) int32
        """
        if self._next_is_first or self._sampler is None:
            return self._segment_first(self.start(frame, time, mask=mask), on_preview)
        if mask is not None:
            raise ValueError("a mask can be given with the first frame only")
        self._check_frame(frame)
        moment = check_time(time, self._sampler.time)
        if self.has_faded(moment):
            return self._segment_first(self._start(frame, moment), on_preview)
        with interrupt_afterwards():
            return self._segment_next(self._sampler, frame, moment)

    def _segment_next(self, sampler: Sampler, frame: npt.NDArray[np.uint8], time: float) -> npt.NDArray[np.int32]:
        reduced = reduce_frame(frame, self.scale, self._parameters.n_threads)
        with phase("tiles"):
            if self._tiles is None or self._tiles.shape != reduced.shape[:2]:
                self._tiles = Tiles(reduced, self.colour, 1, self._parameters.n_threads)
            else:
                self._tiles.fill(reduced)
            self._tiles.chroma_noise = self._parameters.chroma_noise
        with phase("motion"):
            finisher = Finisher(self._parameters, reduced, self._final)
            finisher.move_past(sampler)
        with phase("history and names"):
            sampler.update(self._tiles, time)
        with phase("final labels"):
            self._final = finisher.finish(sampler, self._tiles)
        with phase("ids"):
            return self.ids_

    def start(
        self,
        frame: npt.NDArray[np.uint8],
        time: float | None = None,
        every: int = 10,
        mask: npt.NDArray[Any] | None = None,
    ) -> Generator[Preview, None, None]:
        """Segment the first frame step by step, from coarse to fine; `ids_` is set when the iterator ends.

        Yields a preview every ``every`` sweeps. Closing the iterator early leaves the segmenter unchanged.
        """
        if not self._next_is_first:
            raise RuntimeError("the first frame has already been segmented: use segment")
        self._check_frame(frame)
        check_integer("every", every, 1)
        if mask is not None:
            check_mask(mask, frame.shape[:2])
        moment = check_time(time, None if self._sampler is None else self._sampler.time)
        yield from self._start(frame, moment, every, mask)

    def _start(
        self, frame: npt.NDArray[np.uint8], time: float, every: int = 10, mask: npt.NDArray[Any] | None = None
    ) -> Generator[Preview, None, None]:
        steps = segment_first(frame, self._parameters, time, every, mask, self._sampler)
        self._is_starting = True
        try:
            self._sampler, self._tiles = yield from steps
        finally:
            self._is_starting = False
        reduced = reduce_frame(frame, self.scale, self._parameters.n_threads)
        # Neighbours would absorb small objects that the segments have just been cut along.
        config = self._parameters if mask is None else self._parameters.changed(smoothing=0.0)
        self._final = Finisher(config, reduced).finish(self._sampler, self._tiles)
        self.shape_ = (int(frame.shape[0]), int(frame.shape[1]))
        self._next_is_first = False

    def _segment_first(
        self, steps: Generator[Preview, None, None], on_preview: Callable[[Preview], None] | None
    ) -> npt.NDArray[np.int32]:
        with closing(steps) as previews:
            for preview in previews:
                if on_preview is not None:
                    on_preview(preview)
        return self.ids_

    def has_faded(self, time: float) -> bool:
        """Return whether the past would be forgotten after a gap up to ``time``, so that a frame is like a first one.

        That is so if no segment has ten pixels left, weighted by age, and the last frame less than a sixteenth of its
        weight. The frame that follows the last one directly never is, however large ``decay`` is.
        """
        sampler = self._fitted()
        return time - sampler.time > 1.0 and sampler.has_faded(time)

    def restart(self) -> None:
        """Segment the next frame like a first one, as after a scene cut.

        All segments die and the new ones get new ids; the genealogy continues. The frame may have another size.
        """
        self._next_is_first = True

    # --- copies

    def copy(self) -> Self:
        """Return an independent segmenter that continues with identical results."""
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        # The iterator of `start` belongs to the original alone.
        return {**vars(self), "_is_starting": False}

    def restore(self, other: Self) -> None:
        """Take over the state of another segmenter, such as an earlier copy, which must not be used afterwards."""
        self.__dict__.update(other.__dict__)

    def transfer(self, time: float, shape: tuple[int, int]) -> Self:
        """Return a copy that continues with another video, as if its last frame had been this one's.

        Segments of the other video that match existing ones in colour and position keep their ids.

        Parameters
        ----------
        time : float
            Time of that last frame; all recorded times are shifted accordingly.
        shape : (int, int)
            Height and width of the other video's frames.
        """
        sampler = deepcopy(self._fitted())
        sampler.shift_time(time - sampler.time)
        resize_model(sampler, scaled_size(self._shape(), self.scale), scaled_size(shape, self.scale))
        other = copy(self)
        other._sampler, other._tiles, other._final, other.shape_ = sampler, None, None, shape
        if self._final is not None and shape == self._shape():
            # Once counted, the labels need the tiles no more.
            self._final.count_changes(self._tiles)
            other._final = replace(self._final)
        return other

    # --- manual moves, between two frames

    def merge(self, ids: Iterable[int]) -> int:
        """Merge segments from the next frame on; returns the id of the largest, which survives."""
        sampler = self._fitted()
        counts = sampler.state.total[:, :, 0].sum(axis=1)
        # Largest first: two small ones together may be larger than the largest.
        chosen = sorted(dict.fromkeys(map(int, ids)), key=lambda id: -counts[sampler.members(id)].sum())
        if len(chosen) < 2:
            raise ValueError("a merge takes at least two segments")
        largest, *others = chosen
        for other in others:
            sampler.merge(largest, other)
        return largest

    def split(self, id: int) -> int:
        """Split a segment from the next frame on; returns the new id.

        What has split off from it, but is not announced yet, is announced. If there is no such part, the two
        sub-clusters become segments.
        """
        new = self._fitted().split(int(id))
        if self._final is not None:
            self._final = self._final.released(int(id), self._tiles)
        return new

    def split_mask(self, id: int) -> npt.NDArray[np.bool_]:
        """Return the mask (H, W) of the pixels of the last frame that `split` would give the new id.

        If no part of the segment waits to be announced, each pixel goes to its more likely sub-cluster, as in a
        deterministic sweep. The mask is empty if a sub-cluster is empty or the segment is not visible.
        """
        tiles = self._last_tiles()
        part = smaller_half(self._fitted(), tiles, int(id))
        if self._final is not None:
            # Neighbours or the frame before may have given some of these pixels to another segment.
            part &= self._final.map_of(self._final.names, tiles.threads) == id
        return self._full_size(part)

    @property
    def locked_(self) -> frozenset[int]:
        return self._fitted().state.locked_owners

    @locked_.setter
    def locked_(self, ids: Iterable[int]) -> None:
        self._fitted().state.lock(ids)

    # --- results

    @property
    def model_(self) -> Mixture:
        return Mixture(self._fitted())

    @property
    def ids_(self) -> npt.NDArray[np.int32]:
        tiles = self._last_tiles()
        if self._final is None:
            return self._full_size(tiles.ids(self._fitted().announced_of))
        return self._full_size(self._final.map_of(self._final.names, tiles.threads))

    @property
    def events_(self) -> list[Event]:
        return self.model_.events_

    @property
    def log_posterior_(self) -> float:
        return self.model_.log_posterior_

    def uncertainty(self) -> npt.NDArray[np.float32]:
        """Return 1 - the posterior probability of each pixel's most likely segment, (H, W), for the last frame."""
        sampler = self._fitted()
        densities = mode_densities(sampler.posterior_component, sampler.state.total, float(self._parameters.alpha))
        state = sampler.state
        tiles = self._last_tiles()
        return self._full_size(tiles.uncertainty(densities.parameters, densities.log_weight, state.place))

    @property
    def statistics_(self) -> npt.NDArray[np.void]:
        sampler = self._fitted()
        current = None if self._final is None else self._final.statistics(sampler, self._tiles)
        return segment_statistics(sampler, self._shape(), self._last_colour(), current)

    def _repr_html_(self) -> str:
        if self._sampler is None:
            return segmenter_html(repr(self))
        ids = None if self._tiles is None else self.ids_
        return segmenter_html(repr(self), self.statistics_, ids, self._sampler.genealogy)

    # --- saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the segmenter to a model file. A loaded segmenter continues with identical results.

        ``threads`` is not saved: it depends on the machine.
        """
        video = {
            "colour": self.colour,
            "last_colour": self._last_colour(),
            "scale": self.scale,
            "detail": self.detail,
            "smoothing": self.smoothing,
            "steadiness": self.steadiness,
            "shape": self._shape(),
            "fresh": self._next_is_first,
        }
        final = None if self._final is None else self._final.state(self._tiles)
        persistence.save(path, self._fitted(), self._parameters, PIXEL_D, {"video": video}, final=final)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a segmenter that `save` has written."""
        sampler, meta, _, final = persistence.load(path)
        segmenter = cls()
        try:
            if "video" not in meta:
                raise ValueError("it is a model of points: use ScStream.load")
            video = meta["video"]
            # Files also name parameters that follow from others.
            given = {field.name for field in fields(VideoParameters) if field.init}
            segmenter._parameters = VideoParameters(
                **{name: value for name, value in vars(sampler.config).items() if name in given},
                colour=video["colour"],
                scale=video["scale"],
                detail=video.get("detail", 1.0),
                smoothing=video.get("smoothing", 0.0),
                steadiness=video.get("steadiness", 0.0),
            )
            sampler.config = segmenter._parameters.changed(colour=video.get("last_colour", video["colour"]))
            height, width = video["shape"]
            for name, value in (("height", height), ("width", width)):
                check_integer(name, value, 1, _MAX_SIDE)
            segmenter.shape_ = (height, width)
            segmenter._next_is_first = bool(video.get("fresh", False))
            segmenter._final = FinalLabels.from_state(final, segmenter.shape_)
            # The steadiness, which decides how fast frames are forgotten, is known only now.
            sampler.reweigh_history()
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ModelFileError(f"Cannot load '{path}': not a video model ({error})") from error
        segmenter._sampler = sampler
        return segmenter

    # --- helpers

    def _fitted(self) -> Sampler:
        if self._sampler is None:
            raise NotSegmentedError("no frame has been segmented yet")
        return self._sampler

    def _shape(self) -> tuple[int, int]:
        if self.shape_ is None:
            raise NotSegmentedError("no frame has been segmented yet")
        return self.shape_

    def _last_colour(self) -> str:
        """Colour space of the last frame; `colour` may be that of the next one, after a restart."""
        config = self._fitted().config
        assert isinstance(config, VideoParameters)
        return config.colour

    def _last_tiles(self) -> Tiles:
        if self._tiles is None:
            raise NotSegmentedError("no frame has been segmented since the segmenter was created or loaded")
        return self._tiles

    def _full_size(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return enlarge(picture, self._shape(), self._parameters.n_threads)

    def _check_frame(self, frame: Any) -> None:
        check_frame(frame)
        if not self._next_is_first and frame.shape[:2] != self.shape_:
            height, width = self._shape()
            raise ValueError(
                f"every frame must have the first one's size, {width} x {height}; "
                f"got {frame.shape[1]} x {frame.shape[0]}"
            )
