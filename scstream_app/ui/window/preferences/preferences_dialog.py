"""The preferences dialog; changes apply at once."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from scstream_app.ui.qt.form_fields import Field, make_field, make_form
from scstream_app.ui.qt.layout.screen_fit import ScrollBox, fit_dialog
from scstream_app.ui.window.preferences.preferences import PREFERENCES, Preference, Preferences

_WIDTH = 480


class PreferencesDialog(QDialog):
    """Shows the preferences in groups.

    ``requested`` carries the name of the button that the user clicked: "clear" (delete unsaved sessions), "layout"
    (reset the panels) or "keys" (show the shortcuts).
    """

    requested = Signal(str)

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preferences = preferences
        self._fields: dict[str, Field] = {}
        self._forms: dict[str, QFormLayout] = {}
        content = QWidget()
        column = QVBoxLayout(content)
        for name, preference in PREFERENCES.items():
            if preference.group not in self._forms:
                column.addWidget(self._make_group(preference.group))
            self._add_field(name, preference)
        self._add_button("Appearance", "layout", "Reset Layout", "Put all panels back in their original places")
        self._add_button("Appearance", "keys", "Shortcuts…", "Show and change the keyboard shortcuts (F1)")
        self._add_button("Unsaved sessions", "clear", "Clear Now…", "Delete all unsaved sessions except recordings")
        whole = QVBoxLayout(self)
        whole.addWidget(ScrollBox(content), 1)
        whole.addWidget(self._make_buttons())
        preferences.changed.connect(self._show)
        for name in PREFERENCES:
            self._show(name)
        fit_dialog(self, self.sizeHint().expandedTo(QSize(_WIDTH, 0)))

    def _make_group(self, title: str) -> QGroupBox:
        box = QGroupBox(title)
        self._forms[title] = make_form(box)
        return box

    def _add_field(self, name: str, preference: Preference) -> None:
        field = make_field(preference.field)
        field.changed.connect(lambda: self._store(name))
        self._fields[name] = field
        self._forms[preference.group].addRow(field.label, field)

    def _add_button(self, group: str, name: str, text: str, tip: str) -> None:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: self.requested.emit(name))
        row = QHBoxLayout()
        row.addWidget(button)
        row.addStretch(1)
        self._forms[group].addRow("", row)

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.RestoreDefaults | QDialogButtonBox.StandardButton.Close
        )
        buttons.rejected.connect(self.reject)
        restore = buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults)
        restore.setText("Restore Defaults")
        restore.setAutoDefault(False)
        restore.clicked.connect(self._preferences.restore)
        return buttons

    def _store(self, name: str) -> None:
        self._preferences[name] = self._fields[name].value

    @Slot(str)
    def _show(self, name: str) -> None:
        self._fields[name].put(self._preferences[name])
