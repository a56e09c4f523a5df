"""Print the Debian packages that Qt needs and this system lacks, on one line.

    python tools/qt_libraries.py

A successful import of Qt proves nothing: the platform plugin and its libraries are loaded only when the first window
opens. So this script asks the dynamic linker (ldd) about both.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

#: Files of Qt that link to system libraries.
PARTS = ("QtGui.abi3.so", "QtWidgets.abi3.so", "QtSvg.abi3.so", "Qt/plugins/platforms/libqxcb.so")
PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}


def missing(library: Path) -> set[str]:
    """Names of the shared libraries that a file needs, directly or indirectly, and that are not installed."""
    done = subprocess.run(["ldd", str(library)], capture_output=True, text=True)
    lines = (line.split() for line in done.stdout.splitlines() if line.rstrip().endswith("=> not found"))
    return {words[0] for words in lines}


def packages() -> list[str]:
    """Names of the Debian packages to install."""
    spec = find_spec("PySide6")
    if not sys.platform.startswith("linux") or shutil.which("ldd") is None or spec is None:
        return []
    (folder,) = spec.submodule_search_locations or [""]
    names = set[str]().union(*(missing(Path(folder) / part) for part in PARTS))
    unknown = sorted(names - PACKAGES.keys())
    if unknown:
        print(f"Qt also needs {', '.join(unknown)}, for which no package is known.", file=sys.stderr)
    return sorted({PACKAGES[name] for name in names & PACKAGES.keys()})


if __name__ == "__main__":
    print(*packages())
