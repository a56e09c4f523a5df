"""Parameters of `VideoSegmenter`, checked when they are set."""

from __future__ import annotations

from dataclasses import dataclass

from scstream.checks import check_choice, check_number
from scstream.pixels.colour import COLOURS
from scstream.sampler.parameters import Parameters


@dataclass(frozen=True, kw_only=True)
class VideoParameters(Parameters):
    """Parameters of the sampler and of how frames become points; `VideoSegmenter` describes each."""

    alpha: float = 1000.0
    decay: float = 2.9
    colour: str = "rgb"
    scale: float = 1.0
    detail: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("colour", self.colour, COLOURS)
        check_number("scale", self.scale, 0.0, 1.0, strict=True)
        check_number("detail", self.detail, 0.0, strict=True)
        for name in ("scale", "detail"):
            object.__setattr__(self, name, float(getattr(self, name)))
