"""Help dialogs: the sheet of keys and mouse gestures, and the about box."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from scstream_app import __version__, system_info
from scstream_app.ui.actions.actions import BY_ID, KEY_ACTIONS, Actions
from scstream_app.ui.actions.gestures import MOUSE
from scstream_app.ui.qt.layout.screen_fit import fit_dialog

_PAPER = (
    "Or Dinari and Oren Freifeld: <i>Sampling in Dirichlet Process Mixture Models for Clustering Streaming Data</i>. "
    "AISTATS 2022."
)
#: Pixels: the longest key with the button that clears it.
_KEY_WIDTH = 150
_KEYS_SIZE = QSize(600, 620)
#: Panels of the actions that are in no menu, by what they need.
_PANELS = {"segments": "Segments", "object": "Objects"}
_HOW_TO = "Click a shortcut, then press the new keys."


class KeysDialog(QDialog):
    """All actions with their keys, which the user can change, and the mouse gestures."""

    def __init__(self, parent: QWidget, actions: Actions) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys and Mouse")
        fit_dialog(self, _KEYS_SIZE)
        self._actions = actions
        self._fields: dict[str, QKeySequenceEdit] = {}
        self.table = QTableWidget(len(KEY_ACTIONS), 2)
        self.table.setHorizontalHeaderLabels(["Action", "Keys"])
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setColumnWidth(1, _KEY_WIDTH)
        self.table.setAccessibleName("Keys")
        self.table.setTabKeyNavigation(False)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        reset = QPushButton("Restore Default Keys")
        reset.setAutoDefault(False)
        reset.clicked.connect(self._reset)
        self.buttons.addButton(reset, QDialogButtonBox.ButtonRole.ResetRole)
        self.buttons.rejected.connect(self.reject)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        keys = QWidget()
        inside = QVBoxLayout(keys)
        self.message = QLabel(_HOW_TO)
        self.message.setWordWrap(True)
        inside.addWidget(self.message)
        inside.addWidget(self.table)
        self.mouse = _mouse_table()
        self.pages = QTabWidget()
        self.pages.addTab(keys, "Keys")
        self.pages.addTab(self.mouse, "Mouse")
        # The reset button belongs to the page of keys.
        self.pages.currentChanged.connect(lambda page: reset.setVisible(not page))
        column = QVBoxLayout(self)
        column.addWidget(self.pages)
        column.addWidget(self.buttons)
        self._fill()
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setFocus()

    def _fill(self) -> None:
        self.message.setText(_HOW_TO)
        for row, spec in enumerate(KEY_ACTIONS):
            item = QTableWidgetItem(f"{spec.menu or _PANELS[spec.needs]}: {spec.title.rstrip('…')}")
            item.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self.table.setItem(row, 0, item)
            edit = QKeySequenceEdit(self._actions[spec.id].shortcut())
            edit.setMaximumSequenceLength(1)
            edit.setAccessibleName(f"Key of {spec.title}")
            edit.setClearButtonEnabled(True)
            _leave_blank(edit)
            edit.editingFinished.connect(lambda id=spec.id, field=edit: self._change(id, field))
            self.table.setCellWidget(row, 1, edit)
            self._fields[spec.id] = edit

    def _change(self, id: str, field: QKeySequenceEdit) -> None:
        _leave_blank(field)
        key = field.keySequence().toString()
        if key == self._actions.key(id):
            return
        owner = self._actions.owner(key) if key else None
        self._actions.set_keys(id, [key] if key else [])
        if owner not in (None, id):
            self._fields[owner].setKeySequence(self._actions.key(owner))
            self.message.setText(f"{key} was the key of '{BY_ID[owner].title.rstrip('…')}', which has lost it.")
        else:
            self.message.setText(_HOW_TO)

    def _reset(self) -> None:
        self._actions.reset_keys()
        self._fill()


def _mouse_table() -> QTableWidget:
    """Make the table of mouse gestures, by part of the window."""
    table = QTableWidget(0, 2)
    table.setAccessibleName("Mouse")
    table.horizontalHeader().hide()
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setTabKeyNavigation(False)
    for place, gestures in MOUSE.items():
        row = table.rowCount()
        table.insertRow(row)
        title = QTableWidgetItem(place)
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        table.setItem(row, 0, title)
        table.setSpan(row, 0, 1, 2)
        for gesture in gestures:
            table.insertRow(table.rowCount())
            for column, text in enumerate(gesture):
                table.setItem(table.rowCount() - 1, column, QTableWidgetItem(text))
    table.resizeColumnToContents(0)
    table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table


def _leave_blank(field: QKeySequenceEdit) -> None:
    """Remove Qt's placeholder "Press shortcut", which would fill the column."""
    line = field.findChild(QLineEdit)
    if line is not None:
        line.setPlaceholderText("")


def show_keys(parent: QWidget, actions: Actions) -> KeysDialog:
    """Open the sheet of keys."""
    dialog = KeysDialog(parent, actions)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def show_about(parent: QWidget) -> QMessageBox:
    """Open the about box: version, paper to cite, and versions of the packages."""
    facts = system_info.facts()
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("About ScStream Studio")
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setText(
        f"<h3>ScStream Studio {__version__}</h3>"
        "<p>Divides any video into segments that keep their identity from frame to frame.</p>"
        f"<p>Please cite the method:<br>{_PAPER}</p>"
    )
    box.setInformativeText(f"Python {facts['python']} on {facts['system']}, {facts['cores']} cores")
    box.setDetailedText(packages)
    box.open()
    return box
