"""Encode pictures as JPEG, for annotation tools that need the pictures beside the annotations."""

from __future__ import annotations

import cv2

from scstream_app.render.image_types import Picture

_QUALITY = 95


def encode(picture: Picture) -> bytes:
    """Encode an RGB picture (H, W, 3)."""
    bgr = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    done, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not done:
        raise ValueError("OpenCV cannot encode the image")
    return encoded.tobytes()
