"""Ctrl-C while a model learns a batch or segments a frame."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from reference import clip_frames
from scstream import Gaussian, ScStream, VideoSegmenter
from scstream.interruption import interrupt_afterwards
from scstream.sampler import sweep

BATCHES = np.random.default_rng(0).normal(size=(4, 200, 2)) + 9.0 * (np.arange(200) % 3)[:, None]


@pytest.fixture
def plain_ctrl_c() -> Iterator[None]:
    """The handler that Python itself has for Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def model() -> ScStream:
    return ScStream(Gaussian(psi=1.0), seed=0, max_init_sweeps=10).fit(BATCHES[0])


def press(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Press Ctrl-C in the first deterministic sweep."""
    original, left = sweep.mode_densities, [times]

    def pressed(*args: Any) -> Any:
        while left[0]:
            left[0] -= 1
            signal.raise_signal(signal.SIGINT)
        return original(*args)

    monkeypatch.setattr(sweep, "mode_densities", pressed)


@pytest.mark.usefixtures("plain_ctrl_c")
def test_a_batch_is_learned_before_ctrl_c_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = model(), model()
    with monkeypatch.context() as patched:
        press(patched, 1)
        with pytest.raises(KeyboardInterrupt):
            one.partial_fit(BATCHES[1])
    np.testing.assert_array_equal(one.labels_, other.partial_fit(BATCHES[1]).labels_)
    for X in BATCHES[2:]:
        np.testing.assert_array_equal(one.partial_fit(X).labels_, other.partial_fit(X).labels_)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("plain_ctrl_c")
def test_a_frame_is_segmented_before_ctrl_c_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = clip_frames("kite_surf", 4)
    one, other = (VideoSegmenter(seed=0, max_init_sweeps=10) for _ in range(2))
    for segmenter in (one, other):
        segmenter.segment(frames[0])
    with monkeypatch.context() as patched:
        press(patched, 1)
        with pytest.raises(KeyboardInterrupt):
            one.segment(frames[1])
    np.testing.assert_array_equal(one.ids_, other.segment(frames[1]))
    for frame in frames[2:]:
        np.testing.assert_array_equal(one.segment(frame), other.segment(frame))


@pytest.mark.usefixtures("plain_ctrl_c")
def test_a_second_ctrl_c_takes_effect_at_once() -> None:
    reached = []

    def work() -> None:
        with interrupt_afterwards():
            for name in ("first", "second"):
                signal.raise_signal(signal.SIGINT)
                reached.append(name)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_handlers_are_left_alone() -> None:
    def own(*_: Any) -> None:
        raise RuntimeError("own")

    before = signal.signal(signal.SIGINT, own)
    try:
        with interrupt_afterwards():
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            model().partial_fit(BATCHES[1])
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failed == []
