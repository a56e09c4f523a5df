"""MarkedObject: a name, a colour, and the edits that say which segments the object has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from scstream_app.errors import InvalidData
from scstream_app.objects.edits import ObjectEdit

Colour = tuple[int, int, int]

#: Longest name of an object or a segment, in characters.
NAME_LENGTH = 100
#: Largest number of edits of an object.
MOST_EDITS = 10_000
_FORBIDDEN = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, slots=True)
class MarkedObject:
    """Named object that the user marked: a list of edits, in the order of their frames.

    The edits of one frame keep the order in which they are given.

    Parameters
    ----------
    name : str
    colour : tuple of int
        Red, green and blue, from 0 to 255.
    edits : tuple of ObjectEdit
        At least one.

    Attributes
    ----------
    frame : int
        Frame of the first edit; the object does not exist before it.
    ids : frozenset of int
        Segments of the first edit.

    Examples
    --------
    >>> kite = MarkedObject.made("kite", (230, 160, 0), 3, {4})
    >>> kite = kite.with_edits([*kite.edits, ObjectEdit("removed", 20, {9}), ObjectEdit("added", 7, {5})])
    >>> [(edit.kind, edit.frame) for edit in kite.edits]
    [('made', 3), ('added', 7), ('removed', 20)]
    >>> kite.frame, sorted(kite.ids)
    (3, [4])
    """

    name: str
    colour: Colour
    edits: tuple[ObjectEdit, ...]

    def __post_init__(self) -> None:
        check_text(self.name)
        _check_file_name(self.name)
        check_colour(self.colour)
        if not 0 < len(self.edits) <= MOST_EDITS:
            raise InvalidData(f"an object must have 1 to {MOST_EDITS} edits, got {len(self.edits)}")
        object.__setattr__(self, "edits", tuple(sorted(self.edits, key=lambda edit: edit.frame)))

    @classmethod
    def made(cls, name: str, colour: Colour, frame: int, ids: Collection[int]) -> Self:
        """An object made of segments of one frame."""
        return cls(name, colour, (ObjectEdit("made", frame, frozenset(ids)),))

    @property
    def frame(self) -> int:
        """Frame of the first edit."""
        return self.edits[0].frame

    @property
    def ids(self) -> frozenset[int]:
        """Segments of the first edit."""
        return self.edits[0].ids

    def with_edits(self, edits: Collection[ObjectEdit]) -> Self:
        """The object with other edits."""
        return type(self)(self.name, self.colour, tuple(edits))


def check_text(name: str) -> None:
    """Raise InvalidData unless the text can be the name of an object or a segment."""
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise InvalidData(f"a name must have 1 to {NAME_LENGTH} printable characters, got {name!r}")


def check_colour(colour: Colour) -> None:
    """Raise InvalidData unless the colour is three levels from 0 to 255."""
    if len(colour) != 3 or not all(type(level) is int and 0 <= level <= 255 for level in colour):
        raise InvalidData(f"a colour must be three whole numbers from 0 to 255, got {colour!r}")


def _check_file_name(name: str) -> None:
    # Objects are exported under their names.
    if name.strip(" .") != name or _FORBIDDEN & set(name):
        signs = " ".join(sorted(_FORBIDDEN))
        raise InvalidData(
            f"the name of an object must not contain {signs}, nor start or end with a space or full stop; got {name!r}"
        )
