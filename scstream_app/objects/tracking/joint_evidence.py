"""Join the evidence for every pixel and segment of a frame, and decide what belongs to an object."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.objects.tracking.odds import log_odds
from scstream_app.objects.tracking.pixel_evidence import PixelEvidence
from scstream_app.objects.tracking.track import SHARPNESS, Shares, Track
from scstream_app.objects.tracking.weights import WARPED_LIMIT, Weights
from scstream_app.objects.tracking.working_frame import FramePart, Region, WorkingFrame
from scstream_app.render.image_types import Size

#: Limit of the joint evidence, in nats.
_JOINT_LIMIT = 6.0
#: Evidence of a segment against the object is reduced by this times the share of the object that it contains.
_STRADDLING = 1.5
#: Evidence of a segment that the user has added or removed, in nats: more than that of all sources for its pixels.
_DECIDED = 8.0
#: Largest growth of the expected area per frame, and largest correction for a jump of the area, in nats.
_LARGEST_GROWTH, _AREA_LIMIT = 1.25, 0.7
#: Score of thin parts.
_THIN_SCORE = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the pixels of a full picture, positive on the object.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the picture.
    place : two slices
        Where the object was sought.
    values : array
        The scores there; elsewhere they are negative.
    thin : array (H, W) bool, optional
        Pixels of thin parts, which may be anywhere.
    thin_score : float
        Least score of these.
    cut_off : bool
        Whether the object reaches the border of where it was sought, and may go on there.
    """

    shape: Size
    place: Region
    values: Shares
    thin: npt.NDArray[np.bool_] | None
    thin_score: float
    cut_off: bool

    @property
    def mask(self) -> npt.NDArray[np.bool_]:
        """The object (H, W)."""
        mask = np.zeros(self.shape, bool)
        np.greater(self.values, 0.0, out=mask[self.place])
        if self.thin is not None and self.thin_score > 0.0:
            mask |= self.thin
        return mask

    @property
    def everywhere(self) -> Shares:
        """The scores (H, W) of all pixels."""
        scores = np.full(self.shape, -_JOINT_LIMIT, np.float32)
        scores[self.place] = self.values
        if self.thin is not None:
            np.maximum(scores, self.thin_score, out=scores, where=self.thin)
        return scores


def advance(
    pixels: PixelEvidence, frame: WorkingFrame, events: Iterable[Event], weights: Weights
) -> tuple[Track, Scores]:
    """Track an object to the next frame; returns its state there and its scores in the full picture."""
    track, part, guide = pixels.track.after_events(events), frame.part(pixels.region, pixels.codes), pixels.guide
    segments = _segment_evidence(track, pixels, part, frame, weights).astype(np.float32)
    evidence = segments[part.segments].reshape(pixels.joint.shape)
    evidence += pixels.joint
    slope, offset = guide.fit(np.clip(evidence, -_JOINT_LIMIT, _JOINT_LIMIT, out=evidence))
    scores = slope * guide.grey + offset
    growth = pixels.area / max(float(track.shares.sum()), 1.0)
    expected = track.area * (1.0 if pixels.lost else min(growth, _LARGEST_GROWTH))
    shift = _area_shift(scores, expected, weights.area)
    full = guide.enlarged(slope, offset + shift, -_JOINT_LIMIT)
    thin = pixels.thin.mask if pixels.thin is not None and weights.thin_parts else None
    scores += shift
    cut_off = _reaches_border(scores > 0.0, pixels.region, frame.size)
    found = Scores(frame.ids.shape, guide.place, full, thin, weights.thin_parts * _THIN_SCORE, cut_off)
    return track.after_frame(frame, part, scores, expected, pixels.thin), found


def _segment_evidence(
    track: Track, pixels: PixelEvidence, part: FramePart, frame: WorkingFrame, weights: Weights
) -> npt.NDArray[np.float64]:
    """Log odds (k,) of every segment: the means over its pixels, and what it was in the frames before."""
    count = len(frame.names)
    visible = np.maximum(np.bincount(part.segments, minlength=count), 1)
    remembered = np.array([track.memory.get(id, 0.0) for id in frame.names.tolist()])
    odds = np.bincount(part.segments, pixels.segments.ravel(), count) / visible + weights.genealogy * remembered
    if pixels.lost:
        return _as_decided(odds, track, frame)
    inside = np.bincount(part.segments, pixels.warped.ravel(), count)
    # Pixels outside the region count as well: there, the moved mask is empty.
    odds += weights.segment_warped * log_odds(inside / frame.sizes, WARPED_LIMIT)
    return _as_decided(_without_straddlers(odds, inside), track, frame)


def _as_decided(odds: npt.NDArray[np.float64], track: Track, frame: WorkingFrame) -> npt.NDArray[np.float64]:
    """Log odds (k,) of segments, where those that the user has added or removed stay what the user made them."""
    for id, belongs in track.decided.items():
        place = int(np.searchsorted(frame.names, id))
        if place < len(odds) and frame.names[place] == id:
            odds[place] = _DECIDED if belongs else -_DECIDED
    return odds


def _without_straddlers(odds: npt.NDArray[np.float64], inside: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Log odds of segments, with less evidence against the object where a segment has much of the object inside.

    Such a segment straddles the outline: its pixels have to be told apart by other evidence.
    """
    held = np.asarray(inside, np.float64)
    pure = np.maximum(1.0 - _STRADDLING * held / max(float(held.sum()), 1.0), 0.0)
    return np.asarray(np.where(odds < 0.0, odds * pure, odds), np.float64)


def _reaches_border(found: npt.NDArray[np.bool_], region: Region, size: Size) -> bool:
    """Whether what was found in a region touches its border, other than that of the picture of this size."""
    (top, bottom, _), (left, right, _) = (part.indices(length) for part, length in zip(region, size, strict=True))
    return bool(
        (top > 0 and found[0].any())
        or (bottom < size[0] and found[-1].any())
        or (left > 0 and found[:, 0].any())
        or (right < size[1] and found[:, -1].any())
    )


def _area_shift(scores: Shares, expected: float, weight: float) -> float:
    """What to add to the scores so that the area is closer to the expected one."""
    shift, against = 0.0, np.exp(-SHARPNESS * scores)
    for _ in range(2):
        area = float((1.0 / (1.0 + math.exp(-SHARPNESS * shift) * against)).sum())
        shift -= 0.5 * weight * float(np.clip(np.log((area + 1.0) / (expected + 1.0)), -_AREA_LIMIT, _AREA_LIMIT))
    return shift
