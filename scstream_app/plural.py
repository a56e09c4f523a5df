"""Numbers and lists of things as text."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: float, noun: str) -> str:
    """Return a whole number with its noun, in the plural unless it is one.

    >>> counted(1, "frame"), counted(0, "frame"), counted(12.0, "segment")
    ('1 frame', '0 frames', '12 segments')
    """
    return f"{number:.0f} {noun}" if round(number) == 1 else f"{number:.0f} {noun}s"


def listed(words: Iterable[str]) -> str:
    """Return words as they are listed in a sentence.

    >>> listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('', 'a', 'a and b', 'a, b and c')
    """
    *before, last = list(words) or [""]
    return f"{', '.join(before)} and {last}" if before else last
