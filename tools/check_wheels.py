"""Build the wheels of the library and of the studio, and try each in an empty virtual environment.

    python tools/check_wheels.py FOLDER

Uses the Python that runs this script, and installs what the wheels ask for without pinned versions. The library's
environment must run the examples of its README without Qt, OpenCV or PyAV. The studio's must segment a video, show the
sample clips in its window and run a benchmark.
"""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Modules that belong to the studio alone.
FOREIGN = ("PySide6", "av", "cv2", "imageio", "pyqtgraph", "scstream_app", "typer", "zarr")

_ABSENT = """
import importlib.util, sys
found = [name for name in sys.argv[1:] if importlib.util.find_spec(name)]
sys.exit(f"installed with the library: {found}" if found else 0)
"""
_WELCOME = """
from PySide6.QtCore import QSettings
from scstream_app.ui.window.startup.app import application
from scstream_app.ui.window.main_window import MainWindow
running = application()
window = MainWindow(QSettings("settings.ini", QSettings.Format.IniFormat))
window.show()
shown = window.welcome.samples.count()
window.close()
assert shown == 4, f"the welcome page shows {shown} sample clips"
"""


def main(arguments: list[str]) -> int:
    """Build both wheels into the folder, install and try them; returns the exit code."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    library, studio = build(ROOT / "engine", folder), build(ROOT, folder)
    with tempfile.TemporaryDirectory() as scratch:
        try_library(Environment(Path(scratch) / "library"), library)
        try_studio(Environment(Path(scratch) / "studio"), library, studio)
    print(f"Both wheels work with Python {sys.version.split()[0]}.")
    return 0


def build(project: Path, folder: Path) -> Path:
    """Build a project's wheel; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, str(project)]
        subprocess.run(pip, check=True)
        (built,) = Path(scratch).glob("*.whl")
        target = folder / built.name
        target.unlink(missing_ok=True)
        # Unlike a rename, a move works from one file system to another.
        return Path(shutil.move(built, target))


def try_library(environment: Environment, wheel: Path) -> None:
    """Run the examples of the library's README in an environment that holds the library alone."""
    environment.install(wheel)
    environment.python("-c", _ABSENT, *FOREIGN)
    text = (ROOT / "engine" / "README.md").read_text(encoding="utf-8")
    examples = doctest.script_from_examples(text)
    environment.python("-c", examples + "\nassert model.n_clusters_ == 4 and len(segmenter.statistics_) == 4\n")
    print(f"{wheel.name}: README's examples run; {environment.megabytes()} MB installed.")


def try_studio(environment: Environment, library: Path, studio: Path) -> None:
    """Open, segment and measure a clip that the studio's wheel carries."""
    environment.install(library, studio)
    clip = environment.python("-c", "from scstream_app.samples import SAMPLES; print(SAMPLES / 'cut.mp4')").strip()
    environment.command("segment", clip, "--out", str(environment.folder / "out"), "--frames", ":10", "--quiet")
    environment.python("-c", _WELCOME)
    environment.command("bench", "video", "--quick", "--json")
    print(f"{studio.name}: segments, shows and measures its clips; {environment.megabytes()} MB installed.")


class Environment:
    """An empty virtual environment outside of the source tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=True)
        self._scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self._empty = self._bytes()

    def install(self, *wheels: Path) -> None:
        """Install wheels and the newest versions of what they need."""
        self.python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *map(str, wheels))
        self._installed = self._bytes() - self._empty

    def megabytes(self) -> int:
        """Size of what `install` added, without compiled kernels."""
        return round(self._installed / 1e6)

    def python(self, *arguments: str) -> str:
        """Run Python; returns what it prints."""
        return self._run("python", *arguments)

    def command(self, *arguments: str) -> str:
        """Run the command `scstream`; returns what it prints."""
        return self._run("scstream", *arguments)

    def _run(self, program: str, *arguments: str) -> str:
        platform = {"QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
        command = [str(self._scripts / program), *arguments]
        # The working folder is the environment: the source tree must not be importable.
        done = subprocess.run(command, cwd=self.folder, env=os.environ | platform, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}\nFailed: {' '.join(command)}")
        return done.stdout

    def _bytes(self) -> int:
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file() and not file.is_symlink())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
