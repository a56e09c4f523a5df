"""FrameStack: an array of frames that are read when napari shows them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from scstream_app.errors import StudioError

Array = npt.NDArray[Any]

#: Number of frames that a stack keeps in memory.
CACHED = 8


class FrameStack:
    """Array-like of shape (frames, ...) whose frames are read one by one, as far as they are asked for.

    It has what napari needs of an array: a shape, a data type, indexing, and conversion by `numpy.asarray`. A frame
    that cannot be read is 0 everywhere, and reported once.

    Parameters
    ----------
    read : callable
        Returns the frame at a position; may raise `StudioError`.
    shape : tuple of int
    dtype
    report : callable
        Called with the message about a frame that cannot be read; possibly not on the main thread.

    Examples
    --------
    >>> stack = FrameStack(lambda place: np.full((2, 3), place), (5, 2, 3), np.int32, print)
    >>> stack[4, 0].tolist(), stack[1:3, 0, 0].tolist(), np.asarray(stack).shape
    ([4, 4, 4], [1, 2], (5, 2, 3))
    """

    def __init__(
        self, read: Callable[[int], Array], shape: tuple[int, ...], dtype: npt.DTypeLike, report: Callable[[str], None]
    ) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._read, self._report = read, report
        self._kept: OrderedDict[int, Array] = OrderedDict()
        self._unreadable: set[int] = set()
        # napari may slice on a thread of its own.
        self._lock = threading.Lock()

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Size in bytes, if all of it were read."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        first, rest = self._divided(key)
        places = np.arange(len(self))[first]
        if np.ndim(places) == 0:
            return np.asarray(self._frame(int(places))[rest])
        frames = [self._frame(int(place))[rest] for place in places]
        return np.stack(frames) if frames else np.zeros((0, *self.shape[1:]), self.dtype)[(slice(None), *rest)]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return self[:].astype(dtype or self.dtype, copy=False)

    def _divided(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        """The index along the first axis, and the indices within a frame."""
        keys = key if isinstance(key, tuple) else (key,)
        gap = next((place for place, one in enumerate(keys) if one is Ellipsis), len(keys))
        missing = self.ndim - len(keys) + (gap < len(keys))
        keys = (*keys[:gap], *[slice(None)] * missing, *keys[gap + 1 :])
        return keys[0], keys[1:]

    def _frame(self, place: int) -> Array:
        with self._lock:
            if place not in self._kept:
                self._kept[place] = self._read_or_report(place)
                if len(self._kept) > CACHED:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(place)
            return self._kept[place]

    def _read_or_report(self, place: int) -> Array:
        try:
            return np.asarray(self._read(place), self.dtype)
        except StudioError as error:
            if place not in self._unreadable:
                self._unreadable.add(place)
                self._report(str(error))
            return np.zeros(self.shape[1:], self.dtype)
