"""The ancestors of a segment, from the splits of a clip."""

from __future__ import annotations

from collections.abc import Container, Mapping


def closest_ancestor(id: int, parents: Mapping[int, int], known: Container[int]) -> int | None:
    """Closest ancestor of the segment that is among ``known``, or None.

    ``parents`` maps a segment to the one that it split from. Ancestors that are not known are passed over: a segment
    that appears and disappears within one frame has no track. In a damaged session, splits may form a circle, in which
    the search ends.

    >>> parents = {9: 7, 7: 3}
    >>> closest_ancestor(9, parents, {3}), closest_ancestor(9, parents, {3, 7}), closest_ancestor(3, parents, {9})
    (3, 7, None)
    """
    passed = {id}
    ancestor = parents.get(id)
    while ancestor is not None and ancestor not in passed:
        if ancestor in known:
            return ancestor
        passed.add(ancestor)
        ancestor = parents.get(ancestor)
    return None
