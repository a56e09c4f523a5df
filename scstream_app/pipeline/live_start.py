"""The start of a live source, whose next frames do not wait until the first one has converged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scstream import VideoSegmenter

#: Maximum number of sweeps over the first frame of a live source and of each of its scenes. They take 30 to 90 ms at
#: 480p; the next ten frames split the segments that are still too large.
_SWEEPS = 8


def shorten_first_frame(segmenter: VideoSegmenter) -> None:
    """Limit the sweeps over first frames: frames that arrive meanwhile are lost, and a long gap looks like a cut."""
    segmenter.set_params(max_init_sweeps=min(segmenter.parameters.max_init_sweeps, _SWEEPS))
