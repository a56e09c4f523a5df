"""Views of the frames (mean colour, overlay, boundaries, original) as PNG images."""

from __future__ import annotations

from typing import ClassVar

from scstream_app.export import png
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views


class _ViewImageWriter(ImageWriter):
    needs_picture = True
    flat: ClassVar[bool] = False

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: png.colours(views.draw(self.view, self.job.scene(result)), self.flat))


class Mean(_ViewImageWriter):
    """Writes mean/NNNNN.png."""

    format = "mean"
    title = "Mean colour"
    group = "Pictures"
    position = 2
    about = "Every segment in its mean colour, as PNG images"
    view = "mean_colour"
    flat = True


class Overlay(_ViewImageWriter):
    """Writes overlay/NNNNN.png."""

    format = "overlay"
    title = "Overlay"
    group = "Pictures"
    position = 1
    about = "The picture tinted by segment, as PNG images"
    view = "overlay"


class Boundaries(_ViewImageWriter):
    """Writes boundaries/NNNNN.png."""

    format = "boundaries"
    title = "Boundaries"
    group = "Pictures"
    position = 3
    about = "The picture with the boundaries of segments, as PNG images"
    view = "boundaries"


class Frames(_ViewImageWriter):
    """Writes frames/NNNNN.png: the pictures that annotations of a video refer to."""

    format = "frames"
    title = "Original pictures"
    group = "Pictures"
    position = 5
    about = "The pictures themselves as PNG images, to which the COCO files refer"
    view = "original"
