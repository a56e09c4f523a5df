"""ScStream without its deterministic sweep, to measure what that sweep is worth."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

from scstream import Parameters, ScStream
from scstream.sampler.sampler import Sampler
from scstream.sampler.sweep import Batch


class _SampledSweeps(Sampler):
    """A sampler whose every sweep draws the labels."""

    __slots__ = ()

    @classmethod
    def of(cls, sampler: Sampler) -> Self:
        return cls(**{field.name: getattr(sampler, field.name) for field in fields(Sampler) if field.init})

    def sweep(self, batch: Batch, config: Parameters, sampling: bool, splitting: bool = True) -> None:
        Sampler.sweep(self, batch, config, True, splitting)


class SampledScStream(ScStream):
    """ScStream that ends each batch but the first with another stochastic sweep instead of the deterministic one."""

    def partial_fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Update the model with the next batch."""
        super().partial_fit(X, y, **options)
        # A stream that has faded starts again with a sampler of its own.
        if self._sampler is not None and not isinstance(self._sampler, _SampledSweeps):
            self._sampler = _SampledSweeps.of(self._sampler)
        return self
