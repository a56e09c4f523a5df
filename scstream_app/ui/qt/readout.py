"""Label whose text changes with every frame without a new layout of the window."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QWidget

_DIGITS = "0123456789"


class Readout(QLabel):
    """Label that keeps the width of its longest text so far, until it is empty.

    A label of variable size triggers a layout of the whole window with every new text. A fixed width also keeps numbers
    from moving when digits change.

    Parameters
    ----------
    name : str
        Accessible name.
    widest : str
        Text that must fit from the start.
    """

    def __init__(self, name: str, widest: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self._widest = widest
        self._same_digits = self._find_digits()
        self._fit(widest)

    def setText(self, text: str) -> None:
        """Override of Qt."""
        if text == self.text():
            return
        if not text or self._width(text) + 2 * self.margin() > self.width():
            self._fit(text or self._widest)
        super().setText(text)

    def changeEvent(self, event: QEvent) -> None:
        """Override of Qt."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._same_digits = self._find_digits()
            self._fit(max(self.text(), self._widest, key=self._width))

    def _find_digits(self) -> dict[int, int]:
        """Translation of all digits to the widest one, since digits differ in width in some fonts."""
        return str.maketrans(_DIGITS, len(_DIGITS) * max(_DIGITS, key=self.fontMetrics().horizontalAdvance))

    def _width(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text.translate(self._same_digits))

    def _fit(self, text: str) -> None:
        self.setFixedSize(self._width(text) + 2 * self.margin(), self.fontMetrics().height() + 2)
