"""Statistics of a whole run, to compare it with another run of the same clip."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scstream import metrics
from scstream.sampler.genealogy import Kind
from scstream_app.evaluation.flow import flow_both_ways
from scstream_app.session import PICTURES, Manifest, Session
from scstream_app.session.run_summary import RunSummary
from scstream_app.settings import Settings
from scstream_app.sources import Source

#: Pairs of consecutive frames, spread over the clip, along whose motion ids are followed.
_FLOW_PAIRS = 10


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Numbers that describe a run; nan where a number is unknown.

    Parameters
    ----------
    settings : Settings
        Settings at the start of the run.
    frames : int
    segments : float
        Mean number of segments of a frame.
    ids : int
        Number of segments that ever lived.
    life : float
        Mean lifetime of a segment in frames.
    churn, uncertainty : float
        Means over the frames.
    milliseconds : float
        Median time of the engine for a frame.
    events : mapping of Kind to int
        Number of events of each kind.
    cuts : int
        Number of scene cuts.
    edits : int
        Number of changes of the model by the user.
    """

    settings: Settings
    frames: int
    segments: float
    ids: int
    life: float
    churn: float
    uncertainty: float
    milliseconds: float
    events: Mapping[Kind, int]
    cuts: int
    edits: int


def run_statistics(session: Session) -> RunStatistics:
    """Statistics of a session's frames; reads all their records."""
    summary = RunSummary()
    summary.extend(session.records())
    for index, found in session.added_measures():
        summary.fill(index, found)
    end = summary.frames[-1] + 1 if len(summary) else 0
    lives = [(end if life.died is None else life.died) - life.born for life in summary.lives.values()]
    engine = summary.column("engine")
    engine = engine[np.isfinite(engine)]
    kinds = Counter(summary.events.kind(place) for place in range(len(summary.events)))
    return RunStatistics(
        session.manifest.settings,
        len(summary),
        _mean(summary.column("segments")),
        len(lives),
        float(np.mean(lives)) if lives else math.nan,
        _mean(summary.column("churn")),
        _mean(summary.column("uncertainty")),
        float(np.median(engine)) if engine.size else math.nan,
        {kind: kinds[kind] for kind in Kind},
        len(summary.cuts),
        sum(len(record.edits) for record in session.edited_records(end)),
    )


def _mean(values: npt.NDArray[np.float64]) -> float:
    """Mean of the finite values; nan if there are none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else math.nan


def same_clip(one: Manifest, other: Manifest) -> bool:
    """Whether two sessions segment the same clip: the same address, or at least the same size and first frame."""
    a, b = one.source, other.source
    if (a.width, a.height) != (b.width, b.height):
        return False
    if a.address == b.address and PICTURES != a.address:
        return True
    # The length of a recording is not known while it is written.
    equally_long = a.length == b.length or None in (a.length, b.length)
    return equally_long and one.first_frame is not None and one.first_frame == other.first_frame


def kept_along_flow(sessions: Sequence[Session], source: Source, cancel: threading.Event) -> list[float]:
    """Share of pixels of each session that keep their id where the optical flow takes them; see `metrics`.

    The mean over a few pairs of consecutive frames, spread evenly over the frames that all sessions have. Empty if
    ``cancel`` is set meanwhile.
    """
    kept: list[list[float]] = [[] for _ in sessions]
    for index in _pairs(sessions):
        if cancel.is_set():
            return []
        pictures = [frame.rgb for frame in source.frames(index, index + 2, on_damage=lambda damage: None)]
        if len(pictures) < 2 or pictures[0].shape != pictures[1].shape:
            continue
        flows = list(flow_both_ways(pictures))
        for shares, session in zip(kept, sessions, strict=True):
            maps = [session.ids(index), session.ids(index + 1)]
            if maps[0].shape == pictures[0].shape[:2]:
                shares.append(metrics.kept_along_flow(maps, flows))
    return [_mean(np.array(shares, np.float64)) for shares in kept]


def _pairs(sessions: Sequence[Session]) -> Iterator[int]:
    """First frames of the pairs to follow."""
    common = set.intersection(*(set(session.frames.tolist()) for session in sessions))
    starts = sorted(index for index in common if index + 1 in common)
    chosen = np.linspace(0, len(starts) - 1, min(_FLOW_PAIRS, len(starts)))
    return (starts[round(place)] for place in chosen)
