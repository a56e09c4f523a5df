"""Playback: shows each frame when it is due, in the presentation time of the video."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_range import showable_frames
from scstream_app.ui.document.playback.frame_times import DEFAULT_RATE, FrameTimes
from scstream_app.ui.document.state import State

SPEEDS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
#: States in which more frames follow.
_GOING_ON = (State.OPENING, State.WARMING, State.SETTLING, State.SEGMENTING)
#: Seconds after which the player stops waiting for a requested frame.
_PATIENCE = 2.0
#: Seconds between checks for new frames.
_CHECK = 0.25
#: Seconds of rounding error in sums of times.
_ROUNDING = 1e-6


class Player(QObject):
    """Plays the segmented frames in presentation time.

    The player requests one frame at a time. After a late frame it skips frames that are overdue; up to normal speed it
    shows every frame as long as none is late by more than one frame. At the last segmented frame it waits while more
    frames follow.

    Parameters
    ----------
    document : Document
    clock : callable
        Returns seconds of a monotonic clock.

    Attributes
    ----------
    playing : bool
    waiting : bool
        Whether the player waits for the next frame to be segmented.
    speed : float
    loop : bool
    in_point, out_point : int or None
        First and last frame of the range to play.
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
        self._requested: int | None = None
        self._requested_at = 0.0
        self._overtaken: set[int] = set()
        self._here = document.display.index
        self._lost = True
        self._wall = self._media = 0.0
        self._known = FrameTimes()
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
        """Play from the frame shown; from the beginning if that is the last one or the display follows new frames."""
        facts = self._document.facts
        if self.playing or (facts is not None and facts.live):
            return
        self.playing = True
        place = self._place()
        if place is not None:
            first, last = self._bounds()
            at_end = place == last and not self._more_to_come()
            # While the display follows new frames, it does not show them at the speed of the video.
            elsewhere = not first <= place <= last or (self._index is not None and self._has_picture_only(self._index))
            if elsewhere or at_end or self._document.display.follow_newest:
                self._jump(first)
            else:
                self._anchor(place)
        self.changed.emit()
        self._go_on()

    @Slot()
    def pause(self) -> None:
        """Stop at the frame shown."""
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
        """Show the frame with this index, or the next existing one, and play on from it.

        Of a frame outside of the segmented ones the picture is shown, and playback stops.
        """
        frames = self._frames
        if self._has_picture_only(index):
            self._show_picture(index)
        elif len(frames):
            self._jump(min(bisect_left(frames, index), len(frames) - 1))
            self._schedule()

    def step(self, n: int) -> None:
        """Pause, and move by n frames; negative: back."""
        self.pause()
        place, index = self._place(), self._index
        if index is not None and self._has_picture_only(index):
            frames = showable_frames(self._document)
            self.seek(min(max(index + n, frames.start), frames.stop - 1))
        elif place is not None:
            self._jump(min(max(place + n, 0), len(self._frames) - 1))

    def _has_picture_only(self, index: int) -> bool:
        """Whether a frame of the source is before or after all segmented ones."""
        frames = self._frames
        outside = not len(frames) or not frames[0] <= index <= frames[-1]
        return outside and index in showable_frames(self._document)

    def _show_picture(self, index: int) -> None:
        self.pause()
        if self._requested is not None:
            self._overtaken.add(self._requested)
        self._requested, self._requested_at = index, self._clock()
        self._document.display.show_picture(index)

    @Slot()
    def to_start(self) -> None:
        """Show the first frame."""
        if len(self._frames):
            self.seek(self._frames[0])

    @Slot()
    def to_end(self) -> None:
        """Pause on the last segmented frame, and follow new ones."""
        self.pause()
        if len(self._frames):
            self.seek(self._frames[-1])

    @Slot()
    def next_event(self) -> None:
        """Show the next frame with an event that passes the filter; without a filter, or a scene cut."""
        self._seek_event(self._document.event_filter.next_event)

    @Slot()
    def previous_event(self) -> None:
        """Show the previous frame with an event that passes the filter; without a filter, or a scene cut."""
        self._seek_event(self._document.event_filter.previous_event)

    @Slot()
    def next_uncertain(self) -> None:
        """Show the next frame of high uncertainty."""
        self._seek_event(self._document.summary.next_uncertain)

    @Slot()
    def previous_uncertain(self) -> None:
        """Show the previous frame of high uncertainty."""
        self._seek_event(self._document.summary.previous_uncertain)

    def _seek_event(self, find: Callable[[int], int | None]) -> None:
        index = self._index
        found = None if index is None else find(index)
        if found is not None:
            self.seek(found)

    # --- speed, loop, range

    def set_speed(self, speed: float) -> None:
        """Set the speed, from 0.25 to 4."""
        speed = min(max(float(speed), SPEEDS[0]), SPEEDS[-1])
        if speed != self.speed:
            self._wall, self._media = self._clock(), self._now()
            self.speed = speed
            self.changed.emit()
            self._go_on()

    @Slot()
    def faster(self) -> None:
        """Play at the next higher speed of `SPEEDS`."""
        self.set_speed(SPEEDS[min(bisect_right(SPEEDS, self.speed), len(SPEEDS) - 1)])

    @Slot()
    def slower(self) -> None:
        """Play at the next lower speed of `SPEEDS`."""
        self.set_speed(SPEEDS[max(bisect_left(SPEEDS, self.speed) - 1, 0)])

    @Slot()
    def normal_speed(self) -> None:
        """Play at the speed of the video."""
        self.set_speed(1.0)

    @Slot(bool)
    def set_loop(self, loop: bool) -> None:
        """Start again after the last frame, or pause there."""
        if loop != self.loop:
            self.loop = loop
            self.changed.emit()

    def set_in(self, index: int | None = None) -> None:
        """Set the first frame of the range, by default the one shown; an end before it is removed."""
        index = self._document.display.index if index is None else index
        if index is not None:
            out = None if self.out_point is None or self.out_point < index else self.out_point
            self._set_range(index, out)

    def set_out(self, index: int | None = None) -> None:
        """Set the last frame of the range, by default the one shown; a start after it is removed."""
        index = self._document.display.index if index is None else index
        if index is not None:
            begin = None if self.in_point is None or self.in_point > index else self.in_point
            self._set_range(begin, index)

    @Slot()
    def clear_range(self) -> None:
        """Play all frames."""
        self._set_range(None, None)

    def range(self) -> tuple[int, int] | None:
        """Return the first and the last segmented frame of the range; None if all frames are played."""
        if not len(self._frames) or self.in_point is self.out_point is None:
            return None
        first, last = (self._frames[place] for place in self._bounds())
        begin = first if self.in_point is None else self.in_point
        end = last if self.out_point is None else self.out_point
        # No frame of the range is segmented yet.
        return None if first > end or last < begin else (first, last)

    def _set_range(self, begin: int | None, out: int | None) -> None:
        if (begin, out) != (self.in_point, self.out_point):
            self.in_point, self.out_point = begin, out
            self.changed.emit()

    # --- times and places

    def time_of(self, index: int) -> float:
        """Return the time of a frame, or of the next existing one, in seconds; an estimate if it is not segmented."""
        frames, rate = self._frames, self._rate
        if not len(frames):
            return index / rate
        if index < frames[0]:
            return max(self._time(0) - (frames[0] - index) / rate, 0.0)
        return self._time(bisect_left(frames, index)) + max(index - frames[-1] - 1, 0) / rate

    @property
    def duration(self) -> float:
        """Seconds of the whole video, or of its segmented frames if the length is not known."""
        segmented = self._time(len(self._frames))
        return max(self.time_of(showable_frames(self._document).stop), segmented)

    @property
    def _frames(self) -> array[int]:
        return self._document.summary.frames

    @property
    def _rate(self) -> float:
        facts = self._document.facts
        return DEFAULT_RATE if facts is None else facts.rate

    @property
    def _index(self) -> int | None:
        """Index of the frame requested last, else of the one shown."""
        return self._document.display.index if self._requested is None else self._requested

    def _place(self) -> int | None:
        """Return the place of the frame requested last, else of the one shown."""
        index, frames = self._index, self._frames
        if index is None or not len(frames):
            return None
        return min(bisect_left(frames, index), len(frames) - 1)

    def _bounds(self) -> tuple[int, int]:
        """Return the places of the first and the last frame to play."""
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
        """Return the current time in the video, which stands still while the player waits."""
        return self._media if self.waiting else self._media + self.speed * (self._clock() - self._wall)

    def _anchor(self, place: int) -> None:
        """Set the current time to that of a frame."""
        self._wall, self._media, self._lost = self._clock(), self._time(place), False

    def _time(self, place: int) -> float:
        return self._times().at(place)

    def _times(self) -> FrameTimes:
        """Return the times of all frames, updated with new ones."""
        summary = self._document.summary
        first = summary.frames[0] if len(summary) else 0
        if (summary, first) != (self._known.summary, self._known.first) or len(self._known) > len(summary):
            self._known = FrameTimes(summary, first, self._rate)
        self._known.take(summary.tail("time", len(self._known)))
        return self._known

    # --- playback

    def _jump(self, place: int) -> None:
        self._anchor(place)
        self._ask(place)

    def _ask(self, place: int) -> None:
        if self._requested is not None:
            self._overtaken.add(self._requested)
        self._requested, self._requested_at = self._frames[place], self._clock()
        self._document.display.show(self._requested)
        if self.playing:
            # The display would show new frames at once, not when they are due.
            self._document.display.follow_newest = False

    @Slot()
    def _go_on(self) -> None:
        """Request the frame that is due, unless another request is pending."""
        if not self.playing:
            return
        if self._requested is not None and self._clock() - self._requested_at > _PATIENCE:
            self._requested = None
        place = self._place()
        if place is None:
            self._lost = True
            self._set_waiting(True)
        elif self._lost:
            self._set_waiting(False)
            self._jump(self._bounds()[0])
        elif self._requested is None:
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
        """Return the place of the frame that is due."""
        due = self._times().place(self._now() + _ROUNDING)
        due = max(min(due, last), place)
        # No frame is skipped if the player is late by less than one.
        return place + 1 if due == place + 2 and self.speed <= 1.0 else due

    def _set_waiting(self, waiting: bool) -> None:
        if waiting != self.waiting:
            self._wall = self._clock()
            self.waiting = waiting
            self.changed.emit()

    def _schedule(self) -> None:
        """Start the timer for the next frame."""
        if not self.playing:
            return
        place = self._place()
        if place is None or self._requested is not None or self.waiting:
            seconds = _CHECK
        else:
            seconds = (self._time(place + 1) - self._now()) / self.speed
        self._timer.start(math.ceil(1000.0 * min(max(seconds, 0.001), _CHECK)))

    # --- signals of the document

    @Slot()
    def _on_shown(self) -> None:
        """Go on with the next frame; after a frame that another widget requested, go on from there."""
        index = self._document.display.index
        here, self._here = self._here, index
        if index in self._overtaken and index != self._requested:
            return
        if index == here and index != self._requested == self._document.display.requested:
            # The frame before was drawn again, as after a change of the view; the requested one follows.
            return
        requested, self._requested = self._requested, None
        self._overtaken.clear()
        place = self._place()
        if place is not None and index not in (requested, here) and not self._lost:
            self._anchor(place)
        self._go_on()

    @Slot()
    def _on_progress(self) -> None:
        if self.waiting:
            self._go_on()

    @Slot(str)
    def _on_failed(self, message: str) -> None:
        self._requested = None
        self.pause()

    @Slot()
    def _reset(self) -> None:
        self._requested = self._here = None
        self._overtaken.clear()
        self._lost = True
        self.in_point = self.out_point = None
        self.playing = self.waiting = False
        self._timer.stop()
        self._known = FrameTimes()
        self.changed.emit()
