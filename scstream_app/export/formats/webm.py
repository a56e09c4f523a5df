"""VP9 movies for the web, with transparency where objects are cut out."""

from __future__ import annotations

from fractions import Fraction

from scstream_app.export.movie import Codec, Movies

# Constant quality at the fastest setting: the careful ones take twenty times as long for a fifth of the bytes.
_OPTIONS = {
    "crf": "26",
    "b": "0",
    "deadline": "realtime",
    "cpu-used": "8",
    "row-mt": "1",
    "tile-columns": "2",
    "lag-in-frames": "0",
}
#: The container knows no finer times.
_TICK = Fraction(1, 1000)
#: Without the random number that the container would otherwise hold: the same frames give the same file.
_SAME = {"fflags": "+bitexact"}


class WebM(Movies):
    """VIEW.webm or matte.webm."""

    format = "webm"
    about = "A VP9 movie for the web; where objects are given and no view is, these cut out with transparency"
    suffix = ".webm"
    codec = Codec("libvpx-vp9", "yuv420p", _OPTIONS, _TICK, _SAME, even=True)
    # Frames that are never shown have no place for transparency.
    see_through = Codec("libvpx-vp9", "yuva420p", {**_OPTIONS, "auto-alt-ref": "0"}, _TICK, _SAME, even=True)
