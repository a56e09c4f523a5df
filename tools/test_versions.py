"""Run the quick tests with the newest, or the lowest allowed, versions of all dependencies.

    python tools/test_versions.py newest
    python tools/test_versions.py lowest -m ""        # further arguments go to pytest: this runs all tests

Creates the environment .venv-newest or .venv-lowest with the Python that runs this script. "lowest" lowers the direct
dependencies of the library and of the studio, but not the tools for testing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct"}
#: What old versions call is deprecated in the newest versions of their own dependencies.
WARNINGS = {"newest": (), "lowest": ("-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning")}
PROJECTS = ("-e", "./engine", "-e", ".[exr,parquet]")


def main(arguments: list[str]) -> int:
    """Install the versions and run pytest; returns its exit code."""
    if not arguments or arguments[0] not in RESOLUTIONS:
        print(f"Usage: python {sys.argv[0]} newest|lowest [arguments of pytest]", file=sys.stderr)
        return 2
    which, *options = arguments
    folder = ROOT / f".venv-{which}"
    python = create_environment(folder)
    resolution = f"--resolution={RESOLUTIONS[which]}"
    run(python, "-m", "uv", "pip", "install", "--quiet", resolution, *PROJECTS)
    run(python, "-m", "uv", "pip", "install", "--quiet", *PROJECTS, "-e", ".[test]")
    run(python, "-m", "uv", "pip", "list")
    platform = {"QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    command = [python, "-m", "pytest", *WARNINGS[which], *(options or ["-m", "not slow"])]
    return subprocess.run(command, cwd=ROOT, env=os.environ | platform).returncode


def create_environment(folder: Path) -> str:
    """Create an empty virtual environment that holds uv; returns its Python."""
    venv.create(folder, clear=True, with_pip=True)
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv")
    return python


def run(python: str, *arguments: str) -> None:
    """Run a command of the environment in the project's folder; raises if it fails."""
    # uv installs into the environment that this variable names.
    environment = os.environ | {"VIRTUAL_ENV": str(Path(python).parents[1])}
    subprocess.run([python, *arguments], cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
