"""Light and dark theme: as the system, or as the user chooses."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from scstream_app.ui.qt.appearance.contrast import make_readable
from scstream_app.ui.qt.appearance.focus_ring import FocusRing

Theme = Literal["system", "light", "dark"]

_SCHEMES = {
    "system": Qt.ColorScheme.Unknown,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
}
_DARK = {
    QPalette.ColorRole.Window: "#2b2d30",
    QPalette.ColorRole.WindowText: "#e3e5e8",
    QPalette.ColorRole.Base: "#1f2123",
    QPalette.ColorRole.AlternateBase: "#26282b",
    QPalette.ColorRole.Text: "#e3e5e8",
    QPalette.ColorRole.Button: "#36393d",
    QPalette.ColorRole.ButtonText: "#e3e5e8",
    QPalette.ColorRole.BrightText: "#ffffff",
    QPalette.ColorRole.ToolTipBase: "#36393d",
    QPalette.ColorRole.ToolTipText: "#e3e5e8",
    QPalette.ColorRole.Highlight: "#2f7fc1",
    QPalette.ColorRole.HighlightedText: "#ffffff",
    QPalette.ColorRole.Link: "#6cb6ff",
    QPalette.ColorRole.PlaceholderText: "#8b9096",
    QPalette.ColorRole.Light: "#45484d",
    QPalette.ColorRole.Midlight: "#3d4044",
    QPalette.ColorRole.Mid: "#1b1d1f",
    QPalette.ColorRole.Dark: "#17181a",
    QPalette.ColorRole.Shadow: "#000000",
}
_FAINT = "#7b8087"
_WINDOW = QPalette.ColorRole.Window
#: Input fields, and the palette colour that Qt's style derives their frames from: in a dark theme the default is too
#: dark to be visible.
_FIELDS = ("QLineEdit", "QAbstractSpinBox", "QRadioButton", "QCheckBox")
_FRAME = "#9aa0a8"
_MIDDLE_GREY = 128


def apply(app: QApplication, theme: Theme) -> None:
    """Apply a theme to the application."""
    follower = app.findChild(_Follower) or _Follower(app)
    follower.theme = theme
    app.styleHints().setColorScheme(_SCHEMES[theme])
    app.setPalette(QPalette())
    # Without a desktop environment Qt stays light whatever scheme is requested.
    if theme == "dark" and app.palette().color(QPalette.ColorRole.Window).lightness() > _MIDDLE_GREY:
        app.setPalette(_dark())
    _raise_contrast(app)
    _frame_fields(app)
    FocusRing.install(app)


class _Follower(QObject):
    """Applies the theme again when the system switches between light and dark, for the frames of input fields."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self.theme: Theme = "system"
        app.styleHints().colorSchemeChanged.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        if self.theme == "system":
            apply(self._app, "system")


def _raise_contrast(app: QApplication) -> None:
    """Change the colours of the palette whose texts are hard to read; disabled texts stay faint."""
    changed = make_readable(app.palette())
    palette = _dark() if app.palette().color(QPalette.ColorRole.Window) == QColor(_DARK[_WINDOW]) else QPalette()
    for role, colour in changed.items():
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            palette.setColor(group, role, colour)
    if changed:
        app.setPalette(palette)


def _frame_fields(app: QApplication) -> None:
    palette = app.palette()
    if palette.color(QPalette.ColorRole.Window).lightness() < _MIDDLE_GREY:
        # The style darkens this colour for frames; input fields do not show it otherwise.
        palette.setColor(QPalette.ColorRole.Window, QColor(_FRAME))
        for field in _FIELDS:
            # The type stub wants bytes, which the binding rejects.
            app.setPalette(palette, field)  # type: ignore[arg-type]


def _dark() -> QPalette:
    palette = QPalette()
    for role, colour in _DARK.items():
        palette.setColor(role, QColor(colour))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(_FAINT))
    return palette
