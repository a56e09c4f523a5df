"""Facts for a bug report: the machine, the installation and a session."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import av

from scstream_app import __version__
from scstream_app.addresses import public_address
from scstream_app.samples import SAMPLES
from scstream_app.session import MarkedObject, Session
from scstream_app.sources import list_cameras

_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "opencv-python-headless",
    "av",
    "imageio",
    "tifffile",
    "zarr",
    "pycocotools",
    "cv2-enumerate-cameras",
    "typer",
    "rich",
    "PySide6-Essentials",
    "pyqtgraph",
    "superqt",
    "numcodecs",
    "platformdirs",
)
#: Encoders that the movie formats need.
_CODECS = ("libx264", "libvpx-vp9", "prores_ks", "gif")


def versions() -> dict[str, Any]:
    """Versions of the program, of Python, the system and the packages, and the number of cores, as plain values."""
    return {
        "scstream": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def facts() -> dict[str, Any]:
    """Versions, cores, codecs, cameras and the cache folder of compiled code, as plain values."""
    # Importing the engine takes a while.
    from scstream import kernels

    found = versions()
    packages = found.pop("packages")
    return {
        **found,
        "samples": str(SAMPLES),
        "numba_cache": str(kernels.label_tiles.stats.cache_path),
        "codecs": {name: "yes" if name in av.codecs_available else "missing" for name in _CODECS},
        "cameras": {f"camera:{camera.index}": camera.name for camera in list_cameras()} or "none",
        "packages": packages,
    }


def session_facts(session: Session, objects: Sequence[MarkedObject]) -> dict[str, Any]:
    """Source, settings and state of a session, as plain values."""
    manifest, frames = session.manifest, session.frames
    source = manifest.source
    settings = manifest.settings.portable()
    return {
        "session": str(session.path),
        # Sessions of earlier versions may hold secrets.
        "source": public_address(source.address),
        "size": f"{source.width} x {source.height}",
        "rate": source.rate,
        "frames": len(frames),
        "first_frame": int(frames[0]) if len(frames) else None,
        "last_frame": int(frames[-1]) if len(frames) else None,
        "segments_last": session.record(int(frames[-1])).rows if len(frames) else 0,
        "complete": manifest.complete,
        "objects": [marked.name for marked in objects],
        "formats": list(manifest.formats),
        "seed": settings.pop("seed"),
        "settings": settings,
        "created": manifest.created,
        "program": manifest.program,
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
