"""H.264 movies in MP4 files."""

from __future__ import annotations

from scstream_app.export.movie import H264, MovieWriter


class Mp4(MovieWriter):
    """Writes VIEW.mp4."""

    format = "mp4"
    title = "MP4 (H.264)"
    group = "Movies"
    position = 1
    about = "An H.264 movie for all players: no transparency, even width and height"
    suffix = ".mp4"
    codec = H264
