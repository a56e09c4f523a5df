"""Labels of 16 bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream_app.render.image_types import IdMap

#: Largest label of 16 bits, and the largest id with such a label: labels are id + 1.
LARGEST_LABEL = 2**16 - 1
LARGEST_ID = LARGEST_LABEL - 1


def sixteen_bits(labels: IdMap) -> npt.NDArray[np.uint16]:
    """Labels (id + 1, 0 for no segment) of 16 bits; raises ValueError if an id does not fit."""
    largest = int(labels.max()) - 1
    if largest > LARGEST_ID:
        raise ValueError(f"id {largest} does not fit into 16 bits (at most {LARGEST_ID})")
    return labels.astype(np.uint16)
