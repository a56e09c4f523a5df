"""The table of actions, for menus, buttons and keys, and the window's QActions made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QKeySequence

from scstream_app.ui.actions.action_spec import ActionSpec
from scstream_app.ui.actions.tables.edit import EDIT
from scstream_app.ui.actions.tables.file import FILE
from scstream_app.ui.actions.tables.help import HELP
from scstream_app.ui.actions.tables.object import OBJECT
from scstream_app.ui.actions.tables.playback import PLAYBACK
from scstream_app.ui.actions.tables.segmentation import SEGMENTATION
from scstream_app.ui.actions.tables.view import VIEW

#: In the order of the menus; actions without a menu belong to a panel.
SPECS: tuple[ActionSpec, ...] = (*FILE, *EDIT, *OBJECT, *VIEW, *PLAYBACK, *SEGMENTATION, *HELP)

BY_ID: Mapping[str, ActionSpec] = MappingProxyType({spec.id: spec for spec in SPECS if spec.title})
#: Actions that are in a menu.
MENU_ACTIONS: tuple[ActionSpec, ...] = tuple(spec for spec in BY_ID.values() if spec.menu)
#: Actions that can have keys: those of menus, and those of panels unless they share the keys of another.
KEY_ACTIONS: tuple[ActionSpec, ...] = tuple(spec for spec in BY_ID.values() if not spec.keys_of)


class Actions(QObject):
    """The window's QActions by id, with the keys that the user chose.

    ``keys_changed`` is emitted when actions have other keys.
    """

    keys_changed = Signal()

    def __init__(self, parent: QObject, settings: QSettings) -> None:
        super().__init__(parent)
        self._settings = settings
        self._taken = {key for spec in KEY_ACTIONS for key in self._chosen(spec) or ()}
        self._actions = {spec.id: self._make(spec) for spec in KEY_ACTIONS}

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.title, self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        action.setStatusTip(spec.tip)
        # Held down, the key of a choice would switch it on and off.
        action.setAutoRepeat(not (spec.checkable or spec.id == "play"))
        self._assign_keys(action, spec, self.keys(spec))
        return action

    def _assign_keys(self, action: QAction, spec: ActionSpec, keys: Iterable[str]) -> None:
        action.setShortcuts([QKeySequence(key) for key in keys])
        if action.isEnabled():
            action.setToolTip(_tooltip(action, spec))

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def bind(self, handlers: Mapping[str, Callable[[], object]]) -> None:
        """Connect actions to the functions that do them."""
        for id, handler in handlers.items():
            self._actions[id].triggered.connect(lambda _checked=False, act=handler: act())

    def enable(self, why_disabled: Callable[[str], str], ids: Iterable[str] | None = None) -> None:
        """Enable the actions, all by default, for which there is no reason against it; tips show the reasons."""
        for id in self._actions if ids is None else ids:
            action, reason = self._actions[id], why_disabled(id)
            action.setEnabled(not reason)
            action.setStatusTip(reason or BY_ID[id].tip)
            action.setToolTip(reason or _tooltip(action, BY_ID[id]))

    # --- keys

    def keys(self, spec: ActionSpec) -> tuple[str, ...]:
        """Return the keys of an action: those that the user chose, else its default keys.

        A default key that an earlier choice gave to another action belongs to that one.
        """
        chosen = self._chosen(spec)
        return tuple(key for key in spec.keys if key not in self._taken) if chosen is None else chosen

    def _chosen(self, spec: ActionSpec) -> tuple[str, ...] | None:
        """The keys that the user chose for an action; None if the user chose none."""
        chosen = self._settings.value(f"keys/{spec.id}")
        return None if chosen is None else tuple(str(chosen).split(" | ")) if chosen else ()

    def set_keys(self, id: str, keys: Iterable[str]) -> None:
        """Give an action other keys, which are taken from the actions that have them, and store them."""
        chosen = tuple(keys)
        for key in chosen:
            owner = self.owner(key)
            if owner not in (None, id):
                self._store_keys(owner, [other for other in self._key_texts(owner) if other != _normal(key)])
        self._store_keys(id, chosen)
        self.keys_changed.emit()

    def _store_keys(self, id: str, keys: Iterable[str]) -> None:
        chosen = tuple(keys)
        self._settings.setValue(f"keys/{id}", " | ".join(chosen))
        self._assign_keys(self._actions[id], BY_ID[id], chosen)

    def _key_texts(self, id: str) -> list[str]:
        return [shortcut.toString() for shortcut in self._actions[id].shortcuts()]

    def owner(self, key: str) -> str | None:
        """Return the id of the action that has a key; None if no action has it."""
        return next((id for id in self._actions if _normal(key) in self._key_texts(id)), None)

    def key(self, id: str) -> str:
        """Return the first key of an action as text; empty if it has none."""
        return self._actions[id].shortcut().toString()

    def disabled_with_key(self, key: QKeySequence) -> str | None:
        """Return the id of the disabled action that has a key; None if there is none."""
        actions = self._actions.items()
        return next((id for id, action in actions if not action.isEnabled() and key in action.shortcuts()), None)

    def reset_keys(self) -> None:
        """Give all actions their default keys."""
        self._settings.remove("keys")
        self._taken.clear()
        for spec in KEY_ACTIONS:
            self._assign_keys(self._actions[spec.id], spec, spec.keys)
        self.keys_changed.emit()


def _normal(key: str) -> str:
    """The text that Qt writes for a key."""
    return QKeySequence(key).toString()


def _tooltip(action: QAction, spec: ActionSpec) -> str:
    key, tip = action.shortcut().toString(), spec.title.rstrip("…")
    return f"{tip} ({key})" if key else tip
