"""File dialogs that ask for a video or for images."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog, QWidget

from scstream_app.sources import IMAGE_SUFFIXES, TIFF_SUFFIXES, VIDEO_SUFFIXES, clip_as_camera

_PATTERNS = " ".join(f"*{suffix}" for suffix in (*sorted(VIDEO_SUFFIXES), *sorted(TIFF_SUFFIXES)))
VIDEO_FILTER = f"Videos and TIFF stacks ({_PATTERNS});;All files (*)"
IMAGE_FILTER = f"Images ({' '.join(f'*{suffix}' for suffix in sorted(IMAGE_SUFFIXES))})"
OPEN_IMAGES = "Open Image Sequence: choose any image of the folder"
#: Title of the commands that play a clip as a camera.
PLAY_AS_CAMERA = "Play a Clip as a Camera"


def ask_clip_as_camera(parent: QWidget, folder: str) -> str:
    """Ask for a video to play as a camera; returns its live address, empty if the user cancels."""
    path, _ = QFileDialog.getOpenFileName(parent, PLAY_AS_CAMERA, folder, VIDEO_FILTER)
    return clip_as_camera(path) if path else ""
