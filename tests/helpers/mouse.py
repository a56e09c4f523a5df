"""Drags and wheels over a widget, as a user makes them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


def press(widget: QWidget, at: QPoint, button: Qt.MouseButton = LEFT, held: Qt.KeyboardModifier = NONE) -> None:
    """Press a button of the mouse."""
    QTest.mousePress(widget, button, held, at)


def press_again(widget: QWidget, at: QPoint, button: Qt.MouseButton = LEFT, held: Qt.KeyboardModifier = NONE) -> None:
    """Press a button of the mouse a second time, as in a double click."""
    point = QPointF(at)
    event = QMouseEvent(QEvent.Type.MouseButtonDblClick, point, widget.mapToGlobal(point), button, button, held)
    QApplication.sendEvent(widget, event)


def move(widget: QWidget, to: QPoint, button: Qt.MouseButton = LEFT, held: Qt.KeyboardModifier = NONE) -> None:
    """Move the mouse while a button is held down, which QTest.mouseMove does not do."""
    point = QPointF(to)
    event = QMouseEvent(QEvent.Type.MouseMove, point, widget.mapToGlobal(point), Qt.MouseButton.NoButton, button, held)
    QApplication.sendEvent(widget, event)


def release(widget: QWidget, at: QPoint, button: Qt.MouseButton = LEFT, held: Qt.KeyboardModifier = NONE) -> None:
    """Release a button of the mouse."""
    QTest.mouseRelease(widget, button, held, at)


def drag_along(
    widget: QWidget, points: Sequence[QPoint], button: Qt.MouseButton = LEFT, held: Qt.KeyboardModifier = NONE
) -> None:
    """Drag from the first point over all others to the last one."""
    press(widget, points[0], button, held)
    for point in points[1:]:
        move(widget, point, button, held)
    release(widget, points[-1], button, held)


def turn_wheel(widget: QWidget, at: QPoint, notches: int, held: Qt.KeyboardModifier = NONE) -> None:
    """Turn the wheel."""
    event = QWheelEvent(
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
