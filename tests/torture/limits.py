"""Full disks, too few file descriptors and little memory: the run ends with a message, and is resumed later."""

from __future__ import annotations

import ctypes
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from torture.outcome import Outcome
from torture.sandbox import Sandbox, forked
from torture.scene import Scene, finish

#: From the system's header sched.h.
_CLONE_NEWNS = 0x00020000


class Limits:
    """`scstream segment` on a small disk, with small files, few descriptors or little memory."""

    name = "limits"

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene, self._seed = scene, seed

    def prepare(self) -> None:
        """There is nothing to prepare beyond the scene."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Segment under one limit, then resume without it."""
        rng = np.random.default_rng([self._seed, 6, case])
        outcome = Outcome()
        out = sandbox.folder / "out"
        out.mkdir()
        limits: dict[int, int] = {}
        kind = ("disk", "file size", "descriptors", "memory")[case % 4]
        disk = 0
        if kind == "disk":
            disk = int(2 ** rng.uniform(13, 19))
        elif kind == "file size":
            limits[resource.RLIMIT_FSIZE] = int(2 ** rng.uniform(6, 17))
        elif kind == "descriptors":
            limits[resource.RLIMIT_NOFILE] = int(rng.integers(8, 40))
        else:
            limits[resource.RLIMIT_AS] = _used() + (int(rng.integers(300, 1000)) << 20)
        with _small_disk(out, disk) as grow:
            output = sandbox.root / "tmp" / "limited.log"
            code = forked(lambda: self._scene.segment(out), output, limits=limits)
            text = output.read_text(errors="replace").strip()
            if code < 0 or "Traceback" in text or ("Unexpected" in text and "MemoryError" not in text):
                outcome.fault("crashes", f"{kind}: ended with {code}: {text[-500:]}")
            grow()
            finish(self._scene, sandbox, out / "clip.scstream", outcome)
        outcome.faults = [f"{kind} {disk or list(limits.values())}: {text}" for text in outcome.faults]
        return outcome


def _used() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@cache
def _have_own_mounts() -> bool:
    """Give this process mounts of its own, which end with it; returns False if the system forbids that."""
    if sys.platform != "linux" or ctypes.CDLL(None).unshare(_CLONE_NEWNS):
        return False
    return not subprocess.run(["mount", "--make-rprivate", "/"]).returncode


@contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[Callable[[], object]]:
    """Mount a file system of this size on the folder, if the user may; yields a function that makes it large."""
    if (
        not size
        or not _have_own_mounts()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]).returncode
    ):
        yield lambda: None
        return
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
