"""The thing inside a box, by GrabCut."""

from __future__ import annotations

import cv2
import numpy as np

from scstream_app.objects.edits import Mask
from scstream_app.objects.tracking.working_frame import working_size
from scstream_app.render.image_types import Picture, resized

_ROUNDS = 5


def box_mask(picture: Picture, box: tuple[int, int, int, int]) -> Mask:
    """Mask (H, W) of the thing that a box (left, top, width, height) encloses; the whole box if nothing stands out."""
    left, top, width, height = box
    inside = np.zeros(picture.shape[:2], np.uint8)
    inside[top : top + height, left : left + width] = 1
    size = working_size(picture.shape[0], picture.shape[1])
    small = resized(picture, size)
    labels = np.where(resized(255 * inside, size) > 127, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    if len(np.unique(labels)) < 2:
        return inside > 0
    # OpenCV draws its starting colours at random.
    cv2.setRNGSeed(0)
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(small, labels, (0, 0, 0, 0), background, foreground, _ROUNDS, cv2.GC_INIT_WITH_MASK)
    found = np.isin(labels, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8) * 255
    mask = (resized(found, (picture.shape[0], picture.shape[1])) > 127) & (inside > 0)
    return np.asarray(mask if mask.any() else inside > 0)
