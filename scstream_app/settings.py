"""Settings of a run: one table that defines the controls, the command line options and the stored values."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from scstream_app.errors import SettingsError

if TYPE_CHECKING:
    from scstream import VideoSegmenter

Kind = Literal["number", "integer", "choice", "switch"]
Group = Literal["basic", "advanced"]


@dataclass(frozen=True, slots=True)
class Spec:
    """Description of one setting: how it is displayed, explained and validated.

    Parameters
    ----------
    label : str
        Name in the user interface.
    help : str
        What the setting does, for tooltips and the command line.
    kind, group
        Type of the control, and the group of controls it belongs to.
    low, high : float
        Bounds of a number; with ``above`` the lower bound itself is not allowed.
    choices : tuple of str
        Allowed values of a choice.
    none : str, optional
        Meaning of None; without it None is not allowed.
    machine : bool
        Whether the setting depends on the machine and does not affect the result.
    flag : str
        Option on the command line.
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
        """Return the value as a plain Python type; raises SettingsError if it is not allowed."""
        if value is None and self.none is not None:
            return None
        valid = {
            "switch": isinstance(value, bool),
            "choice": isinstance(value, str) and value in self.choices,
            "integer": isinstance(value, numbers.Integral) and not isinstance(value, bool) and self._within(value),
            "number": isinstance(value, numbers.Real) and not isinstance(value, bool) and self._within(value),
        }
        if not valid[self.kind]:
            raise SettingsError(f"{name} must be {self.expected}, got {value!r}")
        return {"switch": bool, "choice": str, "integer": int, "number": float}[self.kind](value)

    def _within(self, value: Any) -> bool:
        return bool(self.low < value <= self.high or (value == self.low and not self.above))

    @property
    def expected(self) -> str:
        """Description of the allowed values, such as "a number, above 0 and at most 1"."""
        if self.kind == "switch":
            text = "true or false"
        elif self.kind == "choice":
            text = f"one of {', '.join(self.choices)}"
        else:
            noun, layout = ("a whole number", "d") if self.kind == "integer" else ("a number", "g")
            low = f"{'above' if self.above else 'at least'} {self.low:{layout}}"
            text = f"{noun}, {low} and at most {self.high:{layout}}"
        return text if self.none is None else f"{text}, or none ({self.none})"


def _setting(default: Any, label: str, help: str, kind: Kind, flag: str, **rest: Any) -> Any:
    return field(default=default, metadata={"spec": Spec(label, help, kind, flag=flag, **rest)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Parameters of a run, validated on construction.

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
        "Colour space in which pixels are compared. RGB is that of the camera; Lab is closer to human perception.",
        "choice",
        "--colour",
        choices=("rgb", "lab"),
    )
    scale: float = _setting(
        1.0,
        "Processing size",
        "Scale factor applied to frames before segmentation. Smaller values are faster, but lose small objects and "
        "make outlines coarser.",
        "number",
        "--scale",
        low=0.0,
        high=1.0,
        above=True,
    )
    detail: float = _setting(
        1.0,
        "Detail",
        "Larger values give more and smaller segments: 3 gives nearly twice as many as 1, and 0.1 a third as many.",
        "number",
        "--detail",
        low=0.001,
        high=1000.0,
    )
    smoothing: float = _setting(
        1.0,
        "Smoothing",
        "How large a speck may be before its surroundings absorb it, and how far colours may be off, as the blocks of "
        "a compressed video are. Larger values give fewer specks and smoother outlines. 0: off.",
        "number",
        "--smoothing",
        low=0.0,
        high=10.0,
    )
    steadiness: float = _setting(
        1.0,
        "Steadiness",
        "How long segments keep their ids. Larger values give ids that last longer, smaller ones show changes sooner: "
        "a new segment gets an id of its own when it has lasted for 12 * steadiness frames. 0: off.",
        "number",
        "--steadiness",
        low=0.0,
        high=2.0,
    )
    decay: float = _setting(
        2.9,
        "Forgetting",
        "How fast the model forgets past frames: a frame of age t has weight 2 ** (-decay * t / 4**steadiness). "
        "Smaller values make segments more stable, larger ones let them follow fast changes.",
        "number",
        "--decay",
        low=0.0,
        high=100.0,
    )
    sweeps: int = _setting(
        1,
        "Sweeps",
        "Number of sampling sweeps per frame. More sweeps find new segments sooner, but take longer.",
        "integer",
        "--sweeps",
        low=0,
        high=100,
    )
    seed: int = _setting(
        0,
        "Seed",
        "Seed of the random numbers. The same seed gives the same segments, another seed slightly different ones.",
        "integer",
        "--seed",
        low=0,
        high=2**63 - 1,
    )
    threads: int | None = _setting(
        None,
        "Threads",
        "Number of processor threads. Affects the speed, not the result.",
        "integer",
        "--threads",
        low=1,
        high=1024,
        none="one for each core",
        machine=True,
    )
    scene_cuts: bool = _setting(
        True,
        "Restart at scene cuts",
        "Detect scene cuts and restart the model there: all segments end, and new ones begin.",
        "switch",
        "--scene-cuts",
    )
    alpha: float = _setting(
        1000.0,
        "Concentration",
        "Concentration parameter alpha of the Dirichlet process: larger values favour new segments. With thousands of "
        "pixels per frame its effect is small; use detail to get more or fewer segments.",
        "number",
        "--alpha",
        group="advanced",
        low=1e-300,
        high=1e300,
    )
    burn_in: int = _setting(
        5,
        "Burn-in",
        "Number of sweeps before a new segment may split or merge. Larger values give fewer short-lived segments.",
        "integer",
        "--burn-in",
        group="advanced",
        low=0,
        high=10_000,
    )
    epsilon: float = _setting(
        1e-8,
        "Forgetting threshold",
        "Past frames whose weight falls to this value or below are dropped. Hardly affects the result; larger values "
        "save memory if forgetting is slow.",
        "number",
        "--epsilon",
        group="advanced",
        low=0.0,
        high=1.0,
    )
    max_init_sweeps: int = _setting(
        200,
        "First-frame sweeps",
        "Maximum number of sweeps over the first frame of a scene. Fewer sweeps show a result sooner, more give better "
        "segments.",
        "integer",
        "--max-init-sweeps",
        group="advanced",
        low=1,
        high=100_000,
    )
    split_last: bool = _setting(
        True,
        "Split after the last sweep",
        "Also propose splits after the final, deterministic sweep of a frame. Finds more segments, and finds them "
        "sooner.",
        "switch",
        "--split-last",
        group="advanced",
    )
    restart: int | None = _setting(
        60,
        "Sub-cluster restart",
        "Number of sweeps without a split after which the sub-clusters of a segment restart along another direction.",
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
        "Rule for merging two segments: original merges them only if they are hardly distinguishable, paper merges "
        "them sooner.",
        "choice",
        "--merge",
        group="advanced",
        choices=("original", "paper"),
    )
    kernel: str = _setting(
        "exponential",
        "Forgetting kernel",
        "How the weight of a past frame decreases with its age: steadily (exponential), slowly then fast (rbf), or "
        "all at once (window).",
        "choice",
        "--kernel",
        group="advanced",
        choices=("exponential", "rbf", "window"),
    )

    def __post_init__(self) -> None:
        for name, spec in SPECS.items():
            object.__setattr__(self, name, spec.check(name, getattr(self, name)))

    def segmenter(self) -> VideoSegmenter:
        """Create a segmenter with these settings."""
        # The engine takes a second to import, for which help texts should not wait.
        import scstream

        values = self.as_dict()
        del values["scene_cuts"]
        return scstream.VideoSegmenter(**values)

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON."""
        return asdict(self)

    def portable(self) -> dict[str, Any]:
        """The values that determine the result, without those that depend on the machine."""
        return {name: value for name, value in self.as_dict().items() if not SPECS[name].machine}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Inverse of `as_dict`; missing values take their defaults, unknown names raise SettingsError."""
        if not isinstance(values, Mapping):
            raise SettingsError(f"settings must be a mapping of names to values, got {values!r}")
        unknown = sorted(map(str, values.keys() - SPECS.keys()))
        if unknown:
            raise SettingsError(f"unknown setting '{unknown[0]}'; the settings are {', '.join(SPECS)}")
        return cls(**values)


#: Description of each setting, in the order of the controls.
SPECS: Mapping[str, Spec] = MappingProxyType({f.name: f.metadata["spec"] for f in fields(Settings)})


@dataclass(frozen=True, slots=True)
class Preset:
    """Named combination of settings for a purpose."""

    name: str
    description: str
    values: Mapping[str, Any]

    def apply(self, settings: Settings | None = None) -> Settings:
        """Default settings with the values of the preset, and with ``seed`` and ``threads`` of ``settings``."""
        kept = settings or Settings()
        return replace(Settings(seed=kept.seed, threads=kept.threads), **self.values)


PRESETS: tuple[Preset, ...] = (
    Preset(
        "Paper",
        "The method of the paper: no smoothing, no steadiness, no sub-cluster restarts after the first frame, its "
        "merge rule, no scene cuts.",
        MappingProxyType({"smoothing": 0.0, "steadiness": 0.0, "restart": None, "merge": "paper", "scene_cuts": False}),
    ),
    Preset(
        "Live",
        "For cameras: half the processing size and a single sweep per frame, about three times as fast.",
        MappingProxyType({"scale": 0.5, "sweeps": 0, "max_init_sweeps": 60}),
    ),
    Preset("Fine", "About twice as many segments, for small details; slower.", MappingProxyType({"detail": 4.0})),
    Preset(
        "Coarse",
        "About a third as many segments, for large objects; faster.",
        MappingProxyType({"detail": 0.1}),
    ),
)


def remembered_frames(decay: float, steadiness: float) -> float:
    """Effective number of frames that the model remembers: the total weight of the current and all past frames.

    >>> [round(remembered_frames(decay, 0.0), 2) for decay in (2.9, 1.0, 0.1, 0.0)]
    [1.15, 2.0, 14.93, inf]
    >>> round(remembered_frames(2.9, 1.0), 2)
    2.53
    """
    from scstream import VideoParameters

    ratio = VideoParameters(decay=decay, steadiness=steadiness).forgetting_kernel(1.0)
    return 1.0 / (1.0 - ratio) if ratio < 1.0 else math.inf
