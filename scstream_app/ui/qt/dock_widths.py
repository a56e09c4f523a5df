"""How wide the panels beside the picture are: as a person drew them, or their share of the window."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStackedWidget

#: Of the panels at least and at most, and their share of a window in between.
_SHARED, _SHARE = (430, 640), 0.24
#: Narrower than this, names and tabs cannot be read.
_LEAST = 340
_SIDES = {"left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea}


class DockWidths(QObject):
    """Gives the docks at each side of a window their width back whenever there is room for it.

    By itself Qt takes room from docks when there is too little, and never returns it.
    """

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, docks
        self._drawn: dict[str, int] = {}
        # Of the docks when a person began to draw at what lies between them and the picture.
        self._before: dict[str, int] | None = None
        self._tried: object = None
        for dock in docks:
            dock.widget().setMinimumWidth(_LEAST)
        centre = window.centralWidget()
        self._stacks: Iterable[QStackedWidget] = [] if centre is None else centre.findChildren(QStackedWidget)
        for stack in self._stacks:
            stack.currentChanged.connect(self._need_room_for_one)
        self._need_room_for_one()
        window.installEventFilter(self)

    def _need_room_for_one(self) -> None:
        """Pages in the middle that nobody sees must take no room from the docks."""
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
                self._drawn |= {side: now[side] for side in now if now[side] != self._before.get(side)}
                self._before = None
            case QEvent.Type.Resize:
                self.apply()
            case QEvent.Type.LayoutRequest if not QApplication.mouseButtons():
                self.apply()
            case _:
                pass
        return super().eventFilter(watched, event)

    def apply(self) -> None:
        """Make the docks as wide as they are to be, or as there is room for."""
        now = self._now()
        wrong = {side: self._wanted(side) for side in now if now[side] != self._wanted(side)}
        centre = self._window.centralWidget()
        room = self._window.width(), 0 if centre is None else centre.minimumSizeHint().width()
        # Asking has the window laid out anew: where there is no more room, that would go on for ever.
        if wrong and (now, wrong, room) != self._tried:
            self._tried = now, wrong, room
            docks = [self._column(side)[0] for side in wrong]
            self._window.resizeDocks(docks, list(wrong.values()), Qt.Orientation.Horizontal)

    def _wanted(self, side: str) -> int:
        least, most = _SHARED
        return self._drawn.get(side, min(max(round(_SHARE * self._window.width()), least), most))

    def _now(self) -> dict[str, int]:
        """By side; those where docks lie beside each other have no one width."""
        widths = {side: {dock.width() for dock in self._column(side)} for side in _SIDES}
        return {side: found.pop() for side, found in widths.items() if len(found) == 1}

    def _column(self, side: str) -> list[QDockWidget]:
        """The docks that are seen at the side; of those in tabs only the one in front is."""
        return [
            dock
            for dock in self._docks
            if not (dock.isFloating() or dock.visibleRegion().isEmpty())
            and self._window.dockWidgetArea(dock) == _SIDES[side]
        ]

    # --- from one start to the next

    def text(self) -> str:
        """What a person drew, to be kept."""
        return json.dumps(self._drawn)

    def read(self, text: str) -> None:
        """Undo `text`; what cannot be read leaves the docks their share."""
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        kept = found.items() if isinstance(found, dict) else ()
        self._drawn = {side: width for side, width in kept if side in _SIDES and isinstance(width, int)}

    def forget(self) -> None:
        """Leave the docks their share of the window."""
        self._drawn.clear()
