"""What a bug report needs to say about the machine and the installation."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import av

from scstream import kernels
from scstream_app import __version__

_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "opencv-python-headless",
    "av",
    "imageio",
    "typer",
    "rich",
)


def facts() -> dict[str, Any]:
    """Versions, cores, codecs and the folder where compiled code is kept, as plain values."""
    return {
        "scstream": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "numba_cache": str(kernels.label_tiles.stats.cache_path),
        "h264": "libx264" in av.codecs_available,
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
