"""State of an object from frame to frame, and how it changes with a mark of the user and with every frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects.tracking.colour_model import ColourModel
from scstream_app.objects.tracking.odds import log_odds, probabilities
from scstream_app.objects.tracking.thin_parts import ThinParts
from scstream_app.objects.tracking.working_frame import FramePart, WorkingFrame, region_around

#: Factor from joint evidence to log odds.
SHARPNESS = 1.5
#: Limit of the log odds of segments' memories, in nats.
_MEMORY_LIMIT = 4.0
#: Share of the newest frame in the memory of segments, in the recent colours, and in the expected area.
_MEMORY_RATE, _COLOUR_RATE, _AREA_RATE = 0.5, 0.2, 0.1
#: The same where the memory of a segment rises that did not belong to the object where the user marked it: that is more
#: often a leak.
_DOUBTED_RATE = 0.2
#: The same in the expected area where the object is smaller than that: it may be about to be hidden.
_HIDING_RATE = 0.03
#: Smallest share of the expected area that is expected after a correction.
_HIDDEN_SHARE = 0.5
#: Share of a corrected frame in the colours that the object began with.
_CORRECTION_SHARE = 0.5
#: An object with less than this share of the expected area is lost; it is then sought by its colours and segments.
_LOST_SHARE = 0.05
#: Width of the area around the object that counts for its confidence, in reduced pixels, and evidence that is certain.
_NEAR = 15
_CERTAIN = 3.0

Shares = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Newest:
    """What was found of an object on a frame.

    Parameters
    ----------
    frame : WorkingFrame
    part : FramePart
        Where the object was sought; elsewhere there is nothing of it.
    shares : array
        Its probability there.
    """

    frame: WorkingFrame
    part: FramePart
    shares: Shares

    def segment_odds(self) -> npt.NDArray[np.float64]:
        """Log odds (k,) of the object in every segment of the frame, from its share of the segment."""
        inside = np.bincount(self.part.segments, self.shares.ravel(), len(self.frame.names))
        return np.asarray(log_odds(inside / self.frame.sizes, _MEMORY_LIMIT), np.float64)


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
    newest : Newest, optional
        What was found on this frame, if ``memory`` and ``recent`` lack it.
    thin : ThinParts, optional
        Parts that are too thin for the reduced picture.
    confidence : float
        How clear the evidence is on the object and near its outline, from 0 to 1; 0 if the object is lost.
    decided : mapping
        Segments that the user has added to the object (True) or removed from it (False), and their parts.
    """

    shares: Shares
    memory: Mapping[int, float]
    anchored: frozenset[int]
    area: float
    first: ColourModel
    recent: ColourModel
    newest: Newest | None = None
    thin: ThinParts | None = None
    confidence: float = 1.0
    decided: Mapping[int, bool] = field(default_factory=dict)

    @classmethod
    def begin(
        cls,
        mask: npt.NDArray[np.bool_],
        frame: WorkingFrame,
        before: Track | None = None,
        decided: Mapping[int, bool] | None = None,
    ) -> Track:
        """State after the user marked the object on a frame, or corrected it if there is a state ``before``.

        ``decided`` holds the segments that the user has added (True) or removed (False) there. What was decided about
        others before holds as long as the mask does not contradict it.
        """
        before = None if before is None else before.with_newest()
        shares = frame.reduced(mask)
        region = region_around(shares >= 0.5)
        colours = ColourModel.of(frame.part(region).codes, shares[region])
        first = colours if before is None else before.first.moved_to(colours, _CORRECTION_SHARE)
        everything = slice(None), slice(None)
        odds = Newest(frame, frame.part(everything), shares).segment_odds()
        marked = dict(zip(frame.names.tolist(), odds.tolist(), strict=True))
        memory = marked if before is None else {**before.memory, **marked}
        anchored = frozenset(id for id, odds in memory.items() if odds > 0.0)
        thin = ThinParts.of(mask, frame.picture, frame.ratio)
        # A corrected object may be partly hidden on this frame.
        area = max(float(shares.sum()), 0.0 if before is None else _HIDDEN_SHARE * before.area)
        known = {**({} if before is None else before.decided), **(decided or {})}
        known = {id: belongs for id, belongs in known.items() if id not in marked or (marked[id] > 0.0) == belongs}
        return cls(shares, memory, anchored, area, first, colours, None, thin, 1.0 if mask.any() else 0.0, known)

    def with_newest(self) -> Track:
        """The same state with this frame in its memory and colours: work that can wait until the engine is busy."""
        if self.newest is None:
            return self
        newest, memory = self.newest, dict(self.memory)
        for id, odds in zip(newest.frame.names.tolist(), newest.segment_odds().tolist(), strict=True):
            known, trusted = memory.get(id, odds), id in self.anchored
            rate = _MEMORY_RATE if trusted or odds < known else _DOUBTED_RATE
            memory[id] = min(known + rate * (odds - known), _MEMORY_LIMIT if trusted else 0.0)
        recent = self.recent.moved_to(ColourModel.of(newest.part.codes, newest.shares), _COLOUR_RATE)
        return replace(self, memory=memory, recent=recent, newest=None)

    def after_events(self, events: Iterable[Event]) -> Track:
        """The state after the events of a frame: parts inherit their segment's memory, and new segments have none."""
        memory, anchored, decided = dict(self.memory), set(self.anchored), dict(self.decided)
        for event in events:
            first, last = event.ids[0], event.ids[-1]
            if event.kind is Kind.SPLIT and first in memory:
                memory[last] = memory[first]
                if first in anchored:
                    anchored.add(last)
                if first in decided:
                    decided[last] = decided[first]
            elif event.kind is not Kind.SPLIT:
                # A new segment has no memory, and that of one that ended is no longer needed.
                memory.pop(last, None)
                anchored.discard(last)
                decided.pop(last, None)
        return replace(self, memory=memory, anchored=frozenset(anchored), decided=decided)

    @property
    def is_lost(self) -> bool:
        """Whether next to nothing of the object was found on the frame."""
        return bool(self.shares.sum() < _LOST_SHARE * self.area)

    def after_frame(
        self, frame: WorkingFrame, part: FramePart, scores: Shares, expected: float, thin: ThinParts | None
    ) -> Track:
        """The state after a frame.

        Parameters
        ----------
        frame : WorkingFrame
        part : FramePart
            Where the object was sought; elsewhere there is nothing of it.
        scores : array
            Joint evidence there.
        expected : float
            Expected number of reduced pixels.
        thin : ThinParts, optional
            The thin parts on this frame.
        """
        shares = np.zeros(frame.size, np.float32)
        here = shares[part.region] = probabilities(SHARPNESS * scores)
        area = float(here.sum())
        if area < _LOST_SHARE * expected:
            return replace(self, shares=shares, thin=thin, confidence=0.0)
        expected += (_AREA_RATE if area > expected else _HIDING_RATE) * (area - expected)
        return replace(
            self,
            shares=shares,
            area=expected,
            newest=Newest(frame, part, here),
            thin=thin,
            confidence=_certainty(scores),
        )


def _certainty(scores: Shares) -> float:
    """Mean certainty of the decisions on the object and near its outline, from 0 to 1."""
    inside = (scores > 0).astype(np.uint8)
    near = cv2.dilate(inside, np.ones((_NEAR, _NEAR), np.uint8))
    certainty = np.abs(scores)
    certainty *= 1.0 / _CERTAIN
    return cv2.mean(np.tanh(certainty, out=certainty), near)[0]
