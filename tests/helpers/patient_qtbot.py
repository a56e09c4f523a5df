"""A bot of pytest-qt whose waits do not fail because a machine is slow or busy."""

from __future__ import annotations

from typing import Any

from pytestqt.qtbot import QtBot

#: Minimum timeout of a wait in milliseconds. Waits end as soon as what they wait for is there.
PATIENCE = 120_000


class PatientQtBot(QtBot):
    """Raises shorter timeouts, such as the default of 5 s, to `PATIENCE`, except if nothing is expected to happen.

    A wait that is expected to time out says so with ``raising=False``, and keeps its timeout.
    """

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **rest: Any) -> Any:
        return super().waitSignal(signal, timeout=_patient(timeout, rest), **rest)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE, **rest: Any) -> Any:
        return super().waitSignals(signals, timeout=_patient(timeout, rest), **rest)

    def waitUntil(self, callback: Any, *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=max(timeout, PATIENCE))

    def waitActive(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        return super().waitActive(widget, timeout=max(timeout, PATIENCE))

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE))


def _patient(timeout: int, rest: dict[str, Any]) -> int:
    return timeout if rest.get("raising") is False else max(timeout, PATIENCE)
