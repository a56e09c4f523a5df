"""ActionSpec: the description of an action, from which its menu entry, button and keys are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What an action needs to be available; `scstream_app.ui.document.action_availability` checks it.
Needs = Literal[
    "nothing",
    "something open or opening",
    "open document",
    "idle document",
    "session",
    "undo",
    "redo",
    "segments",
    "object",
    "drawing",
    "objects",
    "tracked objects",
    "playback",
    "play",
    "steps",
    "run",
    "paused run",
    "rerun",
    "live run",
    "rest",
]


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """Description of an action.

    Parameters
    ----------
    id : str
    menu : str
        The menu that it is in; empty for an action of a panel only.
    title : str
        The menu entry; empty for a separator.
    keys : tuple of str
        Default shortcuts; menus show the first.
    needs : str
    tip : str
        What it does, where the title does not say it.
    word : str
        The button's text in a panel, if it is shorter than the title.
    keys_of : str
        For an action of a panel: id of the action whose keys it shares.
    checkable : bool
    group : str
        Actions of a group are exclusive: one of them is checked.
    """

    id: str
    menu: str
    title: str
    keys: tuple[str, ...] = ()
    needs: Needs = "nothing"
    tip: str = ""
    word: str = ""
    keys_of: str = ""
    checkable: bool = False
    group: str = ""

    @property
    def menu_path(self) -> str:
        """Where the action is in the menus.

        >>> ActionSpec("open", "File", "Open Video…").menu_path
        'File > Open Video…'
        """
        return f"{self.menu} > {self.title}"


def separator(menu: str) -> ActionSpec:
    """A line between two groups of entries of a menu."""
    return ActionSpec("", menu, "")
