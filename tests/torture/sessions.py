"""Damaged sessions: whatever is done to one file, the rest is read or refused, and nothing outside is touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scstream_app import headless
from scstream_app.errors import StudioError
from scstream_app.export import ExportOptions
from scstream_app.session import Session, repair_recording, resume
from scstream_app.session.run_summary import RunSummary
from scstream_app.sources import open_source
from torture.mutations import Rng, damaged, damaged_json_text, zeroed_tail
from torture.outcome import Outcome
from torture.sandbox import Sandbox
from torture.scene import FRAMES, SESSIONS, Scene


class Sessions:
    """Mutants of sessions that are finished, interrupted, recorded from a camera, and branched off."""

    name = "sessions"

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene, self._seed = scene, seed

    def prepare(self) -> None:
        """There is nothing to prepare beyond the scene."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Damage one or two files of a session, then read, resume and export it."""
        rng = np.random.default_rng([self._seed, 3, case])
        kind = SESSIONS[case % len(SESSIONS)]
        path = sandbox.folder / "clip.scstream"
        shutil.copytree(self._scene.folder / f"{kind}.scstream", path)
        hit = [_damage(path, rng, sandbox) for _ in range(int(rng.choice([1, 1, 1, 2])))]
        outcome = Outcome()
        refusals = 0
        for use in (self._read, self._write, self._export):
            try:
                use(path, kind, outcome, all(name.startswith("ids.zarr") for name in hit))
            except StudioError:
                refusals += 1
        outcome.refused, outcome.opened = int(refusals > 0), int(refusals == 0)
        return outcome

    def _read(self, path: Path, kind: str, outcome: Outcome, only_ids: bool) -> None:
        with Session.open(path) as session:
            parts: list[Callable[[], Any]] = [
                lambda: session.objects,
                lambda: session.names,
                lambda: session.bookmark,
                lambda: session.merges,
                lambda: session.masks,
                lambda: session.branch_point,
                lambda: list(session.added_measures()),
                lambda: RunSummary().extend(session.records()),
                lambda: list(session.members(session.objects)),
            ]
            refusals = [error for error in map(_refusal, parts) if error is not None]
            for index in session.frames.tolist()[:FRAMES]:
                error = _refusal(lambda index=index: session.statistics(index))
                refusals += [error] if error is not None else []
                try:
                    ids = session.ids(index, stored=True)
                except StudioError as error:
                    refusals.append(error)
                    continue
                if only_ids and kind != "recorded" and not np.array_equal(ids, self._scene.ids[index]):
                    outcome.fault("wrong_ids", f"frame {index} of {kind} is read with other ids")
            if refusals:
                raise refusals[0]

    def _write(self, path: Path, kind: str, outcome: Outcome, only_ids: bool) -> None:
        with Session.open(path, writable=True) as session:
            if session.recorded:
                repair_recording(session)
            if kind in ("interrupted", "branch"):
                with open_source(str(self._scene.clip)) as source:
                    for _ in resume(session, source, threads=1).run():
                        pass

    def _export(self, path: Path, kind: str, outcome: Outcome, only_ids: bool) -> None:
        with Session.open(path) as session:
            for _ in headless.export(session, path.parent / "out", ExportOptions(("csv", "ids"))):
                pass


def _refusal(action: Callable[[], Any]) -> StudioError | None:
    try:
        action()
    except StudioError as error:
        return error
    return None


def _damage(path: Path, rng: Rng, sandbox: Sandbox) -> str:
    """Damage one file of the session; returns its name."""
    # A name of the folder first: otherwise nearly all cases hit the many chunks of ids.
    names = sorted(entry.name for entry in path.iterdir())
    target = path / names[int(rng.integers(len(names)))]
    inner = sorted(target.iterdir()) if target.is_dir() else []
    if inner and rng.random() < 0.9:
        target = inner[int(rng.integers(len(inner)))]
    name = str(target.relative_to(path))
    kind = rng.random()
    if kind < 0.25 or not target.is_file() or target.is_symlink():
        _replace(target, rng, sandbox)
        return name
    data = target.read_bytes()
    changed = damaged_json_text(data, rng) if kind < 0.6 else None
    if changed is None:
        changed = zeroed_tail(data, rng) if kind < 0.75 else damaged(data, rng)
    target.write_bytes(changed)
    return name


def _replace(target: Path, rng: Rng, sandbox: Sandbox) -> None:
    """Remove the file or folder, or put something else in its place."""
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    elif os.path.lexists(target):
        target.unlink()
    match int(rng.integers(7)):
        case 0:
            target.mkdir()
        case 1:
            target.symlink_to(sandbox.bait)
        case 2:
            target.symlink_to(sandbox.root / "nothing")
        case 3:
            target.symlink_to(target.name)
        case 4:
            os.mkfifo(target)
        case 5:
            target.write_bytes(b"")
        case _:
            pass
