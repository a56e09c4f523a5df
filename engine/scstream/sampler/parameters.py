"""Parameters of the sampler, checked when they are set."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from scstream.checks import check_choice, check_integer, check_number
from scstream.params import check_names
from scstream.sampler.forgetting import KERNELS, Kernel
from scstream.threads import cores


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of the sampler as the user sets them; `ScStream` describes each.

    Raises
    ------
    ValueError
        If a value is out of range. The message names the parameter, the value and what is allowed.

    Examples
    --------
    >>> Parameters(alpha=10.0).changed(sweeps=2).sweeps
    2
    >>> Parameters(alpha=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: alpha must be > 0, got -1.0
    """

    alpha: float = 1.0
    decay: float = 1.0
    kernel: str | Kernel = "exponential"
    epsilon: float = 1e-8
    sweeps: int = 1
    burn_in: int = 5
    max_init_sweeps: int = 200
    split_last: bool = True
    restart: int | None = 60
    merge: str = "original"
    follow: str = "nothing"
    revise: int | None = None
    patience: int = 0
    seed: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0.0, strict=True)
        check_number("decay", self.decay, 0.0)
        check_number("epsilon", self.epsilon, 0.0, 1.0)
        check_integer("sweeps", self.sweeps, 0)
        check_integer("burn_in", self.burn_in, 0)
        check_integer("max_init_sweeps", self.max_init_sweeps, 1)
        if self.restart is not None:
            check_integer("restart", self.restart, 0)
        if self.revise is not None:
            check_integer("revise", self.revise, 1)
        check_integer("patience", self.patience, 0)
        if self.seed is not None:
            check_integer("seed", self.seed, 0)
        if self.threads is not None:
            check_integer("threads", self.threads, 1)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_choice("merge", self.merge, ("original", "paper"))
        check_choice("follow", self.follow, ("nothing", "clusters", "halves"))

    def changed(self, **values: Any) -> Self:
        """Return a copy with other values for some parameters."""
        check_names(values, [field.name for field in fields(self) if field.init])
        return replace(self, **values)

    @property
    def log_alpha(self) -> float:
        """Logarithm of `alpha`."""
        return math.log(self.alpha)

    @property
    def forgetting_kernel(self) -> Kernel:
        """Weight of a batch as a function of its age: `kernel` with `decay`, or the user's own function."""
        return self.kernel if callable(self.kernel) else KERNELS[self.kernel](float(self.decay))

    @property
    def weigh_prior(self) -> bool:
        """Whether the prior weighs as many batches as the past and the newest batch together count for."""
        return False

    @property
    def n_threads(self) -> int:
        """Number of threads to use: `threads`, or one for each core."""
        return self.threads or cores()
