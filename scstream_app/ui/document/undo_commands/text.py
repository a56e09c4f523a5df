"""Texts of undo commands."""

from __future__ import annotations

from collections.abc import Iterable

from scstream_app.plural import listed


def segments_text(ids: Iterable[int]) -> str:
    """Describe segments by their ids.

    >>> segments_text([3]), segments_text([5, 3]), segments_text(range(9))
    ('segment 3', 'segments 3 and 5', '9 segments')
    """
    ordered = sorted(ids)
    if len(ordered) == 1:
        return f"segment {ordered[0]}"
    if not ordered or len(ordered) > 4:
        return f"{len(ordered)} segments"
    return f"segments {listed(map(str, ordered))}"


def sentence(text: str) -> str:
    """Write the message of an error as a sentence.

    >>> sentence("frame 3 is not segmented")
    'Frame 3 is not segmented.'
    """
    return f"{text[:1].upper()}{text[1:]}."
