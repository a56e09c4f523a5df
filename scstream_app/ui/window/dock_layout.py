"""Layout of the panels: which are open, where, and how large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QTabBar, QWidget

from scstream_app.ui.qt.dock_widths import DockWidths
from scstream_app.ui.qt.docks import Dock, underline_current_tab

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
        self._shown = True
        # Panels get their default sizes when they are first shown, unless the user has changed the layout.
        self._default_sizes = True
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
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        return dock

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

    def actions(self) -> Iterable[QAction]:
        """Actions that show and hide each panel."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def show(self, shown: bool, share: bool = False) -> None:
        """Show or hide the panels; panels closed by the user stay closed.

        With ``share`` they get their default sizes, unless the user has changed the layout.
        """
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
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)

    def keep(self, settings: QSettings) -> None:
        """Save window and panels to the settings."""
        settings.setValue("window/geometry", self._window.saveGeometry())
        self.show(True)
        settings.setValue("window/state", self._window.saveState())
        settings.setValue("window/widths", self._widths.text())

    def reset(self, settings: QSettings, share: bool) -> None:
        """Restore the default layout and delete the saved one."""
        shown = self._shown
        settings.remove("window")
        self._open.clear()
        self._widths.forget()
        if self._original is not None:
            self._window.restoreState(self._original)
        self._shown = self._default_sizes = True
        self.show(shown, share)
        self._front.raise_()
