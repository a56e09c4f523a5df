"""The Controls panel: a form for the settings of segmentation, with presets and buttons that apply it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
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
from scstream_app.settings import PRESETS, SPECS, Preset, Settings, Spec, remembered_frames
from scstream_app.ui.document.action_availability import can_edit, why_no_rerun
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.form_fields import Field, FieldSpec, make_field, make_form

#: A change of these starts all segments anew.
AFRESH = frozenset({"colour", "detail"})
_NO_PRESET = "Custom"
_STANDARD = Preset("Standard", "The default settings: good for most clips.", {})
_TITLES: Mapping[str, str] = MappingProxyType({"rgb": "RGB", "lab": "Lab", "rbf": "RBF"})


def memory_text(decay: float, steadiness: float) -> str:
    """Describe how many frames the model remembers.

    >>> memory_text(2.9, 1.0), memory_text(0.1, 0.0), memory_text(0.0, 0.0)
    ('remembers about 2.5 frames', 'remembers about 15 frames', 'remembers everything')
    """
    frames = remembered_frames(decay, steadiness)
    if math.isinf(frames):
        return "remembers everything"
    return f"remembers about {frames:.1f} frames" if frames < 10.0 else f"remembers about {frames:.0f} frames"


#: What a setting's kind does not say about its field.
_SPECIAL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "detail": {"kind": "log slider"},
        "smoothing": {"kind": "slider"},
        "steadiness": {"kind": "slider"},
        # The smallest percentage that is shown; 0 is not allowed.
        "scale": {"kind": "percent", "low": 0.01, "remark": "of the frame"},
        "alpha": {"kind": "scientific"},
        "epsilon": {"kind": "scientific"},
    }
)


def field_spec(name: str, spec: Spec, describe: Callable[[Any], str] | None = None) -> FieldSpec:
    """Describe the form field of a setting; ``describe`` gives a text about its value."""
    values: dict[str, Any] = {
        "kind": spec.kind,
        "low": spec.low,
        "high": spec.high,
        "expected": spec.expected,
        "choices": {choice: _TITLES.get(choice, choice.capitalize()) for choice in spec.choices},
        "none": spec.none or "",
        "describe": describe,
    }
    return FieldSpec(spec.label, spec.help, **{**values, **_SPECIAL.get(name, {})})


class ControlsPanel(QWidget):
    """A form for the settings, which marks those that differ from the settings in use.

    ``restart_requested`` carries the Settings with which to segment the source again from its start,
    ``apply_requested`` an Edit of the model before the frame shown, which is then segmented again.
    """

    restart_requested = Signal(object)
    apply_requested = Signal(object)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._in_use = document.settings
        self._fields: dict[str, Field] = {}
        self._fold = QCollapsible("Advanced", expandedIcon="▾", collapsedIcon="▸")
        self._presets = self._make_presets()
        self._about = _note()
        self._message = _note()
        self._message.setObjectName("message")
        self._apply = QPushButton("Apply from this frame on")
        self._restart = QPushButton("Restart")
        self._restart.setToolTip("Segment the source again from its start with these settings")
        self._revert = QPushButton("Revert")
        self._revert.setToolTip("Discard the changes")
        self._apply.clicked.connect(self._on_apply)
        self._restart.clicked.connect(self._on_restart)
        self._revert.clicked.connect(self.revert)
        self._lay_out()
        document.settings_changed.connect(self._on_settings)
        document.opened.connect(self._on_opened)
        document.state_changed.connect(self._compare)
        self._put(self._in_use)

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
        form = make_form()
        form.addRow("Preset", self._presets)
        form.addRow(self._about)
        self._add_fields(form, "basic")
        inside = QWidget()
        hidden = make_form(inside)
        hidden.setContentsMargins(0, 0, 0, 0)
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
                field = make_field(field_spec(name, spec, self._memory_text if name == "decay" else None))
                field.ignore_wheel_without_focus()
                field.changed.connect(self._on_changed)
                self._fields[name] = field
                form.addRow(field.label, field)

    def _memory_text(self, decay: float) -> str:
        steadiness = self._fields["steadiness"]
        return "" if steadiness.problem else memory_text(decay, steadiness.value)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange):
            # The fold has its own style sheet, which keeps the old colours; its arrows are pixmaps.
            self._fold.toggleButton().setPalette(self.palette())
            self._fold.setExpandedIcon("▾")
            self._fold.setCollapsedIcon("▸")

    # --- the form's values

    @property
    def problem(self) -> str:
        """The first problem with a value; empty if all are valid."""
        return next((field.problem for field in self._fields.values() if field.problem), "")

    @property
    def settings(self) -> Settings:
        """The settings that the form shows; raises SettingsError if there is a `problem`."""
        return Settings(**{name: field.value for name, field in self._fields.items()})

    @property
    def changed(self) -> dict[str, Any]:
        """Valid values that differ from the settings in use, by name."""
        return {
            name: field.value
            for name, field in self._fields.items()
            if not field.problem and field.value != getattr(self._in_use, name)
        }

    @Slot()
    def revert(self) -> None:
        """Show the settings in use again."""
        self._put(self._in_use)

    def _put(self, settings: Settings) -> None:
        for name, field in self._fields.items():
            field.put(getattr(settings, name))
        self._compare()

    @Slot()
    def _compare(self) -> None:
        """Mark values that differ from the settings in use, and describe what the buttons do with them."""
        changed, problem = self.changed, self.problem
        for name, field in self._fields.items():
            self._mark(name, field, name in changed or bool(field.problem))
            field.update_note()
        applicable = [name for name in changed if name in CHANGEABLE]
        possible = can_edit(self._document) or not why_no_rerun(self._document)
        self._apply.setEnabled(bool(applicable) and not problem and possible)
        self._restart.setEnabled(self._document.facts is not None and not self._document.saving and not problem)
        self._revert.setEnabled(bool(changed or problem))
        self._message.setText(problem or self._effect_text(changed))
        self._message.setVisible(bool(self._message.text()))
        self._update_preset()

    def _mark(self, name: str, field: Field, different: bool) -> None:
        """Mark a field's label if its value differs from the setting in use."""
        font = field.label.font()
        font.setBold(different)
        field.label.setFont(font)
        text, help = field.spec.form_label, field.spec.help
        field.label.setText(f"{text} •".lstrip() if different else text)
        in_use = _value_text(name, getattr(self._in_use, name))
        field.label.setToolTip(f"{help}\n\nIn use: {in_use}." if different else help)

    def _effect_text(self, changed: Mapping[str, Any]) -> str:
        if not changed or self._document.state is State.EMPTY:
            return ""
        labels = ", ".join(SPECS[name].label for name in changed)
        text = f"Changed: {labels}."
        if not can_edit(self._document):
            if reason := why_no_rerun(self._document):
                return f"{text} {reason}."
            text += " Applying segments this frame and all later ones again."
        if "scene_cuts" in changed:
            text += f" '{SPECS['scene_cuts'].label}' applies to a whole run: it needs Restart."
        if AFRESH & changed.keys():
            text += " Applying starts all segments anew."
        return text

    def _update_preset(self) -> None:
        """Show the name of the preset that the form equals."""
        place = 0
        if not self.problem:
            now = self.settings
            for n in range(1, self._presets.count()):
                if self._presets.itemData(n).apply(now) == now:
                    place = n
        self._presets.setCurrentIndex(place)
        about = self._presets.itemData(place, Qt.ItemDataRole.ToolTipRole) if place else ""
        self._about.setText(str(about))
        self._about.setVisible(bool(about))

    # --- user input

    @Slot()
    def _on_changed(self) -> None:
        # With nothing open the form sets what the next run starts with.
        if self._document.state is State.EMPTY and not self.problem:
            self._document.set_settings(self.settings)
        self._compare()

    @Slot(int)
    def _on_preset(self, place: int) -> None:
        preset = self._presets.itemData(place)
        if isinstance(preset, Preset):
            self._put(preset.apply(self._in_use))
            self._on_changed()
        else:
            self._compare()

    @Slot()
    def _on_apply(self) -> None:
        values = {name: value for name, value in self.changed.items() if name in CHANGEABLE}
        if not values:
            return
        edit = Edit("restart" if AFRESH & values.keys() else "change", values=values)
        if can_edit(self._document):
            self._document.edit(edit)
        else:
            self.apply_requested.emit(edit)

    @Slot()
    def _on_restart(self) -> None:
        self.restart_requested.emit(self.settings)

    @Slot()
    def _on_settings(self) -> None:
        """Follow the settings in use where the user has not changed a field."""
        touched = self.changed
        self._in_use = self._document.settings
        for name, field in self._fields.items():
            if name not in touched and not field.problem:
                field.put(getattr(self._in_use, name))
        self._compare()

    @Slot()
    def _on_opened(self) -> None:
        self._in_use = self._document.settings
        self._put(self._in_use)


def _note() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.hide()
    return label


def _value_text(name: str, value: Any) -> str:
    """Describe the value of a setting."""
    if value is None:
        return str(SPECS[name].none)
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
