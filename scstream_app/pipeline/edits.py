"""Edits: changes of the model by the user, such as merge and split, as data that can be queued and repeated."""

from __future__ import annotations

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

#: Settings that can change between two frames. Scene cuts are switched on or off for a whole run.
CHANGEABLE = tuple(name for name in SPECS if name != "scene_cuts")

_HIGHEST_ID = (1 << 31) - 1
_FEWEST_IDS = {"merge": 2, "split": 1, "lock": 1, "unlock": 1, "change": 0, "restart": 0}


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the model, made before its next frame.

    Parameters
    ----------
    kind : str
        "merge" (ids become one), "split" (each of the ids divides into its sub-clusters), "lock" and "unlock" (the
        model neither merges nor splits locked ids), "change" (settings), "restart" (the model forgets everything).
    ids : tuple of int
    values : mapping
        Settings by name, as in `settings.Settings`, for "change" and "restart".

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
        """Make the edit; raise KeyError or ValueError if that is impossible, for example because a segment has died."""
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
            segmenter.set_params(**self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return values that can be written as JSON."""
        return {"kind": self.kind, "ids": list(self.ids), "values": dict(self.values)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Create an edit from the values of `as_dict`; raise SettingsError if they are not valid."""
        if not isinstance(values, Mapping):
            raise SettingsError(f"an edit has a kind, ids and values, got {type(values).__name__}")
        try:
            return cls(values["kind"], tuple(values["ids"]), values["values"])
        except (KeyError, TypeError, OverflowError) as error:
            raise SettingsError("an edit has a kind, ids and values that fit it") from error


def colour_after(edits: Iterable[Edit], colour: str) -> str:
    """Return the colour space after some edits, if it was ``colour`` before.

    >>> colour_after([Edit("lock", (1,)), Edit("restart", values={"colour": "lab"})], "rgb")
    'lab'
    """
    for edit in edits:
        colour = str(edit.values.get("colour", colour))
    return colour
