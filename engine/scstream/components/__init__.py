"""Kinds of clusters, one per file: a likelihood with its conjugate prior."""

from scstream.components.base import BY_NAME, Component
from scstream.components.diagonal import DiagonalGaussian
from scstream.components.gaussian import Gaussian
from scstream.components.multinomial import Multinomial
from scstream.components.pixels import PixelGaussian

__all__ = ["BY_NAME", "Component", "DiagonalGaussian", "Gaussian", "Multinomial", "PixelGaussian"]
