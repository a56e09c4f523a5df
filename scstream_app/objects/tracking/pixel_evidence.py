"""Evidence for single pixels: what a picture says about an object before the engine has segmented it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.motion_model import motion_evidence
from scstream_app.objects.tracking.odds import log_odds
from scstream_app.objects.tracking.thin_parts import ThinParts
from scstream_app.objects.tracking.track import Shares, Track
from scstream_app.objects.tracking.weights import WARPED_LIMIT, Weights
from scstream_app.objects.tracking.working_frame import (
    OUTLINE_REACH,
    OUTLINE_UNIT,
    ReducedPicture,
    Region,
    region_around,
)

#: Added to the evidence of every pixel if the object is lost.
_LOST_BIAS = -0.8


@dataclass(frozen=True, slots=True)
class PixelEvidence:
    """Log odds of an object for the pixels of a frame around it, from all sources but its segments.

    Parameters
    ----------
    track : Track
        The object on the frame before, with all of its recent colours.
    warped : array (h, w)
        Probability of the object in the frame before, moved here along the flow.
    region : two slices
        Where the object is sought. The other arrays cover this region.
    lost : bool
        Whether the object was lost on the frame before.
    first_colours : array
        By the colours where the user marked the object.
    motion : array
        By the motion.
    joint : array
        Weighted sum of all sources.
    thin : ThinParts, optional
        The object's thin parts, found again.
    """

    track: Track
    warped: Shares
    region: Region
    lost: bool
    first_colours: Shares
    motion: Shares
    joint: Shares
    thin: ThinParts | None

    @classmethod
    def of(cls, track: Track, picture: ReducedPicture, motion: Motion, weights: Weights) -> PixelEvidence:
        """Find the evidence for an object in the next frame; ``motion`` leads from there to the frame of the track."""
        track = track.with_newest()
        warped, lost = _warped(track.shares, motion.flow), track.is_lost
        inside = warped > 0.5
        region = (slice(None), slice(None)) if lost else region_around(inside)
        codes = picture.codes[region]
        first = track.first.log_odds().take(codes)
        moves = motion_evidence(motion, picture.grey, warped, region)
        joint = weights.first_colours * first + weights.motion * moves
        joint += weights.recent_colours * track.recent.log_odds().take(codes)
        joint += weights.bias
        if lost:
            joint += _LOST_BIAS
        else:
            joint += weights.warped * log_odds(warped[region], WARPED_LIMIT)
            joint += weights.distance * _distance(inside[region])
        thin = track.thin
        if thin is not None and weights.thin_parts:
            thin = thin.advance(inside, picture.luminance, motion.flow)
        return cls(track, warped, region, lost, first, moves, joint, thin)


def _warped(shares: Shares, flow: Shares) -> Shares:
    """The mask of the frame before, moved to where the flow says that it is now."""
    rows, columns = (np.arange(n, dtype=np.float32) for n in shares.shape)
    # What enters at the frame's edge does not belong to the object.
    return np.asarray(
        cv2.remap(
            shares,
            columns + flow[..., 0],
            rows[:, None] + flow[..., 1],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=0.0,
        ),
        np.float32,
    )


def _distance(inside: npt.NDArray[np.bool_]) -> Shares:
    """Distance of every pixel from the outline, positive inside, in units."""
    mask = inside.astype(np.uint8)
    inner, outer = (cv2.distanceTransform(part, cv2.DIST_L2, 3) for part in (mask, 1 - mask))
    return np.asarray(np.clip((inner - outer) / OUTLINE_UNIT, -OUTLINE_REACH, OUTLINE_REACH), np.float32)
