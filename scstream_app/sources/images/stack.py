"""TIFF stack source: the frames of one TIFF file."""

from __future__ import annotations

import os
from pathlib import Path

from scstream_app.errors import SourceError
from scstream_app.sources.images.intensity import Planes
from scstream_app.sources.images.options import ImageOptions
from scstream_app.sources.images.still import StillSource
from scstream_app.sources.images.tiff import TiffFrames

_DEFAULTS = ImageOptions()


class TiffStack(StillSource):
    """The frames of a TIFF file, read one at a time: pages, a time series or a z-stack. See `TiffFrames`.

    Parameters
    ----------
    path : Path
    options : ImageOptions
    """

    def __init__(self, path: Path, options: ImageOptions = _DEFAULTS) -> None:
        self.path = path
        self.name, self.address = path.name, str(path.absolute())
        if os.path.exists(path) and not os.path.isfile(path):
            raise SourceError(f"Cannot open '{path}': it is not a regular file.")
        self._frames = TiffFrames(path, options.plane)
        try:
            self.length = self._frames.length
            self.notes, self.adjustable = self._frames.notes, self._frames.adjustable
            self._describe(options)
        except BaseException:
            self._frames.close()
            raise

    def _planes(self, index: int) -> Planes:
        return self._frames.planes(index)

    def close(self) -> None:
        """See `Source`."""
        super().close()
        self._frames.close()
