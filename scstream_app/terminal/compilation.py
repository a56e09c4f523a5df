"""Notice when numba compiles a function instead of loading it from its cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def on_compilation(callback: Callable[[], None]) -> Iterator[None]:
    """Call ``callback`` before each function that is compiled in the body."""
    # Takes half a second to import, for which help texts should not wait.
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            callback()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
