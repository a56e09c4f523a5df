"""Playback: which frame is due, by the clock on the wall and the times in the video."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.state import State

SPEEDS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
#: States in which more frames are to come.
_GOING_ON = (State.OPENING, State.WARMING, State.SETTLING, State.SEGMENTING)
#: Seconds after which a frame that was asked for is given up.
_PATIENCE = 2.0
#: Seconds between looks at whether frames have come.
_GLANCE = 0.25
_DEFAULT_RATE = 25.0
#: Seconds by which sums of times may be off.
_ROUNDING = 1e-6


class Player(QObject):
    """Plays what has been segmented, in presentation time.

    It asks the document for one frame at a time. A frame that comes late makes it skip those that are overdue; up to
    normal speed every frame is shown as long as none is later than the next one's turn. At the end of what is
    segmented it waits for more while there is more to come.

    Parameters
    ----------
    document : Document
    clock : callable
        Seconds that never go back.

    Attributes
    ----------
    playing : bool
    waiting : bool
        Whether it plays and the next frame is not segmented yet.
    speed : float
    loop : bool
    in_point, out_point : int or None
        First and last frame to be played.
    """

    changed = Signal()

    def __init__(
        self, document: Document, clock: Callable[[], float] = monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._clock = clock
        self.playing = False
        self.waiting = False
        self.speed = 1.0
        self.loop = False
        self.in_point: int | None = None
        self.out_point: int | None = None
        self._asked: int | None = None
        self._asked_at = 0.0
        self._overtaken: set[int] = set()
        self._here = document.display.index
        self._lost = True
        self._wall = self._media = 0.0
        self._known = Times()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._go_on)
        document.opened.connect(self._reset)
        document.closed.connect(self._reset)
        document.display.shown_changed.connect(self._on_shown)
        document.progressed.connect(self._on_progress)
        document.state_changed.connect(self._on_progress)
        document.failed.connect(self._on_failed)

    # --- playing

    @Slot()
    def play(self) -> None:
        """Go on from the frame on the screen; from the beginning if that is the last one or follows the newest."""
        facts = self._document.facts
        if self.playing or (facts is not None and facts.live):
            return
        self.playing = True
        place = self._place()
        if place is not None:
            first, last = self._bounds()
            at_end = place == last and not self._more_to_come()
            # A person who watches the newest frames come has not seen any of it in time yet.
            if not first <= place <= last or at_end or self._document.display.follow_newest:
                self._jump(first)
            else:
                self._anchor(place)
        self.changed.emit()
        self._go_on()

    @Slot()
    def pause(self) -> None:
        """Stay on the frame on the screen."""
        if self.playing:
            self.playing = self.waiting = False
            self._timer.stop()
            self.changed.emit()

    @Slot()
    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    # --- moving

    def seek(self, index: int) -> None:
        """Show the frame of that index, or the next one that is there; playback goes on from it."""
        frames = self._frames
        if len(frames):
            self._jump(min(bisect_left(frames, index), len(frames) - 1))
            self._schedule()

    def step(self, n: int) -> None:
        """Pause, and move n frames on, or back."""
        self.pause()
        place = self._place()
        if place is not None:
            self._jump(min(max(place + n, 0), len(self._frames) - 1))

    @Slot()
    def to_start(self) -> None:
        """The first frame."""
        if len(self._frames):
            self.seek(self._frames[0])

    @Slot()
    def to_end(self) -> None:
        """Pause on the last frame that is segmented, and on newer ones as they come."""
        self.pause()
        if len(self._frames):
            self.seek(self._frames[-1])

    @Slot()
    def next_event(self) -> None:
        """The next frame in which something happened."""
        self._seek_event(self._document.summary.next_event)

    @Slot()
    def previous_event(self) -> None:
        """The last frame before this one in which something happened."""
        self._seek_event(self._document.summary.previous_event)

    @Slot()
    def next_uncertain(self) -> None:
        """The next frame on which segments are least certain."""
        self._seek_event(self._document.summary.next_uncertain)

    @Slot()
    def previous_uncertain(self) -> None:
        """The last frame before this one on which segments are least certain."""
        self._seek_event(self._document.summary.previous_uncertain)

    def _seek_event(self, find: Callable[[int], int | None]) -> None:
        place = self._place()
        found = None if place is None else find(self._frames[place])
        if found is not None:
            self.seek(found)

    # --- speed, loop, range

    def set_speed(self, speed: float) -> None:
        """From a quarter to four times as fast."""
        speed = min(max(float(speed), SPEEDS[0]), SPEEDS[-1])
        if speed != self.speed:
            self._wall, self._media = self._clock(), self._now()
            self.speed = speed
            self.changed.emit()
            self._go_on()

    @Slot()
    def faster(self) -> None:
        """The next of `SPEEDS`."""
        self.set_speed(SPEEDS[min(bisect_right(SPEEDS, self.speed), len(SPEEDS) - 1)])

    @Slot()
    def slower(self) -> None:
        """The one before of `SPEEDS`."""
        self.set_speed(SPEEDS[max(bisect_left(SPEEDS, self.speed) - 1, 0)])

    @Slot()
    def normal_speed(self) -> None:
        """As fast as it was taken."""
        self.set_speed(1.0)

    @Slot(bool)
    def set_loop(self, loop: bool) -> None:
        """Begin again at the end, or pause there."""
        if loop != self.loop:
            self.loop = loop
            self.changed.emit()

    def set_in(self, index: int | None = None) -> None:
        """Play from this frame on, by default from the one on the screen; a range that would be empty loses its end."""
        index = self._document.display.index if index is None else index
        if index is not None:
            out = None if self.out_point is None or self.out_point < index else self.out_point
            self._set_range(index, out)

    def set_out(self, index: int | None = None) -> None:
        """Play up to this frame, by default to the one on the screen; a range that would be empty loses its begin."""
        index = self._document.display.index if index is None else index
        if index is not None:
            begin = None if self.in_point is None or self.in_point > index else self.in_point
            self._set_range(begin, index)

    @Slot()
    def clear_range(self) -> None:
        """Play everything."""
        self._set_range(None, None)

    def range(self) -> tuple[int, int] | None:
        """The first and the last frame of what is to be played; None if that is everything."""
        if not len(self._frames) or self.in_point is self.out_point is None:
            return None
        first, last = self._bounds()
        return self._frames[first], self._frames[last]

    def _set_range(self, begin: int | None, out: int | None) -> None:
        if (begin, out) != (self.in_point, self.out_point):
            self.in_point, self.out_point = begin, out
            self.changed.emit()

    # --- what there is

    def time_of(self, index: int) -> float:
        """When the frame, or the next one that is there, is shown: seconds of the video."""
        return self._time(bisect_left(self._frames, index))

    @property
    def duration(self) -> float:
        """Seconds of the whole video; of what is segmented if its length is not known."""
        facts = self._document.facts
        length = 0 if facts is None or facts.length is None else facts.length
        segmented = self._time(len(self._frames))
        if facts is None or not length or self._document.state is State.DONE:
            return segmented
        return max(length / facts.rate, segmented)

    @property
    def _frames(self) -> array[int]:
        return self._document.summary.frames

    def _place(self) -> int | None:
        """Where among the frames the one is that was asked for last, else the one on the screen."""
        index = self._document.display.index if self._asked is None else self._asked
        frames = self._frames
        if index is None or not len(frames):
            return None
        return min(bisect_left(frames, index), len(frames) - 1)

    def _bounds(self) -> tuple[int, int]:
        """Places of the first and the last frame to be played."""
        frames, last = self._frames, len(self._frames) - 1
        first = 0 if self.in_point is None else min(bisect_left(frames, self.in_point), last)
        if self.out_point is not None:
            last = max(min(bisect_right(frames, self.out_point) - 1, last), first)
        return first, last

    def _more_to_come(self) -> bool:
        if self._document.state not in _GOING_ON:
            return False
        frames = self._frames
        return self.out_point is None or not len(frames) or frames[-1] < self.out_point

    def _now(self) -> float:
        """The time in the video that it is; it stands still while there is no frame for it."""
        return self._media if self.waiting else self._media + self.speed * (self._clock() - self._wall)

    def _anchor(self, place: int) -> None:
        """Let it be this frame's time now."""
        self._wall, self._media, self._lost = self._clock(), self._time(place), False

    def _time(self, place: int) -> float:
        return self._times().at(place)

    def _times(self) -> Times:
        """When frames are shown."""
        summary, facts = self._document.summary, self._document.facts
        first = summary.frames[0] if len(summary) else 0
        if (summary, first) != (self._known.summary, self._known.first) or len(self._known) > len(summary):
            self._known = Times(summary, first, _DEFAULT_RATE if facts is None else facts.rate)
        self._known.take(summary.tail("time", len(self._known)))
        return self._known

    # --- going on

    def _jump(self, place: int) -> None:
        self._anchor(place)
        self._ask(place)

    def _ask(self, place: int) -> None:
        if self._asked is not None:
            self._overtaken.add(self._asked)
        self._asked, self._asked_at = self._frames[place], self._clock()
        self._document.display.show(self._asked)
        if self.playing:
            # The document would push newer frames as they come, and not in time.
            self._document.display.follow_newest = False

    @Slot()
    def _go_on(self) -> None:
        """Ask for the frame that is due, if none is on its way."""
        if not self.playing:
            return
        if self._asked is not None and self._clock() - self._asked_at > _PATIENCE:
            self._asked = None
        place = self._place()
        if place is None:
            self._lost = True
            self._set_waiting(True)
        elif self._lost:
            self._set_waiting(False)
            self._jump(self._bounds()[0])
        elif self._asked is None:
            self._advance(place)
        self._schedule()

    def _advance(self, place: int) -> None:
        first, last = self._bounds()
        due = self._due(place, last)
        if due > place:
            self._set_waiting(False)
            self._ask(due)
        elif place < last or self._now() < self._time(place + 1):
            self._set_waiting(False)
        elif self._more_to_come():
            self._media = self._time(place + 1)
            self._set_waiting(True)
        elif self.loop and last > first:
            self._jump(first)
        else:
            self.pause()

    def _due(self, place: int, last: int) -> int:
        """The place of the frame whose time it is."""
        due = self._times().place(self._now() + _ROUNDING)
        due = max(min(due, last), place)
        # Late by less than a frame: nothing is left out for that.
        return place + 1 if due == place + 2 and self.speed <= 1.0 else due

    def _set_waiting(self, waiting: bool) -> None:
        if waiting != self.waiting:
            self._wall = self._clock()
            self.waiting = waiting
            self.changed.emit()

    def _schedule(self) -> None:
        """Wake up when the next frame is due."""
        if not self.playing:
            return
        place = self._place()
        if place is None or self._asked is not None or self.waiting:
            seconds = _GLANCE
        else:
            seconds = (self._time(place + 1) - self._now()) / self.speed
        self._timer.start(math.ceil(1000.0 * min(max(seconds, 0.001), _GLANCE)))

    # --- what the document says

    @Slot()
    def _on_shown(self) -> None:
        """The way is free for the next frame; one that somebody else asked for is where playback goes on."""
        index = self._document.display.index
        here, self._here = self._here, index
        if index in self._overtaken and index != self._asked:
            return
        asked, self._asked = self._asked, None
        self._overtaken.clear()
        place = self._place()
        if place is not None and index not in (asked, here) and not self._lost:
            self._anchor(place)
        self._go_on()

    @Slot()
    def _on_progress(self) -> None:
        if self.waiting:
            self._go_on()

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self._asked = None
        self.pause()

    @Slot()
    def _reset(self) -> None:
        self._asked = self._here = None
        self._overtaken.clear()
        self._lost = True
        self.in_point = self.out_point = None
        self.playing = self.waiting = False
        self._timer.stop()
        self._known = Times()
        self.changed.emit()


class Times:
    """When each frame of a trace begins, never before the one in front, and when the last one ends.

    >>> times = Times(rate=10.0)
    >>> times.take([0.0, 0.5])
    >>> times.take([0.4])
    >>> [round(times.at(place), 3) for place in range(4)], times.place(0.55)
    ([0.0, 0.5, 0.5, 0.6], 2)
    """

    def __init__(self, summary: RunSummary | None = None, first: int = 0, rate: float = _DEFAULT_RATE) -> None:
        self.summary, self.first = summary, first
        self._rate = rate
        self._begins = array("d")
        self._even = False

    def __len__(self) -> int:
        return len(self._begins)

    def take(self, seconds: Iterable[float]) -> None:
        """More frames; one whose time is not known makes all follow each other evenly."""
        for time in seconds:
            if not self._even and not math.isfinite(time):
                self._even = True
                self._begins = array("d", (place / self._rate for place in range(len(self._begins))))
            if self._even:
                self._begins.append(len(self._begins) / self._rate)
            else:
                self._begins.append(max(time, self._begins[-1]) if self._begins else time)

    def at(self, place: int) -> float:
        """When the frame at this place begins; behind the last one, when that ends."""
        if place < len(self._begins):
            return self._begins[place]
        return self._begins[-1] + 1.0 / self._rate if self._begins else 0.0

    def place(self, time: float) -> int:
        """The frame whose time it is; behind all of them when the last one has ended."""
        if self._begins and time >= self.at(len(self._begins)):
            return len(self._begins)
        return bisect_right(self._begins, time) - 1


def timecode(seconds: float) -> str:
    """Minutes, seconds and thousandths, with hours where there are any.

    >>> timecode(1.24), timecode(3723.5)
    ('00:01.240', '1:02:03.500')
    """
    thousandths = round(1000.0 * max(seconds, 0.0))
    minutes, rest = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
    return f"{hours}:{text}" if hours else text
