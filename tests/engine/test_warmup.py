"""The progress of compiling the engine."""

from __future__ import annotations

import numba
import pytest

import scstream
from scstream import warmup


def test_every_function_that_is_compiled_counts_up_to_the_limit_of_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [numba.njit(lambda x: x + 1) for _ in range(4)]
    steps = [
        ("adding", 3, lambda: [function(1) for function in functions]),
        ("adding again", 5, lambda: [function(2) for function in functions]),
    ]
    monkeypatch.setattr(warmup, "video_steps", lambda: steps)
    said: list[tuple[int, int, str]] = []
    scstream.warm_up(lambda *given: said.append(given))
    # Three functions are expected where there are four, and five where all are compiled.
    assert said == [(0, 8, "adding"), (1, 8, "adding"), (2, 8, "adding"), (3, 8, "adding again"), (8, 8, "ready")]
