"""The program's colours as colormaps of napari."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scstream_app.render.palette import RGB, Colouring

if TYPE_CHECKING:
    from napari.utils import Colormap
    from napari.utils.colormaps import CyclicLabelColormap

#: Most labels with a colour of their own; later ones repeat the colours. napari cannot draw more, with the background.
MOST = 2**16 - 2


def label_colours(colouring: Colouring, count: int) -> CyclicLabelColormap:
    """Colormap of labels 1 to ``count``, in which label id + 1 has the colour of the id; hidden ids are transparent."""
    from napari.utils.colormaps import CyclicLabelColormap

    count = min(max(count, 1), MOST)
    table = np.zeros((count + 1, 4), np.float32)
    table[1:, :3] = colouring.table(count) / 255.0
    table[1:, 3] = 1.0
    table[[id + 1 for id in colouring.hidden if id < count], 3] = 0.0
    return CyclicLabelColormap(name="ScStream", display_name="ScStream", colors=table, background_value=0)


def object_colours(colours: Sequence[RGB]) -> CyclicLabelColormap:
    """Colormap of objects, of which the first has label 1."""
    return label_colours(Colouring(own=dict(enumerate(colours))), len(colours))


def track_colours(colouring: Colouring, labels: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], Colormap]:
    """A property of tracks, from 0 to 1, and the colormap that gives it the colours of these labels."""
    from napari.utils import Colormap

    first, count = int(labels.min()), int(np.ptp(labels)) + 1
    table = colouring.table(first + count - 1)[first - 1 :] / 255.0
    opaque = np.concatenate([table, np.ones((count, 1))], axis=1)
    bins = np.linspace(0.0, 1.0, count + 1)
    return (labels - first + 0.5) / count, Colormap(opaque, name="ScStream", controls=bins, interpolation="zero")
