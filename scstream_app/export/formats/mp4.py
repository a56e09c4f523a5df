"""H.264 movies that every player opens."""

from __future__ import annotations

from scstream_app.export.movie import H264, Movies


class Mp4(Movies):
    """VIEW.mp4."""

    format = "mp4"
    about = "A movie that every player opens: H.264, opaque, even sizes"
    suffix = ".mp4"
    codec = H264
