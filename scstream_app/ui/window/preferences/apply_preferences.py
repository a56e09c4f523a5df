"""Apply the preferences to theme, overlay and segmentation, whenever one changes."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from scstream_app.pipeline.edits import Edit
from scstream_app.settings import PRESETS, Settings
from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.action_availability import can_edit
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.appearance import theme
from scstream_app.ui.window.preferences.preferences import AS_BEFORE, Preferences


class PreferenceApplier(QObject):
    """Applies preferences when it is created, and whenever one changes."""

    def __init__(self, preferences: Preferences, document: Document, actions: Actions) -> None:
        super().__init__(document)
        self._preferences, self._document, self._actions = preferences, document, actions
        for name in ("theme", "palette", "opacity", "autostart", "threads"):
            self._on_changed(name)
        preferences.changed.connect(self._on_changed)

    @Slot(str)
    def _on_changed(self, name: str) -> None:
        value, document = self._preferences[name], self._document
        if name == "theme":
            self._use_theme(value)
        elif name in ("palette", "opacity"):
            document.display.set_look(**{name: value})
        elif name == "autostart":
            document.autostart = value
        elif name == "threads" and value != document.settings.threads:
            self._use_threads(value)

    def _use_theme(self, name: theme.Theme) -> None:
        self._actions[f"theme_{name}"].setChecked(True)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, name)

    def _use_threads(self, threads: int | None) -> None:
        if can_edit(self._document):
            self._document.edit(Edit("change", values={"threads": threads}))
        else:
            self._document.set_settings(replace(self._document.settings, threads=threads))

    def use_preset(self) -> None:
        """Set the settings of the next clip to the preferred preset."""
        name = self._preferences["preset"]
        if name != AS_BEFORE:
            before = self._document.settings
            standard = Settings(seed=before.seed, threads=before.threads)
            preset = next((preset for preset in PRESETS if preset.name == name), None)
            self._document.set_settings(standard if preset is None else preset.apply(before))
