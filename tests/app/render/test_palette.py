"""Palettes: an id keeps its colour, and colours are distinguishable, also with red-green colour blindness."""

import numpy as np
import pytest

from scstream_app.render import palette

LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
BLINDNESS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def linear(rgb):
    values = np.asarray(rgb) / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(rgb, blindness=None):
    """Oklab colours, computed from the published matrices, of 8-bit sRGB as seen with a colour vision deficiency."""
    light = linear(rgb)
    if blindness:
        light = np.clip(light @ np.array(BLINDNESS[blindness]).T, 0.0, 1.0)
    return np.cbrt(light @ LMS.T) @ LAB.T


def closest(lab, apart):
    """Smallest colour distance between ids that differ by at most ``apart``."""
    return min(np.linalg.norm(lab[k:] - lab[:-k], axis=1).min() for k in range(1, apart + 1))


@pytest.mark.parametrize("name", palette.PALETTES)
def test_colour_of_an_id_never_changes(name):
    many = palette.colours(5000, name)
    for n in (0, 1, 2, 255, 256, 257, 1000):
        np.testing.assert_array_equal(palette.colours(n, name), many[:n])
    with pytest.raises(ValueError, match="read-only"):
        palette.colours(3, name)[0] = 0


def test_vivid_neighbours_differ():
    lab = oklab(palette.colours(2000))
    assert closest(lab, 1) > 0.2
    assert closest(lab, 7) > 0.07
    assert palette.colours(1000).mean(axis=1).min() > 50


@pytest.mark.parametrize("name", palette.PALETTES)
def test_typical_neighbours_differ(name):
    """Any two segments may touch, so hardly any pair among the ids of a frame may look alike."""
    lab = oklab(palette.colours(130, name))
    pairs = np.linalg.norm(lab[:, None] - lab, axis=2)[np.triu_indices(130, 1)]
    assert np.mean(pairs < 0.05) < 0.025
    assert np.median(pairs) > 0.2


@pytest.mark.parametrize("blindness", [None, *BLINDNESS])
def test_safe_neighbours_differ_in_lightness_for_everyone(blindness):
    lab = oklab(palette.colours(2000, "safe"), blindness)
    assert np.abs(np.diff(lab[:, 0])).min() > 0.1
    assert closest(lab, 3) > 0.12


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_safe_is_safer_than_vivid(blindness):
    def alike(name):
        lab = oklab(palette.colours(130, name), blindness)
        return np.mean(np.linalg.norm(lab[:, None] - lab, axis=2)[np.triu_indices(130, 1)] < 0.05)

    assert alike("safe") < 0.6 * alike("vivid")


def test_custom_colours_apply_to_their_ids_only():
    table = palette.Colouring("safe", own={3: (1, 2, 3), 900: (9, 9, 9), -1: (5, 5, 5)}).table(10)
    expected = palette.colours(10, "safe").copy()
    expected[3] = 1, 2, 3
    np.testing.assert_array_equal(table, expected)
    assert palette.colours(10, "safe")[3].tolist() != [1, 2, 3]


def test_an_unknown_palette_raises():
    with pytest.raises(ValueError, match="palette must be one of vivid, safe, got 'dull'"):
        palette.colours(3, "dull")
    with pytest.raises(ValueError, match="'dull'"):
        palette.Colouring("dull")
