"""The progress of compiling the engine."""

from __future__ import annotations

import numba
from numba.core import event

from scstream.warmup import _Counter


def test_every_function_that_is_compiled_counts_up_to_the_limit_of_its_step() -> None:
    said: list[tuple[int, int, str]] = []
    functions = [numba.njit(lambda x: x + 1) for _ in range(3)]
    with event.install_listener("numba:compile", _Counter(10, 12, 50, "adding", lambda *given: said.append(given))):
        for function in functions:
            assert function(1) == 2
            assert function(2) == 3
    assert said == [(11, 50, "adding"), (12, 50, "adding")]
