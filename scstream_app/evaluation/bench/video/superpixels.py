"""Superpixels of single frames by other libraries, with ids that are carried from frame to frame by overlap.

Each method gets about the same number of superpixels as ScStream finds segments in the first frame, the settings that
its documentation recommends, and the picture in the colour space that it recommends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from scstream.metrics.id_maps import compact
from scstream_app.render.image_types import Picture

Labels = npt.NDArray[np.int32]
#: Labels of the superpixels of a picture, from 0 on.
Segmenter = Callable[[Picture], npt.NDArray[Any]]

_COMPACTNESS, _ITERATIONS = 10.0, 10


class OverlapIds:
    """Carries ids from one frame to the next.

    Superpixels of two frames are paired so that the overlap of all pairs together is largest. A superpixel gets the id
    of its partner; one without a partner, or without overlap with it, gets a new id.
    """

    def __init__(self) -> None:
        self._ids: Labels | None = None
        self._next = 0

    def carry(self, labels: npt.NDArray[Any]) -> Labels:
        """The ids of the next frame's superpixels."""
        from scipy.optimize import linear_sum_assignment

        present, code, _ = compact(labels)
        id_of = np.full(present.size, -1, np.int32)
        if self._ids is not None:
            old, old_code, _ = compact(self._ids)
            overlap = np.bincount((old_code * present.size + code).ravel(), minlength=old.size * present.size).reshape(
                old.size, present.size
            )
            rows, columns = linear_sum_assignment(overlap, maximize=True)
            touching = overlap[rows, columns] > 0
            id_of[columns[touching]] = old[rows[touching]]
        new = np.flatnonzero(id_of < 0)
        id_of[new] = self._next + np.arange(new.size)
        self._next += new.size
        self._ids = id_of[code]
        return self._ids


def skimage_slic(n_segments: int, threads: int) -> Segmenter:
    """SLIC of scikit-image, which converts to Lab itself and runs on one thread."""
    from skimage.segmentation import slic

    def segment(picture: Picture) -> npt.NDArray[Any]:
        labels = slic(picture, n_segments=n_segments, compactness=_COMPACTNESS, start_label=0, channel_axis=-1)
        return np.asarray(labels)

    return segment


def fast_slic(n_segments: int, threads: int) -> Segmenter:
    """SLIC of fast-slic in its fastest form for this processor; it converts to Lab itself."""
    import fast_slic

    if "x64/avx2" in fast_slic.supported_archs:
        from fast_slic.avx2 import SlicAvx2 as Slic
    else:
        from fast_slic import Slic

    def segment(picture: Picture) -> npt.NDArray[Any]:
        # A model that continues from the last frame numbers its superpixels anew, so there is no gain in keeping it.
        model = Slic(num_components=n_segments, compactness=_COMPACTNESS, num_threads=threads)
        return np.asarray(model.iterate(np.ascontiguousarray(picture), max_iter=_ITERATIONS))

    return segment


def opencv_slic(n_segments: int, threads: int) -> Segmenter:
    """SLIC of OpenCV on the slightly blurred picture in Lab."""

    def make(lab: Picture, side: int) -> Any:
        return _ximgproc().createSuperpixelSLIC(lab, _ximgproc().SLIC, side, _COMPACTNESS)

    return _opencv_grown(make, n_segments, threads)


def opencv_lsc(n_segments: int, threads: int) -> Segmenter:
    """LSC of OpenCV on the slightly blurred picture in Lab."""

    def make(lab: Picture, side: int) -> Any:
        return _ximgproc().createSuperpixelLSC(lab, side, 0.075)

    return _opencv_grown(make, n_segments, threads)


def _opencv_grown(make: Callable[[Picture, int], Any], n_segments: int, threads: int) -> Segmenter:
    def segment(picture: Picture) -> npt.NDArray[Any]:
        cv2.setNumThreads(threads)
        lab = cv2.cvtColor(cv2.GaussianBlur(picture, (3, 3), 0), cv2.COLOR_RGB2LAB)
        side = max(2, round((lab.shape[0] * lab.shape[1] / n_segments) ** 0.5))
        method = make(np.asarray(lab, np.uint8), side)
        method.iterate(_ITERATIONS)
        method.enforceLabelConnectivity(25)
        return np.asarray(method.getLabels())

    return segment


def opencv_seeds(n_segments: int, threads: int) -> Segmenter:
    """SEEDS of OpenCV on the picture in HSV; the levels of its blocks allow fewer superpixels than asked for."""
    method: Any = None

    def segment(picture: Picture) -> npt.NDArray[Any]:
        nonlocal method
        cv2.setNumThreads(threads)
        height, width = picture.shape[:2]
        if method is None:
            method = _ximgproc().createSuperpixelSEEDS(width, height, 3, n_segments, 4, 2, 5, False)
        method.iterate(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV), _ITERATIONS)
        return np.asarray(method.getLabels())

    return segment


def _ximgproc() -> Any:
    """The module of the wheels with OpenCV's extra modules; None in others."""
    return getattr(cv2, "ximgproc", None)


def missing_skimage() -> str | None:
    """Why scikit-image cannot be used; None if it can."""
    return _missing("skimage.segmentation", "scikit-image is not installed: pip install 'scstream-studio[bench]'")


def missing_fast_slic() -> str | None:
    """Why fast-slic cannot be used; None if it can."""
    return _missing("fast_slic", "fast-slic is not installed: pip install fast-slic (its build needs Cython before 3)")


def missing_ximgproc() -> str | None:
    """Why OpenCV's superpixels cannot be used; None if they can."""
    if _ximgproc() is not None:
        return None
    return "the installed OpenCV has no module ximgproc, which opencv-contrib-python-headless has"


def _missing(module: str, message: str) -> str | None:
    from importlib import import_module

    try:
        import_module(module)
    except ImportError as error:
        return message if isinstance(error, ModuleNotFoundError) else f"{message} ({error})"
    return None
