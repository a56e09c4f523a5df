"""EventLog behaves like a plain list of (frame, event)."""

from __future__ import annotations

from math import nan

from hypothesis import given
from hypothesis import strategies as st

from scstream import Event
from scstream.sampler.genealogy import Kind
from scstream_app.session.event_log import EventLog

_ONE, _TWO = (Kind.BIRTH, Kind.DEATH), (Kind.SPLIT, Kind.MERGE)
_IDS = st.integers(0, 2**40)
_COUNTS = st.floats(0.0, 1e9)


@st.composite
def events(draw: st.DrawFn) -> Event:
    time, batch = draw(st.floats(-1e6, 1e6)), draw(st.integers(0, 2**40))
    ratio = draw(st.floats(-1e6, 1e6) | st.just(nan))
    if draw(st.booleans()):
        return Event(draw(st.sampled_from(_ONE)), time, batch, (draw(_IDS),), ratio, (draw(_COUNTS),))
    ids = draw(st.lists(_IDS, min_size=2, max_size=2, unique=True))
    counts = sorted((draw(_COUNTS), draw(_COUNTS)), reverse=True)
    return Event(draw(st.sampled_from(_TWO)), time, batch, tuple(ids), ratio, tuple(counts))


logs = st.lists(st.tuples(st.integers(0, 30), events()), max_size=30).map(lambda log: sorted(log, key=lambda p: p[0]))


@given(logs, st.integers(-1, 31), st.integers(-1, 31))
def test_holds_what_a_list_holds(pairs: list[tuple[int, Event]], a: int, b: int) -> None:
    log = EventLog()
    for frame, event in pairs:
        log.append(frame, event)
    assert list(log) == pairs
    assert log[2:5] == pairs[2:5]
    assert [log.kind(n) for n in range(len(log))] == [event.kind for _, event in pairs]
    assert list(log.between(a, b)) == [event for frame, event in pairs if a < frame <= b]
    log.forget_before(a)
    assert list(log) == [pair for pair in pairs if pair[0] >= a]
    assert log.forgotten + len(log) == len(pairs)
