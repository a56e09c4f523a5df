"""Resident memory of this process, now and at its peak, as Linux reports it in /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident() -> float | None:
    """Memory in MiB that this process uses now; None if the system does not report it."""
    return _read("VmRSS")


def peak() -> float | None:
    """Largest memory in MiB since `reset_peak`; None if the system does not report it.

    `resource.getrusage` does not serve: its peak includes that of the parent process before the fork.
    """
    return _read("VmHWM")


def reset_peak() -> None:
    """Start the peak anew. Where the system does not allow that, the peak is that of the whole process."""
    with suppress(OSError):
        _CLEAR.write_text("5", encoding="ascii")


def _read(field: str) -> float | None:
    try:
        lines = _STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    found = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return next((round(int(kilobytes) / 1024, 1) for kilobytes in found), None)
