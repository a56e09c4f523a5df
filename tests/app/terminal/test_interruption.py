"""Signals that end a job."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from scstream_app.terminal.interruption import Terminated, cancel_on_interrupt, exit_code

posix = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")


@pytest.fixture
def no_nohup() -> Iterator[None]:
    """Hear SIGHUP, also where the tests were started with nohup."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("no_nohup")
@pytest.mark.parametrize(
    ("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), pytest.param("SIGHUP", 129, marks=posix)]
)
def test_a_signal_is_raised_when_the_job_has_ended(name: str, code: int) -> None:
    reached = False
    before = signal.getsignal(getattr(signal, name))
    with pytest.raises(KeyboardInterrupt) as stop:  # noqa: PT012
        with cancel_on_interrupt() as cancel:
            signal.raise_signal(getattr(signal, name))
            assert cancel.is_set()
            reached = True
    assert reached
    assert exit_code(stop.value) == code
    assert signal.getsignal(getattr(signal, name)) == before


def test_a_second_signal_is_raised_at_once() -> None:
    reached = False
    with pytest.raises(Terminated):  # noqa: PT012
        with cancel_on_interrupt():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            reached = True
    assert not reached


@posix
def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with cancel_on_interrupt() as cancel:
            signal.raise_signal(signal.SIGHUP)
            assert not cancel.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)
