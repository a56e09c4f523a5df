"""Playback controls: buttons, speed, frame number and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPainterPathStroker, QPalette, QPolygonF
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QToolButton, QWidget

from scstream_app.ui.actions.actions import BY_ID
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import showable_frames
from scstream_app.ui.document.playback.frame_times import timecode
from scstream_app.ui.document.playback.player import SPEEDS, Player
from scstream_app.ui.document.state import State
from scstream_app.ui.qt.appearance.icons import draw_icon
from scstream_app.ui.qt.layout.narrow_row import NarrowRow
from scstream_app.ui.qt.readout import Readout

_ICON = 18
_FADED = 0.35
#: Buttons that step through frames.
_STEPS = ("start", "back", "previous", "next", "forward", "end")
#: Buttons that set the range, also before any frame is segmented.
_RANGE = ("in", "out", "clear")
_LOOK_BACK = "Pause (Space) to step through the last seconds"
#: Action with the same function, by button; its shortcut appears in the tooltip.
_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("start", "back", "previous", "play", "next", "forward", "end", "loop")},
        "in": "set_in",
        "out": "set_out",
        "clear": "clear_range",
    }
)


class Transport(QWidget):
    """Buttons that control the player, with its frame number, time and in/out points."""

    def __init__(self, document: Document, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._player = document, player
        self._icons: dict[str, QIcon] = {}
        self._keys: dict[str, str] = {}
        self._buttons: dict[str, QToolButton] = {}
        self._tips: dict[str, str] = {}
        self._speed = self._make_speed()
        self._frame = self._make_frame()
        self._time, self._last = Readout("Time", parent=self), Readout("Last frame", parent=self)
        self._digits = 0
        # State for which the buttons were enabled last.
        self._usable: tuple[object, ...] = ()
        self._range = QLabel(self)
        self._range.setAccessibleName("In and out points")
        self._lay_out()
        self.set_keys(lambda id: next(iter(BY_ID[id].keys), ""))
        self._draw_icons()
        self.setAccessibleName("Transport")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        player.changed.connect(self._on_player)
        document.display.shown_changed.connect(self._on_frames)
        document.progressed.connect(self._on_frames)
        document.state_changed.connect(self._on_frames)
        document.opened.connect(self._on_other)
        document.closed.connect(self._on_other)
        self._on_frames()
        self._on_player()

    # --- construction

    def _lay_out(self) -> None:
        player = self._player
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 3, 8, 3)
        layout.setSpacing(1)
        for name, tip, act in (
            ("start", "To the start", player.to_start),
            ("back", "Back 10 frames", lambda: player.step(-10)),
            ("previous", "Previous frame", lambda: player.step(-1)),
            ("play", "Play", self._toggle),
            ("next", "Next frame", lambda: player.step(1)),
            ("forward", "Forward 10 frames", lambda: player.step(10)),
            ("end", "To the end", player.to_end),
        ):
            layout.addWidget(self._make_button(name, tip, act))
        layout.addWidget(_line(self))
        loop = self._make_button("loop", "Loop", lambda: player.set_loop(loop.isChecked()))
        loop.setCheckable(True)
        layout.addWidget(loop)
        layout.addWidget(self._speed)
        layout.addWidget(_line(self))
        layout.addWidget(self._make_button("in", "Set the in point", lambda: player.set_in()))
        layout.addWidget(self._make_button("out", "Set the out point", lambda: player.set_out()))
        layout.addWidget(self._range)
        layout.addWidget(self._make_button("clear", "Clear the in and out points", player.clear_range))
        layout.addStretch(1)
        layout.addWidget(self._time)
        layout.addSpacing(10)
        word = QLabel("Frame", self)
        word.setBuddy(self._frame)
        layout.addWidget(word)
        layout.addSpacing(4)
        layout.addWidget(self._frame)
        layout.addSpacing(4)
        layout.addWidget(self._last)
        # The word says least: the number beside it has a tooltip and an accessible name.
        NarrowRow(self, (word, self._last, self._time, self._speed))

    def _make_button(self, name: str, tip: str, act: Callable[[], object]) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setAutoRaise(True)
        button.setIconSize(QSize(_ICON, _ICON))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolTip(tip)
        self._tips[name] = tip
        button.setAccessibleName(tip.partition(" (")[0])
        # Holding a step button repeats the step.
        button.setAutoRepeat(name in ("previous", "next", "back", "forward"))
        button.clicked.connect(lambda _checked=False: act())
        self._buttons[name] = button
        return button

    def _make_speed(self) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName("speed")
        box.setAccessibleName("Speed")
        box.setToolTip("Speed")
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for speed in SPEEDS:
            box.addItem(f"{speed:g}×", speed)
        box.activated.connect(self._on_speed)
        return box

    def _make_frame(self) -> QSpinBox:
        box = QSpinBox(self)
        box.setObjectName("frame")
        box.setAccessibleName("Frame")
        box.setToolTip("Frame number, from 0; type a number to go to that frame")
        box.setFocusPolicy(Qt.FocusPolicy.ClickFocus | Qt.FocusPolicy.TabFocus)
        box.setKeyboardTracking(False)
        box.setAlignment(Qt.AlignmentFlag.AlignRight)
        box.valueChanged.connect(self._on_typed)
        box.lineEdit().returnPressed.connect(box.clearFocus)
        return box

    def _draw_icons(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.ButtonText)
        self._icons = {name: _icon(draw(), colour) for name, draw in _SHAPES.items()}
        for name, button in self._buttons.items():
            button.setIcon(self._icons["pause" if name == "play" and self._going else name])

    def changeEvent(self, event: QEvent) -> None:
        """Redraw icons for a new palette; resize the frame number for a new font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
        elif event.type() == QEvent.Type.FontChange:
            self._frame.setFixedSize(self._frame.sizeHint())

    def set_keys(self, key: Callable[[str], str]) -> None:
        """Show shortcuts in the tooltips; ``key`` maps an action's id to its shortcut."""
        self._keys = {name: key(action) for name, action in _ACTIONS.items()}
        for name, button in self._buttons.items():
            self._tips[name] = self._tip(name, button.accessibleName())
            button.setToolTip(self._tips[name])
        self._usable = ()
        words = (("slower", "slower"), ("faster", "faster"), ("normal_speed", "normal"))
        shortcuts = ", ".join(f"{word} ({key(action)})" for action, word in words if key(action))
        self._speed.setToolTip(f"Speed: {shortcuts}" if shortcuts else "Speed")

    def _tip(self, name: str, text: str) -> str:
        key = self._keys.get(name)
        return f"{text} ({key})" if key else text

    # --- user input

    def _toggle(self) -> None:
        if self._document.live:
            self._document.pause(self._document.state is not State.PAUSED)
        else:
            self._player.toggle()

    @property
    def _going(self) -> bool:
        """Whether playback or a live source is running."""
        live = self._document.live and self._document.state not in (State.PAUSED, State.STOPPED)
        return live or self._player.playing

    @Slot(int)
    def _on_speed(self, place: int) -> None:
        self._player.set_speed(SPEEDS[place])

    @Slot(int)
    def _on_typed(self, index: int) -> None:
        self._player.pause()
        self._player.seek(index)

    @Slot()
    def _on_other(self) -> None:
        """Discard a frame number that was typed for the previous clip."""
        self._frame.lineEdit().setModified(False)
        self._on_frames()

    # --- updates

    @Slot()
    def _on_player(self) -> None:
        player = self._player
        play = self._buttons["play"]
        what = "Pause" if self._going else "Resume" if self._document.live else "Play"
        play.setIcon(self._icons["pause" if self._going else "play"])
        play.setToolTip(self._tip("play", what))
        play.setAccessibleName(what)
        self._buttons["loop"].setChecked(player.loop)
        place = min(range(len(SPEEDS)), key=lambda n: abs(SPEEDS[n] - player.speed))
        self._speed.setCurrentIndex(place)
        self._show_range()

    def _show_range(self) -> None:
        ends = (self._player.in_point, self._player.out_point)
        some = ends != (None, None)
        first, last = ("…" if end is None else str(end) for end in ends)
        self._range.setText(f"{first} – {last}")
        self._range.setVisible(some)
        self._buttons["clear"].setVisible(some)

    @Slot()
    def _on_frames(self) -> None:
        index = self._document.display.index
        self._enable(index)
        self._show_time(index)
        if not self._frame.lineEdit().isModified():
            self._show_frame(index)

    def _enable(self, index: int | None) -> None:
        facts, live, state = self._document.facts, self._document.live, self._document.state
        usable = index is not None
        any_segmented = len(self._document.summary) > 0
        if (usable, any_segmented, facts, live, state) == self._usable:
            # Unchanged for nearly every frame.
            return
        self._usable = usable, any_segmented, facts, live, state
        still = state in (State.PAUSED, State.STOPPED)
        # A session of a live source without pictures cannot be shown; a live source only has its last seconds.
        moves = usable and not (facts is not None and facts.live)
        plays = moves and any_segmented
        steps = moves or (usable and live and still)
        for name, button in self._buttons.items():
            button.setEnabled(steps if name in _STEPS else moves if name in _RANGE else plays)
            if name in _STEPS:
                button.setToolTip(self._tips[name] if steps or not live else _LOOK_BACK)
        self._buttons["play"].setEnabled(plays or (usable and live and state is not State.STOPPED))
        self._frame.setEnabled(steps)
        self._speed.setEnabled(plays)
        self._on_player()

    def _show_frame(self, index: int | None) -> None:
        frames, shown = showable_frames(self._document), index or 0
        self._frame.blockSignals(True)
        # The first frame is shown before it is in the summary.
        last = max(frames.stop - 1, shown)
        self._frame.setRange(min(frames.start, shown), last)
        if len(str(last)) != self._digits:
            # Otherwise each new frame would trigger a layout of the window, see `Readout`.
            self._digits = len(str(last))
            self._frame.setFixedSize(self._frame.sizeHint())
        self._frame.setValue(shown)
        self._frame.blockSignals(False)

    def _show_time(self, index: int | None) -> None:
        frames = showable_frames(self._document)
        if index is None or not len(frames):
            self._time.setText("")
            self._last.setText("")
            return
        now, end = timecode(self._player.time_of(index)), timecode(self._player.duration)
        self._time.setText(f"{now} / {end}")
        last = max(frames.stop - 1, index)
        # A live source has no last frame.
        self._last.setText("" if self._document.live else f"of {frames.start} – {last}")


def _line(parent: QWidget) -> QFrame:
    line = QFrame(parent)
    line.setFrameShape(QFrame.Shape.VLine)
    line.setFrameShadow(QFrame.Shadow.Sunken)
    line.setContentsMargins(4, 4, 4, 4)
    return line


# --- icons, drawn in a square of 16 by 16


def _icon(shape: QPainterPath, colour: QColor) -> QIcon:
    faded = QColor(colour)
    faded.setAlphaF(_FADED)
    return draw_icon(_ICON, partial(_fill, shape, colour), disabled=partial(_fill, shape, faded))


def _fill(shape: QPainterPath, ink: QColor, painter: QPainter) -> None:
    painter.scale(_ICON / 16.0, _ICON / 16.0)
    painter.fillPath(shape, ink)


def _triangle(path: QPainterPath, base: float, tip: float, half: float = 4.5) -> None:
    path.addPolygon(QPolygonF([QPointF(base, 8 - half), QPointF(tip, 8.0), QPointF(base, 8 + half)]))
    path.closeSubpath()


def _bar(path: QPainterPath, x: float, width: float = 2.0, half: float = 4.5) -> None:
    path.addRect(QRectF(x, 8.0 - half, width, 2 * half))


def _drawn(*parts: tuple[str, float, float]) -> Callable[[], QPainterPath]:
    """Shape of triangles (base, tip) and bars (x, width)."""

    def draw() -> QPainterPath:
        path = QPainterPath()
        for kind, a, b in parts:
            if kind == "triangle":
                _triangle(path, a, b)
            else:
                _bar(path, a, b)
        return path

    return draw


def _play() -> QPainterPath:
    path = QPainterPath()
    _triangle(path, 4.0, 13.5, 6.0)
    return path


def _pause() -> QPainterPath:
    path = QPainterPath()
    _bar(path, 3.5, 3.2, 5.5)
    _bar(path, 9.3, 3.2, 5.5)
    return path


def _loop() -> QPainterPath:
    """Circular arrow."""
    line = QPainterPath()
    ring = QRectF(3.0, 3.0, 10.0, 10.0)
    line.arcMoveTo(ring, 40.0)
    line.arcTo(ring, 40.0, 285.0)
    path = _stroked(line, 1.8)
    path.addPolygon(QPolygonF([QPointF(9.2, 6.4), QPointF(14.6, 7.4), QPointF(13.8, 2.0)]))
    path.closeSubpath()
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def _bracket(side: float) -> Callable[[], QPainterPath]:
    """Square bracket that opens towards the centre; side is -1 for the in point, 1 for the out point."""

    def draw() -> QPainterPath:
        line = QPainterPath(QPointF(8.0 + 1.0 * side, 3.0))
        for x, y in ((4.0, 3.0), (4.0, 13.0), (1.0, 13.0)):
            line.lineTo(8.0 + x * side, y)
        path = _stroked(line, 1.8)
        _triangle(path, 8.0 + 1.6 * side, 8.0 - 3.4 * side, 3.0)
        return path

    return draw


def _cross() -> QPainterPath:
    line = QPainterPath(QPointF(5.0, 5.0))
    line.lineTo(11.0, 11.0)
    line.moveTo(11.0, 5.0)
    line.lineTo(5.0, 11.0)
    return _stroked(line, 1.6)


def _stroked(line: QPainterPath, width: float) -> QPainterPath:
    stroker = QPainterPathStroker()
    stroker.setWidth(width)
    stroker.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return stroker.createStroke(line)


_SHAPES: Mapping[str, Callable[[], QPainterPath]] = MappingProxyType(
    {
        "start": _drawn(("bar", 2.5, 2.0), ("triangle", 13.0, 5.0)),
        "back": _drawn(("triangle", 7.8, 1.2), ("triangle", 14.2, 7.6)),
        "previous": _drawn(("triangle", 9.2, 2.4), ("bar", 10.8, 2.0)),
        "play": _play,
        "pause": _pause,
        "next": _drawn(("bar", 3.2, 2.0), ("triangle", 6.8, 13.6)),
        "forward": _drawn(("triangle", 1.8, 8.4), ("triangle", 8.2, 14.8)),
        "end": _drawn(("triangle", 3.0, 11.0), ("bar", 11.5, 2.0)),
        "loop": _loop,
        "in": _bracket(-1.0),
        "out": _bracket(1.0),
        "clear": _cross,
    }
)
