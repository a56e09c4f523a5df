"""The panels around the picture: which are open, and how much of the window they get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QTabBar, QWidget

from scstream_app.ui.qt.dock_widths import DockWidths
from scstream_app.ui.qt.docks import Dock, mark_front

#: Of the height of the window, for the panel that lies below.
_BELOW_SHARE = 0.46


class DockLayout(QObject):
    """Docks at the right of a window: one lies below, of the others only one is seen at a time.

    Parameters
    ----------
    widgets : mapping of str to QWidget
        By name, in the order of the tabs; the first is in front.
    below : str
        The one that lies below the others.
    """

    def __init__(self, window: QMainWindow, widgets: Mapping[str, QWidget], below: str) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)
        self._docks = {name: self._dock(name.capitalize(), widget) for name, widget in widgets.items()}
        self._front, self._below = self._docks[next(iter(widgets))], self._docks[below]
        self._open: dict[str, bool] = {}
        self._shown = True
        # Until a person has had a say in it, panels get their part of the window when they are first seen.
        self._unshared = True
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
        # The window makes bars of tabs by itself, whenever panels are put onto each other.
        child = event.child() if isinstance(event, QChildEvent) and event.polished() else None
        if isinstance(child, QTabBar):
            mark_front(child)
        elif event.type() == QEvent.Type.PaletteChange:
            direct = Qt.FindChildOption.FindDirectChildrenOnly
            bars: Iterable[QTabBar] = self._window.findChildren(QTabBar, options=direct)
            for bar in bars:
                mark_front(bar)
        return super().eventFilter(watched, event)

    def __getitem__(self, name: str) -> Dock:
        return self._docks[name]

    def actions(self) -> Iterable[QAction]:
        """What opens and closes each of them."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def show(self, shown: bool, share: bool = False) -> None:
        """Show them or not; those that a person closed stay closed.

        With ``share`` they get their part of the window, unless a person has had a say in it.
        """
        for name, dock in self._docks.items():
            if not shown and self._shown:
                self._open[name] = not dock.isHidden()
            dock.setVisible(shown and self._open.get(name, True))
        if shown and not self._shown:
            self._front.raise_()
        self._shown = shown
        if shown and share and self._unshared:
            self._unshared = False
            self._share_room()

    def _share_room(self) -> None:
        """Give the panels their part of the window, however large that is."""
        self._widths.apply()
        height = self._window.height()
        low = round(_BELOW_SHARE * height)
        self._window.resizeDocks([self._front, self._below], [height - low, low], Qt.Orientation.Vertical)

    # --- from one start to the next

    def restore(self, settings: QSettings | None) -> None:
        """Put window and panels where they were when they were kept there; None: as they come. They are hidden then."""
        self._original = self._window.saveState()
        state, geometry = (
            None if settings is None else settings.value(f"window/{name}") for name in ("state", "geometry")
        )
        if isinstance(state, QByteArray):
            self._unshared = not self._window.restoreState(state)
            self._widths.read(str(settings.value("window/widths", "") if settings is not None else ""))
        # Panels that are hidden at first must not widen the window.
        self.show(False)
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)

    def keep(self, settings: QSettings) -> None:
        """Undo `restore`."""
        settings.setValue("window/geometry", self._window.saveGeometry())
        self.show(True)
        settings.setValue("window/state", self._window.saveState())
        settings.setValue("window/widths", self._widths.text())

    def reset(self, settings: QSettings, share: bool) -> None:
        """Put the panels back where they came, and forget what was kept."""
        shown = self._shown
        settings.remove("window")
        self._open.clear()
        self._widths.forget()
        if self._original is not None:
            self._window.restoreState(self._original)
        self._shown = self._unshared = True
        self.show(shown, share)
        self._front.raise_()
