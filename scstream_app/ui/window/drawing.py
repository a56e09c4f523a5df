"""Connects the drawing tools, the loading of masks and carrying objects back to the other parts of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from scstream_app.ui.actions.actions import Actions
from scstream_app.ui.document.objects.carry_back import CarryBack
from scstream_app.ui.document.playback.player import Player
from scstream_app.ui.panels.objects import ObjectsPanel
from scstream_app.ui.qt.threads.job_queue import JobQueue
from scstream_app.ui.viewer.tools.draw_tools import DrawTools
from scstream_app.ui.viewer.tools.mask_loader import MaskLoader
from scstream_app.ui.window.central_area import CentralArea


class Drawing(QObject):
    """Draws the object that is highlighted in the Objects panel, and highlights a new one; playback stops meanwhile.

    ``files`` reads mask files.

    Attributes
    ----------
    tools : DrawTools
    masks : MaskLoader
    carry_back : CarryBack
    """

    def __init__(
        self,
        centre: CentralArea,
        objects: ObjectsPanel,
        player: Player,
        actions: Actions,
        files: JobQueue,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._document, self._actions = centre.viewer.document, actions
        # Strokes do not wait for a disk that hangs.
        self._strokes = JobQueue(self)
        self.tools = DrawTools(centre.viewer, actions, self._strokes, lambda: objects.current, self)
        self.masks = MaskLoader(self._document, files, window)
        self.carry_back = CarryBack(self._document, lambda: objects.current, self)
        centre.add_tools(self.tools.bar)
        self.tools.began.connect(player.pause)
        self.tools.target_chosen.connect(objects.highlight)
        self.masks.loaded.connect(objects.highlight)
        self.masks.message.connect(centre.message.show_message)
        self.carry_back.message.connect(centre.viewer.show_toast)
        objects.current_changed.connect(self.tools.show_target)
        self._document.display.look_changed.connect(self._check)
        self._check()

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the actions of objects in the picture do."""
        return {
            **self.tools.handlers(),
            "carry_back": self.carry_back.start,
            "load_mask": self.masks.ask,
            "show_objects": self._show_objects,
        }

    def shut_down(self) -> None:
        """End the thread that applies strokes, after the stroke that it is computing."""
        self._strokes.shut_down()

    def _show_objects(self) -> None:
        self._document.display.set_look(show_objects=self._actions["show_objects"].isChecked())

    def _check(self) -> None:
        self._actions["show_objects"].setChecked(self._document.display.look.show_objects)
