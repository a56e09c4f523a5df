"""Scores against a ground truth: J (overlap) and F (contour) of masks, the quality and the stability of segments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from scstream import metrics
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.comparison import Comparison
from scstream_app.evaluation.flow import flow_both_ways
from scstream_app.evaluation.label_maps import SessionMaps, open_maps
from scstream_app.render.label_images import VOID

#: The background of objects, and the id of pixels without a segment.
_NO_OBJECT, _NO_SEGMENT = 0, -1


def evaluate(
    predictions: Path,
    truth: Path,
    skip_ends: bool = False,
    source: str | None = None,
    void: int | None = None,
    start: int = 0,
    stop: int | None = None,
) -> dict[str, Any]:
    """All scores that the inputs allow, as `scstream evaluate --json` prints them.

    Parameters
    ----------
    predictions, truth : Path
        Folders of images, npz files or sessions. True frames without a prediction count as missed; predictions without
        a true frame are ignored.
    skip_ends : bool
        Ignore the first and the last true frame, as DAVIS does.
    source : str or None
        The video that was segmented: for segments, adds the scores that need its pictures.
    void : int or None
        Label of true pixels that are not judged. For segments it also means that the other labels are regions of a
        dense ground truth, instead of objects before a background 0.
    start, stop : int
        Compare frames start to stop - 1 only.
    """
    maps, truths = open_maps(predictions), open_maps(truth)
    comparison = Comparison(maps, truths, skip_ends, source, start, stop)
    segments = comparison.predictions.segments
    if source is not None and not segments:
        raise EvaluationError(f"--source adds scores of segments, but '{predictions}' contains masks of objects.")
    return {
        "frames": len(comparison.frames),
        "frames_without_prediction": comparison.missing,
        "kind": "segments" if segments else "objects",
        **(_segment_scores(comparison, void) if segments else _object_scores(comparison, void)),
        **_tracked_scores(comparison, void, skip_ends, start, stop),
    }


def _tracked_scores(
    comparison: Comparison, void: int | None, skip_ends: bool, start: int, stop: int | None
) -> dict[str, Any]:
    """Scores of the objects of a session, if any are tracked on the compared frames and the truth has masks."""
    maps, truths = comparison.predictions, comparison.truth
    if not isinstance(maps, SessionMaps) or truths.segments or not set(maps.objects.frames) & set(comparison.frames):
        return {}
    tracked = Comparison(maps.objects, truths, skip_ends, None, start, stop)
    return {"tracked": {"frames_without_prediction": tracked.missing, **_object_scores(tracked, void)}}


# --- objects ----------------------------------------------------------------------------------------------


def _object_scores(comparison: Comparison, void: int | None) -> dict[str, Any]:
    """J and F of each true object, and their means."""
    unjudged = _unjudged_label(comparison, void)
    objects = sorted(comparison.labels - {_NO_OBJECT, unjudged})
    if not objects:
        raise EvaluationError("Nothing to compare: the ground truth has no object in these frames.")
    scores: dict[int, list[tuple[float, float]]] = {value: [] for value in objects}
    predicted = set(comparison.predicted)
    for frame in comparison.frames:
        if frame not in predicted:
            for each in scores.values():
                each.append((0.0, 0.0))
            continue
        pair = comparison.pair(frame)
        valid = pair.truth != unjudged if unjudged is not None else np.True_
        for value, each in scores.items():
            mask = (pair.predicted > 0 if len(objects) == 1 else pair.predicted == value) & valid
            each.append((metrics.jaccard(mask, pair.truth == value), metrics.boundary_f(mask, pair.truth == value)))
    per_object = {
        str(value): {**_summary("j", [j for j, _ in each]), **_summary("f", [f for _, f in each])}
        for value, each in scores.items()
    }
    means = {name: _mean(each[name] for each in per_object.values()) for name in next(iter(per_object.values()))}
    found = {**means, "j_and_f": _rounded((means["j_mean"] + means["f_mean"]) / 2)}
    overlaps = [[j for j, _ in each] for each in scores.values()]
    return {**found, **_confidence_scores(comparison, overlaps), "objects": per_object}


def _confidence_scores(comparison: Comparison, overlaps: list[list[float]]) -> dict[str, float]:
    """Rank correlation of the tracker's confidence with J over all frames, if the confidences are known."""
    known = getattr(comparison.predictions, "confidences", {})
    pairs = [
        (known[frame][place], values[at])
        for place, values in enumerate(overlaps)
        for at, frame in enumerate(comparison.frames)
        if len(known.get(frame, ())) == len(overlaps) and math.isfinite(known[frame][place])
    ]
    if len({confidence for confidence, _ in pairs}) < 2 or len({overlap for _, overlap in pairs}) < 2:
        return {}
    # Takes a second to import, for which other commands need not wait.
    from scipy.stats import spearmanr

    found = spearmanr([confidence for confidence, _ in pairs], [overlap for _, overlap in pairs])
    return {"confidence_rank_correlation": _rounded(float(found.statistic))}


def _unjudged_label(comparison: Comparison, void: int | None) -> int | None:
    """Label of the true pixels that are not judged."""
    if void is not None:
        return void
    # In a black and white mask, 255 is the object; among several objects, it means void.
    return VOID if len(comparison.labels - {_NO_OBJECT}) > 1 else None


def _summary(name: str, values: list[float]) -> dict[str, float]:
    """Mean, recall (fraction of frames above 0.5) and decay of a score over the frames."""
    return {
        f"{name}_mean": _mean(values),
        f"{name}_recall": _mean(value > 0.5 for value in values),
        f"{name}_decay": _rounded(metrics.decay(values)),
    }


# --- segments ---------------------------------------------------------------------------------------------


def _segment_scores(comparison: Comparison, void: int | None) -> dict[str, Any]:
    """Scores of segments by themselves, against objects or dense labels, and as supervoxels."""
    dense = comparison.truth.segments or void is not None
    against_truth = _clustering_scores(comparison, void) if dense else _oracle_scores(comparison)
    return _stability_scores(comparison) | against_truth | _supervoxel_scores(comparison, void)


def _stability_scores(comparison: Comparison) -> dict[str, Any]:
    """Scores that need no ground truth."""
    numbers = [(len(np.unique(ids)), metrics.pieces(ids)) for ids in comparison.ids()]
    lives = metrics.lives(comparison.ids())
    scores = {
        "segments_mean": _mean(segments for segments, _ in numbers),
        "pieces_mean": _mean(pieces for _, pieces in numbers),
        "pieces_per_segment": _mean(pieces / segments for segments, pieces in numbers),
        "ids": lives.n_ids,
        "mean_life": _rounded(lives.mean),
        "short_lived": _rounded(lives.short_lived()),
        "temporal_consistency": _rounded(metrics.temporal_consistency(comparison.ids())),
    }
    if comparison.source is not None:
        kept = metrics.kept_along_flow(comparison.ids(), flow_both_ways(comparison.pictures()))
        scores |= {} if math.isnan(kept) else {"kept_along_flow": _rounded(kept)}
    return scores


def _oracle_scores(comparison: Comparison) -> dict[str, float]:
    """J of the best choice of ids and, if the events are known, of the ids that are carried along."""
    scores = {
        "j_oracle": _mean_over_all(metrics.oracle_jaccard(comparison.ids(), comparison.masks()), comparison),
        "j_oracle_per_frame": _mean_over_all(
            metrics.oracle_jaccard_per_frame(comparison.ids(), comparison.masks()), comparison
        ),
    }
    events = [comparison.predictions.events(frame) for frame in comparison.predicted]
    known = [each for each in events if each is not None]
    if len(known) == len(events) and _is_complete(comparison):
        carried = metrics.carried_jaccard(comparison.ids(), comparison.masks(), known)
        scores["j_carried"] = _mean_over_all(carried, comparison)
    return scores


def _is_complete(comparison: Comparison) -> bool:
    """Whether no predicted frame between the first and the last compared one is left out, and its events with it."""
    first, last = comparison.predicted[0], comparison.predicted[-1]
    return comparison.predicted == [frame for frame in comparison.predictions.frames if first <= frame <= last]


def _clustering_scores(comparison: Comparison, void: int | None) -> dict[str, float]:
    """Mean scores of the frames as clusterings of their pixels."""
    unlabelled = _NO_SEGMENT if void is None else void
    each = []
    for pair in comparison:
        labelled = pair.truth != unlabelled
        if labelled.any():
            each.append(metrics.clustering_scores(pair.truth[labelled], pair.predicted[labelled]))
    return {name: _mean(scores[name] for scores in each) for name in each[0]} if each else {}


def _supervoxel_scores(comparison: Comparison, void: int | None) -> dict[str, float]:
    """Scores of the segments as supervoxels, if the ground truth has a region in the frames with a prediction."""
    background = _NO_SEGMENT if comparison.truth.segments else _NO_OBJECT
    unlabelled = background if void is None else void
    unjudged = None if comparison.truth.segments else _unjudged_label(comparison, void)
    voxels, n_labelled = metrics.Supervoxels(unlabelled), 0
    pictures = repeat(None) if comparison.source is None else comparison.pictures()
    for pair, picture in zip(comparison, pictures, strict=False):
        truth = pair.truth if unjudged is None else np.where(pair.truth == unjudged, unlabelled, pair.truth)
        voxels.add(pair.predicted, truth, picture)
        n_labelled += int(np.count_nonzero(truth != unlabelled))
    if not n_labelled:
        return {}
    found = voxels.scores()
    scores = {"ue3d": found.ue3d, "sa3d": found.sa3d, "br3d": found.br3d, "duration": found.duration}
    if found.ev is not None:
        scores["explained_variation"] = found.ev
    return {name: _rounded(value) for name, value in scores.items()}


# --- numbers ----------------------------------------------------------------------------------------------


def _mean_over_all(values: Iterable[float], comparison: Comparison) -> float:
    """Mean over the true frames; those without a prediction count as 0."""
    return _rounded(float(np.sum(list(values))) / len(comparison.frames))


def _mean(values: Iterable[float]) -> float:
    return _rounded(float(np.mean([float(value) for value in values])))


def _rounded(value: float) -> float:
    return round(value, 6)


def table_rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and value of every score except those of single objects, for a table."""
    for name, value in scores.items():
        if name == "tracked":
            yield from ((f"tracked_{inner}", text) for inner, text in table_rows(value))
        elif not isinstance(value, dict):
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)
