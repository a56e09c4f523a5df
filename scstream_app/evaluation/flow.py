"""Dense optical flow between consecutive pictures, forward and backward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import cv2
import numpy as np

from scstream.metrics import Flow
from scstream_app.errors import EvaluationError
from scstream_app.render.image_types import Picture

#: OpenCV refuses smaller pictures.
_SMALLEST_SIDE = 12


def flow_both_ways(pictures: Iterable[Picture]) -> Iterator[tuple[Flow, Flow]]:
    """Yield the flow from each picture to the next one, and back, by the method DIS in its preset "medium".

    A flow (H, W, 2) holds the motion along columns and rows in pixels, as `scstream.metrics.kept_along_flow` takes it.
    """
    method = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    before = None
    for picture in pictures:
        if min(picture.shape[:2]) < _SMALLEST_SIDE:
            raise EvaluationError(
                f"Cannot follow the motion: the pictures have {picture.shape[1]} x {picture.shape[0]} pixels, and "
                f"{_SMALLEST_SIDE} x {_SMALLEST_SIDE} are needed."
            )
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        if before is not None:
            yield _flow(method, before, grey), _flow(method, grey, before)
        before = grey


def _flow(method: cv2.DISOpticalFlow, first: cv2.typing.MatLike, second: cv2.typing.MatLike) -> Flow:
    # Without an array for the result OpenCV makes one, and estimates the flow anew.
    no_array: np.ndarray = None  # type: ignore[assignment]
    return np.asarray(method.calc(first, second, no_array), np.float32)
