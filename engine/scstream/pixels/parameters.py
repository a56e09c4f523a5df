"""Parameters of `VideoSegmenter`, checked when they are set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from scstream.checks import check_choice, check_number
from scstream.pixels.colour import COLOURS
from scstream.sampler.forgetting import KERNELS, Kernel
from scstream.sampler.parameters import Parameters

#: Largest values of the two parameters; more of either leaves hardly any segments.
MAX_SMOOTHING = 10.0
MAX_STEADINESS = 2.0
#: With a smoothing of 1, the standard deviation of the chroma channels' error. Cameras and codecs store them at half
#: the resolution and round them; without an error, flat blocks of a codec are the surest thing in a picture.
_CHROMA_NOISE = 1.5 / 255.0
#: With a smoothing of 1 or more, the prior variances of segments are divided by this too: the error hides small
#: differences, and without a finer prior there would be fewer segments.
_FINER = 1.3
#: With a steadiness of 1 the past is forgotten this many times more slowly.
_SLOWER = 4.0
#: With a steadiness of 1 a new segment is announced when it has lasted for this many frames.
_PATIENCE = 12


@dataclass(frozen=True, kw_only=True)
class VideoParameters(Parameters):
    """Parameters of the sampler and of how frames become points; `VideoSegmenter` describes each.

    Examples
    --------
    >>> VideoParameters(steadiness=0.5).patience
    6
    >>> VideoParameters(patience=3)
    Traceback (most recent call last):
    ...
    TypeError: VideoParameters.__init__() got an unexpected keyword argument 'patience'
    """

    alpha: float = 1000.0
    decay: float = 2.9
    colour: str = "rgb"
    scale: float = 1.0
    detail: float = 1.0
    smoothing: float = 1.0
    steadiness: float = 1.0
    #: For video these follow from the steadiness, or are off: they are no arguments.
    follow: str = field(default="nothing", init=False)
    revise: int | None = field(default=None, init=False)
    patience: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("colour", self.colour, COLOURS)
        check_number("scale", self.scale, 0.0, 1.0, strict=True)
        check_number("detail", self.detail, 0.0, strict=True)
        check_number("smoothing", self.smoothing, 0.0, MAX_SMOOTHING)
        check_number("steadiness", self.steadiness, 0.0, MAX_STEADINESS)
        for name in ("scale", "detail", "smoothing", "steadiness"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "follow", "clusters" if self.steadiness else "nothing")
        object.__setattr__(self, "patience", round(_PATIENCE * self.steadiness))

    @property
    def chroma_noise(self) -> float:
        """Standard deviation of the error of the chroma channels that segments allow for."""
        return _CHROMA_NOISE * math.sqrt(self.smoothing)

    @property
    def prior_detail(self) -> float:
        """What the prior variances of a segment's colour and position are divided by."""
        return float(self.detail * _FINER ** min(self.smoothing, 1.0))

    @property
    def weigh_prior(self) -> bool:
        """As in `Parameters`: seeing a picture again is no reason to divide it further."""
        return self.steadiness > 0.0

    @property
    def forgetting_kernel(self) -> Kernel:
        """Weight of a frame as a function of its age: `kernel` of an age that `steadiness` shortens."""
        slower = _SLOWER**self.steadiness
        if callable(self.kernel):
            kernel = self.kernel
            return lambda age: kernel(age / slower)
        return KERNELS[self.kernel](float(self.decay) / slower)
