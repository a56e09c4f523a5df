"""One export: the user's options, together with size, rate, names and objects of the clip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.export.options import ExportOptions, file_stem, matches_pattern, require
from scstream_app.objects import MarkedObject
from scstream_app.objects.tracking.outline import soft_edges
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views
from scstream_app.render.image_types import IdMap, Picture
from scstream_app.render.palette import RGB, Colouring


@dataclass(frozen=True, slots=True)
class Job:
    """What every writer of one export needs to know.

    Parameters
    ----------
    width, height : int
        Size of the source's frames in pixels.
    rate : float
        Frames per second of the source.
    options : ExportOptions
    remove_stale : bool
        With ``overwrite="replace"``: whether to remove images of an earlier export that this one does not write again.
        False if this export covers only part of the frames.
    names : mapping of id to str
    colours : mapping of id to RGB
        Segments with a user-defined colour.
    hidden : frozenset of int
        Segments that the overlay does not tint.
    objects : tuple of MarkedObject
        The objects whose masks the results hold, in the same order.
    file_names : sequence of str
        File names of the source's frames, by index, if it is an image sequence.
    """

    width: int
    height: int
    rate: float
    options: ExportOptions = field(default_factory=ExportOptions)
    remove_stale: bool = True
    names: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[int, RGB] = field(default_factory=lambda: MappingProxyType({}))
    hidden: frozenset[int] = frozenset()
    objects: tuple[MarkedObject, ...] = ()
    file_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        require(self.width >= 1 and self.height >= 1, f"a size of {self.width} x {self.height} holds no picture")
        require(0.0 < self.rate < math.inf, f"rate must be a positive number of frames a second, got {self.rate}")
        self.options.check()
        view = self.options.opaque_view
        require(
            "mask" not in views.view(view).needs or bool(self.objects),
            f"the view '{view}' needs an object, and none is given",
        )

    def with_options(self, **changes: Any) -> Self:
        """A copy with some of the options changed."""
        return replace(self, options=replace(self.options, **changes))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the output."""
        scale = self.options.scale
        return max(1, round(self.height * scale)), max(1, round(self.width * scale))

    @property
    def colouring(self) -> Colouring:
        """The colours of the overlay."""
        return Colouring(self.options.palette, self.colours, self.hidden)

    def stem(self, result: FrameResult, name: str) -> str:
        """The file name of a frame's image, without suffix."""
        return file_stem(self.options.pattern, result.index, result.time, name)

    def file_name(self, result: FrameResult) -> str:
        """The name of the frame's picture: the source's own file or, if there is none, that of the format "frames"."""
        if result.index < len(self.file_names):
            return self.file_names[result.index]
        return f"{self.stem(result, 'frames')}.png"

    def matches_pattern(self, stem: str) -> bool:
        """Whether this job could write an image with this name, for any frame, time and name."""
        return matches_pattern(self.options.pattern, stem)

    def ids(self, result: FrameResult) -> IdMap:
        """The frame's ids at the size of the output."""
        return result.ids if result.ids.shape == self.shape else result.ids[self._centres]

    def numbers(self, result: FrameResult) -> npt.NDArray[np.uint8]:
        """The frame's objects at the size of the output: 1 on the first one, 2 on the second, ..., 0 elsewhere."""
        if result.objects is None:
            raise ValueError(f"frame {result.index} has no masks of objects")
        numbers = result.objects.numbers
        return numbers if numbers.shape == self.shape else numbers[self._centres]

    def tracks(self, result: FrameResult) -> IdMap:
        """The frame's tracks at the size of the output: places of objects or, if there are none, ids; -1 elsewhere."""
        if self.objects:
            return self.numbers(result).astype(np.int32) - 1
        return np.maximum(self.ids(result), -1)

    def track_name(self, track: int) -> str:
        """The name of an object or segment; "segment N" if the user gave it none."""
        return self.objects[track].name if self.objects else self.names.get(track, f"segment {track}")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of tracks, for annotations: the objects or, if there are none, the only class "segment"."""
        return tuple(one.name for one in self.objects) or ("segment",)

    def class_of(self, track: int) -> int:
        """The place of a track's class in `classes`."""
        return track if self.objects else 0

    @property
    def _centres(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows (h, 1) and columns (w,) of the input pixels at the centres of the output pixels."""
        height, width = self.shape
        return _centres(self.height, height)[:, None], _centres(self.width, width)

    def mask(self, result: FrameResult) -> views.Mask:
        """Mask at the size of the output: 255 on all objects, else 0."""
        return views.all_objects(self.numbers(result))

    def alpha(self, result: FrameResult) -> views.Mask:
        """Opacity of the objects at the size of the output: their mask, with soft edges if the options ask for them."""
        mask = self.mask(result)
        if not self.options.soft_edges:
            return mask
        return np.asarray(np.rint(255.0 * soft_edges(mask > 0, self.picture(result))), np.uint8)

    def picture(self, result: FrameResult) -> Picture:
        """The frame's RGB picture at the size of the output."""
        height, width = self.shape
        rgb = result.picture
        if rgb.shape[:2] == (height, width):
            return rgb
        interpolation = cv2.INTER_AREA if self.options.scale < 1.0 else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(rgb, (width, height), interpolation=interpolation), np.uint8)

    def scene(self, result: FrameResult) -> views.Scene:
        """The scene from which views are drawn, at the size of the output."""
        return views.Scene(
            self.picture(result),
            self.ids(result),
            mask=None if result.objects is None else self.mask(result),
            opacity=self.options.opacity,
            colouring=self.colouring,
        )


def _centres(n: int, scaled: int) -> npt.NDArray[np.intp]:
    """For each of ``scaled`` output pixels, the index of the input pixel (of ``n``) at its centre."""
    return np.asarray((2 * np.arange(scaled) + 1) * n // (2 * scaled), np.intp)
