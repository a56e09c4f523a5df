"""A long run: memory does not grow, and disk usage grows linearly."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from helpers.paths import ROOT

pytestmark = pytest.mark.slow


def test_three_thousand_frames() -> None:
    # In a separate process, because this one holds the memory of all tests.
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "long_run.py"), "--frames", "3000", "--size", "48x32", "--json"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "engine", ROOT, *sys.path)))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    report = json.loads(done.stdout)
    first, second, third = report["rows"]
    assert report["frames"] == third["frames"] == 3000
    assert third["resident_mib"] <= 1.05 * first["resident_mib"]
    earlier, later = second["disk_bytes"] - first["disk_bytes"], third["disk_bytes"] - second["disk_bytes"]
    assert 0.7 * earlier < later < 1.3 * earlier
    # Segments were born and died meanwhile.
    assert third["ids_ever"] > 30
