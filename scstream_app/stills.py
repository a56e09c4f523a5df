"""Single images that hold values rather than colours: masks and maps of ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import numpy.typing as npt


def read_values(path: Path) -> npt.NDArray[Any]:
    """The image (H, W) or (H, W, channels) as it is stored; of an indexed one the indices, not the colours.

    Raises OSError if it cannot be read.
    """
    try:
        file: Any
        with iio.imopen(path, "r", plugin="pillow") as file:
            indexed = file.metadata().get("mode") == "P"
            values = np.asarray(file.read(index=0, mode="P" if indexed else None))
    except (ValueError, TypeError, SyntaxError) as error:
        raise OSError(f"{error}") from error
    return values
