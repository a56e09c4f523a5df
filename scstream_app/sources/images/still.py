"""Base class of sources that read a still picture for every index: image sequences and TIFF stacks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from scstream_app.errors import SourceError
from scstream_app.plural import counted
from scstream_app.render.image_types import Picture
from scstream_app.sources.base import DamagedFrame, Frame, Source, check_seekable
from scstream_app.sources.images.intensity import Planes, has_data, is_deep, measure_ranges, sampled_frames, to_rgb
from scstream_app.sources.images.options import ImageOptions, Ranges, range_text

#: Frame rate of images, which state none.
IMAGE_RATE = 24.0


class StillSource(Source):
    """Frames that are read independently of each other, and converted to RGB with one range for all of them.

    A frame whose values are all NaN has no data and counts as damaged.

    A subclass sets ``name``, ``address`` and ``length``, then calls `_describe`.
    """

    length: int

    @abstractmethod
    def _planes(self, index: int) -> Planes:
        """Channels of a frame; raises SourceError if it cannot be read."""

    def _describe(self, options: ImageOptions) -> None:
        """Determine the size, the rate and the range of values."""
        self.rate = IMAGE_RATE if options.rate is None else options.rate
        self.duration = self.length / self.rate
        self._next = 0
        self._closed = False
        first = self._first_planes()
        self._ranges = self._chosen_ranges(first, options.ranges)
        deep = options.ranges is not None or is_deep(first)
        self.reading = replace(options, ranges=self._ranges if deep else None).text()
        self.height, self.width = to_rgb(first, self._ranges).shape[:2]

    def _first_planes(self) -> Planes:
        """Channels of the first frame that can be read."""
        failure: SourceError | None = None
        for index in range(self.length):
            try:
                return self._planes(index)
            except SourceError as error:
                failure = failure or error
        assert failure is not None
        raise failure

    def _chosen_ranges(self, first: Planes, given: Ranges | None) -> Ranges:
        if given is None:
            return self._measured_ranges() if is_deep(first) else ()
        if len(given) == 1:
            return given * len(first)
        if given and len(given) != len(first):
            channels = counted(len(first), "channel")
            raise SourceError(f"Cannot open '{self.name}': it has {channels}, but {len(given)} ranges are given.")
        return given

    def _measured_ranges(self) -> Ranges:
        ranges = measure_ranges(self._sample())
        self.notes += (
            f"Values from {range_text(ranges).replace(':', ' to ').replace(',', ', ')} are shown as black to white.",
        )
        self.adjustable += ("range",)
        return ranges

    def _sample(self) -> Iterator[Planes]:
        for index in sampled_frames(self.length):
            try:
                yield self._planes(index)
            except SourceError:
                continue

    def read(self) -> Frame | None:
        """See `Source`."""
        index = self._next
        if self._closed or index >= self.length:
            return None
        try:
            rgb = self._picture(index)
        except SourceError as error:
            self._check_there(index, error)
            self._next += 1
            raise DamagedFrame(str(error), index) from error
        self._next += 1
        return Frame(index, index / self.rate, rgb)

    def _picture(self, index: int) -> Picture:
        planes = self._planes(index)
        if not has_data(planes):
            # Drawn in black, it would end all segments as a scene cut does.
            raise SourceError(f"it has no data: all values of frame {index} of '{self.name}' are NaN.")
        return to_rgb(planes, self._ranges)

    def _check_there(self, index: int, error: SourceError) -> None:
        """Raise `SourceError` if all frames are missing, not only this one."""
        return

    def seek(self, index: int) -> None:
        """See `Source`."""
        check_seekable(self, index)
        self._next = index

    def close(self) -> None:
        """See `Source`."""
        self._closed = True
