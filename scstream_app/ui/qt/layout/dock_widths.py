"""Widths of the docks beside the picture: set by the user, or a share of the window."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStackedWidget

#: Minimum and maximum default width in pixels, and the share of the window in between.
_SHARED, _SHARE = (430, 640), 0.24
#: Largest share of the window by default, and for a width that the user chose: the picture needs the rest.
_MOST_SHARED, _MOST_CHOSEN = 0.38, 0.5
#: Minimum width in pixels: the table's first columns and two tabs need it.
_LEAST = 240
#: Requests for the same widths before giving up.
_TRIES = 3
_SIDES = {"left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea}


class DockWidths(QObject):
    """Restores the width of the docks on each side of a window whenever there is room.

    Qt shrinks docks when there is too little room and does not enlarge them again.
    """

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, docks
        self._chosen: dict[str, int] = {}
        # Widths when the user pressed the mouse on a separator.
        self._before: dict[str, int] | None = None
        # What was asked for last, and how often it came to nothing.
        self._tried: object = None
        self._failures = 0
        for dock in docks:
            dock.widget().setMinimumWidth(_LEAST)
        centre = window.centralWidget()
        self._stacks: Iterable[QStackedWidget] = [] if centre is None else centre.findChildren(QStackedWidget)
        for stack in self._stacks:
            stack.currentChanged.connect(self._ignore_hidden_pages)
        self._ignore_hidden_pages()
        window.installEventFilter(self)

    def _ignore_hidden_pages(self) -> None:
        """Let hidden pages of the central widget take no room from the docks."""
        for stack in self._stacks:
            for page in filter(None, map(stack.widget, range(stack.count()))):
                policy, seen = page.sizePolicy(), page is stack.currentWidget()
                policy.setHorizontalPolicy(policy.Policy.Preferred if seen else policy.Policy.Ignored)
                page.setSizePolicy(policy)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.MouseButtonPress:
                self._before = self._now()
            case QEvent.Type.MouseButtonRelease if self._before is not None:
                now = self._now()
                self._chosen |= {side: now[side] for side in now if now[side] != self._before.get(side)}
                self._before = None
            case QEvent.Type.Resize:
                self.apply()
            case QEvent.Type.LayoutRequest if not QApplication.mouseButtons():
                self.apply()
            case _:
                pass
        return super().eventFilter(watched, event)

    def apply(self) -> None:
        """Set the docks to their widths, as far as there is room."""
        now = self._now()
        wrong = {side: self._wanted(side) for side in now if now[side] != self._wanted(side)}
        centre = self._window.centralWidget()
        room = self._window.width(), 0 if centre is None else centre.minimumSizeHint().width()
        if (now, wrong, room) != self._tried:
            self._tried, self._failures = (now, wrong, room), 0
        # Qt ignores a request while it restores a layout; without room repeated requests would never end.
        if wrong and self._failures < _TRIES:
            self._failures += 1
            docks = [self._column(side)[0] for side in wrong]
            self._window.resizeDocks(docks, list(wrong.values()), Qt.Orientation.Horizontal)

    def _wanted(self, side: str) -> int:
        window = self._window.width()
        if side in self._chosen:
            return max(min(self._chosen[side], round(_MOST_CHOSEN * window)), _LEAST)
        least, most = _SHARED
        shared = min(max(round(_SHARE * window), least), most)
        return max(min(shared, round(_MOST_SHARED * window)), _LEAST)

    def _now(self) -> dict[str, int]:
        """Width of the docks per side; sides with docks next to each other have none."""
        widths = {side: {dock.width() for dock in self._column(side)} for side in _SIDES}
        return {side: found.pop() for side, found in widths.items() if len(found) == 1}

    def _column(self, side: str) -> list[QDockWidget]:
        """Visible docks on a side; of tabbed docks only the front one."""
        return [
            dock
            for dock in self._docks
            if not (dock.isFloating() or dock.visibleRegion().isEmpty())
            and self._window.dockWidgetArea(dock) == _SIDES[side]
        ]

    # --- saved state

    def text(self) -> str:
        """Serialise the widths set by the user."""
        return json.dumps(self._chosen)

    def read(self, text: str) -> None:
        """Restore the widths from `text`; invalid text restores the defaults."""
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        kept = found.items() if isinstance(found, dict) else ()
        self._chosen = {side: width for side, width in kept if side in _SIDES and isinstance(width, int)}

    def forget(self) -> None:
        """Return to the default widths."""
        self._chosen.clear()
