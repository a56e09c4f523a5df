"""Which frames of the open clip can be shown, and which of them will be segmented."""

from __future__ import annotations

from scstream_app.ui.document.state import OpenClip, State

#: States in which more frames are segmented, at once or after a pause.
GOING_ON = (State.OPENING, State.WARMING, State.SETTLING, State.SEGMENTING, State.PAUSED)


def showable_frames(clip: OpenClip) -> range:
    """Return the frames that can be shown: those of the source if their number is known, else the segmented ones.

    The stated length of a source may be wrong. A source that was segmented to its end has as many frames as that gave.
    """
    frames, facts = clip.summary.frames, clip.facts
    segmented = range(frames[0], frames[-1] + 1) if len(frames) else range(0)
    if facts is None or facts.live or facts.length is None or clip.live:
        return segmented
    if clip.state is State.DONE and not is_part(clip):
        return segmented
    return range(max(facts.length, segmented.stop))


def is_part(clip: OpenClip) -> bool:
    """Return whether only a part of the source is to be segmented."""
    session = clip.session
    return session is not None and (session.manifest.start > 0 or session.manifest.stop is not None)


def is_planned(clip: OpenClip, index: int) -> bool:
    """Return whether a frame is not segmented yet but will be."""
    frames, session = clip.summary.frames, clip.session
    if session is None or clip.state not in GOING_ON:
        return False
    after = frames[-1] if len(frames) else session.manifest.start - 1
    return index > after and (session.manifest.stop is None or index < session.manifest.stop)


def frames_left(clip: OpenClip) -> bool:
    """Return whether the source has frames after the range that a session was limited to."""
    session, facts, frames = clip.session, clip.facts, clip.summary.frames
    if session is None or facts is None or session.recorded or session.manifest.stop is None or not len(frames):
        return False
    return facts.length is None or frames[-1] + 1 < facts.length


def frames_to_segment(clip: OpenClip) -> int | None:
    """Return how many frames the complete session has; None if that is not known."""
    facts, session = clip.facts, clip.session
    length = None if facts is None else facts.length
    if session is None:
        return length
    start, stop = session.manifest.start, session.manifest.stop
    if stop is None:
        return None if length is None else max(length - start, 0)
    return stop - start if length is None else max(min(stop, length) - start, 0)
