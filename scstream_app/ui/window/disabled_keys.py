"""Keys of disabled actions: they show why the action is not available."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from scstream_app.ui.actions.actions import Actions


class DisabledKeys:
    """Explains keys that did nothing because their action is disabled.

    Parameters
    ----------
    actions : Actions
    why_disabled : callable
        Returns why an action, given by its id, is disabled; empty if it is not.
    message : callable
        Shows the reason.
    """

    def __init__(self, actions: Actions, why_disabled: Callable[[str], str], message: Callable[[str], object]) -> None:
        self._actions, self._why_disabled, self._message = actions, why_disabled, message

    def press(self, event: QKeyEvent) -> bool:
        """Explain the key, which no widget has used; returns whether it belongs to a disabled action.

        An action whose reason is gone, which the window has not noticed yet, is done.
        """
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        id = self._actions.disabled_with_key(QKeySequence(held.value | event.key()))
        if id is None:
            return False
        reason = self._why_disabled(id)
        if reason:
            self._message(f"{reason}.")
        else:
            self._actions.enable(self._why_disabled, [id])
            self._actions[id].trigger()
        return True
