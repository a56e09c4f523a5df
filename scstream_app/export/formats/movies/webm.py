"""VP9 movies for the web, with transparency for objects cut out."""

from __future__ import annotations

from fractions import Fraction

from scstream_app.export.movie import Codec, MovieWriter

# Constant quality at the fastest setting: the slowest takes twenty times as long to save a fifth of the bytes.
_OPTIONS = {
    "crf": "26",
    "b": "0",
    "deadline": "realtime",
    "cpu-used": "8",
    "row-mt": "1",
    "tile-columns": "2",
    "lag-in-frames": "0",
}
#: The time resolution of the container.
_TICK = Fraction(1, 1000)
#: Write no random id into the container: the same frames give the same file.
_REPRODUCIBLE = {"fflags": "+bitexact"}


class WebM(MovieWriter):
    """Writes VIEW.webm or matte.webm."""

    format = "webm"
    title = "WebM (VP9)"
    group = "Movies"
    position = 2
    about = "A VP9 movie for the web; objects, if there are any, are cut out unless a view is chosen"
    suffix = ".webm"
    codec = Codec("libvpx-vp9", "yuv420p", _OPTIONS, _TICK, _REPRODUCIBLE, even=True)
    # Alternate reference frames cannot hold transparency.
    alpha_codec = Codec("libvpx-vp9", "yuva420p", {**_OPTIONS, "auto-alt-ref": "0"}, _TICK, _REPRODUCIBLE, even=True)
