"""Objects cut out of the picture, as PNG images with transparency."""

from __future__ import annotations

from scstream_app.export import png
from scstream_app.export.writer import ImageWriter
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.render import views


class Matte(ImageWriter):
    """Writes matte/NNNNN.png."""

    format = "matte"
    title = "Object matte"
    group = "Pictures"
    position = 4
    about = "The objects cut out, as RGBA PNG images with a transparent background"
    needs_picture = True
    needs_object = True
    view = "matte"

    def _write(self, result: FrameResult) -> None:
        self._put(result, lambda: png.colours(views.matte(self.job.picture(result), self.job.alpha(result))))
