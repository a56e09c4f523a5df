"""Run cases in forked processes, each of which serves many: a process that dies or hangs is counted and replaced."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic

from torture.outcome import Outcome
from torture.sandbox import Sandbox, end_with_parent

Case = Callable[[int, Sandbox], Outcome]

_FORK = multiprocessing.get_context("fork")
#: Bytes of address space that a process may use beyond those at its start: a file must not claim the whole machine.
_MEMORY = 4 << 30
#: Lines of a dead process's standard error that are shown.
_LINES = 16


class _Worker:
    """One process and the case that it works on."""

    def __init__(self, run: Case, folder: Path, limited: bool) -> None:
        self.log = folder.with_suffix(".log")
        self.connection, there = _FORK.Pipe()
        self.process = _FORK.Process(target=_serve, args=(there, run, folder, self.log, limited))
        self.process.start()
        there.close()
        self.case = -1
        self.begin = 0.0
        self.served = 0

    def send(self, case: int) -> None:
        self.case, self.begin = case, monotonic()
        self.served += 1
        self.connection.send(case)

    def end(self, kill: bool = False) -> int:
        """End the process; returns its exit code."""
        if kill:
            _kill_group(self.process.pid)
        else:
            self.connection.send(None)
        self.process.join()
        self.connection.close()
        return self.process.exitcode or 0

    def last_lines(self) -> str:
        """What the process wrote about its end."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        lines = [line.strip() for line in text.splitlines() if line.strip() and "Extension modules" not in line]
        starts = [number for number, line in enumerate(lines) if line.endswith("(most recent call first):")]
        # The main thread is the last one; in a fault, the one that failed is called the current one.
        failed = [number for number in starts if lines[number].startswith("Current")]
        start = (failed or starts[-1:] or [-_LINES])[0]
        return " | ".join(lines[start:][:_LINES])

    def keep_log(self) -> None:
        """Keep the log of the present case: the next process overwrites it."""
        self.log.replace(self.log.with_name(f"case{self.case}.log"))


def run_cases(
    run: Case,
    cases: Iterable[int],
    folder: Path,
    *,
    workers: int = 2,
    limit: float = 30.0,
    limited: bool = True,
    served: int = 500,
) -> Iterator[tuple[int, Outcome]]:
    """Yield (case, outcome) as the cases end, in any order.

    Fork before any thread is started: call this from a process that has imported the program, but used no part of it.

    Parameters
    ----------
    limit : float
        Seconds after which a case counts as a hang.
    limited : bool
        Whether the memory of the processes is limited.
    served : int
        Cases that one process serves.
    """
    waiting = iter(cases)
    busy: list[_Worker] = []
    for number in range(workers):
        case = next(waiting, None)
        if case is not None:
            worker = _Worker(run, folder / f"worker{number}", limited)
            worker.send(case)
            busy.append(worker)
    while busy:
        ready = wait([one.connection for one in busy], timeout=0.5)
        for worker in list(busy):
            outcome = _outcome(worker, worker.connection in ready, limit)
            if outcome is None:
                continue
            yield worker.case, outcome
            case = next(waiting, None)
            ended = outcome.crashes and worker.process.exitcode is not None
            if case is None or ended or outcome.hangs or worker.served >= served:
                if not ended and not outcome.hangs:
                    worker.end()
                if case is None:
                    busy.remove(worker)
                    continue
                busy[busy.index(worker)] = worker = _Worker(run, folder / worker.log.stem, limited)
            worker.send(case)


def _outcome(worker: _Worker, ready: bool, limit: float) -> Outcome | None:
    """Outcome of the worker's case; None while it is still at work."""
    if ready:
        try:
            found = worker.connection.recv()
            assert isinstance(found, Outcome)
            return found
        except (EOFError, ConnectionResetError):
            code = worker.end(kill=True)
            outcome = Outcome(cases=1)
            outcome.fault("crashes", f"case {worker.case}: the process ended with {code}: {worker.last_lines()}")
            worker.keep_log()
            return outcome
    if monotonic() - worker.begin > limit:
        # Have the process write where it is.
        if worker.process.pid is not None:
            os.kill(worker.process.pid, signal.SIGUSR1)
        worker.process.join(1.0)
        worker.end(kill=True)
        outcome = Outcome(cases=1)
        outcome.fault("hangs", f"case {worker.case}: still running after {limit:.0f} s: {worker.last_lines()}")
        worker.keep_log()
        return outcome
    return None


def _kill_group(pid: int | None) -> None:
    """Kill a worker with the processes that it has forked."""
    if pid is not None:
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _serve(connection: Connection, run: Case, folder: Path, log: Path, limited: bool) -> None:
    """Do cases until None comes; the body of a worker process."""
    os.setpgid(0, 0)
    end_with_parent()
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 2)
        os.dup2(file.fileno(), 1)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    if limited:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    sandbox = Sandbox(folder)
    while (case := connection.recv()) is not None:
        outcome = Outcome(cases=1)
        try:
            with sandbox.empty():
                outcome.add(run(case, sandbox))
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            outcome.fault("crashes", f"case {case}: {type(error).__name__}: {error} at {where}")
            traceback.print_exc()
        for path in sandbox.strays():
            outcome.fault("outside", f"case {case}: {path}")
        outcome.faults = [text if f"case {case}" in text else f"case {case}: {text}" for text in outcome.faults]
        connection.send(outcome)
    os._exit(0)
