"""Read masks of objects from image files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scstream_app.errors import SourceError, reason
from scstream_app.render.label_images import read_label_image

Masks = npt.NDArray[np.uint8]


class Frames(Protocol):
    """Name and size of frames: a source, or facts about one."""

    @property
    def name(self) -> str:
        """Name of the source."""

    @property
    def width(self) -> int:
        """Width in pixels."""

    @property
    def height(self) -> int:
        """Height in pixels."""


def read_masks(path: Path, source: Frames, may_be_empty: bool = False) -> Masks:
    """Read a mask of a frame: 0 is background, every other value is one object; see `LabelImage.objects`."""
    try:
        still = read_label_image(path)
    except OSError as error:
        raise SourceError(f"Cannot open '{path}': {reason(error)}.") from error
    height, width = still.values.shape[:2]
    if (height, width) != (source.height, source.width):
        raise SourceError(
            f"Cannot use '{path}': it is {width} x {height}, "
            f"the frames of '{source.name}' are {source.width} x {source.height}."
        )
    labels = still.objects()
    if not labels.any() and not may_be_empty:
        raise SourceError(f"Cannot use '{path}': the mask is empty.")
    if labels.max() > 255:
        raise SourceError(
            f"Cannot use '{path}': it has {labels.max()} colours; a mask has one colour per object. "
            "Save it as PNG: JPEG compression adds colours."
        )
    return labels.astype(np.uint8)
