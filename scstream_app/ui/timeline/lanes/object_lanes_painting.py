"""Paints the lanes of objects: names, area and confidence along the clip, and the keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPalette, QPen, QPolygonF

from scstream_app.render.image_types import Picture
from scstream_app.ui.document.objects.object_confidence import ObjectCurve
from scstream_app.ui.qt.appearance.contrast import clearest_on, mix
from scstream_app.ui.timeline.lanes.lane_keys import BESIDE, HALF, LANE

#: Top and baseline of the area in a lane, and the lower edge of the confidence, in pixels.
_TOP, _BASE, _BOTTOM = 2.0, 20.0, 26.0
#: Height of the confidence where it is highest and lowest, in pixels: the colour alone is not enough for all readers.
_SURE, _UNSURE = 1.5, 6.0
#: Colours of high and low confidence, from the colour-blind safe palette of Okabe and Ito.
_HIGH_COLOUR, _LOW_COLOUR = (0, 158, 115), (213, 94, 0)
#: Confidences from which on all look low, or high.
_LOWEST, _HIGHEST = 0.4, 0.85

Pixels = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaneColours:
    """Colours of a lane: the ground where frames are not tracked yet, that of tracked frames, and the object's own."""

    blank: QColor
    paper: QColor
    own: QColor

    @classmethod
    def of(cls, palette: QPalette, own: QColor) -> LaneColours:
        """Colours that fit the window's palette."""
        ground, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        dark = ground.lightness() < 128
        paper = mix(ground, QColor(255, 255, 255), 0.07 if dark else 0.75)
        return cls(mix(ground, text, 0.10), paper, own)


def per_pixel(curve: ObjectCurve, frames_at: Pixels) -> tuple[Pixels, Pixels]:
    """Largest area and lowest confidence of the frames in each pixel column; nan in columns without a tracked frame.

    Parameters
    ----------
    curve : ObjectCurve
    frames_at : array (width + 1,)
        The frame at the left edge of each column, with its fraction, and at the right edge of the last one.
    """
    starts = np.searchsorted(curve.frames, np.floor(frames_at[:-1]))
    ends = np.searchsorted(curve.frames, np.ceil(frames_at[1:]))
    empty = starts >= ends
    if not len(curve.frames) or empty.all():
        nothing = np.full(len(starts), np.nan)
        return nothing, nothing
    # Only the frames of these columns: reduceat would go on to the end of the clip.
    seen = slice(int(starts[0]), int(ends[-1]))
    firsts = np.minimum(starts, seen.stop - 1) - seen.start
    areas = np.maximum.reduceat(curve.areas[seen], firsts).astype(np.float64)
    confidences = np.fmin.reduceat(curve.confidences[seen], firsts).astype(np.float64)
    return np.where(empty, np.nan, areas), np.where(empty, np.nan, confidences)


def lane_picture(areas: Pixels, confidences: Pixels, peak: float, colours: LaneColours, ratio: float) -> Picture:
    """Draw area and confidence of a lane as RGB (H, W, 3), with one column per value and ``ratio`` rows per pixel."""
    rows = np.asarray((np.arange(round(LANE * ratio))[:, None] + 0.5) / ratio, np.float64)
    tracked = np.isfinite(areas)
    top = np.where(tracked, _BASE - (_BASE - _TOP) * np.nan_to_num(areas) / max(peak, 1.0), _BASE)
    # Codes of the ground (0: blank, 1: paper), the area (2) and its upper edge (3), coloured by a table.
    codes = np.repeat(tracked[None].astype(np.uint8), len(rows), axis=0)
    inside = (rows >= top) & (rows < _BASE)
    codes += inside
    codes += inside & (rows < top + 1.5)
    codes[rows[:, 0] >= LANE - 1] = 0
    paper, own = _rgb(colours.paper), _rgb(colours.own)
    table = np.rint([_rgb(colours.blank), paper, 0.55 * paper + 0.45 * own, own]).astype(np.uint8)
    picture = table[codes]
    _draw_confidence(picture, rows, confidences)
    return picture


def _draw_confidence(picture: Picture, rows: Pixels, confidences: Pixels) -> None:
    """Draw the confidence on the lower edge of a lane, higher and redder where it is low."""
    sure = np.clip((np.nan_to_num(confidences) - _LOWEST) / (_HIGHEST - _LOWEST), 0.0, 1.0)
    height = np.where(np.isfinite(confidences), _UNSURE + (_SURE - _UNSURE) * sure, 0.0)
    shades = sure[:, None] * np.array(_HIGH_COLOUR) + (1.0 - sure[:, None]) * np.array(_LOW_COLOUR)
    shades = np.rint(shades).astype(np.uint8)
    for row in np.flatnonzero((rows >= _BOTTOM - _UNSURE) & (rows < _BOTTOM)):
        marked = rows[row] >= _BOTTOM - height
        picture[row, marked] = shades[marked]


def paint_picture(painter: QPainter, target: QRectF, picture: Picture) -> None:
    """Paint a picture into a rectangle."""
    height, width = picture.shape[:2]
    image = QImage(picture.data, width, height, picture.strides[0], QImage.Format.Format_RGB888)
    painter.drawImage(target, image)


def paint_name(painter: QPainter, box: QRectF, name: str, own: QColor, palette: QPalette, highlighted: bool) -> None:
    """Paint a swatch and the name of an object, bold on a tinted ground if it is highlighted."""
    text = palette.color(QPalette.ColorRole.WindowText)
    ground = palette.color(QPalette.ColorRole.Window)
    if highlighted:
        painter.fillRect(box, mix(ground, palette.color(QPalette.ColorRole.Highlight), 0.35))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(own)
    painter.drawEllipse(QPointF(box.left() + 10.0, box.center().y()), 4.5, 4.5)
    font = QFont(painter.font())
    font.setBold(highlighted)
    painter.setFont(font)
    room = box.adjusted(20.0, 0.0, -4.0, 0.0)
    painter.setPen(text)
    words = QFontMetricsF(font).elidedText(name, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


def paint_hint(painter: QPainter, left: int, width: int, palette: QPalette) -> None:
    """Paint what the lanes will show, if there is no object yet; ``left`` is where the frames begin."""
    ground, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    # The contrast of faint texts is at least 4.5.
    painter.setPen(mix(ground, text, 0.7))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
    painter.drawText(QRectF(4.0, 0.0, left - 8.0, LANE), flags, "Objects")
    room = QRectF(left, 0.0, width - left - 4.0, LANE)
    hint = "Objects that you make of segments appear here, with their edits, area and confidence"
    painter.drawText(
        room, flags, painter.fontMetrics().elidedText(hint, Qt.TextElideMode.ElideRight, int(room.width()))
    )


def paint_reach(painter: QPainter, reach: QLineF, palette: QPalette) -> None:
    """Paint the frames of an edit that ends, as a line from its key to its last frame."""
    end = reach.p2()
    painter.setPen(QPen(palette.color(QPalette.ColorRole.WindowText), 1.5))
    painter.drawLine(reach)
    painter.drawLine(end - QPointF(0.0, 4.0), end + QPointF(0.0, 4.0))


def paint_group(painter: QPainter, first: QPointF, count: int, palette: QPalette) -> None:
    """Paint the plate under the keys of one frame, the ``first`` of which is on the frame: the others are beside it."""
    side = 2.0 * HALF + 5.0
    box = QRectF(first.x() - side / 2, first.y() - side / 2, side + (count - 1) * BESIDE, side)
    ground, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    painter.setBrush(mix(ground, text, 0.2))
    painter.setPen(QPen(mix(ground, text, 0.6), 1.0))
    painter.drawRoundedRect(box, side / 2, side / 2)


def paint_key(painter: QPainter, kind: str, centre: QPointF, own: QColor, palette: QPalette, focused: bool) -> None:
    """Paint a key: a diamond (made), a disc with a sign (added, removed) or a square (painted)."""
    text, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
    if focused:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 2.0))
        side = 2.0 * HALF + 6.0
        painter.drawRoundedRect(QRectF(centre.x() - side / 2, centre.y() - side / 2, side, side), 3.0, 3.0)
    painter.setBrush(own)
    # An outline in two shades is visible on every object's colour.
    for colour, width in ((ground, 3.5), (text, 1.5)):
        painter.setPen(QPen(colour, width))
        _paint_shape(painter, kind, centre)
    painter.setPen(QPen(clearest_on(own), 1.8))
    if kind in ("added", "removed"):
        painter.drawLine(QLineF(centre.x() - 3.0, centre.y(), centre.x() + 3.0, centre.y()))
    if kind == "added":
        painter.drawLine(QLineF(centre.x(), centre.y() - 3.0, centre.x(), centre.y() + 3.0))


def _paint_shape(painter: QPainter, kind: str, centre: QPointF) -> None:
    x, y, half = centre.x(), centre.y(), float(HALF)
    if kind == "made":
        corners = (QPointF(x, y - half), QPointF(x + half, y), QPointF(x, y + half), QPointF(x - half, y))
        painter.drawPolygon(QPolygonF(corners))
    elif kind == "painted":
        painter.drawRect(QRectF(x - half + 1.0, y - half + 1.0, 2.0 * half - 2.0, 2.0 * half - 2.0))
    else:
        painter.drawEllipse(centre, half - 0.5, half - 0.5)


def _rgb(colour: QColor) -> npt.NDArray[np.float64]:
    return np.array([colour.red(), colour.green(), colour.blue()], np.float64)
