"""The Dask task of one clip: what a worker does, and how it reports progress and learns that it must stop."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import distributed
from dask.system import CPU_COUNT

import scstream
from scstream_app import __version__
from scstream_app.headless.many_clips.clip_run import ClipProgress, ClipResult, run_clip
from scstream_app.headless.many_clips.clips import Clip

#: Seconds between two reports of progress, and between two questions whether to stop.
_SECONDS = 0.5

_SHARED = "Clips and --out must be in folders that all workers see under the same path"


@dataclass(frozen=True, slots=True)
class ClipTask:
    """A clip and what its worker needs to know about the command.

    Parameters
    ----------
    number : int
        The number of the clip in the command.
    run : str
        Name of this run of the command: the topic of progress events, and the Dask event that stops the clips.
    marker : Path
        A file in the output folder: a worker that does not see it has another folder under that path.
    found : bool
        Whether the machine of the command has a file or folder at the address of the clip.
    slots : mapping
        Number of clips that can run at the same time on each host.
    version : str
        Version of the program that the command belongs to.
    """

    clip: Clip
    number: int
    run: str
    marker: Path
    found: bool
    slots: Mapping[str, int]
    version: str = __version__


def host_of(address: str) -> str:
    """The host in the address of a worker.

    >>> host_of("tcp://10.0.0.7:34567")
    'tcp://10.0.0.7'
    """
    return address.rpartition(":")[0]


def segment_on_worker(task: ClipTask) -> ClipResult:
    """Run a clip on this worker; see `run_clip`."""
    problem = _problem(task)
    if problem:
        return ClipResult(error=problem)
    worker = distributed.get_worker()
    settings = task.clip.settings
    threads = settings.threads or max(1, CPU_COUNT // task.slots.get(host_of(worker.address), 1))
    report = _reporter(task, worker)
    with _stopped_by(task.run) as cancel:
        report(ClipProgress("starting"))
        _warm_up()
        return run_clip(replace(task.clip, settings=replace(settings, threads=threads)), cancel, report)


def _problem(task: ClipTask) -> str:
    """Why this worker cannot run the clip as the command would; empty if it can."""
    here = socket.gethostname()
    if task.version != __version__:
        return (
            f"The worker on '{here}' has scstream-studio {__version__}, this command {task.version}: install the same."
        )
    if not os.path.exists(task.marker):
        return f"The worker on '{here}' does not see the output folder '{task.marker.parent}'. {_SHARED}."
    if task.found and not os.path.exists(task.clip.address):
        return f"The worker on '{here}' does not see '{task.clip.address}'. {_SHARED}."
    return ""


@cache
def _warm_up() -> None:
    """Compile the engine once for each process."""
    scstream.warm_up()


def _reporter(task: ClipTask, worker: distributed.Worker) -> Callable[[ClipProgress], None]:
    """Function that sends progress to the command, at most twice a second and at every new step."""
    last, step = 0.0, ""

    def report(progress: ClipProgress) -> None:
        nonlocal last, step
        now = time.monotonic()
        if progress.step != step or now - last >= _SECONDS:
            last, step = now, progress.step
            worker.log_event(task.run, [task.number, progress.step, progress.frames, progress.expected])

    return report


@contextmanager
def _stopped_by(name: str) -> Iterator[threading.Event]:
    """Yield an event that is set once the command has set the Dask event ``name``, or the scheduler is gone."""
    # With the client of this task: the thread below has none.
    stop = distributed.Event(name, client=distributed.get_client())
    cancel, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while not (cancel.is_set() or ended.wait(_SECONDS)):
            try:
                asked = stop.is_set()
            except OSError:
                # Complete the files now: a worker without a scheduler is about to end.
                asked = True
            if asked:
                cancel.set()

    watcher = threading.Thread(target=watch, name="stop-watcher", daemon=True)
    watcher.start()
    try:
        yield cancel
    finally:
        ended.set()
        watcher.join()
