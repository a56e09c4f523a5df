"""Go to the frames at which the tracked objects are least certain."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np

from scstream_app.ui.document.document import Document
from scstream_app.ui.document.objects.object_confidence import LOW, SLIGHT_RISE, ObjectCurve, confidence_text, curve_of
from scstream_app.ui.document.playback.player import Player


class LowConfidence:
    """Steps between the frames of low confidence of the highlighted object, or of all objects.

    Parameters
    ----------
    document : Document
    player : Player
    highlighted : callable
        Returns the name of the highlighted object; None if there is none.
    message : callable
        Shows why there is no frame to go to.
    """

    def __init__(
        self,
        document: Document,
        player: Player,
        highlighted: Callable[[], str | None],
        message: Callable[[str], object],
    ) -> None:
        self._document, self._player = document, player
        self._highlighted, self._message = highlighted, message

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the actions do, by id."""
        return {"next_low": self.next, "previous_low": self.previous}

    def frames(self) -> tuple[list[int], list[int]]:
        """Return the frames of low confidence, and those that are less certain than their neighbours.

        See `ObjectCurve.low_frames`. Beside the first, errors are likeliest at the second.
        """
        curves = self._curves()
        low = {frame for curve in curves for frame in curve.low_frames()}
        dips = {frame for curve in curves for frame in curve.low_frames(1.0, SLIGHT_RISE)}
        return sorted(low), sorted(dips)

    def _curves(self) -> list[ObjectCurve]:
        curves, cuts, name = self._document.tracking.curves, self._document.summary.cuts, self._highlighted()
        return [curve_of(curves, one, cuts) for one in self._document.objects if name in (None, one.name)]

    def next(self) -> None:
        """Go to the next frame of low confidence or, if there is none, to the next one that is less certain."""
        known, here = self.frames(), self._here
        later = [frames[bisect_right(frames, here) :] for frames in known]
        self._go(known, [frames[0] for frames in later if frames], "later")

    def previous(self) -> None:
        """Go to the previous frame of low confidence or, if there is none, to the previous one that is less certain."""
        known, here = self.frames(), self._here
        earlier = [frames[: bisect_left(frames, here)] for frames in known]
        self._go(known, [frames[-1] for frames in earlier if frames], "earlier")

    @property
    def _here(self) -> int:
        index = self._document.display.index
        return -1 if index is None else index

    def _go(self, known: tuple[list[int], list[int]], found: list[int], where: str) -> None:
        """Go to the first of the frames found, or say that there is none."""
        low, _ = known
        if found:
            frame = found[0]
            self._player.pause()
            self._player.seek(frame)
            confidence = float(np.nanmin([curve.at(frame) for curve in self._curves()]))
            if confidence >= LOW:
                text = confidence_text(confidence)
                none = f"No {where} frame" if low else "No frame"
                self._message(f"{none} of low confidence. Less certain than its neighbours: frame {frame}, {text}.")
        elif not self._document.objects:
            self._message("There is no object yet.")
        else:
            name = self._highlighted()
            of = "" if name is None else f" of object '{name}'"
            so_far = " so far: objects are still being tracked" if self._document.tracking.progress is not None else ""
            self._message(f"No {f'{where} ' if any(known) else ''}frame of low confidence{of}{so_far}.")
