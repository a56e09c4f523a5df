"""Attack the program and print what happened: `python -m torture [PART ...]`; see `make torture`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Protocol

import cv2

from helpers.fake_source import FakeSource
from helpers.session_clips import clip
from scstream import warm_up
from scstream_app.pipeline.run import segment_frames
from scstream_app.ui.window.startup import app as window_app  # noqa: F401 - imported once, before any process is forked
from torture.kills import Kills
from torture.limits import Limits
from torture.media import Media
from torture.models import Models
from torture.monkey import STEPS, Monkey
from torture.outcome import FAULTS, Outcome
from torture.pool import run_cases
from torture.power_cuts import PowerCuts
from torture.sandbox import Sandbox
from torture.scene import SETTINGS, Scene
from torture.sessions import Sessions
from torture.soak import Soak

#: Cases of a long run.
SIZES = {
    "media": 7000,
    "sessions": 3000,
    "models": 1000,
    "kills": 600,
    "power_cuts": 600,
    "limits": 100,
    "monkey": 20_000 // STEPS,
    "soak": 1,
}
#: Seconds that one case may take.
_LIMITS = {"media": 20.0, "sessions": 30.0, "models": 20.0, "monkey": 300.0}
_LIMIT = 120.0
_SOAK_SECONDS = 3600.0
#: Seconds between two lines about the progress.
_SAY_EVERY = 20.0
#: Faults of a part that are printed in full.
_SHOWN = 20


class Part(Protocol):
    """One kind of attack."""

    name: str

    def prepare(self) -> None:
        """Write what all cases share."""

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Do one case in the sandbox."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen parts; returns 1 if anything failed."""
    options = _parser().parse_args(arguments)
    unknown = set(options.parts) - set(SIZES)
    if unknown:
        print(f"Unknown part '{sorted(unknown)[0]}'. Choose from: {', '.join(SIZES)}.", file=sys.stderr)
        return 2
    names = options.parts or list(SIZES)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="torture-") as temporary:
        found = _run(names, options, Path(options.folder or temporary))
    if options.json:
        print(json.dumps({name: asdict(outcome) for name, outcome in found.items()}, indent=1))
    else:
        _print(found)
    return int(not all(outcome.sound for outcome in found.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"by default all: {', '.join(SIZES)}")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other cases")
    parser.add_argument("--cases", type=int, help="cases of each part; by default those of a long run")
    parser.add_argument("--case", type=int, help="only the case with this number")
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of a long run")
    parser.add_argument("--seconds", type=float, help="stop each part after this time; the soak lasts as long")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of the monkey in one window")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="work in this folder and keep it")
    parser.add_argument("--json", action="store_true")
    return parser


def _run(names: Sequence[str], options: argparse.Namespace, folder: Path) -> dict[str, Outcome]:
    _warm_up()
    scene = Scene(folder / "scene")
    scene.folder.mkdir(parents=True)
    seconds = options.seconds if options.seconds is not None else _SOAK_SECONDS * options.scale
    known: dict[str, Part] = {
        part.name: part
        for part in (
            Media(scene.folder, options.seed),
            Sessions(scene, options.seed),
            Models(scene, options.seed),
            Kills(scene, options.seed),
            PowerCuts(scene, options.seed),
            Limits(scene, options.seed),
            Monkey(scene, options.seed, options.steps),
            Soak(seconds, options.seed),
        )
    }
    if set(names) - {"soak", "media"}:
        scene.prepare()
    for name in names:
        known[name].prepare()
    soaking = _Beside(known["soak"], folder, seconds) if "soak" in names else None
    found = {name: _run_part(known[name], options, folder / name) for name in names if name != "soak"}
    if soaking is not None:
        found["soak"] = soaking.result()
    return found


def _warm_up() -> None:
    """Load the compiled code once, for all forked processes; starts no thread that would be missing in them."""
    cv2.setNumThreads(1)
    warm_up()
    for _ in segment_frames(FakeSource(clip(3, None)), SETTINGS.segmenter()):
        pass


class _Beside:
    """A part that runs in a process of its own, while others run."""

    def __init__(self, part: Part, folder: Path, seconds: float) -> None:
        self._read, write = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            outcome = Outcome()
            for _, one in run_cases(part.run, [0], _made(folder / part.name), workers=1, limit=seconds + 120.0):
                outcome.add(one)
            with os.fdopen(write, "w") as pipe:
                json.dump(asdict(outcome), pipe)
            os._exit(0)
        os.close(write)

    def result(self) -> Outcome:
        with os.fdopen(self._read) as pipe:
            outcome = Outcome(**json.load(pipe))
        os.waitpid(self._child, 0)
        return outcome


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run_part(part: Part, options: argparse.Namespace, folder: Path) -> Outcome:
    outcome, begin = Outcome(), perf_counter()
    said = begin
    # The window's threads are many, and reserve more memory than they use.
    limited = part.name in ("media", "sessions", "models")
    limit = _LIMITS.get(part.name, _LIMIT)
    # Each window has a process of its own, as for a user.
    served = 1 if part.name == "monkey" else 500
    cases = _until(_cases(part.name, options), options.seconds)
    for case, one in run_cases(
        part.run, cases, _made(folder), workers=options.workers, limit=limit, limited=limited, served=served
    ):
        outcome.add(one)
        for text in one.faults:
            print(f"{part.name}: {text} [python -m torture {part.name} --seed {options.seed} --case {case}]",
                  file=sys.stderr, flush=True)  # fmt: skip
        if perf_counter() - said > _SAY_EVERY:
            said = perf_counter()
            print(f"{part.name}: {outcome.cases} cases", file=sys.stderr, flush=True)
    outcome.measures["seconds"] = round(perf_counter() - begin, 1)
    return outcome


def _cases(name: str, options: argparse.Namespace) -> Iterable[int]:
    if options.case is not None:
        return [options.case]
    return range(options.cases if options.cases is not None else max(1, round(SIZES[name] * options.scale)))


def _until(cases: Iterable[int], seconds: float | None) -> Iterable[int]:
    begin = perf_counter()
    for case in cases:
        if seconds is not None and perf_counter() - begin > seconds:
            return
        yield case


def _print(found: dict[str, Outcome]) -> None:
    columns = ("cases", "steps", "refused", "opened", *FAULTS)
    print("part        " + "".join(f"{name.replace('_', ' '):>13}" for name in columns) + f"{'seconds':>13}")
    total = Outcome()
    for name, outcome in found.items():
        total.add(outcome)
        time = outcome.measures.get("seconds", outcome.measures.get("soak_seconds", 0.0))
        print(f"{name:<12}" + "".join(f"{getattr(outcome, one):>13,}" for one in columns) + f"{time:>13,.0f}")
    print(f"{'all':<12}" + "".join(f"{getattr(total, one):>13,}" for one in columns))
    for outcome in found.values():
        for name, value in outcome.measures.items():
            if name != "seconds":
                print(f"  {name.replace('_', ' ')}: {value:,}")
        for text in outcome.faults[:_SHOWN]:
            print(f"  {text}")


if __name__ == "__main__":
    sys.exit(main())
