"""TimeScale: which frames the timeline shows, and where they are in pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator

from scstream_app.ui.qt.tick_steps import whole_step

#: Fewest frames that the timeline shows.
_FEWEST = 4.0
#: Where the playhead is after the view has moved to it, as a share of the view's width from the nearer edge.
_MARGIN = 0.1
#: Rounding error of a number of frames.
_ROUNDING = 1e-6


class TimeScale:
    """A view of some frames of a clip, from which frames are mapped to pixels.

    The view stays inside the clip. A view of the whole clip grows with it.

    Attributes
    ----------
    first, last : int
        First frame of the clip, and one past its last.
    begin, end : float
        The visible range: the left edge of its first frame and the right edge of its last.
    left, width : float
        Where the view is in pixels.

    Examples
    --------
    >>> scale = TimeScale()
    >>> scale.set_clip(0, 100)
    True
    >>> scale.left, scale.width = 50.0, 200.0
    >>> scale.zoom(4.0, scale.x_of(20))
    True
    >>> scale.begin < 20 < scale.end, scale.span
    (True, 25.0)
    >>> scale.index_at(scale.x_of(30))
    30
    """

    def __init__(self) -> None:
        self.first, self.last = 0, 1
        self.begin, self.end = 0.0, 1.0
        self.left, self.width = 0.0, 1.0

    @property
    def span(self) -> float:
        """Number of visible frames."""
        return self.end - self.begin

    @property
    def zoomed(self) -> bool:
        """Whether some frames are out of view."""
        return self.span < self.last - self.first - _ROUNDING

    @property
    def frame_width(self) -> float:
        """Width of a frame in pixels."""
        return self.width / self.span

    def x_of(self, index: float) -> float:
        """Horizontal centre of a frame in pixels."""
        return self.left + self.width * (index + 0.5 - self.begin) / self.span

    def index_at(self, x: float) -> int:
        """Index of the frame at a horizontal position in pixels; of the nearest one outside of the clip."""
        index = math.floor(self.begin + (x - self.left) / self.width * self.span)
        return min(max(index, self.first), self.last - 1)

    def shows(self, index: float) -> bool:
        """Whether the centre of a frame is in view."""
        return self.begin <= index + 0.5 <= self.end

    # --- changes; each returns whether the view is another one

    def set_clip(self, first: int, last: int) -> bool:
        """Set the frames of the clip."""
        whole = not self.zoomed
        self.first, self.last = first, last
        return self._see(first, last) if whole else self._see(self.begin, self.end)

    def zoom(self, factor: float, x: float) -> bool:
        """Make frames wider by a factor; the frame at a horizontal position in pixels stays there."""
        share = min(max((x - self.left) / self.width, 0.0), 1.0)
        fixed = self.begin + share * self.span
        most = float(self.last - self.first)
        span = min(max(self.span / factor, min(_FEWEST, most)), most)
        return self._see(fixed - share * span, fixed + (1.0 - share) * span)

    def scroll(self, frames: float) -> bool:
        """Move the view by a number of frames."""
        return self._see(self.begin + frames, self.end + frames)

    def fit(self) -> bool:
        """Show the whole clip."""
        return self._see(self.first, self.last)

    def see(self, begin: int, end: int) -> bool:
        """Show frames begin, ..., end - 1."""
        middle, span = (begin + end) / 2.0, max(float(end - begin), min(_FEWEST, float(self.last - self.first)))
        return self._see(middle - span / 2.0, middle + span / 2.0)

    def reveal(self, index: int, margin: float = _MARGIN) -> bool:
        """Move the view so that it shows a frame, with most of the view ahead of it."""
        if self.shows(index):
            return False
        room = margin * self.span
        if index + 0.5 > self.end:
            # The frame was left behind at the right edge: show what follows it.
            return self.scroll(index - room - self.begin if margin else index + 1.0 - self.end)
        return self.scroll(index + 1.0 + room - self.end if margin else index - self.begin)

    def _see(self, begin: float, end: float) -> bool:
        before = self.begin, self.end
        span = min(end - begin, float(self.last - self.first))
        self.begin = min(max(begin, float(self.first)), self.last - span)
        self.end = self.begin + span
        return (self.begin, self.end) != before

    # --- ruler

    def ruler(self, apart: float) -> tuple[int, Iterator[int]]:
        """Return the step between the numbers of the ruler, at least ``apart`` pixels, and the frames that have one."""
        step = whole_step(apart / self.frame_width)
        start = math.ceil((self.begin - 0.5) / step) * step
        return step, iter(range(start, math.floor(self.end - 0.5) + 1, step))
