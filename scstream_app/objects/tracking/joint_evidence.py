"""Join the evidence for every pixel and segment of a frame, and decide what belongs to an object."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream_app.objects.tracking import outline
from scstream_app.objects.tracking.odds import log_odds, probabilities
from scstream_app.objects.tracking.pixel_evidence import PixelEvidence
from scstream_app.objects.tracking.track import SHARPNESS, Shares, Track
from scstream_app.objects.tracking.weights import WARPED_LIMIT, Weights
from scstream_app.objects.tracking.working_frame import Region, WorkingFrame

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


def advance(
    pixels: PixelEvidence, frame: WorkingFrame, events: Iterable[Event], weights: Weights
) -> tuple[Track, Shares]:
    """Track an object to the next frame; returns its state there and scores (H, W), positive on the object."""
    track, region = pixels.track.after_events(events), pixels.region
    segments = _segment_evidence(track, pixels, frame, weights).astype(np.float32)
    evidence = np.clip(pixels.joint + segments.take(frame.segments[region]), -_JOINT_LIMIT, _JOINT_LIMIT)
    slope, offset = outline.guided(evidence, frame.grey[region])
    scores = slope * (frame.grey[region].astype(np.float32) / 255.0) + offset
    growth = float(pixels.warped.sum()) / max(float(track.shares.sum()), 1.0)
    expected = track.area * (1.0 if pixels.lost else min(growth, _LARGEST_GROWTH))
    shift = _area_shift(scores, expected, weights.area)
    full = _full_scores(frame, slope, offset + shift, region)
    if pixels.thin is not None and weights.thin_parts:
        np.maximum(full, weights.thin_parts * _THIN_SCORE, out=full, where=pixels.thin.mask)
    return track.after_frame(frame, scores + shift, region, expected, pixels.thin), full


def _segment_evidence(
    track: Track, pixels: PixelEvidence, frame: WorkingFrame, weights: Weights
) -> npt.NDArray[np.float64]:
    """Log odds (k,) of every segment: the means over its pixels, and what it was in the frames before."""
    segments, count = frame.segments[pixels.region].ravel(), len(frame.names)
    visible = np.maximum(np.bincount(segments, minlength=count), 1)

    def means(values: Shares) -> npt.NDArray[np.float64]:
        return np.asarray(np.bincount(segments, values.ravel(), count) / visible, np.float64)

    remembered = np.array([track.memory.get(id, 0.0) for id in frame.names.tolist()])
    odds = weights.segment_first_colours * means(pixels.first_colours)
    odds += weights.segment_motion * means(pixels.motion) + weights.genealogy * remembered
    if pixels.lost:
        return _as_decided(odds, track, frame)
    inside = np.bincount(segments, pixels.warped[pixels.region].ravel(), count)
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


def _area_shift(scores: Shares, expected: float, weight: float) -> float:
    """What to add to the scores so that the area is closer to the expected one."""
    shift = 0.0
    for _ in range(2):
        area = float(probabilities(SHARPNESS * (scores + shift)).sum())
        shift -= 0.5 * weight * float(np.clip(np.log((area + 1.0) / (expected + 1.0)), -_AREA_LIMIT, _AREA_LIMIT))
    return shift


def _full_scores(frame: WorkingFrame, slope: Shares, offset: Shares, region: Region) -> Shares:
    """Scores in the full picture; negative outside the region."""
    full = [np.zeros(frame.size, np.float32), np.full(frame.size, -_JOINT_LIMIT, np.float32)]
    full[0][region], full[1][region] = slope, offset
    return outline.enlarged(full[0], full[1], frame.brightness)
