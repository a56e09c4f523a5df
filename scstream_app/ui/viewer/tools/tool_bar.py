"""The tool bar beside the viewer: the tools and, while one draws, its options."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QAbstractSpinBox, QMenu, QSlider, QSpinBox, QToolBar, QToolButton, QWidget

from scstream_app.objects import MarkedObject
from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.viewer.tools.tool_icons import SIDE, swatch_icon, tool_icon
from scstream_app.ui.viewer.tools.tool_options import SIZES, ToolOptions

TOOLS = ("tool_select", "tool_brush", "tool_eraser", "tool_lasso", "tool_box")
#: Tools with a size.
BRUSHES = ("tool_brush", "tool_eraser")
_SLIDER_HEIGHT = 90
#: Pixels at the left and right of the widgets.
_MARGIN = 4
_NEW = "New Object"


class ToolBar(QToolBar):
    """Buttons of the tools, the size of the brush, snap to segments, and the object that is painted.

    ``target_chosen`` carries the name of the object that the user wants to paint, or None for a new one.
    """

    target_chosen = Signal(object)

    def __init__(self, actions: Actions, options: ToolOptions, parent: QWidget | None = None) -> None:
        super().__init__("Tools", parent)
        self._actions, self._options = actions, options
        self.setOrientation(Qt.Orientation.Vertical)
        self.setMovable(False)
        self.setIconSize(QSize(SIDE, SIDE))
        self.setAccessibleName("Tools")
        self.addActions([actions[id] for id in TOOLS])
        separator = self.addSeparator()
        self.size_box = self._make_size()
        self.slider = self._make_slider()
        self._sizes = [self.addWidget(self.size_box), self.addWidget(self.slider)]
        snap = QToolButton()
        snap.setDefaultAction(actions["tool_snap"])
        self.target = self._make_target()
        for button in (snap, self.target):
            button.setFixedWidth(self.size_box.width())
        # Entries of the bar itself: the action of the menu stays visible there.
        self._shared = [separator, self.addWidget(snap), self.addWidget(self.target)]
        # The same width with all tools: otherwise the picture would move.
        self.setFixedWidth(self.size_box.width() + 2 * _MARGIN)
        for id in (*TOOLS, "tool_snap"):
            actions[id].setIconVisibleInMenu(False)
        options.changed.connect(self._show_options)
        self._draw_icons()
        self._show_options()

    def _make_size(self) -> QSpinBox:
        box = QSpinBox()
        box.setRange(*SIZES)
        box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        box.setAlignment(Qt.AlignmentFlag.AlignCenter)
        box.setFixedWidth(box.fontMetrics().horizontalAdvance("8888") + 8)
        box.setAccessibleName("Brush size")
        box.setKeyboardTracking(False)
        box.valueChanged.connect(self._options.set_size)
        return box

    def _make_slider(self) -> QSlider:
        slider = QSlider(Qt.Orientation.Vertical)
        # The square root of the size: small brushes need finer steps.
        slider.setRange(10, round(10 * SIZES[1] ** 0.5))
        slider.setFixedWidth(self.size_box.width())
        slider.setMaximumHeight(_SLIDER_HEIGHT)
        slider.setAccessibleName("Brush size")
        slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        slider.valueChanged.connect(lambda value: self._options.set_size(round((value / 10) ** 2)))
        return slider

    def _make_target(self) -> QToolButton:
        button = QToolButton()
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setMenu(QMenu(button))
        return button

    @Slot()
    def _show_options(self) -> None:
        size = self._options.size
        with QSignalBlocker(self.size_box), QSignalBlocker(self.slider):
            self.size_box.setValue(size)
            self.slider.setValue(round(10 * size**0.5))
        keys = ", ".join(filter(None, ("Shift+wheel", *map(self._actions.key, ("brush_smaller", "brush_larger")))))
        for widget in (self.size_box, self.slider):
            widget.setToolTip(f"Brush size: {size} pixels ({keys})")
        self._actions["tool_snap"].setChecked(self._options.snap)

    def show_tool(self, tool: str) -> None:
        """Show the options of a tool."""
        draws = tool != "tool_select"
        for action in self._sizes:
            action.setVisible(tool in BRUSHES)
        for action in self._shared:
            action.setVisible(draws)

    def show_target(self, objects: Sequence[MarkedObject], name: str | None) -> None:
        """Show which object is painted; None: a new one."""
        ink = self.palette().color(QPalette.ColorRole.ButtonText)
        menu = self.target.menu()
        menu.clear()
        current = next((object_ for object_ in objects if object_.name == name), None)
        for object_ in objects:
            entry = menu.addAction(swatch_icon(QColor(*object_.colour), ink), object_.name.replace("&", "&&"))
            entry.triggered.connect(lambda _checked=False, chosen=object_.name: self.target_chosen.emit(chosen))
        menu.addSeparator()
        menu.addAction(_NEW).triggered.connect(lambda: self.target_chosen.emit(None))
        colour = QColor(0, 0, 0, 0) if current is None else QColor(*current.colour)
        self.target.setIcon(swatch_icon(colour, ink))
        text = f"Draws {_NEW.lower()}" if current is None else f"Draws object '{current.name}'"
        self.target.setToolTip(f"{text}. Click to choose another")
        self.target.setAccessibleName(text)

    def _draw_icons(self) -> None:
        ink = self.palette().color(QPalette.ColorRole.ButtonText)
        for id in (*TOOLS, "tool_snap"):
            self._actions[id].setIcon(tool_icon(id, ink))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons again for another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
