"""Run clips side by side on Dask: on workers of this machine, or on those of a running scheduler."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import dask
import distributed

from scstream_app.errors import ClusterError, reason
from scstream_app.export import atomic_files
from scstream_app.headless.many_clips.clip_run import ClipProgress, ClipResult, ClipUpdate
from scstream_app.headless.many_clips.clips import Clip
from scstream_app.headless.many_clips.dask_task import ClipTask, host_of, segment_on_worker

#: A clip that lost this many workers is not tried again.
MOST_DEATHS = 3
#: Seconds to wait for the scheduler, for its first worker, and for a worker when all are gone.
_CONNECT, _FIRST_WORKER, _ANY_WORKER = 10, 30.0, 60.0
#: Seconds between two looks at the number of workers and at the event that cancels.
_TICK = 0.25


class _IgnoreInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]
    """Lets worker processes survive Ctrl-C and SIGTERM, which often go to all processes of a command.

    The command stops them after their current frame; if it is killed, Dask ends them.
    """

    def setup(self, worker: distributed.Worker) -> None:
        """Ignore the signals that end a command."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)


@contextmanager
def local_workers(count: int) -> Iterator[distributed.Client]:
    """Start ``count`` worker processes on this machine, which end with the body."""
    # The death of a worker is reported at once: `_DaskRun` decides whether to try its clip again.
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            # Any free port: two commands at the same time must not ask for the same one.
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.register_plugin(_IgnoreInterrupts())
        yield client


@contextmanager
def connected(address: str, cancel: threading.Event) -> Iterator[distributed.Client]:
    """Connect to a running scheduler that has workers; raises ClusterError if that fails."""
    try:
        client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"Cannot connect to the scheduler '{address}': {reason(error)}.") from error
    with client:
        patience = monotonic() + _FIRST_WORKER
        while not client.nthreads() and not cancel.wait(_TICK):
            if monotonic() > patience:
                raise ClusterError(
                    f"The scheduler '{address}' has no workers. Start one on each machine: 'dask worker {address}'."
                )
        yield client


def run_on_dask(
    client: distributed.Client, clips: Sequence[Clip], cancel: threading.Event, on_update: ClipUpdate
) -> None:
    """Run the clips, each as one task, as many at the same time as the workers have threads.

    A clip whose worker dies is continued on another one, at most `MOST_DEATHS` - 1 times. After ``cancel``, clips that
    run end after their current frame, and no others are begun.
    """
    folder = clips[0].out.parent
    run = f"scstream-{uuid4().hex}"
    marker = folder / f".{run}"
    atomic_files.make_folder(folder)
    atomic_files.write_bytes(marker, b"")
    try:
        _DaskRun(client, clips, cancel, on_update, run, marker).run()
    finally:
        atomic_files.discard(marker)


class _DaskRun:
    """The clips that wait and those that run, and the reports that arrive from the workers."""

    def __init__(
        self,
        client: distributed.Client,
        clips: Sequence[Clip],
        cancel: threading.Event,
        on_update: ClipUpdate,
        run: str,
        marker: Path,
    ) -> None:
        self._client, self._clips, self._cancel, self._on_update = client, clips, cancel, on_update
        self._run, self._marker = run, marker
        self._waiting = deque(range(len(clips)))
        self._running: dict[int, distributed.Future] = {}
        self._deaths: Counter[int] = Counter()
        self._slots: dict[str, int] = {}
        self._last_seen = monotonic()
        # A list of progress figures, or the number of a clip that has ended.
        self._arrived: queue.SimpleQueue[list[Any] | int] = queue.SimpleQueue()

    def run(self) -> None:
        """Run all clips, or until cancelled."""
        stop = distributed.Event(self._run, client=self._client)
        asked = False
        self._client.subscribe_topic(self._run, lambda event: self._arrived.put(list(event[1])))
        try:
            while self._running or (self._waiting and not self._cancel.is_set()):
                if self._cancel.is_set() and not asked:
                    stop.set()
                    asked = True
                self._submit(self._find_workers())
                self._take()
        finally:
            self._client.unsubscribe_topic(self._run)
            if asked:
                stop.clear()

    def _find_workers(self) -> dict[str, int]:
        """The workers and their threads; raises ClusterError if there has been none for too long."""
        threads: dict[str, int] = self._client.nthreads()
        if threads:
            self._last_seen = monotonic()
        elif monotonic() - self._last_seen > _ANY_WORKER:
            raise ClusterError(
                f"All workers have been gone for {_ANY_WORKER:.0f} seconds. Start some and repeat the command: it "
                "continues where it ended."
            )
        return threads

    def _submit(self, threads: dict[str, int]) -> None:
        """Begin as many clips as there are free workers.

        Dask holds workers responsible for all tasks that they have, so none may wait there: if a worker dies, the clip
        that ran on it is to blame.
        """
        if self._cancel.is_set() or not self._waiting:
            return
        now: Counter[str] = Counter()
        for address, count in threads.items():
            now[host_of(address)] += count
        self._slots = {host: max(count, self._slots.get(host, 0)) for host, count in now.items()}
        while self._waiting and len(self._running) < sum(threads.values()):
            number = self._waiting.popleft()
            clip = self._clips[number]
            found = os.path.exists(clip.address)
            task = ClipTask(clip, number, self._run, self._marker, found, self._slots)
            key = f"segment-{clip.name}-{uuid4().hex}"
            future = self._client.submit(segment_on_worker, task, key=key, pure=False)
            self._running[number] = future
            future.add_done_callback(lambda _, number=number: self._arrived.put(number))

    def _take(self) -> None:
        """Wait a moment for a report, and pass it on."""
        try:
            arrived = self._arrived.get(timeout=_TICK)
        except queue.Empty:
            return
        if isinstance(arrived, int):
            self._end(arrived)
        elif arrived[0] in self._running:
            number, step, frames, expected = arrived
            self._on_update(number, ClipProgress(step, frames, expected))

    def _end(self, number: int) -> None:
        future = self._running.pop(number)
        try:
            result = future.result()
        except distributed.KilledWorker as death:
            if self._try_again(number, death.allowed_failures + 1, "its worker died"):
                return
            result = ClipResult(
                error=f"{self._deaths[number]} workers died while they segmented it: out of memory, or a crash?"
            )
        except ModuleNotFoundError as error:
            result = ClipResult(error=f"A worker lacks a package: {error}. Install scstream-studio where workers run.")
        except Exception as error:
            # Among them CancelledError: the scheduler has ended.
            result = ClipResult(error=f"Dask failed: {type(error).__name__}: {error}.")
        if result.interrupted and not self._cancel.is_set():
            # Its worker had lost the scheduler, and ended it.
            if self._try_again(number, 1, "its worker lost the scheduler"):
                return
            result = ClipResult(error="Its workers lost the connection to the scheduler.")
        self._on_update(number, result)

    def _try_again(self, number: int, deaths: int, why: str) -> bool:
        """Let a clip that lost its worker run again, unless that happened too often; returns whether it will."""
        self._deaths[number] += deaths
        if self._deaths[number] >= MOST_DEATHS:
            return False
        self._waiting.appendleft(number)
        self._on_update(number, ClipProgress(f"waiting: {why}"))
        return True
