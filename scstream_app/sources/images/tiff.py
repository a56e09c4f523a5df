"""Read the frames of a TIFF file one at a time: time series, z-stacks, channels and plain pages."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tifffile

from scstream_app.errors import SourceError, reason
from scstream_app.sources.images.intensity import Plane, Planes
from scstream_app.sources.images.tiff_directories import count_pages

# Damage is reported as an exception; tifffile prints warnings besides.
logging.getLogger("tifffile").setLevel(logging.CRITICAL)

#: Largest number of values of a plane: a damaged file may claim any size.
_MOST_VALUES = 1 << 28
#: Turns and flips of the TIFF orientation tag: (transposed, flipped rows, flipped columns).
_ORIENTATIONS = {
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}
_PLAIN = (tifffile.PHOTOMETRIC.MINISBLACK, tifffile.PHOTOMETRIC.MINISWHITE, tifffile.PHOTOMETRIC.RGB)


class TiffFrames:
    """Frames of a TIFF file.

    The file's axes say what its pages are (OME-TIFF, ImageJ, LSM, and others that tifffile knows). T is time; without
    T, Z is; without both, the pages in order are. A file with T and Z shows the maximum over Z, or one plane of it. C
    are channels. Without a description every page is a frame, and pages may differ in size.

    Parameters
    ----------
    path : Path
    plane : int or None
        Plane of Z to show; None for the maximum.
    projected : bool
        Whether the file is one frame: then Z is never time.

    Attributes
    ----------
    length : int
        Number of frames.
    notes : tuple of str
        What the user should know about the choice of axes.
    adjustable : tuple of str
        Options of images that change what the notes say.
    """

    def __init__(self, path: Path, plane: int | None = None, projected: bool = False) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()
        self.adjustable: tuple[str, ...] = ()
        with _reporting(path):
            self._file = tifffile.TiffFile(path)
        try:
            with _reporting(path):
                self._count, whole = count_pages(path)
                if not self._count:
                    raise ValueError("it contains no image")
                if not whole:
                    self.notes += (f"'{path.name}' is damaged or truncated after page {self._count}.",)
                self._series = self._described_series(whole)
                if self._series is None:
                    self._arrange_pages(plane, projected)
                else:
                    self._arrange_series(self._series, plane, projected)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; closing again has no effect."""
        self._file.close()

    # --- which pages belong to a frame

    def _described_series(self, whole: bool) -> Any:
        """The first series of a file that describes its axes; None for plain pages."""
        try:
            series = self._file.series
        except Exception:
            # Pages before the damage can still be read one by one.
            if whole:
                raise
            series = []
        if series and series[0].kind not in ("generic", "uniform"):
            if len(series) > 1:
                self.notes += (f"'{self.path.name}' contains {len(series)} images or series: the first is used.",)
            return series[0]
        # The file now takes all pages for copies of the first one; pages may differ in size.
        self._file.close()
        self._file = tifffile.TiffFile(self.path)
        return None

    def _arrange_pages(self, plane: int | None, projected: bool) -> None:
        """Every page is a frame, or a plane of the only frame."""
        pages = list(range(self._count))
        if any(self._page(number).is_reduced for number in pages[:2]):
            # Small copies of the image, not frames.
            pages = [number for number in pages if not self._page(number).is_reduced]
        planes = self._depth(len(pages) if projected else 1, plane)
        self.length = 1 if projected else len(pages)
        self._numbers = np.array([[[pages[z]] for z in planes]] if projected else [[[page]] for page in pages])

    def _arrange_series(self, series: Any, plane: int | None, projected: bool) -> None:
        """Table of pages (frame, plane, channel) from the axes of the series."""
        axes, shape = series.axes, series.shape
        inner = series.keyframe.axes
        if inner not in ("YX", "YXS", "SYX") or not axes.endswith(inner):
            raise ValueError(f"its axes {axes} are not supported")
        axes, shape = axes.removesuffix(inner), shape[: len(axes) - len(inner)]
        numbers = np.arange(prod(shape)).reshape(shape)
        time = _time_axes(axes, projected)
        depth = _depth_axes(axes, time, projected)
        channels = "C" if "C" in axes and inner == "YX" else ""
        for axis in axes:
            if axis not in time + depth + channels:
                place = axes.index(axis)
                self.notes += (f"'{self.path.name}' has the axis {axis} of {shape[place]}: the first is used.",)
                numbers, axes = numbers.take(0, place), axes.replace(axis, "", 1)
                shape = numbers.shape
        parts = [[place for place, axis in enumerate(axes) if axis in part] for part in (time, depth, channels)]
        sizes = [prod(shape[place] for place in part) for part in parts]
        table = numbers.transpose([place for part in parts for place in part]).reshape(sizes)
        table = table[:, self._depth(sizes[1], plane)]
        self.length, self._numbers = self._whole_frames(series, table), table

    def _depth(self, count: int, plane: int | None) -> list[int]:
        if plane is None:
            if count > 1:
                self.notes += (f"'{self.path.name}' has {count} planes per frame: the maximum over them is shown.",)
                self.adjustable += ("plane",)
            return list(range(count))
        if plane >= count:
            held = f"it has the planes 0 to {count - 1}" if count > 1 else "its frames have one plane, number 0"
            raise SourceError(f"Cannot open '{self.path}' at plane {plane}: {held}.")
        return [plane]

    def _whole_frames(self, series: Any, table: Any) -> int:
        """Number of frames; those beyond the end of a contiguous file are left out."""
        claimed = len(table)
        if series.dataoffset is None:
            return claimed
        size = self._file.filehandle.size - series.dataoffset
        present = size // max(series.keyframe.nbytes, 1)
        missing = (table >= present).reshape(claimed, -1).any(axis=1)
        whole = int(missing.argmax()) if missing.any() else claimed
        if whole == claimed:
            return claimed
        if not whole:
            raise ValueError("it is truncated before the end of its first frame")
        self.notes += (f"'{self.path.name}' is truncated: {whole} of its {claimed} frames are there.",)
        return whole

    # --- reading

    def planes(self, index: int) -> Planes:
        """Channels of a frame: one (H, W) or (H, W, 3), or several (H, W). Raises SourceError if it is damaged."""
        with _reporting(self.path, f"Cannot read frame {index} of"):
            return [self._projected(numbers) for numbers in self._numbers[index].T]

    def _projected(self, numbers: Any) -> Plane:
        """Maximum over the planes of a channel; NaN counts only if all values are NaN."""
        most = self._values(int(numbers[0]))
        for number in numbers[1:]:
            most = np.fmax(most, self._values(int(number)))
        return most

    def _page(self, number: int) -> Any:
        if self._series is None:
            return self._file.pages[number]
        return self._series[number]

    def _values(self, number: int) -> Plane:
        series = self._series
        if series is not None and series.dataoffset is not None and self._numbers.size > 1:
            return _upright(self._contiguous(series, number), series.keyframe)
        page = self._page(number)
        if page is None:
            raise ValueError("the page is missing")
        key = page.keyframe
        _check_values(key)
        if self._numbers.size == 1 and key.dtype == np.uint8:
            return _decoded_picture(self.path)
        if key.photometric not in _PLAIN:
            return self._by_opencv(page)
        try:
            values = page.asarray()
        except (ImportError, ValueError, KeyError) as error:
            # tifffile decodes most compressions only with the package imagecodecs.
            if "imagecodecs" not in str(error):
                raise
            return self._by_opencv(page)
        return _upright(values, key)

    def _contiguous(self, series: Any, number: int) -> Plane:
        """Read a plane of an uncompressed file, also if the file describes only its first plane."""
        key = series.keyframe
        _check_values(key)
        kind = key.dtype.newbyteorder(self._file.byteorder)
        values = np.fromfile(self.path, kind, prod(key.shape), offset=series.dataoffset + number * key.nbytes)
        if values.size < prod(key.shape):
            raise ValueError("the file is truncated")
        return values.reshape(key.shape).astype(key.dtype)

    def _by_opencv(self, page: Any) -> Plane:
        """Decode palettes, CMYK, and compressions that tifffile cannot decode alone."""
        flags = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH
        path, place = page.parent.filehandle.path, page.index
        if page.keyframe.photometric in _PLAIN and page.keyframe.samplesperpixel == 1:
            flags = cv2.IMREAD_ANYDEPTH
        done, found = cv2.imreadmulti(path, start=place, count=1, flags=flags)
        if not done or not found:
            raise ValueError("the page is damaged, or its compression is not supported")
        values = found[0]
        return np.ascontiguousarray(values[..., ::-1]) if values.ndim == 3 else values


def _decoded_picture(path: Path) -> Plane:
    """Decode the only page of a file with OpenCV, which knows all variants of 8-bit pictures."""
    decoded = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise ValueError("the picture is damaged, or its compression is not supported")
    return np.ascontiguousarray(decoded[..., ::-1])


def _time_axes(axes: str, projected: bool) -> str:
    """The axes that are time; more than one only if none is T or Z."""
    if projected:
        return ""
    for axis in "TZ":
        if axis in axes:
            return axis
    return axes.replace("C", "")


def _depth_axes(axes: str, time: str, projected: bool) -> str:
    """The axes over which the maximum is taken."""
    if projected:
        return axes.replace("C", "").replace("T", "")
    return "Z" if "Z" in axes and "Z" not in time else ""


def _check_values(key: Any) -> None:
    if not 0 < prod(key.shape) <= _MOST_VALUES:
        raise ValueError(f"it claims a size of {key.imagewidth} x {key.imagelength}")
    if key.dtype is None or key.dtype.kind not in "biuf":
        raise ValueError(f"values of type {key.dtype} are not supported")


def _upright(values: Plane, key: Any) -> Plane:
    """The values as (H, W) or (H, W, 3), with 0 as black, turned according to the orientation tag."""
    if key.axes == "SYX":
        values = np.moveaxis(values, 0, -1)
    if values.ndim == 3:
        # Grey with transparency, or RGB with or without; other samples are not known.
        values = values[..., 0] if values.shape[2] < 3 else values[..., :3]
    if key.photometric == tifffile.PHOTOMETRIC.MINISWHITE and values.dtype.kind in "bu":
        values = np.invert(values)
    tag = key.tags.get("Orientation")
    transposed, rows, columns = _ORIENTATIONS.get(0 if tag is None else tag.value, (False, False, False))
    if transposed:
        values = values.swapaxes(0, 1)
    return values[:: -1 if rows else 1, :: -1 if columns else 1]


@contextmanager
def _reporting(path: Path, what: str = "Cannot open") -> Iterator[None]:
    """Convert exceptions to a SourceError that names the file; tifffile raises many kinds for a damaged file."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        hint = "" if isinstance(error, OSError) else " Is it a whole TIFF file?"
        raise SourceError(f"{what} '{path}': {reason(error)}.{hint}") from error
