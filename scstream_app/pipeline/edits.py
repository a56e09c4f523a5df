"""What a person does to the model between two frames: data that can be queued, kept and repeated."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from scstream_app.errors import SettingsError
from scstream_app.settings import SPECS

if TYPE_CHECKING:
    from scstream import VideoSegmenter

Kind = Literal["merge", "split", "lock", "unlock", "change", "restart"]

#: Settings that can change between two frames. Whether cuts are looked for holds for a whole run.
CHANGEABLE = tuple(name for name in SPECS if name != "scene_cuts")

_HIGHEST_ID = (1 << 31) - 1
_FEWEST_IDS = {"merge": 2, "split": 1, "lock": 1, "unlock": 1, "change": 0, "restart": 0}


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit; it takes effect on the frame after the one that is shown.

    Parameters
    ----------
    kind : str
        "merge" (ids become one), "split" (each of the ids divides into its sub-clusters), "lock" and "unlock" (ids are
        left alone by the model, or no longer), "change" (settings), "restart" (everything starts afresh).
    ids : tuple of int
    values : mapping
        Of a change or a restart: settings by name, as in `settings.Settings`.

    Examples
    --------
    >>> Edit.from_dict(Edit("merge", (3, 5)).as_dict())
    Edit(kind='merge', ids=(3, 5), values=mappingproxy({}))
    """

    kind: Kind
    ids: tuple[int, ...] = ()
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise SettingsError(f"there is no edit {self.kind!r}; there are {', '.join(get_args(Kind))}")
        object.__setattr__(self, "ids", self._checked_ids())
        object.__setattr__(self, "values", MappingProxyType(self._checked()))

    def _checked_ids(self) -> tuple[int, ...]:
        try:
            ids = tuple(dict.fromkeys(map(index, self.ids)))
        except TypeError:
            ids = (-1,)
        if len(ids) < _FEWEST_IDS[self.kind] or not all(0 <= id <= _HIGHEST_ID for id in ids):
            raise SettingsError(f"a {self.kind} takes at least {_FEWEST_IDS[self.kind]} segments, got {self.ids!r}")
        return ids

    def _checked(self) -> dict[str, Any]:
        if not isinstance(self.values, Mapping):
            raise SettingsError(f"a {self.kind} takes settings by name, got {self.values!r}")
        unknown = [str(name) for name in self.values if name not in CHANGEABLE]
        if unknown:
            raise SettingsError(f"'{unknown[0]}' is no setting that can change in a run: {', '.join(CHANGEABLE)}")
        return {name: SPECS[name].check(name, value) for name, value in self.values.items()}

    def apply(self, segmenter: VideoSegmenter) -> None:
        """Do it. A KeyError or ValueError says why it cannot be done: a segment may have died meanwhile."""
        match self.kind:
            case "merge":
                segmenter.merge(self.ids)
            case "split":
                for id in self.ids:
                    segmenter.split(id)
            case "lock":
                segmenter.locked_ = segmenter.locked_ | set(self.ids)
            case "unlock":
                segmenter.locked_ = segmenter.locked_ - set(self.ids)
            case "restart":
                segmenter.restart()
        if self.values:
            segmenter.change(**self.values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return {"kind": self.kind, "ids": list(self.ids), "values": dict(self.values)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Undo `as_dict`; a SettingsError says what makes no sense."""
        if not isinstance(values, Mapping):
            raise SettingsError(f"an edit has a kind, ids and values, got {type(values).__name__}")
        try:
            return cls(values["kind"], tuple(values["ids"]), values["values"])
        except (KeyError, TypeError, OverflowError) as error:
            raise SettingsError("an edit has a kind, ids and values that fit it") from error


def colour_after(edits: Iterable[Edit], colour: str) -> str:
    """The colour space after some edits, if it was ``colour`` before.

    >>> colour_after([Edit("lock", (1,)), Edit("restart", values={"colour": "lab"})], "rgb")
    'lab'
    """
    for edit in edits:
        colour = str(edit.values.get("colour", colour))
    return colour


class EditQueue:
    """Edits on their way to a run, from any thread: kept until the run says what became of them.

    Examples
    --------
    >>> queue = EditQueue()
    >>> queue.add(Edit("lock", (3,)))
    >>> queue.waiting() == queue.waiting() == (Edit("lock", (3,)),)
    True
    >>> queue.add(Edit("split", (5,)))
    >>> queue.withdraw(Edit("split", (5,))), queue.withdraw(Edit("lock", (3,)))
    (True, False)
    >>> queue.untell()
    >>> queue.withdraw(Edit("lock", (3,)))
    True
    >>> queue.add(Edit("lock", (3,)))
    >>> queue.settle([Edit("lock", (3,))])
    >>> queue.waiting()
    ()
    """

    def __init__(self) -> None:
        self._edits: list[Edit] = []
        #: How many, from the first on, a run has been told of.
        self._told = 0
        self._lock = threading.Lock()

    def add(self, edit: Edit) -> None:
        """Put an edit at the end."""
        with self._lock:
            self._edits.append(edit)

    def waiting(self) -> tuple[Edit, ...]:
        """All that wait, the earliest first; they go on waiting, but can no longer be withdrawn."""
        with self._lock:
            self._told = len(self._edits)
            return tuple(self._edits)

    def untell(self) -> None:
        """The run that was told has ended: whatever still waits can be withdrawn again."""
        with self._lock:
            self._told = 0

    def withdraw(self, edit: Edit) -> bool:
        """Take an edit back that no run has been told of yet; False if it is too late for that."""
        with self._lock:
            for place in range(len(self._edits) - 1, self._told - 1, -1):
                if self._edits[place] == edit:
                    del self._edits[place]
                    return True
            return False

    def settle(self, edits: Iterable[Edit]) -> None:
        """These were made, or cannot be: they wait no longer."""
        with self._lock:
            for edit in edits:
                if edit in self._edits:
                    place = self._edits.index(edit)
                    del self._edits[place]
                    self._told -= place < self._told

    def clear(self) -> None:
        """Nothing is to be done any more."""
        with self._lock:
            self._edits.clear()
            self._told = 0
