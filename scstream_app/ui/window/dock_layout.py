"""Layout of the panels: which are open, where, and how large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, QObject, QSettings, Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QTabBar, QWidget

from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.qt.layout.dock_widths import DockWidths
from scstream_app.ui.qt.layout.docks import Dock, underline_current_tab
from scstream_app.ui.qt.layout.screen_fit import cascade, keep_on_screen

#: Share of the window's height for the bottom panel.
_BELOW_SHARE = 0.46


class DockLayout(QObject):
    """Docks at the right of a window: tabbed, with one panel below them.

    Parameters
    ----------
    widgets : mapping of str to QWidget
        Panels by name, in the order of the tabs; the first is current.
    below : str
        Name of the panel below the others.
    """

    def __init__(self, window: QMainWindow, widgets: Mapping[str, QWidget], below: str) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)
        self._docks = {name: self._dock(name.capitalize(), widget) for name, widget in widgets.items()}
        self._front, self._below = self._docks[next(iter(widgets))], self._docks[below]
        self._open: dict[str, bool] = {}
        self._shown = self._wanted = True
        # Panels in front of the others before the window became full screen; None if it is not.
        self._before_full_screen: list[Dock] | None = None
        # Panels get their default sizes when they are first shown, unless the user has changed the layout.
        self._default_sizes = True
        # Layout of the panels when they were last on the screen, for saving while they are hidden; None: default.
        self._last_state: QByteArray | None = None
        for dock in self._docks.values():
            if dock not in (self._front, self._below):
                window.tabifyDockWidget(self._front, dock)
        self._front.raise_()
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self._widths = DockWidths(window, list(self._docks.values()))
        self._original: QByteArray | None = None

    def _dock(self, title: str, widget: QWidget) -> Dock:
        dock = Dock(title, self._window)
        dock.setObjectName(f"dock_{title.lower()}")
        dock.setWidget(widget)
        dock.topLevelChanged.connect(lambda floating: self._cascade(dock) if floating else None)
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        return dock

    def _cascade(self, dock: Dock) -> None:
        """Move a panel that has just been detached away from others at the same place, unless the user drags it."""
        if not QApplication.mouseButtons():
            cascade(dock, [other for other in self._docks.values() if other is not dock and other.isFloating()])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # QMainWindow creates tab bars when panels are tabbed.
        child = event.child() if isinstance(event, QChildEvent) and event.polished() else None
        if isinstance(child, QTabBar):
            underline_current_tab(child)
        elif event.type() == QEvent.Type.PaletteChange:
            direct = Qt.FindChildOption.FindDirectChildrenOnly
            bars: Iterable[QTabBar] = self._window.findChildren(QTabBar, options=direct)
            for bar in bars:
                underline_current_tab(bar)
        return super().eventFilter(watched, event)

    def __getitem__(self, name: str) -> Dock:
        return self._docks[name]

    def bind(self, actions: Actions) -> None:
        """Let the actions of the View menu show and hide the panels."""
        for name, dock in self._docks.items():
            action, toggle = actions[f"panel_{name}"], dock.toggleViewAction()
            action.triggered.connect(toggle.trigger)
            toggle.toggled.connect(action.setChecked)
            action.setChecked(toggle.isChecked())

    def show(self, shown: bool, share: bool = False) -> None:
        """Show or hide the panels; panels closed by the user stay closed.

        With ``share`` they get their default sizes, unless the user has changed the layout. They stay hidden
        while the window is full screen.
        """
        self._wanted = shown
        self._put(shown and self._before_full_screen is None, share)

    def set_full_screen(self, full: bool) -> None:
        """Hide the panels in a full screen window, and show them as they were afterwards."""
        if full == (self._before_full_screen is not None):
            return
        front = self._before_full_screen or []
        docks = self._docks.values()
        self._before_full_screen = [dock for dock in docks if not dock.visibleRegion().isEmpty()] if full else None
        self._put(self._wanted and not full)
        for dock in front:
            dock.raise_()

    def _put(self, shown: bool, share: bool = False) -> None:
        if not shown and self._shown and not self._default_sizes:
            self._last_state = self._window.saveState()
        for name, dock in self._docks.items():
            if not shown and self._shown:
                self._open[name] = not dock.isHidden()
            dock.setVisible(shown and self._open.get(name, True))
        if shown and not self._shown:
            self._front.raise_()
        self._shown = shown
        if shown and share and self._default_sizes:
            self._default_sizes = False
            self._set_default_sizes()

    def _set_default_sizes(self) -> None:
        """Set the default sizes of the panels."""
        self._widths.apply()
        height = self._window.height()
        low = round(_BELOW_SHARE * height)
        self._window.resizeDocks([self._front, self._below], [height - low, low], Qt.Orientation.Vertical)

    # --- saved state

    def restore(self, settings: QSettings | None) -> None:
        """Restore window and panels from the settings; None keeps the default. The panels are hidden afterwards."""
        self._original = self._window.saveState()
        state, geometry = (
            None if settings is None else settings.value(f"window/{name}") for name in ("state", "geometry")
        )
        if isinstance(state, QByteArray):
            self._default_sizes = not self._window.restoreState(state)
            self._widths.read(str(settings.value("window/widths", "") if settings is not None else ""))
        # Panels that are hidden at first must not widen the window.
        self.show(False)
        if isinstance(state, QByteArray) and not self._default_sizes:
            self._last_state = state
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
            keep_on_screen(self._window)

    def keep(self, settings: QSettings) -> None:
        """Save window and panels to the settings."""
        settings.setValue("window/geometry", self._window.saveGeometry())
        # Hidden panels stay hidden: to show them creates all that is in them, just before the window closes.
        state = self._window.saveState() if self._shown else self._last_state
        if state is not None:
            settings.setValue("window/state", state)
        settings.setValue("window/widths", self._widths.text())

    def reset(self, settings: QSettings, share: bool) -> None:
        """Restore the default layout and delete the saved one."""
        shown = self._shown
        settings.remove("window")
        self._open.clear()
        self._last_state = None
        self._widths.forget()
        if self._original is not None:
            self._window.restoreState(self._original)
        self._shown = self._default_sizes = True
        self.show(shown, share)
        self._front.raise_()
