"""One object from frame to frame: join the evidence for every segment and pixel, and decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects.tracking import outline
from scstream_app.objects.tracking.colour_model import ColourModel
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.motion_model import motion_evidence
from scstream_app.objects.tracking.thin_parts import ThinParts
from scstream_app.objects.tracking.working_frame import WorkingFrame

#: Distance from the outline that counts one unit, and largest distance at which pixels are considered, in units.
_UNIT = 12.0
_REACH = 4.0
#: Limits of the log odds of moved masks, of segments' memories, and of the joint evidence, in nats.
_WARPED_LIMIT, _MEMORY_LIMIT, _JOINT_LIMIT = 3.0, 4.0, 6.0
#: Factor from joint evidence to log odds.
_SHARPNESS = 1.5
#: Share of the newest frame in the memory of segments, in the recent colours, and in the expected area.
_MEMORY_RATE, _COLOUR_RATE, _AREA_RATE = 0.5, 0.2, 0.03
#: The same where the memory of a segment rises that did not belong to the object where the user marked it: that is more
#: often a leak.
_DOUBTED_RATE = 0.2
#: Evidence of a segment against the object is reduced by this times the share of the object that it contains.
_STRADDLING = 1.5
#: Smallest share of the expected area that is expected after a correction.
_HIDDEN_SHARE = 0.5
#: Share of a corrected frame in the colours that the object began with.
_CORRECTION_SHARE = 0.5
#: Largest growth of the expected area per frame, and largest correction for a jump of the area, in nats.
_LARGEST_GROWTH, _AREA_LIMIT = 1.25, 0.7
#: An object with less than this share of the expected area is lost; it is then sought by its colours and segments.
_LOST_SHARE = 0.05
_LOST_BIAS = -0.8
#: Score of thin parts.
_THIN_SCORE = 0.5
#: Width of the area around the object that counts for its confidence, in reduced pixels, and evidence that is certain.
_NEAR = 15
_CERTAIN = 3.0

Shares = npt.NDArray[np.float32]
Region = tuple[slice, slice]


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
    segment_motion: float = 0.7
    genealogy: float = 0.5
    area: float = 1.0
    thin_parts: float = 1.0
    bias: float = -0.6


@dataclass(frozen=True, slots=True)
class Track:
    """State of one object after a frame.

    Parameters
    ----------
    shares : array (h, w)
        Probability of the object at every reduced pixel.
    memory : mapping
        Log odds of segments, by id.
    anchored : frozenset of int
        Segments that belonged to the object where the user marked it, and their parts. Only these remember that they
        belong to it; otherwise what has leaked in would stay.
    area : float
        Expected number of reduced pixels.
    first, recent : ColourModel
        Colours where the user marked or corrected the object, and in the last frames.
    thin : ThinParts, optional
        Parts that are too thin for the reduced picture.
    confidence : float
        How clear the evidence is on the object and near its outline, from 0 to 1; 0 if the object is lost.
    """

    shares: Shares
    memory: Mapping[int, float]
    anchored: frozenset[int]
    area: float
    first: ColourModel
    recent: ColourModel
    thin: ThinParts | None = None
    confidence: float = 1.0

    @classmethod
    def begin(cls, mask: npt.NDArray[np.bool_], frame: WorkingFrame, before: Track | None = None) -> Track:
        """State after the user marked the object on a frame, or corrected it if there is a state ``before``."""
        shares = frame.reduced(mask)
        colours = _colours(shares, frame, _around(shares >= 0.5))
        first = colours if before is None else before.first.moved_to(colours, _CORRECTION_SHARE)
        marked = dict(zip(frame.names.tolist(), _segment_odds(shares, frame).tolist(), strict=True))
        memory = marked if before is None else {**before.memory, **marked}
        anchored = frozenset(id for id, odds in memory.items() if odds > 0.0)
        thin = ThinParts.of(mask, frame.picture, frame.ratio)
        # A corrected object may be partly hidden on this frame.
        area = max(float(shares.sum()), 0.0 if before is None else _HIDDEN_SHARE * before.area)
        return cls(shares, memory, anchored, area, first, colours, thin, 1.0 if mask.any() else 0.0)


def advance(
    track: Track, frame: WorkingFrame, motion: Motion, events: Iterable[Event], weights: Weights
) -> tuple[Track, Shares]:
    """Track an object to the next frame; returns its state there and scores (H, W), positive on the object."""
    warped = _warped(track.shares, motion.flow)
    track = _inherited(track, events)
    lost = track.shares.sum() < _LOST_SHARE * track.area
    region = _whole(frame) if lost else _around(warped > 0.5)
    evidence = _evidence(track, frame, motion, warped, region, lost, weights)
    slope, offset = outline.guided(evidence, frame.grey[region])
    scores = slope * (frame.grey[region].astype(np.float32) / 255.0) + offset
    growth = 1.0 if lost else min(float(warped.sum()) / max(float(track.shares.sum()), 1.0), _LARGEST_GROWTH)
    shift = _area_shift(scores, growth * track.area, weights.area)
    found = _remembered(track, frame, scores + shift, region, growth * track.area)
    return _with_thin_parts(found, frame, motion, _full_scores(frame, slope, offset + shift, region), weights)


def _with_thin_parts(
    track: Track, frame: WorkingFrame, motion: Motion, scores: Shares, weights: Weights
) -> tuple[Track, Shares]:
    """Find the thin parts again, and make their scores positive."""
    if track.thin is None or not weights.thin_parts:
        return track, scores
    thin = track.thin.advance(scores > 0, frame.picture, motion.flow)
    scores[thin.mask] = np.maximum(scores[thin.mask], weights.thin_parts * _THIN_SCORE)
    return replace(track, thin=thin), scores


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


def _inherited(track: Track, events: Iterable[Event]) -> Track:
    """The state after the events of a frame: parts inherit the memory of their segment, and new segments have none."""
    memory, anchored = dict(track.memory), set(track.anchored)
    for event in events:
        first, last = event.ids[0], event.ids[-1]
        if event.kind is Kind.SPLIT and first in memory:
            memory[last] = memory[first]
            if first in anchored:
                anchored.add(last)
        elif event.kind is not Kind.SPLIT:
            # A new segment has no memory, and that of one that ended is no longer needed.
            memory.pop(last, None)
            anchored.discard(last)
    return replace(track, memory=memory, anchored=frozenset(anchored))


def _evidence(
    track: Track,
    frame: WorkingFrame,
    motion: Motion,
    warped: Shares,
    region: Region,
    lost: bool,
    weights: Weights,
) -> Shares:
    """Joint evidence of all sources for the pixels of a region."""
    segments, codes, count = frame.segments[region], frame.codes[region], len(frame.names)
    visible = np.maximum(np.bincount(segments.ravel(), minlength=count), 1)

    def segment_means(values: Shares) -> npt.NDArray[np.float64]:
        return np.asarray(np.bincount(segments.ravel(), values.ravel(), count) / visible, np.float64)

    first = track.first.log_odds().take(codes)
    moves = motion_evidence(motion, frame.grey, warped, region)
    remembered = np.array([track.memory.get(id, 0.0) for id in frame.names.tolist()])
    odds = weights.segment_first_colours * segment_means(first)
    odds += weights.segment_motion * segment_means(moves) + weights.genealogy * remembered
    evidence = weights.first_colours * first + weights.motion * moves
    evidence += weights.recent_colours * track.recent.log_odds().take(codes)
    evidence += weights.bias
    if lost:
        evidence += _LOST_BIAS
    else:
        inside = np.bincount(segments.ravel(), warped[region].ravel(), count)
        # Pixels outside the region count as well: there, the moved mask is empty.
        odds += weights.segment_warped * _log_odds(inside / frame.sizes, _WARPED_LIMIT)
        odds = _without_straddlers(odds, inside)
        evidence += weights.warped * _log_odds(warped[region], _WARPED_LIMIT)
        evidence += weights.distance * _distance(warped[region] > 0.5)
    evidence += odds.astype(np.float32).take(segments)
    return np.asarray(np.clip(evidence, -_JOINT_LIMIT, _JOINT_LIMIT), np.float32)


def _distance(inside: npt.NDArray[np.bool_]) -> Shares:
    """Distance of every pixel from the outline, positive inside, in units."""
    mask = inside.astype(np.uint8)
    inner, outer = (cv2.distanceTransform(part, cv2.DIST_L2, 3) for part in (mask, 1 - mask))
    return np.asarray(np.clip((inner - outer) / _UNIT, -_REACH, _REACH), np.float32)


def _area_shift(scores: Shares, expected: float, weight: float) -> float:
    """What to add to the scores so that the area is closer to the expected one."""
    shift = 0.0
    for _ in range(2):
        area = float(_logistic(_SHARPNESS * (scores + shift)).sum())
        shift -= 0.5 * weight * float(np.clip(np.log((area + 1.0) / (expected + 1.0)), -_AREA_LIMIT, _AREA_LIMIT))
    return shift


def _remembered(
    track: Track,
    frame: WorkingFrame,
    scores: Shares,
    region: Region,
    expected: float,
) -> Track:
    """The state after a frame, with memory, colours and area updated; ``scores`` are those of a region."""
    shares = np.zeros(frame.size, np.float32)
    shares[region] = _logistic(_SHARPNESS * scores)
    area = float(shares.sum())
    if area < _LOST_SHARE * expected:
        return replace(track, shares=shares, confidence=0.0)
    memory = dict(track.memory)
    for id, odds in zip(frame.names.tolist(), _segment_odds(shares, frame).tolist(), strict=True):
        known, trusted = memory.get(id, odds), id in track.anchored
        rate = _MEMORY_RATE if trusted or odds < known else _DOUBTED_RATE
        memory[id] = min(known + rate * (odds - known), _MEMORY_LIMIT if trusted else 0.0)
    recent = track.recent.moved_to(_colours(shares, frame, region), _COLOUR_RATE)
    expected += _AREA_RATE * (area - expected)
    return Track(shares, memory, track.anchored, expected, track.first, recent, track.thin, _certainty(scores))


def _certainty(scores: Shares) -> float:
    """Mean certainty of the decisions on the object and near its outline, from 0 to 1."""
    inside = (scores > 0).astype(np.uint8)
    near = cv2.dilate(inside, np.ones((_NEAR, _NEAR), np.uint8)) > 0
    return float(np.tanh(np.abs(scores[near]) / _CERTAIN).mean()) if near.any() else 0.0


def _colours(shares: Shares, frame: WorkingFrame, region: Region) -> ColourModel:
    near = shares[region]
    return ColourModel.of(frame.codes[region], near, 1.0 - near)


def _segment_odds(shares: Shares, frame: WorkingFrame) -> npt.NDArray[np.float64]:
    """Log odds of the object in every segment, from its share of the segment."""
    inside = np.bincount(frame.segments.ravel(), shares.ravel(), len(frame.names))
    return np.asarray(_log_odds(inside / frame.sizes, _MEMORY_LIMIT), np.float64)


def _without_straddlers(odds: npt.NDArray[np.float64], inside: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Log odds of segments, with less evidence against the object where a segment has much of the object inside.

    Such a segment straddles the outline: its pixels have to be told apart by other evidence.
    """
    held = np.asarray(inside, np.float64)
    pure = np.maximum(1.0 - _STRADDLING * held / max(float(held.sum()), 1.0), 0.0)
    return np.asarray(np.where(odds < 0.0, odds * pure, odds), np.float64)


def _full_scores(frame: WorkingFrame, slope: Shares, offset: Shares, region: Region) -> Shares:
    """Scores in the full picture; negative outside the region."""
    full = [np.zeros(frame.size, np.float32), np.full(frame.size, -_JOINT_LIMIT, np.float32)]
    full[0][region], full[1][region] = slope, offset
    return outline.enlarged(full[0], full[1], frame.picture)


def _around(inside: npt.NDArray[np.bool_]) -> Region:
    """The rectangle around a mask in which its outline may be in the next frame; everything if the mask is empty."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows):
        return slice(0, inside.shape[0]), slice(0, inside.shape[1])
    reach = int(_UNIT * _REACH)
    return (
        slice(max(int(rows[0]) - reach, 0), int(rows[-1]) + reach + 1),
        slice(max(int(columns[0]) - reach, 0), int(columns[-1]) + reach + 1),
    )


def _whole(frame: WorkingFrame) -> Region:
    return slice(0, frame.size[0]), slice(0, frame.size[1])


def _logistic(values: Shares) -> Shares:
    return np.asarray(1.0 / (1.0 + np.exp(-values)), np.float32)


def _log_odds(shares: npt.NDArray[np.floating], limit: float) -> npt.NDArray[np.floating]:
    low = 1.0 / (1.0 + np.exp(limit))
    clipped = np.clip(shares, low, 1.0 - low)
    return np.asarray(np.log(clipped / (1.0 - clipped)))
