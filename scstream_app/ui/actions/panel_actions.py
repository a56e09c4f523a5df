"""Actions of a panel: its buttons, its menu and the keys that it shares with the window's actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from scstream_app.ui.actions.action_spec import ActionSpec
from scstream_app.ui.actions.actions import BY_ID


class PanelActions:
    """QActions of a panel by id.

    Parameters
    ----------
    panel : QWidget
    handlers : mapping of str to callable
        What each action does, by id, in the order of the panel's menu.
    why_unavailable : callable
        Returns why an action is not available; empty if it is.
    message : callable
        Shows the reason when the user tries an action that is not available.
    """

    def __init__(
        self,
        panel: QWidget,
        handlers: Mapping[str, Callable[[], object]],
        why_unavailable: Callable[[str], str],
        message: Callable[[str], object],
    ) -> None:
        self._handlers, self._why_unavailable, self._message = dict(handlers), why_unavailable, message
        self._texts = {id: BY_ID[id].word or BY_ID[id].title for id in handlers}
        self._keys = {id: next(iter(BY_ID[_key_owner(BY_ID[id])].keys), "") for id in handlers}
        self._actions = {id: QAction(panel) for id in handlers}
        for id, handler in handlers.items():
            self._actions[id].triggered.connect(lambda _checked=False, act=handler: act())
            self._actions[id].setToolTip(BY_ID[id].tip)
            self.set_text(id, self._texts[id])

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def check(self, id: str) -> bool:
        """Whether an action is available; if it is not, show the reason."""
        reason = self._why_unavailable(id)
        if reason:
            self._message(f"{reason}.")
        return not reason

    def enable(self) -> None:
        """Enable the actions that are available; the tooltips of the others show the reason."""
        for id, action in self._actions.items():
            reason = self._why_unavailable(id)
            action.setEnabled(not reason)
            action.setToolTip(reason or BY_ID[id].tip)

    def set_text(self, id: str, text: str) -> None:
        """Set the text of an action's button and menu entry."""
        key = self._keys[id]
        self._texts[id] = text
        self._actions[id].setText(f"{text}\t{key}" if key else text)
        self._actions[id].setIconText(text)

    def key(self, id: str) -> str:
        """Return the key of an action as text; empty if it has none."""
        return self._keys[id]

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Take over the keys of the window's actions; ``key`` gives the key of an action."""
        for id, text in self._texts.items():
            owner = _key_owner(BY_ID[id])
            self._keys[id] = key(owner)
            self.set_text(id, text)

    def press(self, event: QKeyEvent) -> bool:
        """Do the action that has this key; returns whether there is one.

        The window handles its keys first: they arrive here only while its action is disabled.
        """
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        pressed = QKeySequence(held.value | event.key())
        for id, key in self._keys.items():
            if key and QKeySequence(key) == pressed:
                self._handlers[id]()
                return True
        return False


def _key_owner(spec: ActionSpec) -> str:
    return spec.keys_of or spec.id
