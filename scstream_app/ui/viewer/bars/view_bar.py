"""Bar above the picture: buttons of the views, name and legend of the current one, zoom."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from scstream_app.ui.actions.actions import SPECS, Actions
from scstream_app.ui.actions.mnemonics import without_mnemonic
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.layout.narrow_row import NarrowRow
from scstream_app.ui.viewer.bars.view_icons import ICON_SIDE, objects_icon, view_icon
from scstream_app.ui.viewer.bars.view_legend import ViewLegend
from scstream_app.ui.viewer.geometry.viewport import MAX_SCALE
from scstream_app.ui.viewer.geometry.zoom_view import ZoomView

_PREFIX = "view_"
_OBJECTS = "show_objects"
#: Zooms of the menu, in per cent.
_ZOOMS = (50, 100, 200)
#: Pixels between the longest zoom and the arrow beside it.
_BESIDE_ARROW = 8


class ViewBar(QWidget):
    """Buttons that do the actions of the View menu, and what they have chosen.

    Parameters
    ----------
    document : Document
    viewer : ZoomView
        The picture whose zoom the bar shows.
    actions : Actions
    """

    def __init__(self, document: Document, viewer: ZoomView, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("viewBar")
        self.setAccessibleName("View")
        self._document, self._viewer, self._actions = document, viewer, actions
        self._views = [spec.id for spec in SPECS if spec.group == "view"]
        self._name = self._make_name()
        self._legend = ViewLegend(self)
        self._zoom = self._make_zoom()
        self._lay_out()
        self._draw_icons()
        document.display.look_changed.connect(self._on_look)
        document.state_changed.connect(self._enable)
        viewer.zoomed.connect(self._on_zoomed)
        self._on_look()
        self._on_zoomed(viewer.scale)
        self._enable()

    # --- construction

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 8, 2)
        row.setSpacing(2)
        for id in self._views:
            row.addWidget(self._make_button(self._actions[id]))
        row.addSpacing(4)
        row.addWidget(self._name)
        row.addSpacing(8)
        row.addWidget(self._legend)
        row.addStretch(1)
        row.addWidget(self._make_button(self._actions[_OBJECTS]))
        row.addWidget(self._zoom)
        NarrowRow(self, (self._name, self._legend))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _make_button(self, action: QAction) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(action.objectName())
        button.setAutoRaise(True)
        button.setIconSize(QSize(ICON_SIDE, ICON_SIDE))
        # Arrow keys step through frames.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setDefaultAction(action)
        button.setAccessibleName(without_mnemonic(action.text()))
        # A menu entry with an icon has no check mark.
        action.setIconVisibleInMenu(False)
        return button

    def _make_name(self) -> QLabel:
        label = QLabel(self)
        label.setObjectName("viewName")
        label.setAccessibleName("Current view")
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        titles = [without_mnemonic(self._actions[id].text()) for id in self._views]
        label.setMinimumWidth(max(map(label.fontMetrics().horizontalAdvance, titles)))
        return label

    def _make_zoom(self) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("zoom")
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolTip("Zoom: screen pixels per pixel of the picture")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        menu.addAction(self._actions["fit"])
        for percent in _ZOOMS:
            choice = menu.addAction(f"{percent} %")
            choice.triggered.connect(lambda _checked=False, percent=percent: self._zoom_to(percent / 100.0))
        menu.addSeparator()
        menu.addActions([self._actions["zoom_in"], self._actions["zoom_out"]])
        button.setMenu(menu)
        button.setText(f"{100.0 * MAX_SCALE:.0f} %")
        # The text changes with every notch of the wheel: no layout of the window for it.
        button.setFixedWidth(button.sizeHint().width() + _BESIDE_ARROW)
        return button

    def _draw_icons(self) -> None:
        ink = self.palette().color(QPalette.ColorRole.ButtonText)
        for id in self._views:
            self._actions[id].setIcon(view_icon(id.removeprefix(_PREFIX), ink))
        self._actions[_OBJECTS].setIcon(objects_icon(ink))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()

    # --- what the user chooses, and what is shown

    def _zoom_to(self, scale: float) -> None:
        self._viewer.zoom(scale / self._viewer.scale)

    @Slot()
    def _on_look(self) -> None:
        view = self._document.display.look.view
        self._name.setText(without_mnemonic(self._actions[f"{_PREFIX}{view}"].text()))
        self._legend.show_view(view)

    @Slot(float)
    def _on_zoomed(self, scale: float) -> None:
        text = f"{100.0 * scale:.0f} %"
        self._zoom.setText(text)
        self._zoom.setAccessibleName(f"Zoom {text}")

    @Slot()
    def _enable(self) -> None:
        self._zoom.setEnabled(self._document.is_open)
