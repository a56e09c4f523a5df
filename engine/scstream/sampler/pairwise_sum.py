"""The sum of an array in parts, equal to `numpy.sum` of the whole to the last bit.

numpy halves an array again and again, sums pieces of at most `_PIECE` values and adds the sums of the halves. Here each
part sums the halves that lie within it, and the results are then added as numpy does.
"""

from __future__ import annotations

import numpy as np

from scstream.components.base import Array

#: Most values that numpy adds without halving them.
_PIECE = 128

#: Sums of the halves [first, last) within a part, and the values of pieces that only begin or end there.
Sums = dict[tuple[int, int], float | Array]


def sum_part(values: Array, begin: int, size: int) -> Sums:
    """Sum a part of an array of ``size`` values, from its index ``begin`` on."""
    end, sums = begin + len(values), Sums()

    def visit(first: int, last: int) -> None:
        if last <= begin or end <= first:
            return
        if begin <= first and last <= end:
            sums[first, last] = float(values[first - begin : last - begin].sum())
        elif last - first <= _PIECE:
            sums[first, last] = values[max(first - begin, 0) : last - begin].copy()
        else:
            middle = _middle(first, last)
            visit(first, middle)
            visit(middle, last)

    visit(0, size)
    return sums


def add_parts(parts: list[Sums], size: int) -> float:
    """Sum of an array of ``size`` values, from the sums of all its parts in their order."""
    sums: dict[tuple[int, int], list[float | Array]] = {}
    for part in parts:
        for span, found in part.items():
            sums.setdefault(span, []).append(found)

    def add(first: int, last: int) -> float:
        found = sums.get((first, last))
        if found is not None:
            return float(np.hstack(found).sum())
        middle = _middle(first, last)
        return add(first, middle) + add(middle, last)

    return add(0, size)


def _middle(first: int, last: int) -> int:
    half = (last - first) // 2
    return first + half - half % 8
