"""Sources of frames: video files, image sequences, cameras and network streams."""

import cv2

from scstream_app.sources.base import DamagedFrame, Frame, Source
from scstream_app.sources.camera import Camera
from scstream_app.sources.devices import CameraInfo, CameraMode, Device, camera_modes, list_cameras
from scstream_app.sources.factory import clip_as_camera, is_camera, open_source, same_camera
from scstream_app.sources.images import (
    IMAGE_RATE,
    IMAGE_SUFFIXES,
    TIFF_SUFFIXES,
    VIDEO_SUFFIXES,
    ImageOptions,
    ImageSequence,
    TiffStack,
    sequence_of,
)
from scstream_app.sources.live_clip import LiveClip
from scstream_app.sources.live_source import CameraStalled, LiveSource
from scstream_app.sources.live_stream import LiveStream
from scstream_app.sources.standard_input import STDIN, RawVideo, StandardInput
from scstream_app.sources.video import Video, VideoFile, VideoUrl

# This package reports damaged images and missing cameras itself, so OpenCV need not print warnings to the terminal.
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)

__all__ = [
    "IMAGE_RATE",
    "IMAGE_SUFFIXES",
    "STDIN",
    "TIFF_SUFFIXES",
    "VIDEO_SUFFIXES",
    "Camera",
    "CameraInfo",
    "CameraMode",
    "CameraStalled",
    "DamagedFrame",
    "Device",
    "Frame",
    "ImageOptions",
    "ImageSequence",
    "LiveClip",
    "LiveSource",
    "LiveStream",
    "RawVideo",
    "Source",
    "StandardInput",
    "TiffStack",
    "Video",
    "VideoFile",
    "VideoUrl",
    "camera_modes",
    "clip_as_camera",
    "is_camera",
    "list_cameras",
    "open_source",
    "same_camera",
    "sequence_of",
]
