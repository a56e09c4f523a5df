"""Cameras of this machine: list them, query their modes, and open one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from scstream_app.errors import SourceError
from scstream_app.render.image_types import Picture

_ON_LINUX = sys.platform == "linux"
_BACKEND = cv2.CAP_V4L2 if _ON_LINUX else cv2.CAP_ANY
# Common camera sizes, tried if the system does not list the modes of a camera.
_COMMON_SIZES = ((320, 240), (640, 360), (640, 480), (800, 600), (1280, 720), (1920, 1080), (3840, 2160))
# Above this width USB 2 is too slow for raw pictures at full rate; JPEG is requested instead.
_WIDEST_RAW = 640


@dataclass(frozen=True, slots=True)
class CameraInfo:
    """A connected camera; ``path`` is empty on systems without device paths."""

    index: int
    name: str
    path: str


@dataclass(frozen=True, slots=True, order=True)
class CameraMode:
    """A size and rate that a camera supports; rate 0 if unknown."""

    width: int
    height: int
    rate: float


class Device(Protocol):
    """An open camera, used by a single thread."""

    name: str
    rate: float

    def grab(self) -> Picture | None:
        """The next RGB picture; None if the camera was disconnected."""

    def release(self) -> None:
        """Close the camera."""


def list_cameras() -> list[CameraInfo]:
    """Connected cameras, by number; empty if the system does not list them."""
    try:
        from cv2_enumerate_cameras import enumerate_cameras, supported_backends

        backend = cv2.CAP_V4L2 if _ON_LINUX else supported_backends[0]
        found = enumerate_cameras(backend)
    # The package depends on system libraries that may be missing or raise any exception.
    except Exception:
        return []
    infos = [CameraInfo(item.index, item.name or f"camera {item.index}", item.path or "") for item in found]
    return sorted(infos, key=lambda info: info.index)


def find_camera(device: int | str, cameras: Iterable[CameraInfo], last_name: str = "") -> int:
    """Number of the camera given by a number, a path, or a part of its name (case-insensitive).

    A camera that was plugged in again may have another number; ``last_name``, its name before, finds it.
    """
    known = list(cameras)
    if isinstance(device, int):
        same = [info.index for info in known if info.name == last_name]
        return device if device in same or not same else same[0]
    for info in known:
        if device and (device == info.path or device.casefold() in info.name.casefold()):
            return info.index
    names = ", ".join(f"'{info.name}' (camera:{info.index})" for info in known) or "none"
    raise SourceError(f"Cannot open camera '{device}': no connected camera has this name. Connected: {names}.")


def open_device(
    device: int | str,
    width: int | None = None,
    height: int | None = None,
    rate: float | None = None,
    last_name: str = "",
) -> Device:
    """Open a camera of this machine."""
    cameras = list_cameras()
    index = find_camera(device, cameras, last_name)
    if _ON_LINUX:
        _check_node(index)
    names = {info.index: info.name for info in cameras}
    return Webcam(index, names.get(index, f"camera {index}"), width, height, rate)


def _check_node(index: int) -> None:
    """Raise `SourceError` with the reason if the device node cannot be used; OpenCV would not give a reason."""
    node = Path(f"/dev/video{index}")
    if not node.exists():
        raise SourceError(f"Cannot open camera {index}: no such camera is connected.")
    if not os.access(node, os.R_OK | os.W_OK):
        raise SourceError(f"Cannot open camera {index}: no permission for '{node}'. Join the group that owns it.")


class Webcam:
    """A camera opened with OpenCV. See `Device`."""

    def __init__(self, index: int, name: str, width: int | None, height: int | None, rate: float | None) -> None:
        self.name = name
        self._capture = cv2.VideoCapture(index, _BACKEND)
        if not self._capture.isOpened():
            self._capture.release()
            raise SourceError(f"Cannot open '{name}': another program may be using it.")
        self._ask(width, height, rate)
        self.rate = float(self._capture.get(cv2.CAP_PROP_FPS))

    def _ask(self, width: int | None, height: int | None, rate: float | None) -> None:
        if _ON_LINUX and width and width > _WIDEST_RAW:
            self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        wishes = {cv2.CAP_PROP_FRAME_WIDTH: width, cv2.CAP_PROP_FRAME_HEIGHT: height, cv2.CAP_PROP_FPS: rate}
        for wish, value in wishes.items():
            if value:
                self._capture.set(wish, value)

    def size(self) -> tuple[int, int]:
        """Width and height that the camera has chosen."""
        capture = self._capture
        return int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))

    def grab(self) -> Picture | None:
        """See `Device`."""
        there, picture = self._capture.read()
        if not there or picture is None:
            return None
        code = cv2.COLOR_GRAY2RGB if picture.ndim == 2 else cv2.COLOR_BGR2RGB
        return np.asarray(cv2.cvtColor(picture, code), np.uint8)

    def release(self) -> None:
        """See `Device`."""
        self._capture.release()


def camera_modes(device: int | str) -> list[CameraMode]:
    """Sizes and rates of a camera, which must not be in use; empty if it cannot be opened."""
    try:
        index = find_camera(device, list_cameras() if isinstance(device, str) else ())
        if sys.platform == "linux":
            from scstream_app.sources import v4l2

            modes = [CameraMode(*mode) for mode in v4l2.modes(Path(f"/dev/video{index}"))]
            if modes:
                return sorted(modes)
        return tried_modes(lambda width, height: _chosen_mode(index, width, height))
    except (SourceError, OSError):
        return []


def tried_modes(settle: Callable[[int, int], CameraMode]) -> list[CameraMode]:
    """Modes that a camera chooses when each of the common sizes is requested."""
    return sorted({settle(width, height) for width, height in _COMMON_SIZES})


def _chosen_mode(index: int, width: int, height: int) -> CameraMode:
    camera = Webcam(index, f"camera {index}", width, height, None)
    try:
        return CameraMode(*camera.size(), camera.rate)
    finally:
        camera.release()
