"""Where the time of a step goes: named phases, and which part of each is shared by several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter, process_time


@dataclass(slots=True)
class PhaseTime:
    """Seconds that a phase took, by the clock and of all processors.

    The serial part runs on the calling thread alone. The shared part is work that several threads can take pieces of,
    whatever their number.
    """

    serial_wall: float = 0.0
    serial_cpu: float = 0.0
    shared_wall: float = 0.0
    shared_cpu: float = 0.0

    def add(self, wall: float, cpu: float, shared: bool) -> None:
        """Add some seconds to one of the two parts."""
        if shared:
            self.shared_wall += wall
            self.shared_cpu += cpu
        else:
            self.serial_wall += wall
            self.serial_cpu += cpu


#: What runs outside every phase.
OTHER = "other"


@dataclass(slots=True)
class PhaseTimes:
    """Times of the phases in the order of their first occurrence, while `record_phases` is open."""

    phases: dict[str, PhaseTime] = field(default_factory=dict)
    _names: list[str] = field(default_factory=lambda: [OTHER])
    _shared: bool = False
    _wall: float = field(default_factory=perf_counter)
    _cpu: float = field(default_factory=process_time)

    def note(self) -> None:
        """Add the time since the last note to the current phase."""
        wall, cpu = perf_counter(), process_time()
        phase = self.phases.setdefault(self._names[-1], PhaseTime())
        phase.add(wall - self._wall, cpu - self._cpu, self._shared)
        self._wall, self._cpu = wall, cpu

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time inside to a phase, and not to the one around it."""
        self.note()
        self._names.append(name)
        try:
            yield
        finally:
            self.note()
            self._names.pop()

    def share(self, work: Callable[[], None]) -> None:
        """Run work whose pieces several threads take, as the shared part of the current phase."""
        self.note()
        outer, self._shared = self._shared, True
        try:
            work()
        finally:
            self.note()
            self._shared = outer


_times: ContextVar[PhaseTimes | None] = ContextVar("phase_times", default=None)
_NO_PHASE = nullcontext()


@contextmanager
def record_phases() -> Iterator[PhaseTimes]:
    """Record the times of all phases on this thread; without it, `phase` and `share` measure nothing.

    >>> with record_phases() as times, phase("nothing"):
    ...     pass
    >>> list(times.phases)
    ['other', 'nothing']
    """
    times = PhaseTimes()
    token = _times.set(times)
    try:
        yield times
    finally:
        times.note()
        _times.reset(token)


def phase(name: str) -> AbstractContextManager[None]:
    """Return a context whose time counts for the phase ``name``, if `record_phases` is open on this thread."""
    times = _times.get()
    return _NO_PHASE if times is None else times.phase(name)


def share(work: Callable[[], None]) -> None:
    """Run work whose pieces several threads take; `record_phases` records it apart from serial work."""
    times = _times.get()
    if times is None:
        work()
    else:
        times.share(work)
