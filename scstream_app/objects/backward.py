"""Track an object from a frame on which its mask is known back to earlier frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.objects.edits import Mask
from scstream_app.objects.tracking.flow import Motion
from scstream_app.objects.tracking.joint_evidence import advance
from scstream_app.objects.tracking.pixel_evidence import PixelEvidence
from scstream_app.objects.tracking.track import Track
from scstream_app.objects.tracking.weights import Weights
from scstream_app.objects.tracking.working_frame import ReducedPicture, WorkingFrame
from scstream_app.pipeline.frame_result import FrameResult


def track_back(mask: Mask, result: FrameResult, earlier: Iterable[FrameResult]) -> Iterator[tuple[FrameResult, Mask]]:
    """Yield each earlier frame with the object's mask there; ends at a cut.

    Parameters
    ----------
    mask : array (H, W) bool
        The object on the frame ``result``.
    result : FrameResult
    earlier : iterable of FrameResult
        The frames before it, in descending order.
    """
    frame = WorkingFrame.of(ReducedPicture.of(result.picture), result.ids)
    track, weights = Track.begin(mask, frame), Weights()
    for before in earlier:
        if result.cut:
            return
        small = ReducedPicture.of(before.picture)
        pixels = PixelEvidence.of(track, small, Motion.between(frame.picture.grey, small.grey), weights)
        frame = WorkingFrame.of(small, before.ids)
        track, scores = advance(pixels, frame, _reversed(result.events), weights)
        yield before, scores.mask
        result = before


def _reversed(events: Iterable[Event]) -> tuple[Event, ...]:
    """What happens to segments between a frame and the one before: segments that merged are two again.

    Segments that were born have no memory to pass on, and a part that split off is its whole's again.
    """
    return tuple(replace(event, kind=Kind.SPLIT) for event in events if event.kind is Kind.MERGE)
