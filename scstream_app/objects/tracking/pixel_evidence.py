"""Evidence for single pixels: what a picture says about an object before the engine has segmented it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scstream_app.objects.tracking import colour_model
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.motion_model import motion_evidence
from scstream_app.objects.tracking.odds import log_odds
from scstream_app.objects.tracking.outline import Guide
from scstream_app.objects.tracking.thin_parts import ThinParts
from scstream_app.objects.tracking.track import Shares, Track
from scstream_app.objects.tracking.weights import WARPED_LIMIT, Weights
from scstream_app.objects.tracking.working_frame import (
    OUTLINE_REACH,
    OUTLINE_UNIT,
    ReducedPicture,
    Region,
    box_around,
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
    region : two slices
        Where the object is sought. All arrays cover this region of the reduced picture.
    lost : bool
        Whether the object was lost on the frame before.
    area : float
        Number of pixels of the moved mask.
    warped : array float64
        Probability of the object in the frame before, moved here along the flow.
    segments : array float64
        Weighted sum of the sources whose mean over a segment counts.
    joint : array
        Weighted sum of all sources.
    codes : array
        Colour cells.
    guide : Guide
        The picture, whose edges the joint evidence shall follow.
    thin : ThinParts, optional
        The object's thin parts, found again.
    """

    track: Track
    region: Region
    lost: bool
    area: float
    warped: npt.NDArray[np.float64]
    segments: npt.NDArray[np.float64]
    joint: Shares
    codes: npt.NDArray[np.intp]
    guide: Guide
    thin: ThinParts | None

    @classmethod
    def of(
        cls, track: Track, picture: ReducedPicture, motion: Motion, weights: Weights, everywhere: bool = False
    ) -> PixelEvidence:
        """Find the evidence for an object in the next frame; ``motion`` leads from there to the frame of the track.

        It is sought around the moved mask; in the whole picture if it was lost, or if ``everywhere`` is set.
        """
        track = track.with_newest()
        warped, lost = motion.moved(track.shares), track.is_lost
        inside = warped > 0.5
        region = (slice(None), slice(None)) if lost or everywhere else region_around(inside)
        codes, here = colour_model.codes(picture.rgb[region]), warped[region]
        first, recent = track.first.log_odds(), track.recent.log_odds()
        moves = motion_evidence(motion, picture.grey, warped, region)
        # Constants are added to the tables of the colours, which are smaller than the picture.
        bias = weights.bias + (_LOST_BIAS if lost else 0.0)
        colours = weights.first_colours * first + weights.recent_colours * recent + bias
        joint = np.asarray(colours[codes], np.float32)
        joint += weights.motion * moves
        if not lost:
            joint += weights.warped * log_odds(here, WARPED_LIMIT)
            joint += weights.distance * _distance(inside[region])
        thin = track.thin
        if thin is not None and weights.thin_parts:
            thin = thin.advance(inside, picture, motion)
        segments = (weights.segment_first_colours * first.astype(np.float64))[codes]
        segments += weights.segment_motion * moves
        return cls(
            track,
            region,
            lost,
            float(warped.sum()),
            here.astype(np.float64),
            segments,
            joint,
            codes,
            Guide.of(picture, region),
            thin,
        )


def _distance(inside: npt.NDArray[np.bool_]) -> Shares:
    """Distance of every pixel from the outline, positive inside, in units."""
    mask = inside.view(np.uint8)
    distance = -_distances(1 - mask)
    box = box_around(inside, 1)
    if distance[box].size:
        # Outside this box, nothing is inside.
        distance[box] += _distances(mask[box])
    distance /= OUTLINE_UNIT
    return np.asarray(np.clip(distance, -OUTLINE_REACH, OUTLINE_REACH, out=distance), np.float32)


def _distances(mask: npt.NDArray[np.uint8]) -> Shares:
    """Distance of every pixel of a mask from the nearest pixel outside of it."""
    return np.asarray(cv2.distanceTransform(mask, cv2.DIST_L2, 3), np.float32)
