"""Values of options that the shell completes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

#: Called with what was typed so far; returns the values that begin with it.
Completion = Callable[[str], list[str]]


def matching(values: Iterable[str]) -> Completion:
    """Completion of one of the values.

    >>> matching(["vivid", "safe"])("v")
    ['vivid']
    """
    known = tuple(values)

    def complete(incomplete: str) -> list[str]:
        return [value for value in known if value.startswith(incomplete.lower())]

    return complete


def formats_completion(formats: Collection[str], views: Collection[str]) -> Completion:
    """Completion of the last format of a comma-separated list, and of the view after its colon.

    Formats that the list has already are left out.

    >>> formats_completion(["ids", "mp4", "mean"], ["mean_colour"])("ids,m")
    ['ids,mp4', 'ids,mean']
    >>> formats_completion(["ids", "mp4", "mean"], ["mean_colour"])("ids,mp4:m")
    ['ids,mp4:mean_colour']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = {part.strip().lower() for part in before.split(",")}
        name, colon, view = last.partition(":")
        if colon:
            return [f"{before}{comma}{name}:{each}" for each in matching(views)(view)]
        return [f"{before}{comma}{each}" for each in matching(formats)(last) if each not in given]

    return complete
