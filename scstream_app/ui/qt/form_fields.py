"""Form fields: a labelled control for a value, made from a description of the value."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from superqt import QLargeIntSpinBox

from scstream_app.ui.qt.abstract_qt import AbstractQtMeta
from scstream_app.ui.qt.dialogs.folder_dialog import ask_folder

Kind = Literal["switch", "choice", "integer", "number", "percent", "scientific", "slider", "log slider", "folder"]
_INT_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """Description of a form field.

    Parameters
    ----------
    label, help : str
        The field's name and its tooltip.
    kind : str
        Which control the field gets. A percentage is a share between 0 and 1 that is shown as 0 to 100 %; "scientific"
        is a number over many orders of magnitude, as text; "slider" and "log slider" add a slider to that text, the
        latter over powers of ten.
    low, high : float
        Bounds of a number.
    expected : str
        Description of a valid number, for the message about an invalid one.
    choices : mapping of value to title
    icon : callable, optional
        Gives the icon of a choice.
    none : str
        What the value None means; empty if None is not allowed.
    suffix : str
        Text in the control, behind the number.
    remark : str
        Text to the right of the control.
    describe : callable, optional
        Gives a text about the value, shown below the control.
    """

    label: str
    help: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    expected: str = ""
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    icon: Callable[[str], QIcon] | None = None
    none: str = ""
    suffix: str = ""
    remark: str = ""
    describe: Callable[[Any], str] | None = None

    @property
    def form_label(self) -> str:
        """Text in the form's left column; a switch has its label on the right."""
        return "" if self.kind == "switch" else self.label


class Field(QWidget, metaclass=AbstractQtMeta):
    """A control for one value.

    ``changed`` is emitted when the user changes the value.

    Attributes
    ----------
    label : QLabel
        The field's label, for the form's left column.
    """

    changed = Signal()

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__()
        self.spec = spec
        self.setToolTip(spec.help)
        self._controls: list[QWidget] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self.label = QLabel(spec.form_label)
        self.label.setToolTip(spec.help)
        self.label.setBuddy(self)

    def _add(self, widget: QWidget, stretch: int = 1) -> None:
        self._row.addWidget(widget, stretch)
        self._describe(widget)

    def _describe(self, widget: QWidget) -> None:
        """Give a control the name and the description that screen readers read out."""
        widget.setAccessibleName(self.spec.label)
        widget.setAccessibleDescription(self.spec.help)
        self._controls.append(widget)
        if self.focusProxy() is None:
            self.setFocusProxy(widget)

    def ignore_wheel_without_focus(self) -> None:
        """Leave the wheel to the scroll area around the form, unless the control has the focus."""
        for widget in self._controls:
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
        """The current value."""

    @abstractmethod
    def put(self, value: Any) -> None:
        """Set the value without emitting ``changed``."""

    @property
    def problem(self) -> str:
        """What is wrong with the value; empty if it is valid."""
        return ""

    def update_note(self) -> None:
        """Describe the value again, if it has a description, which may depend on other values."""


class _Switch(Field):
    def __init__(self, spec: FieldSpec) -> None:
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
    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._box = QComboBox()
        for choice, title in spec.choices.items():
            icon = QIcon() if spec.icon is None else spec.icon(choice)
            self._box.addItem(icon, title, choice)
            if not icon.isNull():
                self._box.setIconSize(icon.availableSizes()[0])
        self._box.currentIndexChanged.connect(self.changed)
        self._add(self._box)

    @property
    def value(self) -> str:
        return str(self._box.currentData())

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setCurrentIndex(self._box.findData(value))


class _Integer(Field):
    """A whole number; None, where it is allowed, is shown one below the smallest number."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._box: QSpinBox | QLargeIntSpinBox
        if spec.high > _INT_LIMIT:
            self._box = QLargeIntSpinBox()
        else:
            self._box = QSpinBox()
            self._box.setAccelerated(True)
            self._box.setSpecialValueText(spec.none)
            self._box.setSuffix(spec.suffix)
        self._box.setRange(int(spec.low) - bool(spec.none), int(spec.high))
        # The size hint has room for the largest number allowed: too wide for a dock.
        self._box.setMinimumWidth(80)
        self._box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._box.valueChanged.connect(self.changed)
        self._add(self._box)

    @property
    def value(self) -> int | None:
        value = int(self._box.value())
        return None if self.spec.none and value < self.spec.low else value

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(int(self.spec.low) - 1 if value is None else value)


class _Number(Field):
    """A number in a spin box, which rounds: an unchanged value keeps all its digits."""

    _FACTOR = 1.0

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._exact: float | None = None
        self._box = QDoubleSpinBox()
        self._box.setDecimals(2)
        self._box.setSingleStep(0.1)
        self._box.setRange(spec.low * self._FACTOR, spec.high * self._FACTOR)
        self._box.setSuffix(spec.suffix)
        self._box.valueChanged.connect(self._on_changed)
        self._note = QLabel()
        if spec.describe is None:
            self._add(self._box, 0)
        else:
            self._add_with_note()
        if spec.remark:
            self._row.addWidget(QLabel(spec.remark), 1)

    def _add_with_note(self) -> None:
        self._note.setObjectName("note")
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(self._box, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._note)
        self._row.addLayout(column)
        self._describe(self._box)

    @Slot()
    def _on_changed(self) -> None:
        self._exact = None
        self.update_note()
        self.changed.emit()

    @property
    def value(self) -> float:
        return self._box.value() / self._FACTOR if self._exact is None else self._exact

    def put(self, value: Any) -> None:
        with QSignalBlocker(self._box):
            self._box.setValue(value * self._FACTOR)
        self._exact = float(value)
        self.update_note()

    def update_note(self) -> None:
        if self.spec.describe is not None:
            self._note.setText(self.spec.describe(self.value))


class _Percent(_Number):
    _FACTOR = 100.0

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._box.setDecimals(0)
        self._box.setSingleStep(5.0)
        self._box.setSuffix(" %")


class _Scientific(Field):
    """A number over many orders of magnitude, as text: 1e-8."""

    def __init__(self, spec: FieldSpec) -> None:
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
        # The user may be typing: 0. is equal to 0, but about to be 0.5.
        if self.value != value:
            self._line.setText(f"{value:g}" if float(f"{value:g}") == value else repr(value))

    @property
    def problem(self) -> str:
        if self.spec.low <= self.value <= self.spec.high:
            return ""
        return f"{self.spec.label} must be {self.spec.expected}, got '{self._line.text()}'."


class _Slider(_Scientific):
    """A slider with the number beside it."""

    #: Slider positions for each unit.
    _STEPS = 10

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(self._position(spec.low), self._position(spec.high))
        self._slider.setPageStep(self._STEPS // 2)
        self._slider.valueChanged.connect(self._on_slid)
        self._row.insertWidget(0, self._slider, 1)
        self._describe(self._slider)
        self._row.setStretchFactor(self._line, 0)
        self._line.setFixedWidth(90)
        self._line.setAccessibleName(f"{spec.label}, as a number")
        self._line.textEdited.connect(self._align)

    def put(self, value: Any) -> None:
        super().put(value)
        self._align()

    @Slot()
    def _align(self) -> None:
        if not self.problem:
            with QSignalBlocker(self._slider):
                self._slider.setValue(self._position(self.value))

    @Slot(int)
    def _on_slid(self, position: int) -> None:
        super().put(float(f"{self._value_at(position):.2g}"))
        self.changed.emit()

    def _position(self, value: float) -> int:
        return round(self._STEPS * value)

    def _value_at(self, position: int) -> float:
        return position / self._STEPS


class _LogSlider(_Slider):
    """A slider over powers of ten, each of which is a unit."""

    def _position(self, value: float) -> int:
        return super()._position(math.log10(value))

    def _value_at(self, position: int) -> float:
        return math.pow(10.0, super()._value_at(position))


class _Folder(Field):
    """A folder's path, with a button that opens a file dialog; empty stands for ``none``."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._line = QLineEdit()
        self._line.setPlaceholderText(spec.none)
        self._line.setClearButtonEnabled(True)
        self._line.editingFinished.connect(self.changed)
        browse = QPushButton("Browse…")
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        self._add(self._line)
        self._row.addWidget(browse)

    @property
    def value(self) -> str:
        return self._line.text().strip()

    def put(self, value: Any) -> None:
        self._line.setText(value)

    @Slot()
    def _browse(self) -> None:
        ask_folder(self._line, self.spec.label, self._line.text(), self._on_chosen)

    @Slot(str)
    def _on_chosen(self, folder: str) -> None:
        self._line.setText(folder)
        self.changed.emit()


_FIELDS: Mapping[Kind, Callable[[FieldSpec], Field]] = {
    "switch": _Switch,
    "choice": _Choice,
    "integer": _Integer,
    "number": _Number,
    "percent": _Percent,
    "scientific": _Scientific,
    "slider": _Slider,
    "log slider": _LogSlider,
    "folder": _Folder,
}


def make_field(spec: FieldSpec) -> Field:
    """Make the field that a description asks for."""
    return _FIELDS[spec.kind](spec)


def make_form(parent: QWidget | None = None) -> QFormLayout:
    """Make an empty form whose fields are as wide as there is room for."""
    form = QFormLayout(parent)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form
