"""What is under the mouse: the segment there, and how surely the pixel belongs to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QWidget

from scstream.pixels.colour import channels
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render.palette import RGB

_CHANNELS = ("red", "green", "blue")
_MARGIN = 8
#: Half a grey level keeps segments of one colour from being infinitely sure.
_LEAST_DEVIATION = 0.5 / 255.0


@dataclass(frozen=True, slots=True)
class Hover:
    """What is under the mouse.

    Parameters
    ----------
    id : int
    name : str
        That a person gave the segment; empty if none did.
    pixels : int
        The segment's size.
    colour : RGB
        Its mean colour.
    x, y : int
        The pixel under the mouse.
    probability : float
        That the pixel belongs to the segment; nan where that is not known.
    """

    id: int
    name: str
    pixels: int
    colour: RGB
    x: int
    y: int
    probability: float = math.nan

    @property
    def title(self) -> str:
        """What the segment is called."""
        return f"{self.name} (segment {self.id})" if self.name else f"Segment {self.id}"

    def __str__(self) -> str:
        swatch = QColor(*self.colour).name()
        sure = "" if math.isnan(self.probability) else f" · {share_text(self.probability)} sure"
        return f"{self.title} · {self.pixels:,} px · {swatch}{sure} · x {self.x}, y {self.y}"


def share_text(share: float) -> str:
    """A probability in per cent that never pretends to be certain.

    >>> share_text(0.876), share_text(0.9999), share_text(0.0001)
    ('88 %', '> 99 %', '< 1 %')
    """
    if share > 0.99:
        return "> 99 %"
    return "< 1 %" if share < 0.01 else f"{100.0 * share:.0f} %"


class Membership:
    """How surely single pixels of a frame belong to their segments, from the frame's statistics.

    Each segment is taken as the Gaussian that its statistics describe, as in `scstream.video.uncertainty`; here for
    one pixel at a time, which takes microseconds.
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
        self._means = np.concatenate([channels(rgb, colour), place], axis=1)
        covariances = rows["covariance"].astype(np.float64) + np.eye(5) * _LEAST_DEVIATION**2
        self._inverse = np.linalg.inv(covariances)
        self._log_weight = np.log(rows["pixels"]) - 0.5 * np.linalg.slogdet(covariances)[1]

    def probability(self, x: int, y: int) -> float:
        """That the pixel belongs to the segment that it is given to; nan where nothing is known of that."""
        own = np.flatnonzero(self._ids == self.result.ids[y, x])
        if self.result.rgb is None or not len(own):
            return math.nan
        colour = channels(self.result.rgb[y, x][None] / 255.0, self._colour)[0]
        off = np.concatenate([colour, (np.array([y, x]) + 0.5) / self._size]) - self._means
        scores = self._log_weight - 0.5 * np.einsum("ki,kij,kj->k", off, self._inverse, off)
        shares = np.exp(scores - scores.max())
        return float(shares[own[0]] / shares.sum())


def measure(result: FrameResult, id: int) -> tuple[int, RGB]:
    """The size of a segment in pixels and its mean colour, as the engine has them or, on a draft, counted."""
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


class HoverLabel(QLabel):
    """Says over the picture what is under the mouse, in a corner where the mouse is not."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("hover")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setStyleSheet(
            "#hover { background: rgba(18, 18, 22, 205); color: #f2f2f4; border-radius: 5px; padding: 4px 8px; }"
        )
        self.hide()

    def tell(self, hover: Hover | None, mouse: QPointF | None) -> None:
        """Show this; None: nothing."""
        self.setVisible(hover is not None)
        if hover is None:
            return
        swatch = QColor(*hover.colour).name()
        text = escape(str(hover)).replace(escape(hover.title), f"<b>{escape(hover.title)}</b>", 1)
        self.setText(f'<span style="background-color:{swatch}">{"&nbsp;" * 4}</span>&nbsp; {text}')
        self.put(mouse)

    def put(self, mouse: QPointF | None) -> None:
        """In the lower left corner; above if the mouse is there."""
        self.adjustSize()
        around = self.parentWidget()
        assert around is not None
        place = QRect(QPoint(_MARGIN, around.height() - self.height() - _MARGIN), self.size())
        if mouse is not None and place.adjusted(-16, -16, 16, 16).contains(mouse.toPoint()):
            place.moveTop(_MARGIN)
        self.setGeometry(place)
