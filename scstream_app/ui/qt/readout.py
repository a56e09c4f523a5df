"""Labels that say something else with every frame."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QWidget

_DIGITS = "0123456789"


class Readout(QLabel):
    """Keeps the size of the longest text that it has had, until it is empty.

    Where a label's size is not fixed, every new text has Qt lay out the whole window, and paint what lies between its
    panels. Nor must numbers dance while digits come and go.

    Parameters
    ----------
    name : str
        For those who have it read to them.
    widest : str
        A text that is to fit from the beginning.
    """

    def __init__(self, name: str, widest: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self._widest = widest
        self._same_digits = self._find_digits()
        self._fit(widest)

    def setText(self, text: str) -> None:
        """See Qt."""
        if text == self.text():
            return
        if not text or self._width(text) > self.width():
            self._fit(text or self._widest)
        super().setText(text)

    def changeEvent(self, event: QEvent) -> None:
        """See Qt."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._same_digits = self._find_digits()
            self._fit(max(self.text(), self._widest, key=self._width))

    def _find_digits(self) -> dict[int, int]:
        """Has all digits be the widest one: in some fonts a 1 is narrower than a 4."""
        return str.maketrans(_DIGITS, len(_DIGITS) * max(_DIGITS, key=self.fontMetrics().horizontalAdvance))

    def _width(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text.translate(self._same_digits))

    def _fit(self, text: str) -> None:
        self.setFixedSize(self._width(text), self.fontMetrics().height() + 2)
