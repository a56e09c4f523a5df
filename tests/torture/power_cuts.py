"""Power failures: a session as the disk may hold it at any instant is resumed, with the ids of an uninterrupted run.

One run is recorded with a copy of its folder after every change of a file. What the run has not flushed to the disk by
then may be there, be cut off, read as zeros or be missing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from torture.mutations import Rng
from torture.outcome import Outcome
from torture.sandbox import Sandbox, forked
from torture.scene import Scene, finish, record

#: Calls that change files or folders.
_CALLS = ("write", "replace", "rename", "ftruncate", "unlink", "remove", "mkdir", "rmdir", "fsync")


class PowerCuts:
    """Cases are instants of one run, with random damage to what was not flushed."""

    name = "power_cuts"

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene, self._seed = scene, seed
        self._folder = scene.folder / "instants"

    def prepare(self) -> None:
        """Record the run."""
        self._folder.mkdir()
        if forked(self._record, self._folder.with_suffix(".log")):
            raise RuntimeError(self._folder.with_suffix(".log").read_text())

    def _record(self) -> int:
        live = self._folder / "live"
        live.mkdir()
        watch = _Watch(live, self._folder)
        record(live / "clip.scstream", self._scene.clip)
        watch.stop()
        return 0

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Restore an instant, damage what was not flushed, resume, and compare."""
        rng = np.random.default_rng([self._seed, 5, case])
        instants = sorted(path for path in self._folder.iterdir() if path.name.isdecimal())
        instant = instants[int(rng.integers(len(instants)))]
        out = sandbox.folder / "out"
        shutil.copytree(instant / "files", out)
        outcome = Outcome()
        kinds = [_damage(out / name, size, rng) for name, size in json.loads((instant / "unsynced.json").read_text())]
        try:
            finish(self._scene, sandbox, out / "clip.scstream", outcome)
        finally:
            outcome.faults = [f"instant {instant.name} ({' '.join(kinds)}): {text}" for text in outcome.faults]
        return outcome


def _damage(path: Path, synced: int, rng: Rng) -> str:
    """Damage the part of a file that was not flushed; returns what was done."""
    data = path.read_bytes()
    start = int(rng.integers(min(synced, len(data)), len(data) + 1))
    match int(rng.integers(4)):
        case 0:
            return f"{path.name}:kept"
        case 1:
            path.write_bytes(data[:start])
            return f"{path.name}:{start} of {len(data)}"
        case 2:
            path.write_bytes(data[:start] + bytes(len(data) - start))
            return f"{path.name}:zeros from {start} of {len(data)}"
        case _:
            path.write_bytes(data[:synced])
            return f"{path.name}:{min(synced, len(data))} of {len(data)}"


class _Watch:
    """Copies a folder after every call that changes it, with the files that are not flushed."""

    def __init__(self, folder: Path, copies: Path) -> None:
        self._folder, self._copies = folder, copies
        self._synced: dict[int, tuple[int, int]] = {}
        self._count = 0
        self._real = {name: getattr(os, name) for name in _CALLS}
        for name, call in self._real.items():
            setattr(os, name, self._wrapped(name, call))

    def stop(self) -> None:
        for name, call in self._real.items():
            setattr(os, name, call)

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            result = call(*arguments, **options)
            if name == "write" and arguments[0] <= 2:
                return result
            if name == "fsync":
                info = os.fstat(arguments[0])
                self._synced[info.st_ino] = info.st_size, info.st_mtime_ns
            self._copy()
            return result

        return wrapped

    def _copy(self) -> None:
        self.stop()
        place = self._copies / f"{self._count:05d}"
        self._count += 1
        shutil.copytree(self._folder, place / "files")
        unsynced = []
        for path in sorted(self._folder.rglob("*")):
            if path.is_file() and path.name != "lock":
                info = path.stat()
                synced = self._synced.get(info.st_ino, (0, 0))
                if synced != (info.st_size, info.st_mtime_ns):
                    unsynced.append([str(path.relative_to(self._folder)), synced[0]])
        (place / "unsynced.json").write_text(json.dumps(unsynced))
        for name, call in self._real.items():
            setattr(os, name, self._wrapped(name, call))
