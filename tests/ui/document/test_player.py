"""Playback against a clock that the test turns, over a real document and its renderer."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.export_scenes import merge, result, split
from scstream_app.session.run_summary import RunSummary
from scstream_app.ui.document.document import Document
from scstream_app.ui.document.playback.frame_times import FrameTimes
from scstream_app.ui.document.playback.player import SPEEDS, Player
from scstream_app.ui.document.state import State

RATE = 25.0


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Asked:
    """What is asked of a document; delivered only when the test says so."""

    def __init__(self, document, monkeypatch):
        self.document, self.requests = document, []
        self._deliver = document.display.renderer.request
        monkeypatch.setattr(document.display.renderer, "request", self.requests.append)

    @property
    def frames(self):
        return [request.frame for request in self.requests]

    def deliver(self, qtbot, which=-1):
        with qtbot.waitSignal(self.document.display.shown_changed):
            self._deliver(self.requests[which])


def clip(count=30, times=None):
    """Frames of one segment each, at 25 a second or at the times given; a split at 10, a merge at 20."""
    events = {10: [split(10, 0, 1)], 20: [merge(20, 0, 1)]}
    ids = np.zeros((8, 8), np.int32)
    return [
        result(
            i, ids, events.get(i, ()), RATE, time=None if times is None else times[i], rgb=np.full((8, 8, 3), i, "u1")
        )
        for i in range(count)
    ]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def document(document, open_results):
    return open_results(clip())


@pytest.fixture
def player(document, clock):
    return Player(document, clock)


def at(qtbot, document, index):
    qtbot.waitUntil(lambda: document.display.index == index)


# --- in time


def test_every_frame_is_played_at_its_time(qtbot, document, player, clock):
    seen = []
    document.display.shown_changed.connect(lambda: seen.append(document.display.index))
    player.play()
    for index in range(1, 12):
        clock.now += 1 / RATE
        at(qtbot, document, index)
    assert seen == list(range(1, 12))
    assert player.playing


def test_time_that_stands_still_shows_nothing_new(qtbot, document, player, clock):
    player.play()
    clock.now += 0.9 / RATE
    with qtbot.assertNotEmitted(document.display.shown_changed, wait=150):
        pass
    assert document.display.index == 0


@pytest.mark.parametrize("speed", [0.25, 2.0, 4.0])
def test_speed_stretches_time(qtbot, document, player, clock, speed):
    player.set_speed(speed)
    player.play()
    clock.now += 12 / RATE / speed
    at(qtbot, document, 12)
    assert document.display.index == 12


def test_a_change_of_speed_makes_no_jump(qtbot, document, player, clock):
    player.play()
    clock.now += 4.5 / RATE
    at(qtbot, document, 4)
    player.set_speed(0.5)
    clock.now += 2.0 / RATE
    at(qtbot, document, 5)
    with qtbot.assertNotEmitted(document.display.shown_changed, wait=100):
        pass


def test_variable_frame_rate_is_kept(qtbot, document, clock, open_results):
    open_results(clip(5, [0.0, 0.04, 1.0, 1.04, 1.08]))
    player = Player(document, clock)
    player.play()
    clock.now += 0.04
    at(qtbot, document, 1)
    clock.now += 0.9
    with qtbot.assertNotEmitted(document.display.shown_changed, wait=100):
        pass
    clock.now += 0.06
    at(qtbot, document, 2)


def test_late_frames_are_skipped_and_never_queued(qtbot, document, player, clock, monkeypatch):
    asked = Asked(document, monkeypatch)
    player.play()
    clock.now += 1 / RATE
    qtbot.waitUntil(lambda: asked.frames == [1])
    clock.now += 7 / RATE
    with qtbot.assertNotEmitted(document.display.shown_changed, wait=100):
        pass
    assert asked.frames == [1], "nothing more is asked for while a frame is on its way"
    asked.deliver(qtbot)
    assert asked.frames == [1, 8]


def test_a_frame_that_is_a_little_late_is_not_left_out(qtbot, document, player, clock, monkeypatch):
    asked = Asked(document, monkeypatch)
    player.play()
    clock.now += 1 / RATE
    qtbot.waitUntil(lambda: asked.frames == [1])
    clock.now += 2.5 / RATE
    asked.deliver(qtbot)
    assert asked.frames == [1, 2]
    asked.deliver(qtbot)
    assert asked.frames == [1, 2, 3]


def test_a_change_of_the_selection_does_not_end_playback(qtbot, document, player, clock, monkeypatch):
    asked = Asked(document, monkeypatch)
    player.play()
    clock.now += 1 / RATE
    qtbot.waitUntil(lambda: asked.frames == [1])
    clock.now += 0.1
    document.display.select([0])
    assert asked.frames == [1, 1], "the frame that was asked for, with the selection"
    asked.deliver(qtbot)
    assert asked.frames[-1] > 1


# --- play and pause


def test_pause_stays(qtbot, document, player, clock):
    player.play()
    clock.now += 3 / RATE
    at(qtbot, document, 3)
    player.toggle()
    clock.now += 10 / RATE
    with qtbot.assertNotEmitted(document.display.shown_changed, wait=100):
        pass
    player.toggle()
    clock.now += 1 / RATE
    at(qtbot, document, 4)


def test_it_pauses_at_the_end_and_begins_again(qtbot, document, player, clock):
    player.seek(27)
    at(qtbot, document, 27)
    player.play()
    clock.now += 2.5 / RATE
    at(qtbot, document, 29)
    assert player.playing, "the last frame has its time too"
    clock.now += 0.6 / RATE
    qtbot.waitUntil(lambda: not player.playing)
    assert document.display.index == 29
    player.play()
    at(qtbot, document, 0)


def test_loop_goes_round(qtbot, document, player, clock):
    player.set_loop(True)
    player.set_in(5)
    player.set_out(8)
    player.play()
    at(qtbot, document, 5)
    for expected in (6, 7, 8, 5, 6):
        clock.now += 1 / RATE
        at(qtbot, document, expected)


def test_out_point_ends_playback(qtbot, document, player, clock):
    player.set_out(2)
    player.play()
    clock.now += 1.0
    qtbot.waitUntil(lambda: not player.playing)
    assert document.display.index == 2


def test_it_waits_while_there_is_more_to_come(qtbot, document, player, clock):
    player.seek(28)
    at(qtbot, document, 28)
    document.state = State.SEGMENTING
    player.play()
    clock.now += 5.0
    at(qtbot, document, 29)
    qtbot.waitUntil(lambda: player.waiting)
    assert player.playing
    assert not document.display.follow_newest, "newer frames come by the clock, not by themselves"
    document.state = State.DONE
    document.state_changed.emit()
    assert not player.playing


def test_after_a_wait_it_goes_on_in_time(qtbot, document, player, clock):
    """The frames that came meanwhile are not overdue."""
    records = list(document.session.records())
    document.summary = RunSummary()
    document.summary.extend(records[:20])
    document.state = State.SEGMENTING
    player.seek(18)
    at(qtbot, document, 18)
    player.play()
    clock.now += 60.0
    at(qtbot, document, 19)
    qtbot.waitUntil(lambda: player.waiting)
    clock.now += 60.0
    document.summary.extend(records[20:])
    seen = []
    document.display.shown_changed.connect(lambda: seen.append(document.display.index))
    document.progressed.emit()
    at(qtbot, document, 20)
    assert not player.waiting
    clock.now += 1 / RATE
    at(qtbot, document, 21)
    assert seen == [20, 21]


def test_nothing_to_play(qtbot, clock):
    document = Document()
    player = Player(document, clock)
    for act in (player.to_start, player.to_end, player.next_event, player.set_in, player.faster):
        act()
    player.step(1)
    player.seek(3)
    player.play()
    assert player.waiting
    player.pause()
    assert document.shut_down()


# --- moving about


def test_steps(qtbot, document, player):
    player.step(1)
    at(qtbot, document, 1)
    for _ in range(3):
        player.step(1)
    at(qtbot, document, 4)
    player.step(10)
    at(qtbot, document, 14)
    player.step(-100)
    at(qtbot, document, 0)
    player.to_end()
    at(qtbot, document, 29)
    player.to_start()
    at(qtbot, document, 0)


def test_steps_count_while_the_frame_before_is_drawn_again(qtbot, document, player, monkeypatch):
    player.seek(3)
    at(qtbot, document, 3)
    asked = Asked(document, monkeypatch)
    document.display.set_look(view="boundaries")
    player.step(1)
    asked.deliver(qtbot, 0)
    assert document.display.index == 3
    player.step(1)
    assert asked.frames[1:] == [4, 5]


def test_a_frame_that_another_widget_shows_again_is_where_steps_begin(qtbot, document, player, monkeypatch):
    player.seek(3)
    at(qtbot, document, 3)
    asked = Asked(document, monkeypatch)
    player.seek(20)
    document.display.show(3)
    asked.deliver(qtbot)
    player.step(1)
    assert asked.frames == [20, 3, 4]


def test_events(qtbot, document, player):
    player.next_event()
    at(qtbot, document, 10)
    player.next_event()
    at(qtbot, document, 20)
    player.next_event()
    player.previous_event()
    at(qtbot, document, 10)


def test_seeking_while_it_plays_goes_on_from_there(qtbot, document, player, clock):
    player.play()
    clock.now += 2 / RATE
    at(qtbot, document, 2)
    player.seek(15)
    at(qtbot, document, 15)
    clock.now += 1 / RATE
    at(qtbot, document, 16)
    document.display.show(3)
    at(qtbot, document, 3)
    clock.now += 1 / RATE
    at(qtbot, document, 4)


# --- speed and range


def test_speed_steps(qtbot, player):
    with qtbot.waitSignal(player.changed):
        player.faster()
    assert player.speed == 1.5
    for _ in SPEEDS:
        player.slower()
    assert player.speed == 0.25
    for _ in SPEEDS:
        player.faster()
    assert player.speed == 4.0
    player.normal_speed()
    assert player.speed == 1.0


def test_in_and_out(qtbot, document, player):
    assert player.range() is None
    player.seek(7)
    at(qtbot, document, 7)
    with qtbot.waitSignal(player.changed):
        player.set_in()
    assert player.range() == (7, 29)
    player.set_out(12)
    assert player.range() == (7, 12)
    player.set_in(20)
    assert player.range() == (20, 29), "an out point before the in point goes"
    player.clear_range()
    assert player.range() is None


def test_another_document_forgets_the_range(qtbot, document, player):
    player.set_in(3)
    player.play()
    document.close()
    assert player.in_point is None
    assert not player.playing


def test_times_that_are_not_known():
    times = FrameTimes(rate=10.0)
    assert times.at(0) == 0.0
    times.take([0.3, np.nan, 0.1])
    assert [times.at(place) for place in range(4)] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert [times.place(time) for time in (0.05, 0.15, 0.25, 0.35)] == [0, 1, 2, 3]
