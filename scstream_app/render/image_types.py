"""Array types of pictures and id maps, and resizing."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

#: RGB (H, W, 3), or a mask (H, W).
Picture = npt.NDArray[np.uint8]
#: Segment id of every pixel (H, W).
IdMap = npt.NDArray[np.int32]
#: Height and width.
Size = tuple[int, int]


def size_of(picture: Picture) -> Size:
    """Height and width of a picture."""
    return picture.shape[0], picture.shape[1]


def resized(rgb: Picture, size: Size) -> Picture:
    """Resize a picture to the given height and width; returned as it is if it has that size.

    >>> resized(np.zeros((4, 6, 3), np.uint8), (2, 3)).shape
    (2, 3, 3)
    """
    if size_of(rgb) == size:
        return rgb
    smaller = size[0] * size[1] < rgb.shape[0] * rgb.shape[1]
    method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(rgb, (size[1], size[0]), interpolation=method), np.uint8)
