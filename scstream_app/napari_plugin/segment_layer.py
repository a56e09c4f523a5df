"""Segment a layer on a thread of its own: what the widget's worker runs."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

import scstream
from scstream_app.errors import StudioError
from scstream_app.napari_plugin.layer_source import LayerSource
from scstream_app.napari_plugin.tracks import TrackCollector
from scstream_app.pipeline.run import Notice, segment_frames
from scstream_app.settings import Settings

#: Shortest time between two reports of progress, in seconds.
INTERVAL = 0.1
# Set when the engine is loaded and compiled.
_warm = threading.Event()


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of frames that are done, and messages about damaged frames since the last progress."""

    done: int
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: the last progress, the tracks, and the message of the error that ended it, if any."""

    progress: Progress
    tracks: TrackCollector
    error: str = ""


class LayerRun:
    """Segments all frames of a layer.

    Parameters
    ----------
    source : LayerSource
    settings : Settings
    labels : array (frames, H, W) int32
        Gets the labels, id + 1, frame by frame.

    Attributes
    ----------
    cancel : Event
        Set it to end the run soon, also within the first frame.
    shown : Event
        The caller sets it when it has shown a progress. Until then there is no further one: a slow screen would be
        busy with old ones for ever.
    """

    def __init__(self, source: LayerSource, settings: Settings, labels: npt.NDArray[np.int32]) -> None:
        self.source, self.settings, self.labels = source, settings, labels
        self.cancel, self.shown = threading.Event(), threading.Event()
        self._tracks = TrackCollector()
        self._damage: list[str] = []
        self._done = 0

    def run(self) -> Generator[Progress, None, Outcome]:
        """Segment the frames; yields the progress from time to time."""
        error = ""
        try:
            self._warm_up()
            yield self._progress()
            yield from self._segment()
        except _Cancelled:
            pass
        except StudioError as reason:
            error = str(reason)
        return Outcome(self._progress(), self._tracks, error)

    def _warm_up(self) -> None:
        if not _warm.is_set():
            scstream.warm_up(lambda *_: self._stop_if_cancelled())
            _warm.set()

    def _segment(self) -> Generator[Progress]:
        reported = perf_counter()
        for result in segment_frames(
            self.source,
            self.settings.segmenter(),
            cancel=self.cancel,
            scene_cuts=self.settings.scene_cuts,
            on_notice=self._note,
        ):
            self.labels[result.index] = result.ids + 1
            self._tracks.add(result.index, result.statistics, result.events)
            self._done += 1
            if self.shown.is_set() and perf_counter() - reported > INTERVAL:
                self.shown.clear()
                yield self._progress()
                reported = perf_counter()

    def _note(self, notice: Notice) -> None:
        if notice.kind == "damaged":
            self._damage.append(notice.text)

    def _progress(self) -> Progress:
        damage = tuple(self._damage)
        self._damage.clear()
        return Progress(self._done, damage)

    def _stop_if_cancelled(self) -> None:
        if self.cancel.is_set():
            raise _Cancelled


class _Cancelled(Exception):
    """Raised to end the warm-up."""
