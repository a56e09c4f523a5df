"""What is not as it should be in a session, in words: frames that the source lacks, and files that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scstream_app.session import Session


def missing_frames_text(frames: Sequence[int]) -> str:
    """Which frames were left out because the source is damaged there; nothing if none were."""
    gone = missing(frames)
    return f"Damaged in the source and left out: {gone}. All other frames are there." if gone else ""


def damaged_files_text(session: Session) -> str:
    """Which files of a session were put aside, and what to do about it; nothing if all is well."""
    if not session.damage:
        return ""
    todo = (
        f"Mark what is missing again; or repair that file, put it back into '{session.path}' "
        "and open the session once more."
    )
    return " ".join([*session.damage, todo])


def missing(frames: Sequence[int], most: int = 6) -> str:
    """The frames between the first and the last that are not there, in words; nothing if all are.

    >>> missing([0, 1, 3, 7, 8])
    'frames 2, 4 to 6'
    """
    gaps = [(a + 1, b - 1) for a, b in pairwise(frames) if b > a + 1]
    parts = [str(first) if first == last else f"{first} to {last}" for first, last in gaps[:most]]
    more = f" and {len(gaps) - most} more gaps" if len(gaps) > most else ""
    one = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
    return f"{'frame' if one else 'frames'} {', '.join(parts)}{more}" if gaps else ""
