"""What a person can set: one table that drives the dialog, the file and the command line."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, Self

import scstream
from scstream.pixels.colour import COLOURS
from scstream.sampler.forgetting import KERNELS
from scstream_app.errors import SettingsError

Kind = Literal["number", "integer", "choice", "switch"]
Group = Literal["basic", "advanced"]


@dataclass(frozen=True, slots=True)
class Spec:
    """How one setting is shown, explained and checked.

    Parameters
    ----------
    label : str
        Its name in the dialog.
    help : str
        What it does to the picture, in plain words.
    kind, group
        Which control it gets, and where.
    low, high : float
        Bounds of a number; ``above`` says that the lower one itself is not allowed.
    choices : tuple of str
        What a choice can be.
    none : str, optional
        What None means; without it None is not allowed.
    machine : bool
        Whether it belongs to the machine and leaves the result as it is.
    flag : str
        Its option on the command line.
    """

    label: str
    help: str
    kind: Kind
    group: Group = "basic"
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    choices: tuple[str, ...] = ()
    none: str | None = None
    machine: bool = False
    flag: str = ""

    def check(self, name: str, value: Any) -> Any:
        """The value as Python's own kind, or a SettingsError that says what would be right."""
        if value is None and self.none is not None:
            return None
        right = {
            "switch": isinstance(value, bool),
            "choice": isinstance(value, str) and value in self.choices,
            "integer": isinstance(value, numbers.Integral) and not isinstance(value, bool) and self._within(value),
            "number": isinstance(value, numbers.Real) and not isinstance(value, bool) and self._within(value),
        }
        if not right[self.kind]:
            raise SettingsError(f"{name} must be {self.wanted}, got {value!r}")
        return {"switch": bool, "choice": str, "integer": int, "number": float}[self.kind](value)

    def _within(self, value: Any) -> bool:
        return bool(self.low < value <= self.high or (value == self.low and not self.above))

    @property
    def wanted(self) -> str:
        """What a right value is: "a number above 0 and at most 1"."""
        if self.kind == "switch":
            text = "true or false"
        elif self.kind == "choice":
            text = f"one of {', '.join(self.choices)}"
        else:
            noun = "a whole number" if self.kind == "integer" else "a number"
            low = f"above {self.low:g}" if self.above else f"at least {self.low:g}"
            text = f"{noun}, {low} and at most {self.high:g}"
        return text if self.none is None else f"{text}, or none ({self.none})"


def _setting(default: Any, label: str, help: str, kind: Kind, flag: str, **rest: Any) -> Any:
    return field(default=default, metadata={"spec": Spec(label, help, kind, flag=flag, **rest)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a run depends on besides its source; checked when made.

    Examples
    --------
    >>> Settings(alpha=10).alpha, Settings().decay
    (10.0, 2.9)
    >>> Settings(scale=2.0)
    Traceback (most recent call last):
    scstream_app.errors.SettingsError: scale must be a number, above 0 and at most 1, got 2.0
    """

    colour: str = _setting(
        "rgb",
        "Colour space",
        "How colours are compared. RGB is what the camera gives; Lab is closer to what the eye sees as similar.",
        "choice",
        "--colour",
        choices=tuple(sorted(COLOURS, reverse=True)),
    )
    scale: float = _setting(
        1.0,
        "Processing size",
        "Work on frames reduced to this size. Smaller is faster and overlooks small things; outlines get coarser.",
        "number",
        "--scale",
        low=0.0,
        high=1.0,
        above=True,
    )
    detail: float = _setting(
        1.0,
        "Detail",
        "Larger values cut the picture into more and smaller segments: 3 gives nearly twice as many as 1, 0.1 a third.",
        "number",
        "--detail",
        low=0.001,
        high=1000.0,
    )
    decay: float = _setting(
        2.9,
        "Forgetting",
        "How fast the past is forgotten: a frame ago weighs 2 ** -decay. Smaller values make segments steadier, "
        "larger ones let them follow fast changes.",
        "number",
        "--decay",
        low=0.0,
        high=100.0,
    )
    sweeps: int = _setting(
        1,
        "Sweeps",
        "Random passes over each frame. More of them find new segments sooner, and take longer.",
        "integer",
        "--sweeps",
        low=0,
        high=100,
    )
    seed: int = _setting(
        0,
        "Seed",
        "The same seed gives the same segments; another one a slightly different division of the picture.",
        "integer",
        "--seed",
        low=0,
        high=2**63 - 1,
    )
    threads: int | None = _setting(
        None,
        "Threads",
        "How many cores to use. Changes the speed, never the picture.",
        "integer",
        "--threads",
        low=1,
        high=1024,
        none="one for each core",
        machine=True,
    )
    scene_cuts: bool = _setting(
        True,
        "Start afresh at scene cuts",
        "When the picture changes altogether, forget the old scene: its segments end and new ones begin.",
        "switch",
        "--scene-cuts",
    )
    alpha: float = _setting(
        1000.0,
        "Concentration",
        "The model's own parameter for how readily new segments appear. Beside thousands of pixels it hardly matters: "
        "use detail to get more or fewer segments.",
        "number",
        "--alpha",
        group="advanced",
        low=1e-300,
        high=1e300,
    )
    burn_in: int = _setting(
        5,
        "Burn-in",
        "Passes during which a new segment is left alone before it may split or merge. Larger values give fewer "
        "segments that come and go.",
        "integer",
        "--burn-in",
        group="advanced",
        low=0,
        high=10_000,
    )
    epsilon: float = _setting(
        1e-8,
        "Forget below",
        "A past frame that weighs no more than this is forgotten for good. Hardly changes the picture; larger values "
        "save memory when forgetting is slow.",
        "number",
        "--epsilon",
        group="advanced",
        low=0.0,
        high=1.0,
    )
    max_init_sweeps: int = _setting(
        200,
        "First-frame sweeps",
        "Most passes over the first frame of a scene. Fewer show a picture sooner, more divide it better.",
        "integer",
        "--max-init-sweeps",
        group="advanced",
        low=1,
        high=100_000,
    )
    split_last: bool = _setting(
        True,
        "Split after the last pass",
        "Also propose splits after the deterministic pass that ends a frame. Finds more segments, sooner.",
        "switch",
        "--split-last",
        group="advanced",
    )
    restart: int | None = _setting(
        60,
        "Fresh starts",
        "When a segment has found no way to split for so many passes, look for one along another direction.",
        "integer",
        "--restart",
        group="advanced",
        low=0,
        high=1_000_000,
        none="never after the first frame",
    )
    merge: str = _setting(
        "original",
        "Merge rule",
        "When two segments become one: original keeps them apart until they can hardly be told from each other, "
        "paper joins them sooner.",
        "choice",
        "--merge",
        group="advanced",
        choices=("original", "paper"),
    )
    kernel: str = _setting(
        "exponential",
        "Shape of forgetting",
        "How a past frame's weight falls with its age: steadily (exponential), slowly then fast (rbf), or all at once "
        "(window).",
        "choice",
        "--kernel",
        group="advanced",
        choices=tuple(sorted(KERNELS)),
    )

    def __post_init__(self) -> None:
        for name, spec in SPECS.items():
            object.__setattr__(self, name, spec.check(name, getattr(self, name)))

    def segmenter(self) -> scstream.VideoSegmenter:
        """A new segmenter with these settings."""
        values = self.as_dict()
        del values["scene_cuts"]
        return scstream.VideoSegmenter(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        return asdict(self)

    def portable(self) -> dict[str, Any]:
        """The values that determine the result, without those that belong to the machine."""
        return {name: value for name, value in self.as_dict().items() if not SPECS[name].machine}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Undo `as_dict`; what is missing takes its default, what is unknown is refused."""
        if not isinstance(values, Mapping):
            raise SettingsError(f"settings must be names with values, got {values!r}")
        unknown = sorted(map(str, values.keys() - SPECS.keys()))
        if unknown:
            raise SettingsError(f"there is no setting '{unknown[0]}'; there are {', '.join(SPECS)}")
        return cls(**values)


#: How each setting is shown and checked, in the order of the dialog.
SPECS: Mapping[str, Spec] = MappingProxyType({f.name: f.metadata["spec"] for f in fields(Settings)})


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings that go together, and what they are good for."""

    name: str
    description: str
    values: Mapping[str, Any]

    def apply(self, settings: Settings | None = None) -> Settings:
        """The preset's values; seed and threads are those of ``settings``, the rest is as by default."""
        kept = settings or Settings()
        return replace(Settings(seed=kept.seed, threads=kept.threads), **self.values)


PRESETS: tuple[Preset, ...] = (
    Preset(
        "Paper",
        "As the paper describes it: no fresh starts, its own merge rule, one scene from beginning to end.",
        MappingProxyType({"restart": None, "merge": "paper", "scene_cuts": False}),
    ),
    Preset(
        "Live",
        "For cameras: half the size and one pass a frame, about three times as fast.",
        MappingProxyType({"scale": 0.5, "sweeps": 0, "max_init_sweeps": 60}),
    ),
    Preset("Fine", "About twice as many segments, for small parts; slower.", MappingProxyType({"detail": 4.0})),
    Preset(
        "Coarse",
        "About a third as many segments, for large things; faster.",
        MappingProxyType({"detail": 0.1}),
    ),
)


def remembered_frames(decay: float) -> float:
    """How many frames the model goes by, the current one included: what all of them weigh together.

    >>> [round(remembered_frames(decay), 2) for decay in (2.9, 1.0, 0.1, 0.0)]
    [1.15, 2.0, 14.93, inf]
    """
    return 1.0 / (1.0 - 2.0**-decay) if decay > 0.0 else math.inf
