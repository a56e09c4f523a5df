"""The tools of the viewer: chooses one of them, and connects them to the menu, the tool bar and the list of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from scstream_app.ui.actions.actions import BY_ID, Actions
from scstream_app.ui.document.undo_commands import last_object
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.viewer.mouse.viewer_tool import ViewerTool
from scstream_app.ui.viewer.tools.area_tools import BoxTool, LassoTool
from scstream_app.ui.viewer.tools.brush_tool import BrushTool
from scstream_app.ui.viewer.tools.canvas import Canvas
from scstream_app.ui.viewer.tools.tool_bar import TOOLS, ToolBar
from scstream_app.ui.viewer.tools.tool_options import ToolOptions
from scstream_app.ui.viewer.viewer import Viewer

_SELECT = "tool_select"


class DrawTools(QObject):
    """Tools that draw objects.

    ``began`` is emitted when the user begins to draw; ``target_chosen`` carries the name of the object to highlight in
    the list, because it is drawn from now on, or None.

    Parameters
    ----------
    viewer : Viewer
    actions : Actions
    queue : JobQueue
        For computations that take a while.
    target : callable
        Returns the name of the highlighted object; None if there is none.
    parent : QObject

    Attributes
    ----------
    bar : ToolBar
    canvas : Canvas
    options : ToolOptions
    """

    began = Signal()
    target_chosen = Signal(object)

    def __init__(
        self, viewer: Viewer, actions: Actions, queue: JobQueue, target: Callable[[], str | None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._viewer, self._actions, self._target = viewer, actions, target
        self._document = viewer.document
        self.options = ToolOptions(self)
        self.bar = ToolBar(actions, self.options)
        self.canvas = canvas = Canvas(viewer, self.options, queue, target)
        self._tools: Mapping[str, ViewerTool] = {
            _SELECT: viewer.tool,
            "tool_brush": BrushTool(canvas),
            "tool_eraser": BrushTool(canvas, erases=True),
            "tool_lasso": LassoTool(canvas),
            "tool_box": BoxTool(canvas),
        }
        self._chosen = _SELECT
        canvas.began.connect(self.began)
        canvas.painted.connect(self.target_chosen)
        self.bar.target_chosen.connect(self.target_chosen)
        self.bar.size_box.lineEdit().returnPressed.connect(viewer.setFocus)
        viewer.escaped.connect(self.select)
        self._document.closed.connect(self.select)
        self._document.marks_changed.connect(self.show_target)
        self.select()
        self.show_target()

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the actions of the tools do."""
        return {
            **{id: partial(self.choose, id) for id in TOOLS},
            "tool_snap": lambda: self.options.set_snap(self._actions["tool_snap"].isChecked()),
            "brush_smaller": lambda: self.options.step_size(-1),
            "brush_larger": lambda: self.options.step_size(1),
        }

    @Slot()
    def select(self) -> None:
        """Choose the Select tool."""
        self.choose(_SELECT)

    def choose(self, id: str) -> None:
        """Choose a tool by the id of its action."""
        if self._chosen == _SELECT != id and self._target() is None and self._document.objects:
            # Most strokes correct what the user has just made.
            self.target_chosen.emit(last_object(self._document))
        if id != self._chosen:
            self._viewer.show_toast("" if id == _SELECT else self._hint(id))
        self._chosen = id
        self._actions[id].setChecked(True)
        self._viewer.set_tool(self._tools[id])
        self.bar.show_tool(id)
        if id != _SELECT:
            # For Esc.
            self._viewer.setFocus()

    def _hint(self, id: str) -> str:
        """What a tool does, with the name of the object that it changes."""
        name, tip = self._target(), BY_ID[id].tip
        return tip if name is None else tip.replace("the object", f"object '{name}'", 1)

    @Slot()
    def show_target(self) -> None:
        """Show in the bar which object is drawn."""
        self.bar.show_target(self._document.objects, self._target())
