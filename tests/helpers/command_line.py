"""Run the command inside the test's process, and find what it wrote."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from helpers.paths import ROOT
from scstream_app import cli


def environment(**more: str) -> dict[str, str]:
    """What a process of its own needs to find the program."""
    path = os.pathsep.join([str(ROOT / "engine"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


def segment(source: Path | str, out: Path, *options: str) -> int:
    """Run `scstream segment`; returns its exit code."""
    return cli.main(["segment", str(source), "--out", str(out), *options])


def ids_in(out: Path) -> dict[str, npt.NDArray[np.int64]]:
    """Ids by file name; -1 for none."""
    maps = {}
    for path in sorted((out / "ids").glob("*.png")):
        with Image.open(path) as image:
            maps[path.name] = np.asarray(image).astype(np.int64) - 1
    return maps
