"""The dock of controls: a form made from the table of settings, with presets and two ways to put it into force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from superqt import QCollapsible

from scstream_app.pipeline.edits import CHANGEABLE, Edit
from scstream_app.settings import PRESETS, SPECS, Preset, Settings
from scstream_app.ui.document.availability import can_edit
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.panels.fields import Field, make_field

#: Changes of these make every segment begin anew.
AFRESH = frozenset({"colour", "detail"})
_NO_PRESET = "Own settings"
_STANDARD = Preset("Standard", "What the program comes with: good for most clips.", {})


class ControlsPanel(QWidget):
    """The settings, with what differs from those in force.

    ``restart_requested`` carries the Settings with which the source is to be segmented again from its start.
    """

    restart_requested = Signal(object)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._in_force = document.settings
        self._fields: dict[str, Field] = {}
        self._labels: dict[str, QLabel] = {}
        self._fold = QCollapsible("Advanced", expandedIcon="▾", collapsedIcon="▸")
        self._presets = self._make_presets()
        self._about = _note()
        self._message = _note()
        self._message.setObjectName("message")
        self._apply = QPushButton("Apply from this frame on")
        self._restart = QPushButton("Restart")
        self._restart.setToolTip("Segment the source again from its start with these settings")
        self._revert = QPushButton("Revert")
        self._revert.setToolTip("Go back to the settings in force")
        self._apply.clicked.connect(self._on_apply)
        self._restart.clicked.connect(self._on_restart)
        self._revert.clicked.connect(self.revert)
        self._lay_out()
        document.settings_changed.connect(self._on_settings)
        document.opened.connect(self._on_opened)
        document.state_changed.connect(self._compare)
        self._put(self._in_force)

    def _make_presets(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName("Preset")
        box.addItem(_NO_PRESET)
        for preset in (_STANDARD, *PRESETS):
            box.addItem(preset.name, preset)
            box.setItemData(box.count() - 1, preset.description, Qt.ItemDataRole.ToolTipRole)
        box.activated.connect(self._on_preset)
        return box

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("Preset", self._presets)
        form.addRow(self._about)
        self._add_fields(form, "basic")
        inside = QWidget()
        hidden = QFormLayout(inside)
        hidden.setContentsMargins(0, 0, 0, 0)
        hidden.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._add_fields(hidden, "advanced")
        self._fold.setDuration(0)
        self._fold.addWidget(inside)
        content = QWidget()
        column = QVBoxLayout(content)
        column.addLayout(form)
        column.addWidget(self._fold)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(content)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        buttons = QHBoxLayout()
        buttons.addWidget(self._restart)
        buttons.addWidget(self._revert)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.addWidget(scroll, 1)
        below = QVBoxLayout()
        below.setContentsMargins(9, 0, 9, 0)
        below.addWidget(self._message)
        below.addWidget(self._apply)
        below.addLayout(buttons)
        layout.addLayout(below)

    def _add_fields(self, form: QFormLayout, group: str) -> None:
        for name, spec in SPECS.items():
            if spec.group == group:
                field = make_field(name)
                label = QLabel("" if spec.kind == "switch" else spec.label)
                label.setToolTip(spec.help)
                label.setBuddy(field)
                field.changed.connect(self._on_changed)
                self._fields[name], self._labels[name] = field, label
                form.addRow(label, field)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            # The fold has a style sheet of its own, which keeps the old colours, and its marks are pictures.
            self._fold.toggleButton().setPalette(self.palette())
            self._fold.setExpandedIcon("▾")
            self._fold.setCollapsedIcon("▸")

    # --- what it says

    @property
    def trouble(self) -> str:
        """What is wrong with the form; usually nothing."""
        return next((field.trouble for field in self._fields.values() if field.trouble), "")

    @property
    def settings(self) -> Settings:
        """What the form is set to; a SettingsError if there is `trouble`."""
        return Settings(**{name: field.value for name, field in self._fields.items()})

    @property
    def changed(self) -> dict[str, Any]:
        """Values that differ from those in force, by name."""
        return {
            name: field.value
            for name, field in self._fields.items()
            if not field.trouble and field.value != getattr(self._in_force, name)
        }

    @Slot()
    def revert(self) -> None:
        """Go back to the settings in force."""
        self._put(self._in_force)

    def _put(self, settings: Settings) -> None:
        for name, field in self._fields.items():
            field.put(getattr(settings, name))
        self._compare()

    @Slot()
    def _compare(self) -> None:
        """Mark what differs from the settings in force, and say what the buttons would do."""
        changed, trouble = self.changed, self.trouble
        for name, label in self._labels.items():
            different = name in changed or bool(self._fields[name].trouble)
            font = label.font()
            font.setBold(different)
            label.setFont(font)
            text = "" if SPECS[name].kind == "switch" else SPECS[name].label
            label.setText(f"{text} •".lstrip() if different else text)
            was = _told(name, getattr(self._in_force, name))
            label.setToolTip(f"{SPECS[name].help}\n\nIn force: {was}." if different else SPECS[name].help)
        applicable = [name for name in changed if name in CHANGEABLE]
        self._apply.setEnabled(bool(applicable) and not trouble and can_edit(self._document))
        self._restart.setEnabled(self._document.facts is not None and not self._document.saving and not trouble)
        self._revert.setEnabled(bool(changed or trouble))
        self._message.setText(trouble or self._effect(changed))
        self._message.setVisible(bool(self._message.text()))
        self._tell_preset()

    def _effect(self, changed: Mapping[str, Any]) -> str:
        if not changed or self._document.state is State.EMPTY:
            return ""
        labels = ", ".join(SPECS[name].label for name in changed)
        text = f"Changed: {labels}."
        if not can_edit(self._document):
            return f"{text} All frames are segmented: press Restart."
        if "scene_cuts" in changed:
            text += f" '{SPECS['scene_cuts'].label}' holds for a whole run: it needs Restart."
        if AFRESH & changed.keys():
            text += " Applying makes all segments begin anew."
        return text

    def _tell_preset(self) -> None:
        place = 0
        if not self.trouble:
            now = self.settings
            for n in range(1, self._presets.count()):
                if self._presets.itemData(n).apply(now) == now:
                    place = n
        self._presets.setCurrentIndex(place)
        about = self._presets.itemData(place, Qt.ItemDataRole.ToolTipRole) if place else ""
        self._about.setText(str(about))
        self._about.setVisible(bool(about))

    # --- what a person does

    @Slot()
    def _on_changed(self) -> None:
        # With nothing open there is no run to differ from: what is set is what the next one begins with.
        if self._document.state is State.EMPTY and not self.trouble:
            self._document.set_settings(self.settings)
        self._compare()

    @Slot(int)
    def _on_preset(self, place: int) -> None:
        preset = self._presets.itemData(place)
        if isinstance(preset, Preset):
            self._put(preset.apply(self._in_force))
            self._on_changed()
        else:
            self._compare()

    @Slot()
    def _on_apply(self) -> None:
        values = {name: value for name, value in self.changed.items() if name in CHANGEABLE}
        if values:
            self._document.edit(Edit("restart" if AFRESH & values.keys() else "change", values=values))

    @Slot()
    def _on_restart(self) -> None:
        self.restart_requested.emit(self.settings)

    @Slot()
    def _on_settings(self) -> None:
        """Others are in force: what was not touched follows them."""
        touched = self.changed
        self._in_force = self._document.settings
        for name, field in self._fields.items():
            if name not in touched and not field.trouble:
                field.put(getattr(self._in_force, name))
        self._compare()

    @Slot()
    def _on_opened(self) -> None:
        self._in_force = self._document.settings
        self._put(self._in_force)


def _note() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.hide()
    return label


def _told(name: str, value: Any) -> str:
    if value is None:
        return str(SPECS[name].none)
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
