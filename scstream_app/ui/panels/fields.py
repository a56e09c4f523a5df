"""The controls of the settings form: one for each kind of setting."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from superqt import QLargeIntSpinBox

from scstream_app.errors import SettingsError
from scstream_app.settings import SPECS, Spec, remembered_frames
from scstream_app.ui.qt.abstract_qt import AbstractQtMeta

_INT_LIMIT = 2**31 - 1
_CHOICES: Mapping[str, str] = {"rgb": "RGB", "lab": "Lab", "rbf": "RBF"}


class Field(QWidget, metaclass=AbstractQtMeta):
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
    @abstractmethod
    def value(self) -> Any:
        """What it is set to."""

    @abstractmethod
    def put(self, value: Any) -> None:
        """Set it, without a signal."""

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


def make_field(name: str) -> Field:
    """The control of a setting."""
    spec = SPECS[name]
    return _SPECIAL.get(name, _BY_KIND[spec.kind])(spec)
