"""The dock of controls: a form made from the table of settings, with presets and two ways to put it into force."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from superqt import QCollapsible, QLargeIntSpinBox

from scstream_app.edits import CHANGEABLE, Edit
from scstream_app.errors import SettingsError
from scstream_app.settings import PRESETS, SPECS, Preset, Settings, Spec, remembered_frames
from scstream_app.ui.commands import can_edit
from scstream_app.ui.document import Document, State

#: Changes of these make every segment begin anew.
AFRESH = frozenset({"colour", "scale", "detail"})
_INT_LIMIT = 2**31 - 1
_NO_PRESET = "Own settings"
_STANDARD = Preset("Standard", "What the program comes with: good for most clips.", {})
_CHOICES: Mapping[str, str] = {"rgb": "RGB", "lab": "Lab", "rbf": "RBF"}


# --- one control for each kind of setting


class Field(QWidget):
    """A control for one setting. `changed` comes when a person changes it."""

    changed = Signal()

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec = spec
        self.setToolTip(spec.help)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)

    def _add(self, widget: QWidget, stretch: int = 1) -> None:
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.addWidget(widget, stretch)
        widget.setAccessibleName(self.spec.label)
        widget.setAccessibleDescription(self.spec.help)
        # A wheel that scrolls the form must not change what happens to pass under it.
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(self)

    def eventFilter(self, watched: Any, event: Any) -> bool:
        if isinstance(event, QWheelEvent) and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    @property
    def value(self) -> Any:
        """What it is set to."""
        raise NotImplementedError

    def put(self, value: Any) -> None:
        """Set it, without a signal."""
        raise NotImplementedError

    @property
    def trouble(self) -> str:
        """What is wrong with it; usually nothing."""
        return ""


class _Switch(Field):
    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._box = QCheckBox(spec.label)
        self._box.toggled.connect(self.changed)
        self._add(self._box)

    @property
    def value(self) -> bool:
        return self._box.isChecked()

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setChecked(value)


class _Choice(Field):
    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._box = QComboBox()
        for choice in spec.choices:
            self._box.addItem(_CHOICES.get(choice, choice.capitalize()), choice)
        self._box.currentIndexChanged.connect(self.changed)
        self._add(self._box)

    @property
    def value(self) -> str:
        return str(self._box.currentData())

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setCurrentIndex(self._box.findData(value))


class _Integer(Field):
    """None, where it is allowed, is one below the smallest number."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        low = int(spec.low) - (spec.none is not None)
        self._box: QSpinBox | QLargeIntSpinBox
        if spec.high > _INT_LIMIT:
            self._box = QLargeIntSpinBox()
        else:
            self._box = QSpinBox()
            self._box.setAccelerated(True)
            self._box.setSpecialValueText(spec.none or "")
        self._box.setRange(low, int(spec.high))
        # As wide as the widest number there could be would be too wide for a dock.
        self._box.setMinimumWidth(80)
        self._box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._box.valueChanged.connect(self.changed)
        self._add(self._box)

    @property
    def value(self) -> int | None:
        value = int(self._box.value())
        return None if self.spec.none is not None and value < self.spec.low else value

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(int(self.spec.low) - 1 if value is None else value)


class _Number(Field):
    """Also for numbers that a spin box would round: one that was put and not touched comes back as it was."""

    _FACTOR = 1.0

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._exact: float | None = None
        self._box = QDoubleSpinBox()
        self._box.setDecimals(2)
        self._box.setSingleStep(0.1)
        self._box.setRange(spec.low * self._FACTOR, spec.high * self._FACTOR)
        self._box.valueChanged.connect(self._on_changed)
        self._add(self._box, 0)

    @Slot()
    def _on_changed(self) -> None:
        self._exact = None
        self.changed.emit()

    @property
    def value(self) -> float:
        return self._box.value() / self._FACTOR if self._exact is None else self._exact

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(value * self._FACTOR)
        self._exact = float(value)


class _Percent(_Number):
    _FACTOR = 100.0

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._box.setDecimals(0)
        self._box.setSingleStep(5.0)
        self._box.setMinimum(1.0)
        self._box.setSuffix(" %")
        self._add(QLabel("of the frame"), 1)


class _Decay(_Number):
    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._told = QLabel()
        self._told.setObjectName("remembered")
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(self._box, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._told)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.addLayout(column)
        self._box.valueChanged.connect(self._tell)

    def put(self, value: Any) -> None:
        super().put(value)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self._told.setText(f"remembers {told_memory(self.value)}")


class _Scientific(Field):
    """A number over many orders of magnitude, as text: 1e-8."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._line = QLineEdit()
        self._line.textEdited.connect(self.changed)
        self._add(self._line)

    @property
    def value(self) -> float:
        try:
            return float(self._line.text().replace(",", "."))
        except ValueError:
            return math.nan

    def put(self, value: Any) -> None:
        self._line.setText(f"{value:g}" if float(f"{value:g}") == value else repr(value))

    @property
    def trouble(self) -> str:
        try:
            self.spec.check(self.spec.label, self.value)
        except SettingsError:
            return f"{self.spec.label} must be {self.spec.wanted}, got '{self._line.text()}'."
        return ""


class _LogSlider(_Scientific):
    """A slider over powers of ten, with the number beside it."""

    #: Places on the slider for each power of ten.
    _STEPS = 10

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        low, high = math.ceil(math.log10(spec.low)), math.floor(math.log10(spec.high))
        self._slider.setRange(low * self._STEPS, high * self._STEPS)
        self._slider.setPageStep(self._STEPS // 2)
        self._slider.valueChanged.connect(self._on_slid)
        self._add(self._slider)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.removeWidget(self._line)
        layout.addWidget(self._line)
        self._line.setFixedWidth(90)
        self._line.setAccessibleName(f"{spec.label}, as a number")
        self._line.textEdited.connect(self._align)

    def put(self, value: Any) -> None:
        super().put(value)
        self._align()

    @Slot()
    def _align(self) -> None:
        value = self.value
        if value > 0.0:
            with QSignalBlocker(self._slider):
                self._slider.setValue(round(self._STEPS * math.log10(value)))

    @Slot(int)
    def _on_slid(self, place: int) -> None:
        super().put(float(f"{10.0 ** (place / self._STEPS):.2g}"))
        self.changed.emit()


#: Settings whose kind does not say all about their control.
_SPECIAL: Mapping[str, Callable[[Spec], Field]] = {
    "detail": _LogSlider,
    "decay": _Decay,
    "scale": _Percent,
    "alpha": _Scientific,
    "epsilon": _Scientific,
}
_BY_KIND: Mapping[str, Callable[[Spec], Field]] = {
    "switch": _Switch,
    "choice": _Choice,
    "integer": _Integer,
    "number": _Number,
}


def told_memory(decay: float) -> str:
    """What a decay remembers, in words.

    >>> told_memory(2.9), told_memory(0.1), told_memory(0.0)
    ('about 1.2 frames', 'about 15 frames', 'everything')
    """
    frames = remembered_frames(decay)
    if math.isinf(frames):
        return "everything"
    return f"about {frames:.1f} frames" if frames < 10.0 else f"about {frames:.0f} frames"


# --- the form


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
                field = _SPECIAL.get(name, _BY_KIND[spec.kind])(spec)
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
        self._restart.setEnabled(self._document.facts is not None and not trouble)
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
