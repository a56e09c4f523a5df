"""How the past is forgotten: the weight of a record as a function of its age."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Weight of a record as a function of its age.
Kernel = Callable[[float], float]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Exponential:
    """2 ** (-decay * age), the paper's kernel."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.of_all(np.array([age]))[0])

    def of_all(self, ages: Array) -> Array:
        """The weights of many records at once."""
        return np.exp2(-self.decay * ages)


@dataclass(frozen=True, slots=True)
class Rbf:
    """exp(-(decay * age)^2 / 2): flat at first, then forgets quickly."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.of_all(np.array([age]))[0])

    def of_all(self, ages: Array) -> Array:
        """The weights of many records at once."""
        return np.exp(-0.5 * np.square(self.decay * ages))


@dataclass(frozen=True, slots=True)
class Window:
    """1 while decay * age < 1, then 0: a sliding window over 1 / decay units of time."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.of_all(np.array([age]))[0])

    def of_all(self, ages: Array) -> Array:
        """The weights of many records at once."""
        return np.where(self.decay * ages < 1.0, 1.0, 0.0)


KERNELS: dict[str, Callable[[float], Kernel]] = {"exponential": Exponential, "rbf": Rbf, "window": Window}


def weigh(kernel: Kernel, ages: Array) -> Array:
    """The kernel's weights of records of these ages, checked."""
    if isinstance(kernel, Exponential | Rbf | Window):
        return kernel.of_all(ages)
    weights = [kernel(float(age)) for age in ages]
    for weight, age in zip(weights, ages, strict=True):
        if not isinstance(weight, numbers.Real) or not 0.0 <= weight <= 1.0:
            raise ValueError(f"a kernel must return a weight in [0, 1], got {weight!r} for the age {age:g}")
    return np.array(weights, np.float64)
