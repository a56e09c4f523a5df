"""The part of a segment that a split would give a new id."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scstream.pixels.tiles import Tiles
from scstream.sampler.naming import largest_hidden, smaller_part
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import mode_densities


def smaller_half(sampler: Sampler, tiles: Tiles, id: int) -> npt.NDArray[np.bool_]:
    """Return the mask (H, W) of a segment's pixels that are more likely in its smaller sub-cluster.

    The mask is empty if a sub-cluster is empty or the segment is not visible in the last frame, ``tiles``. If the
    segment has hidden clusters, the smaller part is the largest of them, or the rest if that is smaller.
    """
    state, index = sampler.state, sampler.members(id)[0]
    hidden = largest_hidden(state, id)
    if hidden is not None:
        part_ids = state.ids[smaller_part(state, hidden)]
        return tiles.untiled(np.isin(sampler.id_of[tiles.labels], part_ids))
    total = state.total[[index]]
    own = sampler.id_of[tiles.labels] == id
    part = np.zeros(own.shape, bool)
    if total[0, :, 0].min() >= 1.0 and own.any():
        component = sampler.posterior_component
        densities = mode_densities(component, total, float(sampler.config.alpha))
        points = component.prepare(tiles.pixels.transpose(0, 2, 1)[own].astype(np.float64))
        scores = component.scores(densities.sub_parameters, densities.sub_log_weight, points)
        small = int(np.argmin(total[0, :, 0]))
        part[own] = scores[:, small] > scores[:, 1 - small]
    return tiles.untiled(part)
