"""What can be done in a panel: by its buttons, its menu, and the keys of the window's actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from scstream_app.ui.actions.actions import BY_ID


@dataclass(frozen=True, slots=True)
class PanelAction:
    """Something that can be done: what it is called, what it does in words, and doing it."""

    word: str
    tip: str
    act: Callable[[], object]


class PanelActions:
    """The actions of a panel by their names; those that the window has too, under the same name, have its keys.

    Parameters
    ----------
    deeds : mapping
        What can be done, by name, in the order of the menu.
    lacking : callable
        What is missing for something to be done, in words; nothing if it can be done.
    say : callable
        Gets that when somebody tries all the same.
    """

    def __init__(
        self,
        panel: QWidget,
        deeds: Mapping[str, PanelAction],
        lacking: Callable[[str], str],
        say: Callable[[str], object],
    ) -> None:
        self._deeds, self._lacking, self._say = dict(deeds), lacking, say
        self._words = {name: deed.word for name, deed in deeds.items()}
        self._keys = {name: next(iter(BY_ID[name].keys), "") for name in deeds if name in BY_ID}
        self._actions = {name: QAction(panel) for name in deeds}
        for name, deed in deeds.items():
            self._actions[name].triggered.connect(lambda _checked=False, act=deed.act: act())
            self.call(name, deed.word)

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def actions(self) -> dict[str, QAction]:
        """All of them by name, in the order of the menu."""
        return dict(self._actions)

    def can(self, name: str) -> bool:
        """Whether this can be done; else it is said what is missing."""
        missing = self._lacking(name)
        if missing:
            self._say(f"{missing}.")
        return not missing

    def enable(self) -> None:
        """Let those be used that can be done now; the tips of the others say what is missing."""
        for name, action in self._actions.items():
            missing = self._lacking(name)
            action.setEnabled(not missing)
            action.setToolTip(missing or self._deeds[name].tip)

    def call(self, name: str, word: str) -> None:
        """Have it called so, as long as that is what it does."""
        key = self._keys.get(name)
        self._words[name] = word
        self._actions[name].setText(f"{word}\t{key}" if key else word)
        self._actions[name].setIconText(word)

    def key(self, name: str) -> str:
        """The key that does the same; nothing if there is none."""
        return self._keys.get(name, "")

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Go by the keys that the window's actions have now; ``key`` gives that of an action."""
        self._keys = {name: key(name) for name in self._keys}
        for name, word in self._words.items():
            self.call(name, word)

    def press(self, event: QKeyEvent) -> bool:
        """Do what the key is for, if it is for anything here.

        The window hears its keys first: here they come when it has no such action, or cannot do it now.
        """
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        pressed = QKeySequence(held.value | event.key())
        for name, key in self._keys.items():
            if key and QKeySequence(key) == pressed:
                self._deeds[name].act()
                return True
        return False
