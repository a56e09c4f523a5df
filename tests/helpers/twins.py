"""Comparison of two samplers in distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reference import Niw
from scstream import Gaussian

#: Values that a run gives, by name.
Quantities = dict[str, float]


def component_of(prior: Niw) -> Gaussian:
    return Gaussian(prior.kappa, prior.m, prior.nu, prior.psi).bind(prior.m[None], np.ones(1))


def assert_alike(
    one: Callable[[int], Quantities], other: Callable[[int], Quantities], n_one: int, n_other: int
) -> None:
    """Fail if the mean of a quantity differs by more than three standard errors, and with new seeds again.

    Of so many quantities one differs by chance now and then, but not twice.
    """
    different = differing(one, other, n_one, n_other, 0)
    if different:
        again = differing(one, other, n_one, n_other, 10_000)
        different = {name: f"{text}; again {again[name]}" for name, text in different.items() if name in again}
    assert not different


def differing(
    one: Callable[[int], Quantities], other: Callable[[int], Quantities], n_one: int, n_other: int, first_seed: int
) -> dict[str, str]:
    """Quantities whose means over the seeds differ by more than three standard errors, described."""
    a = [one(seed) for seed in range(first_seed, first_seed + n_one)]
    b = [other(seed) for seed in range(first_seed, first_seed + n_other)]
    out = {}
    for name in a[0]:
        x, y = np.array([run[name] for run in a]), np.array([run[name] for run in b])
        error = np.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))
        # What never varies may still be rounded differently.
        if abs(x.mean() - y.mean()) > 3.0 * error + 1e-9 * abs(x.mean()):
            out[name] = f"{x.mean():.4g} and {y.mean():.4g}, standard error {error:.2g}"
    return out
