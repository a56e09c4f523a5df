"""How much each source of evidence counts."""

from __future__ import annotations

from dataclasses import dataclass

#: Limit of the log odds of moved masks, in nats.
WARPED_LIMIT = 3.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of every source of evidence, for single pixels and for the means of segments.

    Parameters
    ----------
    warped, segment_warped : float
        The mask of the frame before, moved along the flow.
    first_colours, segment_first_colours : float
        Colours of the object and its surroundings where the user marked or corrected it.
    recent_colours : float
        Their colours in the last frames.
    motion, segment_motion : float
        Motion like that of the object or like that of its surroundings.
    distance : float
        Distance from the outline of the moved mask.
    genealogy : float
        What a segment, or the one it split from, was in the frames before.
    area : float
        Resistance against jumps of the area, as leaks cause them.
    thin_parts : float
        Ridges near the thin parts of the frame before.
    bias : float
        Added to the evidence of every pixel.
    """

    warped: float = 0.14
    first_colours: float = 0.42
    recent_colours: float = 0.2
    motion: float = 0.3
    distance: float = 0.45
    segment_warped: float = 0.2
    segment_first_colours: float = 0.3
    segment_motion: float = 1.0
    genealogy: float = 0.5
    area: float = 0.5
    thin_parts: float = 1.0
    bias: float = -0.6
