"""A small part of `make torture`: some cases of each attack, without a fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from helpers.paths import ROOT
from torture.outcome import FAULTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks need fork, and files of /proc")

PARTS = ("media", "sessions", "models", "kills", "power_cuts", "limits", "monkey", "soak")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the command prints. It runs alone, as a process with threads must not fork."""
    search = os.pathsep.join([str(ROOT), str(ROOT / "tests"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--json", "--scale", "0.002", "--seconds", "4", "--steps", "20"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": search, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    outcomes: dict[str, Any] = json.loads(done.stdout)
    return outcomes


@pytest.mark.parametrize("part", PARTS)
def test_the_program_withstands(part: str, found: dict[str, Any]) -> None:
    assert found[part]["cases"] > 0
    assert found[part]["faults"] == []
    assert {name: found[part][name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)
