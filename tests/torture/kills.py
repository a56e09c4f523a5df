"""Commands that are killed at any instant, and then resumed: the ids are those of an uninterrupted run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from helpers.export_scenes import leftovers
from torture.outcome import Outcome
from torture.sandbox import Sandbox, forked
from torture.scene import OBJECT, Scene, finish


class Kills:
    """SIGKILL of `scstream segment`, `resume` and `export`."""

    name = "kills"

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene, self._seed = scene, seed

    def prepare(self) -> None:
        """There is nothing to prepare beyond the scene."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Kill one command, once or several times, then let it finish."""
        rng = np.random.default_rng([self._seed, 4, case])
        command = ("segment", "resume", "segment", "export")[case % 4]
        outcome = Outcome()
        if command == "export":
            self._kill_export(rng, sandbox, outcome)
            return outcome
        session = sandbox.folder / "out" / "clip.scstream"
        if command == "resume":
            session.parent.mkdir()
            shutil.copytree(self._scene.folder / "interrupted.scstream", session)
        self._kill(session, rng, sandbox)
        while rng.random() < 0.3:
            self._kill(session, rng, sandbox)
        finish(self._scene, sandbox, session, outcome)
        return outcome

    def _kill(self, session: Path, rng: np.random.Generator, sandbox: Sandbox) -> None:
        there = session.exists()
        marked = OBJECT if rng.random() < 0.3 else ()
        after = float(rng.uniform(0.0, 1.1 * self._scene.seconds["resume" if there else "segment"]))

        def command() -> int:
            return self._scene.resume(session) if there else self._scene.segment(session.parent, *marked)

        forked(command, sandbox.root / "tmp" / "killed.log", kill_after=after)

    def _kill_export(self, rng: np.random.Generator, sandbox: Sandbox, outcome: Outcome) -> None:
        session, out = sandbox.folder / "clip.scstream", sandbox.folder / "exported"
        shutil.copytree(self._scene.session, session)
        after = float(rng.uniform(0.0, 1.1 * self._scene.seconds["export"]))
        output = sandbox.root / "tmp" / "export.log"
        forked(lambda: self._scene.export(session, out), output, kill_after=after)
        expected = _contents(self._scene.folder / "exported")
        # Files under their final names are complete, whenever the process was killed.
        for name, data in _contents(out).items():
            if _is_final(name) and expected.get(name) != data:
                outcome.fault("lost_frames", f"{name} of a killed export is incomplete")
        if forked(lambda: self._scene.export(session, out), output):
            outcome.fault("crashes", f"the second export failed: {output.read_text()[-500:]}")
            return
        outcome.opened = 1
        found = _contents(out)
        for name in expected.keys() | found.keys():
            if expected.get(name) != found.get(name) and _is_final(name):
                outcome.fault("lost_frames", f"{name} differs after the second export")
        for path in leftovers(out):
            outcome.fault("outside", f"a killed export left {path.name} behind")


def _is_final(name: str) -> bool:
    return not any(part.startswith(".") or ".partial" in part for part in Path(name).parts)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
