"""Where the pixels of a frame are in the viewer; a view may show several copies of the frame."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTransform

#: Left and upper edge of a copy of the frame, in picture pixels.
Tile = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FrameMap:
    """Maps points between a frame and the viewer.

    Parameters
    ----------
    width, height : int
        Size of the frame.
    picture : (int, int)
        Width and height of the picture, which consists of copies of the frame.
    left, top : float
        Corner of the picture in the viewer, in logical pixels.
    scale : float
        Logical pixels per picture pixel.

    Examples
    --------
    >>> placed = FrameMap(10, 5, (20, 5), 100.0, 50.0, 2.0)
    >>> placed.tiles
    ((0, 0), (10, 0))
    >>> tile = placed.tile_at(QPointF(130.0, 54.0))
    >>> tile, placed.to_frame(QPointF(130.0, 54.0), tile)
    ((10, 0), PySide6.QtCore.QPointF(5.000000, 2.000000))
    """

    width: int
    height: int
    picture: tuple[int, int]
    left: float
    top: float
    scale: float

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The copies of the frame."""
        rows = range(0, max(self.picture[1] - self.height, 0) + 1, self.height)
        columns = range(0, max(self.picture[0] - self.width, 0) + 1, self.width)
        return tuple((left, top) for top in rows for left in columns)

    def tile_at(self, point: QPointF) -> Tile:
        """The copy that is nearest to a point of the viewer."""
        x, y = (point.x() - self.left) / self.scale, (point.y() - self.top) / self.scale
        left = min(max(int(x // self.width) * self.width, 0), self.tiles[-1][0])
        return left, min(max(int(y // self.height) * self.height, 0), self.tiles[-1][1])

    def to_frame(self, point: QPointF, tile: Tile) -> QPointF:
        """Convert a point of the viewer to pixels of the frame; points outside the frame are possible."""
        x, y = (point.x() - self.left) / self.scale, (point.y() - self.top) / self.scale
        return QPointF(x - tile[0], y - tile[1])

    def transform(self, tile: Tile) -> QTransform:
        """Transform from pixels of the frame to points of the viewer."""
        left, top = self.left + tile[0] * self.scale, self.top + tile[1] * self.scale
        return QTransform(self.scale, 0.0, 0.0, self.scale, left, top)

    def rects(self, area: QRectF) -> list[QRectF]:
        """Rectangles of the viewer in which a rectangle of the frame appears."""
        return [self.transform(tile).mapRect(area) for tile in self.tiles]
