"""Gaussian clusters of pixels: the component of `VideoSegmenter`."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from scstream.components.base import Array
from scstream.components.gaussian import Gaussian


class PixelGaussian(Gaussian):
    """`Gaussian` whose statistics are relative to zero, as the kernels for pixels sum them.

    Rows, columns and colours lie between 0 and about 1: there is no offset that could cost digits.
    """

    name: ClassVar[str] = "pixels"

    @cached_property
    def _prior(self) -> tuple[float, Array | tuple[float, ...], float, Array]:
        kappa, m, nu, nu_psi = super()._prior
        # A tuple has a length that the kernels are compiled for.
        return kappa, tuple(np.asarray(m).tolist()), nu, nu_psi

    @cached_property
    def origin(self) -> Array:
        """Point (D,) to which statistics are relative: zero."""
        return np.zeros(np.asarray(self.m).shape)

    def reweighted(self, factor: float) -> Self:
        """Return the component whose prior weighs ``factor`` times as much, for frames with as many more pixels."""
        return self.changed(kappa=factor * float(self.kappa), psi=factor * np.asarray(self.psi))
