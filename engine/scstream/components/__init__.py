"""Kinds of clusters, one per file: a likelihood with its conjugate prior."""

from scstream.components.base import Component
from scstream.components.diagonal import DiagonalGaussian
from scstream.components.gaussian import Gaussian
from scstream.components.multinomial import Multinomial

#: Components that a saved model can refer to.
BY_NAME: dict[str, type[Component]] = {c.name: c for c in (Gaussian, DiagonalGaussian, Multinomial)}

__all__ = ["BY_NAME", "Component", "DiagonalGaussian", "Gaussian", "Multinomial"]
