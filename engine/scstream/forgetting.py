"""How the past is forgotten: the weight of a record as a function of its age."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass

#: Weight of a record as a function of its age.
Kernel = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Exponential:
    """2 ** (-decay * age), the paper's kernel."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(2.0 ** (-self.decay * age))


@dataclass(frozen=True, slots=True)
class Rbf:
    """exp(-(decay * age)^2 / 2): flat at first, then forgets quickly."""

    decay: float

    def __call__(self, age: float) -> float:
        return math.exp(-0.5 * (self.decay * age) ** 2)


@dataclass(frozen=True, slots=True)
class Window:
    """1 while decay * age < 1, then 0: a sliding window over 1 / decay units of time."""

    decay: float

    def __call__(self, age: float) -> float:
        return 1.0 if self.decay * age < 1.0 else 0.0


KERNELS: dict[str, Callable[[float], Kernel]] = {"exponential": Exponential, "rbf": Rbf, "window": Window}


def weigh(kernel: Kernel, age: float) -> float:
    """The kernel's weight of a record of this age, checked."""
    weight = kernel(age)
    # The first question is for speed: the second takes longer than the kernel.
    if not (type(weight) is float or isinstance(weight, numbers.Real)) or not 0.0 <= weight <= 1.0:
        raise ValueError(f"a kernel must return a weight in [0, 1], got {weight!r} for the age {age:g}")
    return float(weight)
