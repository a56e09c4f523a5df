"""Random steps in the window: clicks, drags, wheels, keys, menu entries, drops, and clips that come and go."""

from __future__ import annotations

import faulthandler
import os
import shutil
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QEventLoop,
    QMimeData,
    QPoint,
    QPointF,
    QSettings,
    QSize,
    Qt,
    QTimer,
    QtMsgType,
    QUrl,
    qInstallMessageHandler,
)
from PySide6.QtGui import QAction, QDesktopServices, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QLineEdit, QWidget
from shiboken6 import isValid

from helpers import mouse
from scstream_app.session.library import Library
from scstream_app.ui.window.main_window import MainWindow
from torture.mutations import damaged
from torture.outcome import Outcome
from torture.sandbox import Sandbox
from torture.scene import SESSIONS, SETTINGS, Scene

#: Steps of one case.
STEPS = 100
_KEYS = (
    "Space", "Left", "Right", "Home", "End", "Up", "Down", "Tab", "Shift+Tab", "Return", "Esc", "Delete", "Backspace",
    "Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+A", "I", "O", "J", "K", "L", "M", "H", "F2", "F11", "+", "-", "0", "1", "2", "a",
    "PgUp", "PgDown", "Ctrl+Left", "Shift+Right", "Alt+F", "Menu",
)  # fmt: skip
#: Ends the case.
_LEFT_OUT = {"Quit"}
#: Milliseconds between two looks for a dialog that waits for an answer.
_GLANCE = 15
#: Seconds after which a step writes what it waits for into the log.
_LONG = 20.0


class Monkey:
    """Cases are series of random steps, each in a new window."""

    name = "monkey"

    def __init__(self, scene: Scene, seed: int, steps: int = STEPS) -> None:
        self._scene, self._seed, self._steps = scene, seed, steps

    def prepare(self) -> None:
        """There is nothing to prepare beyond the scene."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Do random steps in a window, then close it."""
        outcome = Outcome()
        with _Faults(outcome):
            hand = _Hand(np.random.default_rng([self._seed, 7, case]), self._scene, sandbox)
            for _ in range(self._steps):
                hand.step()
                outcome.steps += 1
                if outcome.faults:
                    outcome.faults[-1] += f" after {' > '.join(hand.done[-6:])}"
                    break
            hand.end()
        outcome.opened = int(not outcome.faults)
        return outcome


class _Faults:
    """Counts exceptions in slots and threads, and what Qt calls critical."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def __enter__(self) -> None:
        self._before = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook = self._exception
        threading.excepthook = lambda given: self._exception(given.exc_type, given.exc_value, given.exc_traceback)
        sys.unraisablehook = lambda given: self._exception(given.exc_type, given.exc_value, given.exc_traceback)
        self._handler = qInstallMessageHandler(self._message)

    def __exit__(self, *error: object) -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
        qInstallMessageHandler(self._handler)

    def _exception(self, kind: Any, value: Any, trace: Any) -> None:
        places = traceback.extract_tb(trace)
        where = " < ".join(f"{Path(place.filename).name}:{place.lineno}" for place in reversed(places[-4:]))
        traceback.print_exception(kind, value, trace)
        self._outcome.fault("crashes", f"{kind.__name__}: {value} at {where}")

    def _message(self, kind: QtMsgType, context: object, text: str) -> None:
        print(text, file=sys.stderr)
        if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg):
            self._outcome.fault("crashes", f"Qt: {text}")


class _Hand:
    """A window, and the hand that does random things to it."""

    def __init__(self, rng: np.random.Generator, scene: Scene, sandbox: Sandbox) -> None:
        self._rng, self._folder = rng, sandbox.folder
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        self._app = QApplication.instance() or QApplication(["torture"])
        self.done: list[str] = []
        self._write_clips(scene)
        # A link that is clicked must not start another program.
        for scheme in ("http", "https", "file", "mailto"):
            QDesktopServices.setUrlHandler(scheme, self._app, "objectName")
        settings = QSettings(str(self._folder / "settings.ini"), QSettings.Format.IniFormat)
        self._window = MainWindow(settings, Library(self._folder / "library"))
        self._window.document.set_settings(SETTINGS)
        self._window.show()
        self._begin = monotonic()
        self._answers = QTimer()
        self._answers.timeout.connect(self._answer)
        self._answers.start(_GLANCE)
        self._kinds = (
            (self._click, 24), (self._drag, 10), (self._wheel, 6), (self._key, 18), (self._trigger, 22),
            (self._drop, 3), (self._open, 6), (self._wait, 8), (self._resize, 2), (self._press_button, 10),
        )  # fmt: skip

    def _write_clips(self, scene: Scene) -> None:
        for name in SESSIONS[:2]:
            session = shutil.copytree(scene.folder / f"{name}.scstream", self._folder / f"{name}.scstream")
            # Exports go to a folder beside the clip by default, which has to be inside the sandbox.
            manifest = session / "manifest.json"
            manifest.write_text(manifest.read_text().replace(str(scene.clip), str(self._folder / "clip.mp4")))
        shutil.copy(scene.clip, self._folder / "clip.mp4")
        data = scene.clip.read_bytes()
        for number in range(3):
            (self._folder / f"damaged{number}.mp4").write_bytes(damaged(data, self._rng))
        self._addresses = [
            *(
                str(self._folder / name)
                for name in ("clip.mp4", "clip.mp4", "finished.scstream", "interrupted.scstream")
            ),
            *(str(self._folder / f"damaged{number}.mp4") for number in range(3)),
            f"live-loop:{self._folder / 'clip.mp4'}",
            f"live:{self._folder / 'clip.mp4'}",
            str(self._folder / "missing.mp4"),
        ]

    def step(self) -> None:
        """Do one thing."""
        weights = np.array([weight for _, weight in self._kinds], float)
        kind = self._kinds[int(self._rng.choice(len(self._kinds), p=weights / weights.sum()))][0]
        self.done.append(kind.__name__.lstrip("_"))
        self._begin = monotonic()
        kind()
        self._turn(3)

    def end(self) -> None:
        """Close the window, whatever asks. The process ends then, and with it all widgets."""
        begin = monotonic()
        while not self._window.close() and monotonic() - begin < 20.0:
            self._turn(20)
        self._answers.stop()

    def _turn(self, milliseconds: int) -> None:
        """Let the window handle events for a while."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()

    # --- what is hit

    def _pick(self, items: Any) -> Any:
        items = list(items)
        return items[int(self._rng.integers(len(items)))]

    def _widget(self) -> QWidget | None:
        """A random visible widget of the window in front."""
        top = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._window
        found = [one for one in top.findChildren(QWidget) if one.isVisible() and one.width() > 2 and one.height() > 2]
        if top is self._window and self._rng.random() < 0.4:
            found = [self._window.viewer, self._window.timeline, self._window.lanes]
            found = [one for one in found if one.isVisible()] or [self._window]
        return self._pick(found) if found else None

    def _point(self, widget: QWidget) -> QPoint:
        return QPoint(int(self._rng.integers(widget.width())), int(self._rng.integers(widget.height())))

    def _held(self) -> Any:
        none = Qt.KeyboardModifier.NoModifier
        return self._pick(
            [none, none, none, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier,
             Qt.KeyboardModifier.AltModifier]
        )  # fmt: skip

    def _button(self) -> Any:
        return self._pick([mouse.LEFT] * 5 + [Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton])

    # --- steps

    def _click(self) -> None:
        widget = self._widget()
        if widget is not None:
            at, button, held = self._point(widget), self._button(), self._held()
            self.done[-1] += f" {type(widget).__name__}"
            _hit(widget, at, button, held)
            if self._rng.random() < 0.2 and isValid(widget):
                mouse.press_again(widget, at, button, held)
                if isValid(widget):
                    mouse.release(widget, at, button, held)

    def _press_button(self) -> None:
        top = QApplication.activeModalWidget() or self._window
        buttons = [one for one in top.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()]
        if buttons:
            button = self._pick(buttons)
            self.done[-1] += f" {button.text() or button.toolTip()}"
            button.click()

    def _drag(self) -> None:
        widget = self._widget()
        if widget is not None:
            self.done[-1] += f" {type(widget).__name__}"
            points = [self._point(widget) for _ in range(int(self._rng.integers(2, 6)))]
            _hit(widget, points[0], self._button(), self._held(), points[1:])

    def _wheel(self) -> None:
        widget = self._widget()
        if widget is not None:
            self.done[-1] += f" {type(widget).__name__}"
            mouse.turn_wheel(widget, self._point(widget), int(self._rng.integers(-3, 4)), self._held())

    def _key(self) -> None:
        keys = self._pick(_KEYS)
        self.done[-1] += f" {keys}"
        pressed = QKeySequence(keys)[0]
        front = QApplication.activeWindow() or self._window
        # QTest presses Ctrl, Shift and Alt first and handles events after each, at which a dialog may be deleted.
        held = pressed.keyboardModifiers() if front is self._window else mouse.NONE
        # By way of the window, which finds the widget that has the focus at the press and at the release.
        handle = front.windowHandle()
        QTest.keyPress(handle, pressed.key(), held)
        if isValid(handle):
            QTest.keyRelease(handle, pressed.key(), held)

    def _trigger(self) -> None:
        """Choose an entry of a menu, or an action of a panel."""
        found = [one for one in self._window.findChildren(QAction) if one.isEnabled() and not one.isSeparator()]
        found = [one for one in found if one.text().replace("&", "") not in ("", *_LEFT_OUT) and not one.menu()]
        # Those of plots can be reached only through their menus, which prepare them.
        found = [one for one in found if not type(one.parent()).__module__.startswith("pyqtgraph")]
        action = self._pick(found)
        self.done[-1] += f" {action.text()}"
        action.trigger()

    def _drop(self) -> None:
        data = QMimeData()
        addresses = [self._pick(self._addresses[:7]) for _ in range(int(self._rng.integers(1, 4)))]
        data.setUrls([QUrl.fromLocalFile(address) for address in addresses])
        self.done[-1] += f" {[Path(address).name for address in addresses]}"
        at = self._point(self._window)
        copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(self._window, QDragEnterEvent(at, copy, data, left, none))
        QApplication.sendEvent(self._window, QDropEvent(QPointF(at), copy, data, left, none))

    def _open(self) -> None:
        address = self._pick(self._addresses)
        self.done[-1] += f" {Path(address).name}"
        self._window.open_address(address)

    def _wait(self) -> None:
        self._turn(int(self._rng.integers(10, 120)))

    def _resize(self) -> None:
        self._window.resize(QSize(int(self._rng.integers(300, 1700)), int(self._rng.integers(300, 1100))))

    # --- dialogs

    def _answer(self) -> None:
        """Answer a dialog that waits, sooner or later: the step that opened it goes on only then."""
        popup, dialog = QApplication.activePopupWidget(), QApplication.activeModalWidget()
        if monotonic() - self._begin > _LONG:
            self._begin = monotonic()
            print(f"A long step: {' > '.join(self.done[-6:])}. Popup: {popup}. Dialog: {dialog}.", file=sys.stderr)
            for one in QApplication.topLevelWidgets():
                print(f"  {'visible' if one.isVisible() else 'hidden'} {one}", file=sys.stderr)
            faulthandler.dump_traceback()
        if popup is not None and self._rng.random() < 0.3:
            _soon(popup, popup.close)
        if not isinstance(dialog, QDialog) or self._rng.random() < 0.6:
            return
        if isinstance(dialog, QFileDialog):
            self._answer_file_dialog(dialog)
            return
        buttons = [one for one in dialog.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()]
        chance = self._rng.random()
        if chance < 0.4 or not buttons:
            _soon(dialog, dialog.reject)
        elif chance < 0.8:
            button = self._pick(buttons)
            _soon(button, button.click)
        else:
            fields = [one for one in dialog.findChildren(QLineEdit) if one.isVisible() and one.isEnabled()]
            if fields:
                field, text = self._pick(fields), self._pick(["", "7", "x" * 300, str(self._folder / "out"), "ä/..\\"])
                _soon(field, lambda: field.setText(text))

    def _answer_file_dialog(self, dialog: QFileDialog) -> None:
        if self._rng.random() < 0.4:
            _soon(dialog, dialog.reject)
            return
        # Whatever is saved stays in the folder of the case.
        saving = dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
        path = self._folder / f"saved{int(self._rng.integers(5))}" if saving else Path(self._pick(self._addresses[:7]))
        dialog.setDirectory(str(self._folder))
        dialog.selectFile(str(path))
        _soon(dialog, lambda: QDialog.done(dialog, QDialog.DialogCode.Accepted))


def _hit(widget: QWidget, at: QPoint, button: Any, held: Any, path: Sequence[QPoint] = ()) -> None:
    """Press a button of the mouse, drag it along a path and release it, until the widget is deleted by what it does."""
    mouse.press(widget, at, button, held)
    for point in path:
        if isValid(widget):
            mouse.move(widget, point, button, held)
    if isValid(widget):
        mouse.release(widget, [at, *path][-1], button, held)


def _soon(widget: QWidget, act: Callable[[], object]) -> None:
    """Act on a widget after the present event, unless the widget is deleted before that.

    A timer does not fire while a dialog waits inside of what it called.
    """
    QTimer.singleShot(0, widget, act)
