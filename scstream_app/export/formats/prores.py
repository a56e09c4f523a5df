"""ProRes 4444 movies for editing, with transparency where objects are cut out."""

from __future__ import annotations

from fractions import Fraction

from scstream_app.export.movie import Codec, Movies

_OPTIONS = {"profile": "4444", "vendor": "apl0"}
_TICK = Fraction(1, 90_000)


class ProRes(Movies):
    """VIEW.mov or matte.mov."""

    format = "prores"
    about = "A ProRes 4444 movie for editing; where objects are given and no view is, these cut out with transparency"
    suffix = ".mov"
    codec = Codec("prores_ks", "yuv444p10le", _OPTIONS, _TICK)
    see_through = Codec("prores_ks", "yuva444p10le", {**_OPTIONS, "alpha_bits": "8"}, _TICK)
