"""Conjugate pairs that can be components of the mixture, one a file."""

from scstream.components.base import Component
from scstream.components.diagonal import DiagonalGaussian
from scstream.components.gaussian import Gaussian
from scstream.components.multinomial import Multinomial

#: What a saved model may name.
BY_NAME: dict[str, type[Component]] = {c.name: c for c in (Gaussian, DiagonalGaussian, Multinomial)}

__all__ = ["BY_NAME", "Component", "DiagonalGaussian", "Gaussian", "Multinomial"]
