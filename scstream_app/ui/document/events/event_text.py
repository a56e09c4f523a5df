"""Describe births, splits, merges and deaths in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from scstream import Event
from scstream.sampler.genealogy import Kind

TITLES: Mapping[Kind, str] = MappingProxyType(
    {Kind.BIRTH: "Births", Kind.SPLIT: "Splits", Kind.MERGE: "Merges", Kind.DEATH: "Deaths"}
)
ABOUT_RATIO = (
    "Log Hastings ratio: how much likelier the model is with the move than without it. Above 0 a move is always made; "
    "merges and splits by hand may be far below."
)


def describe(event: Event, names: Mapping[int, str]) -> str:
    """Describe an event, with the names that the user gave to segments."""
    first, last = event.ids[0], event.ids[-1]
    text = {
        Kind.BIRTH: f"{_subject(first, names)} appears",
        Kind.SPLIT: f"{_subject(first, names)} splits: {names.get(last, last)} is new",
        Kind.MERGE: f"{_subject(last, names)} merges into {names.get(first, first)}",
        Kind.DEATH: f"{_subject(first, names)} is gone",
    }[event.kind]
    return text[0].upper() + text[1:]


def _subject(id: int, names: Mapping[int, str]) -> str:
    return names.get(id, f"segment {id}")


def describe_ratio(event: Event) -> str:
    """Return the log Hastings ratio of a split or merge as text; an empty string for other events.

    >>> describe_ratio(Event(Kind.SPLIT, 3.0, 3, (0, 1), 12.34, (70.0, 30.0)))
    '+12.3'
    """
    return f"{event.log_hastings:+.1f}" if math.isfinite(event.log_hastings) else ""
