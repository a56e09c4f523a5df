"""Contrast of texts: the ratio of WCAG 2, and palettes in which every text can be read."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

#: Least contrast of text for level AA of WCAG 2.
LEAST = 4.5
_STEPS = 24
_ROLE = QPalette.ColorRole
#: Text roles and the roles of the ground that they are drawn on.
PAIRS = (
    (_ROLE.WindowText, _ROLE.Window),
    (_ROLE.Text, _ROLE.Base),
    (_ROLE.Text, _ROLE.AlternateBase),
    (_ROLE.ButtonText, _ROLE.Button),
    (_ROLE.ToolTipText, _ROLE.ToolTipBase),
    (_ROLE.PlaceholderText, _ROLE.Base),
    (_ROLE.PlaceholderText, _ROLE.AlternateBase),
    (_ROLE.PlaceholderText, _ROLE.Window),
    (_ROLE.Link, _ROLE.Base),
    (_ROLE.Link, _ROLE.Window),
    (_ROLE.HighlightedText, _ROLE.Highlight),
)


def contrast(text: QColor, ground: QColor) -> float:
    """Contrast ratio of two colours, from 1 to 21; a transparent text colour is blended with the ground.

    >>> round(contrast(QColor("black"), QColor("white")), 1)
    21.0
    """
    low, high = sorted((_luminance(mix(ground, text, text.alphaF())), _luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def clearest_on(ground: QColor) -> QColor:
    """Black or white, whichever has the higher contrast to the ground."""
    return max((QColor("black"), QColor("white")), key=lambda extreme: contrast(extreme, ground))


def mix(a: QColor, b: QColor, share: float) -> QColor:
    """Opaque mixture of two colours with this share of the second."""
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round((1.0 - share) * first + share * second) for first, second in pairs))


def make_readable(palette: QPalette) -> dict[QPalette.ColorRole, QColor]:
    """Return the colours to change for texts to have the least contrast: text colours, or that of the selection."""
    changed = dict[QPalette.ColorRole, QColor]()
    for text_role, ground_role in PAIRS:
        text = changed.get(text_role, palette.color(text_role))
        ground = changed.get(ground_role, palette.color(ground_role))
        if contrast(text, ground) >= LEAST:
            continue
        if ground_role is _ROLE.Highlight:
            changed[ground_role] = _moved(ground, text)
        else:
            changed[text_role] = _moved(mix(ground, text, text.alphaF()), ground)
    return changed


def _moved(colour: QColor, other: QColor) -> QColor:
    """Return the colour, moved towards black or white until it has the least contrast to the other."""
    end = clearest_on(other)
    steps = (mix(colour, end, step / _STEPS) for step in range(_STEPS + 1))
    return next((moved for moved in steps if contrast(moved, other) >= LEAST), end)


def _luminance(colour: QColor) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else float(((value + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())
