"""Information about the segment and pixel under the mouse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QWidget

from scstream.pixels.colour import from_rgb
from scstream.pixels.statistics import scale_covariance
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.palette import RGB
from scstream_app.ui.document.document import Document
from scstream_app.ui.qt.layout.clear_place import clearest

_CHANNELS = ("red", "green", "blue")
_MARGIN = 8
#: Half a grey level of deviation keeps the probabilities of one-colour segments finite.
_LEAST_DEVIATION = 0.5 / 255.0


@dataclass(frozen=True, slots=True)
class Hover:
    """Segment and pixel under the mouse.

    Parameters
    ----------
    id : int
    name : str
        Name that the user gave to the segment; empty if none.
    pixels : int
        Size of the segment.
    colour : RGB
        Mean colour of the segment.
    x, y : int
        Column and row of the pixel.
    probability : float
        Probability that the pixel belongs to the segment; nan if unknown.
    marks : tuple of str
        Whether the segment is selected, and to which object the pixel belongs.
    """

    id: int
    name: str
    pixels: int
    colour: RGB
    x: int
    y: int
    probability: float = math.nan
    marks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name and id of the segment."""
        return f"{self.name} (segment {self.id})" if self.name else f"Segment {self.id}"

    def __str__(self) -> str:
        swatch = QColor(*self.colour).name()
        sure = "" if math.isnan(self.probability) else f" · {share_text(self.probability)} sure"
        return " · ".join(
            [self.title, *self.marks, f"{self.pixels:,} px", f"{swatch}{sure}", f"x {self.x}, y {self.y}"]
        )


def share_text(share: float) -> str:
    """Format a probability as per cent, never as 0 % or 100 %.

    >>> share_text(0.876), share_text(0.9999), share_text(0.0001)
    ('88 %', '> 99 %', '< 1 %')
    """
    if share > 0.99:
        return "> 99 %"
    return "< 1 %" if share < 0.01 else f"{100.0 * share:.0f} %"


class Membership:
    """Membership probabilities of single pixels of a frame, from the frame's statistics.

    Models each segment as the Gaussian of its statistics, as `scstream.pixels.uncertainty` does for whole frames; one
    pixel takes microseconds.
    """

    def __init__(self, result: FrameResult, colour: str) -> None:
        self.result, self._colour = result, colour
        rows = result.statistics
        rows = rows[rows["pixels"] > 0]
        height, width = result.ids.shape
        rgb = np.stack([rows[name] for name in _CHANNELS], axis=1).astype(np.float64)
        self._size = np.array([height, width], np.float64)
        self._ids = rows["id"]
        place = np.stack([rows["row"], rows["column"]], axis=1) / self._size
        self._means = np.concatenate([from_rgb(rgb, colour), place], axis=1)
        spread = scale_covariance(rows["covariance"].astype(np.float64), 1.0 / self._size)
        covariances = spread + np.eye(5) * _LEAST_DEVIATION**2
        self._inverse = np.linalg.inv(covariances)
        self._log_weight = np.log(rows["pixels"]) - 0.5 * np.linalg.slogdet(covariances)[1]

    def probability(self, x: int, y: int) -> float:
        """Probability that the pixel belongs to its segment; nan if unknown."""
        own = np.flatnonzero(self._ids == self.result.ids[y, x])
        if self.result.rgb is None or not len(own):
            return math.nan
        colour = from_rgb(self.result.rgb[y, x][None] / 255.0, self._colour)[0]
        off = np.concatenate([colour, (np.array([y, x]) + 0.5) / self._size]) - self._means
        scores = self._log_weight - 0.5 * np.einsum("ki,kij,kj->k", off, self._inverse, off)
        shares = np.exp(scores - scores.max())
        return float(shares[own[0]] / shares.sum())


def measure(result: FrameResult, id: int) -> tuple[int, RGB]:
    """Size of a segment in pixels and its mean colour, from the statistics or, on a draft, counted."""
    rows = result.statistics[result.statistics["id"] == id]
    if len(rows):
        red, green, blue = (round(min(max(255.0 * float(rows[0][name]), 0.0), 255.0)) for name in _CHANNELS)
        return int(rows[0]["pixels"]), (red, green, blue)
    inside = result.ids == id
    pixels = int(np.count_nonzero(inside))
    if result.rgb is None or not pixels:
        return pixels, (0, 0, 0)
    red, green, blue = (round(float(mean)) for mean in result.rgb[inside].mean(axis=0))
    return pixels, (red, green, blue)


class HoverFinder:
    """Finds what is under the mouse; what concerns the whole frame or segment is computed once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._last: Hover | None = None
        self._membership: Membership | None = None

    def clear(self) -> None:
        """Forget the last frame."""
        self._last = self._membership = None

    def at(self, result: FrameResult, x: int, y: int) -> Hover | None:
        """Describe a pixel and its segment; None if it has none."""
        id = int(result.ids[y, x])
        if id < 0:
            return None
        known, member = self._last, self._membership
        if member is None or member.result is not result:
            known, member = None, Membership(result, self._document.colour_at(result.index))
        if known is None or known.id != id:
            pixels, colour = measure(result, id)
        else:
            pixels, colour = known.pixels, known.colour
        name = self._document.names.names.get(id, "")
        sure, marks = member.probability(x, y), tuple(self._marks(id, x, y))
        self._membership, self._last = member, Hover(id, name, pixels, colour, x, y, sure, marks)
        return self._last

    def _marks(self, id: int, x: int, y: int) -> Iterator[str]:
        """Say whether the segment is selected, and which object has the pixel: colours of segments can hide both."""
        display = self._document.display
        if id in display.selection:
            yield "selected"
        object_ = display.object_at(x, y)
        if object_ is not None:
            yield f"in object '{object_.name}'"


class HoverLabel(QLabel):
    """Label over the picture that describes the hovered segment, in a corner away from the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_high = False
        self.setObjectName("hover")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setStyleSheet(
            "#hover { background: rgba(18, 18, 22, 205); color: #f2f2f4; border-radius: 5px; padding: 4px 8px; }"
        )
        self.hide()

    def show_hover(self, hover: Hover | None, mouse: QPointF | None) -> None:
        """Describe the segment; None hides the label."""
        self.setVisible(hover is not None)
        if hover is None:
            return
        swatch = QColor(*hover.colour).name()
        text = escape(str(hover)).replace(escape(hover.title), f"<b>{escape(hover.title)}</b>", 1)
        self.setText(f'<span style="background-color:{swatch}">{"&nbsp;" * 4}</span>&nbsp; {text}')
        self.move_away(mouse)

    def move_away(self, mouse: QPointF | None) -> None:
        """Stay in the lower or upper left corner until the mouse comes near or another label is there."""
        self.adjustSize()
        around = self.parentWidget()
        assert around is not None
        lower = QRect(QPoint(_MARGIN, around.height() - self.height() - _MARGIN), self.size())
        upper = QRect(QPoint(_MARGIN, _MARGIN), self.size())
        children = (one for one in around.children() if isinstance(one, QWidget) and one is not self)
        others = [one.geometry() for one in children if one.isVisible()]
        place = clearest((upper, lower) if self._is_high else (lower, upper), mouse, others)
        self._is_high = place == upper
        self.setGeometry(place)
