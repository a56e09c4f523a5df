"""Preferences: how the program behaves on this computer, as a table that the dialog and the stored settings share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from scstream_app.render import palette
from scstream_app.settings import PRESETS
from scstream_app.ui.qt.form_fields import FieldSpec

#: The value of "preset" that keeps the current settings.
AS_BEFORE = "as before"
_TRUE = ("true", "1")
_SWATCHES = 8
_SWATCH = 14


def swatches(name: str) -> QIcon:
    """Make an icon of the first colours of a palette, side by side."""
    pixmap = QPixmap(_SWATCHES * _SWATCH, _SWATCH)
    painter = QPainter(pixmap)
    for place, rgb in enumerate(palette.colours(_SWATCHES, name).tolist()):
        painter.fillRect(place * _SWATCH, 0, _SWATCH, _SWATCH, QColor(*rgb))
    painter.end()
    return QIcon(pixmap)


@dataclass(frozen=True, slots=True)
class Preference:
    """How a preference is shown, grouped and stored.

    Parameters
    ----------
    field : FieldSpec
    group : str
        Title of the dialog's section that it belongs to.
    default
    key : str
        Its key in the stored settings.
    """

    field: FieldSpec
    group: str
    default: Any
    key: str

    def read(self, stored: Any) -> Any:
        """Convert a stored value; an invalid one gives the default."""
        text = str(stored)
        match self.field.kind:
            case "choice":
                return text if text in self.field.choices else self.default
            case "switch":
                return text.casefold() in _TRUE
            case "folder":
                return text
        try:
            number = float(text)
        except ValueError:
            return None if self.field.none and not text else self.default
        if not self.field.low <= number <= self.field.high:
            return self.default
        return number if self.field.kind == "percent" else int(number)

    def stored(self, value: Any) -> str:
        """Undo `read`."""
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


#: In the order of the dialog.
PREFERENCES: Mapping[str, Preference] = MappingProxyType(
    {
        "theme": Preference(
            FieldSpec(
                "Theme",
                "Light or dark window; System follows the setting of the desktop.",
                "choice",
                choices={"system": "System", "light": "Light", "dark": "Dark"},
            ),
            "Appearance",
            "system",
            "theme",
        ),
        "palette": Preference(
            FieldSpec(
                "Segment colours",
                "Vivid uses all hues. Safe uses lightness, blue and yellow, for people who confuse red and green.",
                "choice",
                choices={name: name.capitalize() for name in palette.PALETTES},
                icon=swatches,
            ),
            "Appearance",
            "vivid",
            "preferences/palette",
        ),
        "opacity": Preference(
            FieldSpec(
                "Overlay opacity",
                "How strongly the overlay tints segments when the program starts.",
                "percent",
                high=1.0,
            ),
            "Appearance",
            0.5,
            "preferences/opacity",
        ),
        "remember_layout": Preference(
            FieldSpec(
                "Remember the window's size and panels",
                "Start with the size and the panels that the window had when it was closed.",
                "switch",
            ),
            "Appearance",
            True,
            "preferences/remember_layout",
        ),
        "autostart": Preference(
            FieldSpec(
                "Start automatically",
                "Segment a clip as soon as it is open. Otherwise segmentation waits for the Start button.",
                "switch",
            ),
            "Segmentation",
            True,
            "preferences/autostart",
        ),
        "preset": Preference(
            FieldSpec(
                "Settings of new clips",
                "The settings in Controls with which a newly opened clip starts.",
                "choice",
                choices={
                    AS_BEFORE: "Same as the previous clip",
                    "Standard": "Standard",
                    **{preset.name: preset.name for preset in PRESETS},
                },
            ),
            "Segmentation",
            AS_BEFORE,
            "preferences/preset",
        ),
        "threads": Preference(
            FieldSpec(
                "Threads",
                "How many cores segmentation may use. This changes the speed, never the result.",
                "integer",
                low=1,
                high=1024,
                none="one for each core",
            ),
            "Segmentation",
            None,
            "preferences/threads",
        ),
        "library": Preference(
            FieldSpec(
                "Folder",
                "Every clip is written to this folder from its first frame on, until you save it elsewhere. "
                "Another folder is used from the next clip on.",
                "folder",
                none="the program's own folder",
            ),
            "Unsaved sessions",
            "",
            "preferences/library",
        ),
        "keep_days": Preference(
            FieldSpec(
                "Delete after",
                "Unsaved sessions older than this are deleted when the program starts.",
                "integer",
                low=1,
                high=3650,
                none="never",
                suffix=" days",
            ),
            "Unsaved sessions",
            None,
            "preferences/keep_days",
        ),
    }
)


class Preferences(QObject):
    """The preferences' values, stored in QSettings. ``changed`` carries the name of a preference with a new value."""

    changed = Signal(str)

    def __init__(self, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def __getitem__(self, name: str) -> Any:
        preference = PREFERENCES[name]
        stored = self._settings.value(preference.key)
        return preference.default if stored is None else preference.read(stored)

    def __setitem__(self, name: str, value: Any) -> None:
        if value != self[name]:
            self._settings.setValue(PREFERENCES[name].key, PREFERENCES[name].stored(value))
            self.changed.emit(name)

    def restore(self) -> None:
        """Set all preferences to their defaults."""
        for name, preference in PREFERENCES.items():
            self[name] = preference.default
