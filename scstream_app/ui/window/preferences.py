"""Preferences: how the program behaves on this computer, as one table that drives the dialog and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from PySide6.QtCore import QObject, QSettings, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from scstream_app.render import palette
from scstream_app.settings import PRESETS

Kind = Literal["choice", "percent", "integer", "switch", "folder"]
#: The preset that leaves settings as they are.
AS_BEFORE = "as before"
_TRUE = ("true", "1")
_SWATCHES = 8
_SWATCH = 14


@dataclass(frozen=True, slots=True)
class Preference:
    """How one preference is shown, explained and kept.

    Parameters
    ----------
    label, help : str
    kind, group
        Which control it gets, and where.
    default
        None stands for what ``none`` says, where that is given; an empty folder for the program's own.
    choices : mapping of value to title
    low, high : int
        Bounds of an integer.
    none : str
    key : str
        Under which it is kept.
    """

    label: str
    help: str
    kind: Kind
    group: str
    default: Any
    key: str
    choices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    low: int = 0
    high: int = 0
    none: str = ""

    def read(self, kept: Any) -> Any:
        """The value that was kept as ``kept``; the default where that makes no sense."""
        text = str(kept)
        match self.kind:
            case "choice":
                return text if text in self.choices else self.default
            case "switch":
                return text.casefold() in _TRUE
            case "folder":
                return text
        try:
            number = float(text)
        except ValueError:
            return None if self.none and not text else self.default
        if self.kind == "percent":
            return number if 0.0 <= number <= 1.0 else self.default
        return int(number) if self.low <= number <= self.high else self.default

    def kept(self, value: Any) -> str:
        """Undo `read`."""
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


#: In the order of the dialog.
PREFERENCES: Mapping[str, Preference] = MappingProxyType(
    {
        "theme": Preference(
            "Theme",
            "Light or dark; as the system has it if that says so.",
            "choice",
            "Appearance",
            "system",
            "theme",
            choices={"system": "As the system", "light": "Light", "dark": "Dark"},
        ),
        "palette": Preference(
            "Colours of segments",
            "Vivid uses all hues; Safe goes by lightness, blue and yellow, for eyes that confuse red and green.",
            "choice",
            "Appearance",
            "vivid",
            "preferences/palette",
            choices={name: name.capitalize() for name in palette.PALETTES},
        ),
        "opacity": Preference(
            "Overlay opacity",
            "How strongly segments tint the picture when the program starts.",
            "percent",
            "Appearance",
            0.5,
            "preferences/opacity",
        ),
        "remember_layout": Preference(
            "Remember size and panels of the window",
            "Begin as the window was when it was closed.",
            "switch",
            "Appearance",
            True,
            "preferences/remember_layout",
        ),
        "autostart": Preference(
            "Start by itself",
            "Segment a clip as soon as it is open. Otherwise it waits for Start.",
            "switch",
            "Segmentation",
            True,
            "preferences/autostart",
        ),
        "preset": Preference(
            "New clips begin with",
            "The settings in Controls that a newly opened clip gets.",
            "choice",
            "Segmentation",
            AS_BEFORE,
            "preferences/preset",
            choices={
                AS_BEFORE: "Settings of the clip before",
                "Standard": "Standard",
                **{preset.name: preset.name for preset in PRESETS},
            },
        ),
        "threads": Preference(
            "Threads",
            "How many cores segmentation may use. Changes the speed, never the picture.",
            "integer",
            "Segmentation",
            None,
            "preferences/threads",
            low=1,
            high=1024,
            none="one for each core",
        ),
        "library": Preference(
            "Folder until saved",
            "Every clip is written here from its first frame on, until you save it elsewhere. "
            "Another folder counts from the next clip on.",
            "folder",
            "Unsaved sessions",
            "",
            "preferences/library",
        ),
        "keep_days": Preference(
            "Delete after",
            "Sessions that nobody saved and that are older than this are deleted when the program starts.",
            "integer",
            "Unsaved sessions",
            None,
            "preferences/keep_days",
            low=1,
            high=3650,
            none="never",
        ),
    }
)


class Preferences(QObject):
    """The values, kept in QSettings. ``changed`` carries the name of one that has another value now."""

    changed = Signal(str)

    def __init__(self, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def __getitem__(self, name: str) -> Any:
        spec = PREFERENCES[name]
        kept = self._settings.value(spec.key)
        return spec.default if kept is None else spec.read(kept)

    def __setitem__(self, name: str, value: Any) -> None:
        if value != self[name]:
            self._settings.setValue(PREFERENCES[name].key, PREFERENCES[name].kept(value))
            self.changed.emit(name)

    def restore(self) -> None:
        """Go back to what the program comes with."""
        for name, spec in PREFERENCES.items():
            self[name] = spec.default


# --- one control for each kind


@dataclass(frozen=True, slots=True)
class _Control:
    """What is put into the form, and how to have it show a value."""

    widget: QWidget
    put: Callable[[Any], None]


def _choice(name: str, spec: Preference, say: Callable[[Any], None]) -> _Control:
    box = QComboBox()
    for value, title in spec.choices.items():
        if name == "palette":
            box.addItem(swatches(value), title, value)
        else:
            box.addItem(title, value)
    if name == "palette":
        box.setIconSize(QSize(_SWATCHES * _SWATCH, _SWATCH))
    box.currentIndexChanged.connect(lambda _place: say(box.currentData()))
    return _Control(box, lambda value: box.setCurrentIndex(box.findData(value)))


def _switch(name: str, spec: Preference, say: Callable[[Any], None]) -> _Control:
    box = QCheckBox(spec.label)
    box.toggled.connect(say)
    return _Control(box, box.setChecked)


def _percent(name: str, spec: Preference, say: Callable[[Any], None]) -> _Control:
    box = QSpinBox()
    box.setRange(0, 100)
    box.setSingleStep(5)
    box.setSuffix(" %")
    box.valueChanged.connect(lambda value: say(value / 100.0))
    return _Control(box, lambda value: box.setValue(round(100.0 * value)))


def _integer(name: str, spec: Preference, say: Callable[[Any], None]) -> _Control:
    """None, where it is allowed, is one below the smallest number."""
    box = QSpinBox()
    box.setRange(spec.low - bool(spec.none), spec.high)
    box.setSpecialValueText(spec.none)
    if name == "keep_days":
        box.setSuffix(" days")
    box.valueChanged.connect(lambda value: say(None if value < spec.low else value))
    return _Control(box, lambda value: box.setValue(spec.low - 1 if value is None else value))


def _folder(name: str, spec: Preference, say: Callable[[Any], None]) -> _Control:
    line = QLineEdit()
    line.setPlaceholderText("the program's own")
    line.setClearButtonEnabled(True)
    line.editingFinished.connect(lambda: say(line.text().strip()))
    browse = QPushButton("Browse…")
    browse.setAutoDefault(False)

    def ask() -> None:
        chosen = QFileDialog.getExistingDirectory(line, spec.label, line.text())
        if chosen:
            line.setText(chosen)
            say(chosen)

    browse.clicked.connect(lambda _checked=False: ask())
    row = _beside(line, browse)
    row.setFocusProxy(line)
    return _Control(row, line.setText)


_MAKERS: Mapping[Kind, Callable[[str, Preference, Callable[[Any], None]], _Control]] = {
    "choice": _choice,
    "switch": _switch,
    "percent": _percent,
    "integer": _integer,
    "folder": _folder,
}


class PreferencesDialog(QDialog):
    """Shows the preferences; what is changed holds at once.

    ``asked`` carries what a button stands for: "clear" unsaved sessions, "layout" as it came, the sheet of "keys".
    """

    asked = Signal(str)

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preferences = preferences
        self._controls: dict[str, _Control] = {}
        self._forms: dict[str, QFormLayout] = {}
        column = QVBoxLayout(self)
        for name, spec in PREFERENCES.items():
            if spec.group not in self._forms:
                column.addWidget(self._group(spec.group))
            self._add(name, spec)
        self._add_button("Appearance", "layout", "Reset Layout", "Put the panels back where they came")
        self._add_button("Appearance", "keys", "Keys…", "Show all keys, and change them (F1)")
        self._add_button("Unsaved sessions", "clear", "Clear Now…", "Delete all sessions that were not saved")
        column.addWidget(self._buttons())
        preferences.changed.connect(self._show)
        for name in PREFERENCES:
            self._show(name)
        self.setMinimumWidth(460)

    def _group(self, title: str) -> QGroupBox:
        box = QGroupBox(title)
        self._forms[title] = QFormLayout(box)
        return box

    def _add(self, name: str, spec: Preference) -> None:
        control = _MAKERS[spec.kind](name, spec, lambda value: self._put(name, value))
        widget = control.widget
        # Found by name, and by those who hear the form instead of seeing it.
        widget.setObjectName(name)
        for part in (widget, widget.focusProxy()):
            if part is not None:
                part.setAccessibleName(spec.label)
                part.setAccessibleDescription(spec.help)
        widget.setToolTip(spec.help)
        self._controls[name] = control
        label = QLabel("" if spec.kind == "switch" else spec.label)
        label.setToolTip(spec.help)
        label.setBuddy(widget)
        self._forms[spec.group].addRow(label, widget)

    def _add_button(self, group: str, id: str, text: str, tip: str) -> None:
        button = QPushButton(text)
        button.setObjectName(id)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: self.asked.emit(id))
        self._forms[group].addRow("", _beside(button))

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.RestoreDefaults | QDialogButtonBox.StandardButton.Close
        )
        buttons.rejected.connect(self.reject)
        restore = buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        restore.setText("Restore Defaults")
        restore.setAutoDefault(False)
        restore.clicked.connect(self._preferences.restore)
        return buttons

    def _put(self, name: str, value: Any) -> None:
        self._preferences[name] = value

    @Slot(str)
    def _show(self, name: str) -> None:
        control = self._controls[name]
        with QSignalBlocker(control.widget):
            control.put(self._preferences[name])


def swatches(name: str) -> QIcon:
    """The first colours of a palette, side by side."""
    pixmap = QPixmap(_SWATCHES * _SWATCH, _SWATCH)
    painter = QPainter(pixmap)
    for place, rgb in enumerate(palette.colours(_SWATCHES, name).tolist()):
        painter.fillRect(place * _SWATCH, 0, _SWATCH, _SWATCH, QColor(*rgb))
    painter.end()
    return QIcon(pixmap)


def _beside(*widgets: QWidget) -> QWidget:
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    for place, widget in enumerate(widgets):
        layout.addWidget(widget, int(place == 0 and len(widgets) > 1))
    if len(widgets) == 1:
        layout.addStretch(1)
    return row
