"""Forgetting: how much a past batch still counts, as a function of its age."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scstream.checks import Array

#: Weight of a record as a function of its age.
Kernel = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Exponential:
    """2 ** (-decay * age), the paper's kernel."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.weights(np.array([age]))[0])

    def weights(self, ages: Array) -> Array:
        """Weights (R,) of records with these ages."""
        return np.exp2(-self.decay * ages)


@dataclass(frozen=True, slots=True)
class Rbf:
    """exp(-(decay * age)^2 / 2): nearly 1 for recent records, then falls quickly."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.weights(np.array([age]))[0])

    def weights(self, ages: Array) -> Array:
        """Weights (R,) of records with these ages."""
        return np.exp(-0.5 * np.square(self.decay * ages))


@dataclass(frozen=True, slots=True)
class Window:
    """1 if decay * age < 1, else 0: a sliding window of 1 / decay units of time."""

    decay: float

    def __call__(self, age: float) -> float:
        return float(self.weights(np.array([age]))[0])

    def weights(self, ages: Array) -> Array:
        """Weights (R,) of records with these ages."""
        return np.where(self.decay * ages < 1.0, 1.0, 0.0)


KERNELS: dict[str, Callable[[float], Kernel]] = {"exponential": Exponential, "rbf": Rbf, "window": Window}


def is_memoryless(kernel: Kernel) -> bool:
    """Whether the weights of two records keep their ratio as both grow older, so that the two can become one."""
    return isinstance(kernel, Exponential) or (isinstance(kernel, Rbf | Window) and kernel.decay == 0.0)


def kernel_weights(kernel: Kernel, ages: Array) -> Array:
    """Weights (R,) of records with these ages; raises ValueError if the kernel returns a value outside [0, 1]."""
    if isinstance(kernel, Exponential | Rbf | Window):
        return kernel.weights(ages)
    weights = [kernel(float(age)) for age in ages]
    for weight, age in zip(weights, ages, strict=True):
        if not isinstance(weight, numbers.Real) or not 0.0 <= weight <= 1.0:
            raise ValueError(f"a kernel must return a weight in [0, 1], got {weight!r} for the age {age:g}")
    return np.array(weights, np.float64)
