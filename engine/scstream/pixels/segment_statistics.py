"""Statistics of the live segments of a frame, from the sampler that segmented it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream.components import Gaussian
from scstream.components.base import Array
from scstream.pixels.colour import to_public_axes, to_rgb
from scstream.pixels.statistics import STATISTICS, scale_covariance
from scstream.sampler.sampler import Sampler


def segment_statistics(
    sampler: Sampler, shape: tuple[int, int], colour: str, current: Array | None = None
) -> npt.NDArray[np.void]:
    """Return the rows of `VideoSegmenter.statistics_` for frames of a shape (H, W) in a colour space.

    ``current`` (K, P) are the statistics of the clusters in the last frame, by default those of the model.
    """
    state, height_width = sampler.state, np.array(shape)
    component = sampler.component
    assert isinstance(component, Gaussian)
    now = state.summed(state.current.sum(axis=1) if current is None else current)
    # A segment that is not visible in this frame is described by its history.
    seen = np.where(now[:, :1] >= 1.0, now, state.summed(state.total.sum(axis=1)))
    mean, covariance = to_public_axes(*component.moments(seen), colour)
    rows = np.empty(len(state.announced), STATISTICS)
    rows["id"] = state.ids[state.announced]
    share = now[:, 0] / now[:, 0].sum()
    rows["pixels"] = np.rint(share * height_width.prod())
    rows["share"] = share
    rows["born"] = [sampler.genealogy.born(int(i)) for i in rows["id"]]
    rows["age"] = state.batch - state.born[state.announced]
    rgb = to_rgb(mean[:, :3], colour)
    for n, name in enumerate(("red", "green", "blue")):
        rows[name] = rgb[:, n]
    rows["row"], rows["column"] = (mean[:, 3:] * height_width).T
    rows["covariance"] = scale_covariance(covariance, height_width)
    return rows[np.argsort(-rows["share"], kind="stable")]
