"""The dialog that asks how to merge segments of a clip whose frames are all segmented."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QRadioButton, QVBoxLayout, QWidget


class MergeWay(StrEnum):
    """Ways to merge segments after the end of a run."""

    RESULT = "result"
    RESULT_EVERYWHERE = "result everywhere"
    RERUN = "rerun"


_TITLES: Mapping[MergeWay, str] = MappingProxyType(
    {
        MergeWay.RESULT: "Merge in the &result from this frame on",
        MergeWay.RESULT_EVERYWHERE: "Merge in the result on &all frames",
        MergeWay.RERUN: "Merge in the &model and segment again from this frame on",
    }
)
_EFFECTS: Mapping[MergeWay, str] = MappingProxyType(
    {
        MergeWay.RESULT: "The segments get one id at once. Other segments stay as they are.",
        MergeWay.RESULT_EVERYWHERE: "Frames before this one change as well.",
        MergeWay.RERUN: "Takes as long as segmenting these frames did. The present result stays in its own session.",
    }
)
#: In pixels: the text begins below the titles of the buttons, and the longest line fits.
_INDENT, _WIDTH = 22, 480


class MergeDialog(QDialog):
    """Asks for one of the ways to merge.

    Parameters
    ----------
    parent : QWidget
    what : str
        Describes the segments.
    way : MergeWay
        The way that is chosen at first.
    why_no_rerun : str
        Why the clip cannot be segmented again; empty if it can.
    done : callable
        Called with the chosen way if the user accepts.
    """

    def __init__(
        self, parent: QWidget, what: str, way: MergeWay, why_no_rerun: str, done: Callable[[MergeWay], object]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Merge Segments")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(_WIDTH)
        layout = QVBoxLayout(self)
        layout.addWidget(QLabel(f"The segmentation has ended. How should {what} be merged?"))
        self._buttons = {one: QRadioButton(_TITLES[one]) for one in MergeWay}
        for one, button in self._buttons.items():
            effect = QLabel(_EFFECTS[one])
            effect.setWordWrap(True)
            effect.setIndent(_INDENT)
            if one is MergeWay.RERUN and why_no_rerun:
                button.setEnabled(False)
                effect.setText(f"{why_no_rerun}.")
            layout.addWidget(button)
            layout.addWidget(effect)
        chosen = self._buttons[way]
        (chosen if chosen.isEnabled() else self._buttons[MergeWay.RESULT]).setChecked(True)
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, parent=self)
        merge = box.addButton("Merge", QDialogButtonBox.ButtonRole.AcceptRole)
        merge.setDefault(True)
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        layout.addWidget(box)
        self.accepted.connect(lambda: done(self.way))

    @property
    def way(self) -> MergeWay:
        """The chosen way."""
        return next(one for one, button in self._buttons.items() if button.isChecked())
