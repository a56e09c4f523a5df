"""Views of the frames as PNG images."""

from __future__ import annotations

from typing import ClassVar

from scstream_app.export import png
from scstream_app.export.writer import Images
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views


class _Views(Images):
    needs_picture = True
    view: ClassVar[str]
    flat: ClassVar[bool] = False

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: png.colours(views.draw(self.view, self.job.scene(result)), self.flat))


class Mean(_Views):
    """mean/NNNNN.png."""

    format = "mean"
    about = "Every segment in its mean colour, as PNG images"
    view = "mean_colour"
    flat = True


class Overlay(_Views):
    """overlay/NNNNN.png."""

    format = "overlay"
    about = "The segments' colours over the picture, as PNG images"
    view = "overlay"


class Boundaries(_Views):
    """boundaries/NNNNN.png."""

    format = "boundaries"
    about = "The picture with lines between segments, as PNG images"
    view = "boundaries"
