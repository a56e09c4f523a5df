"""The serial part of a video step."""

from __future__ import annotations

import time

import numpy as np
import pytest
from rich.console import Console

from scstream import VideoSegmenter
from scstream.phases import phase, record_phases
from scstream.threads import run
from scstream_app.evaluation.bench.tables import print_serial_part
from scstream_app.evaluation.bench.video.serial_part import amdahl, serial_part


def _frames(n: int) -> list[np.ndarray]:
    frame = np.random.default_rng(0).integers(0, 8, (48, 64, 3), np.uint8)
    frame[:, 32:] += np.array([200, 100, 20], np.uint8)
    return [np.roll(frame, 2 * i, axis=1) for i in range(n)]


def _spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_inner_phases_and_shared_work_count_once() -> None:
    with record_phases() as times:
        with phase("outer"):
            _spin(0.02)
            with phase("inner"):
                _spin(0.03)
                run(1, lambda _: _spin(0.02), 2)
            run(1, lambda _: _spin(0.01), 1)
        begin = time.process_time()
    outer, inner = times.phases["outer"], times.phases["inner"]
    assert 0.03 <= outer.serial_cpu < 0.045
    assert 0.03 <= inner.serial_cpu < 0.045
    assert 0.04 <= inner.shared_cpu < 0.055
    assert outer.shared_cpu == 0.0
    assert times.phases["other"].serial_cpu < 0.02
    assert time.process_time() - begin < 0.02


def test_an_error_ends_its_phase() -> None:
    with record_phases() as times:
        with pytest.raises(RuntimeError), phase("broken"):
            raise RuntimeError
        with phase("next"):
            _spin(0.01)
    assert times.phases["next"].serial_cpu >= 0.01
    assert times.phases["broken"].serial_cpu < 0.01


def test_figures_of_a_short_clip() -> None:
    frames = _frames(4)
    segmenter = VideoSegmenter(threads=1, max_init_sweeps=20)
    segmenter.segment(frames[0])
    expected = segmenter.copy().segment(frames[1])
    messages: list[str] = []
    figures = serial_part(frames[1:], segmenter, 2, messages.append)
    assert {"tiles", "motion", "parameters", "labels", "splits", "merges", "final labels"} <= set(figures["phases"])
    assert figures["phases"]["labels"]["shared"]["cpu"] > 0
    for part in ("serial", "shared"):
        total = sum(times[part]["cpu"] for times in figures["phases"].values())
        assert figures[part] == pytest.approx(total, abs=0.02)
    assert figures["estimates"][8] == pytest.approx(amdahl(figures["serial"], figures["shared"], 8), abs=0.01)
    assert len(messages) == 3
    # The segmenter is left as it is, and measuring changes no label.
    np.testing.assert_array_equal(segmenter.segment(frames[1]), expected)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="got none"):
        serial_part([], VideoSegmenter())
    with pytest.raises(ValueError, match="got 0"):
        serial_part(_frames(1), VideoSegmenter(), 0)


def test_the_table_names_phases_and_estimates() -> None:
    figures = {
        "phases": {"merges": {"serial": {"wall": 2.0, "cpu": 1.25}, "shared": {"wall": 0.0, "cpu": 7.5}}},
        "serial": 1.25,
        "shared": 7.5,
        "estimates": {8: 4.0, 16: 5.09},
    }
    console = Console(record=True, width=120)
    print_serial_part(figures, console)
    text = console.export_text()
    for expected in ("merges", "1.25", "7.50", "4.0 x on 8 cores and 5.1 x on 16 cores"):
        assert expected in text
