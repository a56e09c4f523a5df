"""Folders of label images for tests, written with nothing of the application."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy.typing as npt


def save(folder: Path, maps: Sequence[npt.NDArray[Any]], first: int = 0) -> Path:
    """Write the maps as NNNNN.png, numbered from ``first``, and return the folder."""
    folder.mkdir()
    for n, picture in enumerate(maps, first):
        cv2.imwrite(str(folder / f"{n:05d}.png"), picture)
    return folder
