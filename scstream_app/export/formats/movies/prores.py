"""ProRes 4444 movies for editing, with transparency for objects cut out."""

from __future__ import annotations

from fractions import Fraction

from scstream_app.export.movie import Codec, MovieWriter

_OPTIONS = {"profile": "4444", "vendor": "apl0"}
_TICK = Fraction(1, 90_000)


class ProRes(MovieWriter):
    """Writes VIEW.mov or matte.mov."""

    format = "prores"
    title = "ProRes 4444"
    group = "Movies"
    position = 3
    about = "A ProRes 4444 movie for editing; objects, if there are any, are cut out unless a view is chosen"
    suffix = ".mov"
    codec = Codec("prores_ks", "yuv444p10le", _OPTIONS, _TICK)
    alpha_codec = Codec("prores_ks", "yuva444p10le", {**_OPTIONS, "alpha_bits": "8"}, _TICK)
