"""One method on one clip: its times, and what its scores need."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from scstream import Event, metrics
from scstream_app.evaluation.bench.timing import Stopwatch, limit_threads
from scstream_app.evaluation.bench.video.methods import Ids, Input, Running


class StoredMaps:
    """Id maps of a clip, compressed; iterating yields them in order."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._data: list[bytes] = []

    def append(self, ids: Ids) -> None:
        """Add the map of the next frame."""
        self._shape = ids.shape
        self._data.append(zlib.compress(np.ascontiguousarray(ids, np.int32).tobytes(), 1))

    def __iter__(self) -> Iterator[Ids]:
        return (np.frombuffer(zlib.decompress(data), np.int32).reshape(self._shape) for data in self._data)


@dataclass(slots=True)
class Run:
    """One method on one clip with one seed and number of threads.

    ``maps``, ``events`` and ``kept`` are recorded only if ``scored``: ids do not depend on the number of threads.
    """

    method: str
    clip: str
    seed: int
    threads: int
    scored: bool
    running: Running
    first: Stopwatch = field(default_factory=Stopwatch)
    later: Stopwatch = field(default_factory=Stopwatch)
    maps: StoredMaps = field(default_factory=StoredMaps)
    events: list[Iterable[Event]] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    last: Ids | None = None
    scores: dict[str, float] = field(default_factory=dict)

    def step(self, frame: Input) -> Ids:
        """Label a frame, and record how long it took."""
        watch = self.first if self.last is None else self.later
        with limit_threads(self.threads):
            return watch.time(partial(self.running.step, frame))

    def record(self, ids: Ids, flows: Sequence[tuple[metrics.Flow, metrics.Flow]]) -> None:
        """Keep what the scores need of a frame; ``flows`` lead from the last frame to this one."""
        if self.scored:
            self.maps.append(ids)
            self.events.append([] if self.running.events is None else list(self.running.events()))
            if self.last is not None:
                self.kept.append(metrics.kept_along_flow([self.last, ids], flows))
        self.last = ids

    def score(self, masks: Sequence[npt.NDArray[np.bool_]]) -> None:
        """Score the frames so far, of which ``masks`` are the truth."""
        maps = partial(islice, self.maps, len(masks))
        kept = [share for share in self.kept if not math.isnan(share)]
        lives = metrics.lives(maps())
        events = None if self.running.events is None else self.events[: len(masks)]
        self.scores = {
            "segments": float(np.mean([len(np.unique(ids)) for ids in maps()])),
            "ids": float(lives.n_ids),
            "pieces": float(np.mean([metrics.pieces(ids) for ids in maps()])),
            "oracle_j": float(metrics.oracle_jaccard(maps(), masks).mean()),
            "carried_j": float(metrics.carried_jaccard(maps(), masks, events).mean()),
            "kept": float(np.mean(kept)) if kept else math.nan,
            "life": lives.mean,
        }
