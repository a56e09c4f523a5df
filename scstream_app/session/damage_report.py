"""Messages about damage in a session: frames that the source could not deliver, and unreadable files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scstream_app.session import Session


def missing_frames_text(frames: Sequence[int]) -> str:
    """Message about the frames that were skipped because the source is damaged there; empty if there are none."""
    gaps = describe_gaps(frames)
    return f"Skipped because the source is damaged: {gaps}. All other frames are complete." if gaps else ""


def damaged_files_text(session: Session) -> str:
    """Message about the unreadable files of a session and what the user can do about them; empty if there are none."""
    if not session.damage:
        return ""
    advice = (
        f"Mark the missing objects again, or repair the file, put it back into '{session.path}' and reopen the session."
    )
    return " ".join([*session.damage, advice])


def describe_gaps(frames: Sequence[int], most: int = 6) -> str:
    """Text that lists the missing frames between the first and the last one; empty if none is missing.

    It names at most ``most`` gaps.

    >>> describe_gaps([0, 1, 3, 7, 8])
    'frames 2, 4 to 6'
    """
    gaps = [(a + 1, b - 1) for a, b in pairwise(frames) if b > a + 1]
    parts = [str(first) if first == last else f"{first} to {last}" for first, last in gaps[:most]]
    more = f" and {len(gaps) - most} more gaps" if len(gaps) > most else ""
    one = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
    return f"{'frame' if one else 'frames'} {', '.join(parts)}{more}" if gaps else ""
