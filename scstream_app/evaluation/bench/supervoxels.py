"""Benchmark of segments as supervoxels: the measures of LIBSVX over a sweep of `detail`.

Clips are folders of pictures with a label image for every frame. Published figures of other methods are quoted from
Xu and Corso, see `scstream.metrics.supervoxels`; they hold for Chen's eight clips.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter, warm_up
from scstream.metrics import Supervoxels
from scstream_app.errors import EvaluationError, reason
from scstream_app.evaluation.bench.reports.report import Better, Plot, Report, Row, Series, Skipped, Table
from scstream_app.evaluation.bench.timing import Stopwatch
from scstream_app.render.label_images import read_label_image
from scstream_app.sources import IMAGE_SUFFIXES

DETAILS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
QUICK_DETAILS = (0.3, 3.0)
QUICK_FRAMES = 10
#: Numbers of ids in a video at which methods are compared.
IDS = (200, 500)

#: Measures with the direction that is better and their full names.
MEASURES: dict[str, tuple[Better, str]] = {
    "ue3d": ("lower", "undersegmentation error"),
    "sa3d": ("higher", "segmentation accuracy"),
    "br3d": ("higher", "boundary recall"),
    "ev": ("higher", "explained variation"),
    "duration": ("higher", "mean duration in frames"),
}
PUBLISHED_ON = "Chen's eight clips"
#: Published figures at `IDS`.
PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "GBH": {
        "ue3d": (13.7, 6.8),
        "sa3d": (0.747, 0.827),
        "br3d": (0.765, 0.830),
        "ev": (0.855, 0.889),
        "duration": (68.0, 60.0),
    },
    "SWA": {
        "ue3d": (21.8, 10.1),
        "sa3d": (0.713, 0.799),
        "br3d": (0.692, 0.769),
        "ev": (0.900, 0.924),
        "duration": (60.0, 55.0),
    },
}
#: Methods of the same publication that the tables lack.
WITHOUT_FIGURES = ("Meanshift", "GB", "Nystrom")

_PICTURES = ("frames", "images", "input", "jpegimages", "png")
_TRUTHS = ("gt", "labels", "groundtruth", "ground_truth", "truth", "annotations")

Labels = npt.NDArray[np.int32]
StatusCallback = Callable[[str], None]


class Clip(NamedTuple):
    """The pictures of a clip, and the label images: not every picture has one."""

    name: str
    pictures: list[Path]
    truths: list[Path | None]


# --- files ------------------------------------------------------------------------------------------------


def find_clips(root: Path) -> list[Clip]:
    """The clips in a folder, in one of three layouts.

    ROOT/frames with ROOT/labels, each with the images of one clip or with a folder per clip; or ROOT/CLIP/frames with
    ROOT/CLIP/labels. The folders may have other usual names, such as ``JPEGImages`` and ``gt``.
    """
    if not root.is_dir():
        raise EvaluationError(f"Cannot read '{root}': no such folder.")
    clips = list(_clips_of(root))
    if not clips:
        clips = [clip for folder in sorted(root.iterdir()) if folder.is_dir() for clip in _clips_of(folder)]
    if not clips:
        raise EvaluationError(
            f"Cannot find clips in '{root}': it needs a folder of pictures (frames) and one of label images with the "
            "same numbers (labels or gt), for each clip."
        )
    return clips


def _clips_of(root: Path) -> Iterator[Clip]:
    pictures, truths = _subfolder(root, _PICTURES), _subfolder(root, _TRUTHS)
    if pictures is None or truths is None:
        return
    names = sorted(folder.name for folder in pictures.iterdir() if (truths / folder.name).is_dir() and folder.is_dir())
    pairs = [(pictures / name, truths / name) for name in names] or [(pictures, truths)]
    for picture_folder, truth_folder in pairs:
        by_number = _numbered(truth_folder)
        frames = _numbered(picture_folder)
        if frames.keys() & by_number.keys():
            name = picture_folder.name if names else root.name
            yield Clip(name, list(frames.values()), [by_number.get(number) for number in frames])


def _subfolder(root: Path, names: Sequence[str]) -> Path | None:
    return next((path for path in sorted(root.iterdir()) if path.is_dir() and path.name.lower() in names), None)


def _numbered(folder: Path) -> dict[int, Path]:
    """Images by the last number in their names, ascending."""
    found = {}
    for path in folder.iterdir():
        digits = re.findall(r"\d+", path.stem)
        if digits and path.suffix.lower() in IMAGE_SUFFIXES:
            found[int(digits[-1])] = path
    return dict(sorted(found.items()))


def read_picture(path: Path) -> npt.NDArray[np.uint8]:
    """An RGB picture (H, W, 3)."""
    values = _values(path)
    return np.ascontiguousarray(np.dstack([values] * 3) if values.ndim == 2 else values[..., :3], np.uint8)


def read_labels(path: Path) -> Labels:
    """Labels (H, W) of an image: its grey values or indices, or one label for each colour (black is 0)."""
    values = _values(path).astype(np.int32)
    return values if values.ndim == 2 else (values[..., 0] << 16) + (values[..., 1] << 8) + values[..., 2]


def _values(path: Path) -> npt.NDArray[Any]:
    try:
        return read_label_image(path).values
    except OSError as error:
        raise EvaluationError(f"Cannot read '{path}': {reason(error)}.") from error


# --- measuring --------------------------------------------------------------------------------------------


def measure(
    report: Report,
    root: Path,
    void: int = 0,
    seeds: int | None = None,
    quick: bool = False,
    on_status: StatusCallback = lambda _: None,
) -> None:
    """Segment every clip with every `detail` and seed, and add the scores to the report."""
    clips = find_clips(root)
    details, seeds = (QUICK_DETAILS, seeds or 1) if quick else (DETAILS, seeds or 3)
    report.settings |= {"clips": [clip.name for clip in clips], "void": void, "seeds": seeds, "quick": quick}
    report.skipped += [
        Skipped(name, "a method of the same publication, whose figures this benchmark does not have")
        for name in WITHOUT_FIGURES
    ]
    on_status("Compiling the engine")
    warm_up()
    runs = _runs_table()
    report.tables.append(runs)
    for clip in clips:
        for detail in details:
            scores = []
            for seed in range(seeds):
                on_status(f"{clip.name}, detail {detail:g}, seed {seed + 1} of {seeds}")
                scores.append(score_clip(clip, detail, seed, void, QUICK_FRAMES if quick else None))
            runs.rows.append({"clip": clip.name, "detail": detail, **summary(scores)})
    report.tables.append(at_ids(runs.rows, root.resolve().name))
    report.plots += plots(runs.rows, root.resolve().name)


def _runs_table() -> Table:
    return Table(
        "runs",
        "ScStream by clip and detail",
        ["clip", "detail", "ids", *MEASURES, "ms"],
        note="Mean and standard deviation over the seeds; ms is the median time of a frame after the first, with the "
        "10th and 90th percentile.",
        keys=["clip", "detail"],
        measures={**{name: better for name, (better, _) in MEASURES.items()}, "ms": "lower"},
    )


def score_clip(clip: Clip, detail: float, seed: int, void: int, n_frames: int | None = None) -> Row:
    """Segment a clip and score its ids; the times of all frames after the first are in ``milliseconds``."""
    segmenter = VideoSegmenter(detail=detail, seed=seed)
    voxels, watch = Supervoxels(void), Stopwatch(pause=0.0)
    for index, (path, truth) in enumerate(zip(clip.pictures[:n_frames], clip.truths[:n_frames], strict=True)):
        picture = read_picture(path)
        step = partial(segmenter.segment, picture)
        ids = watch.time(step) if index else step()
        if truth is not None:
            labels = read_labels(truth)
            if labels.shape != ids.shape:
                raise EvaluationError(f"'{truth}' has shape {labels.shape}, but its picture {ids.shape}.")
            voxels.add(ids, labels, picture)
    try:
        found = voxels.scores()
    except ValueError as error:
        raise EvaluationError(f"Cannot score '{clip.name}' with --void {void}: {error}.") from error
    scores = {name: getattr(found, name) for name in MEASURES}
    return {"ids": found.n_ids, **scores, "milliseconds": watch.milliseconds}


def summary(scores: Sequence[Row]) -> Row:
    """Means and standard deviations over the seeds."""
    row: Row = {"ids": round(float(np.mean([score["ids"] for score in scores])), 1)}
    for name in MEASURES:
        values = [score[name] for score in scores]
        row[name] = round(float(np.mean(values)), 4)
        if len(values) > 1:
            row[f"{name}_std"] = round(float(np.std(values, ddof=1)), 4)
    watch = Stopwatch(milliseconds=[value for score in scores for value in score["milliseconds"]])
    if watch.milliseconds:
        times = watch.summary()
        row |= {"ms": times["ms_median"], "ms_p10": times["ms_p10"], "ms_p90": times["ms_p90"]}
    return row | {"repetitions": len(scores), "ms_repetitions": len(watch.milliseconds)}


# --- beside published figures -----------------------------------------------------------------------------


def at_ids(rows: Sequence[Row], name: str) -> Table:
    """Scores at given numbers of ids: interpolated between details, mean over the clips that have so many ids."""
    table = Table(
        "at_ids",
        f"At {' and '.join(map(str, IDS))} ids in a video",
        ["ids", "method", "data", "clips", *MEASURES],
        note=f"Published figures (Xu and Corso, LIBSVX) are those of offline methods on {PUBLISHED_ON}; they compare "
        "with ScStream only on the same clips. ScStream: interpolated linearly between two details, mean over the "
        "clips with as many ids.",
        keys=["ids", "method"],
        measures={measure: better for measure, (better, _) in MEASURES.items()},
    )
    clips = {row["clip"]: [each for each in rows if each["clip"] == row["clip"]] for row in rows}
    for place, ids in enumerate(IDS):
        found = [scores for scores in (_interpolated(each, ids) for each in clips.values()) if scores]
        means = {
            measure: round(float(np.mean([scores[measure] for scores in found])), 4) for measure in MEASURES if found
        }
        table.rows.append(
            {"ids": ids, "method": "ScStream", "data": name, "clips": f"{len(found)} of {len(clips)}", **means}
        )
        for method, figures in PUBLISHED.items():
            quoted = {measure: values[place] for measure, values in figures.items()}
            table.rows.append({"ids": ids, "method": method, "data": PUBLISHED_ON, "clips": "published", **quoted})
    return table


def _interpolated(rows: Sequence[Row], ids: int) -> Row | None:
    """Scores of a clip at this number of ids; None if no two details enclose it."""
    ordered = sorted(rows, key=lambda row: row["ids"])
    known = [row["ids"] for row in ordered]
    if not known[0] <= ids <= known[-1]:
        return None
    return {measure: float(np.interp(ids, known, [row[measure] for row in ordered])) for measure in MEASURES}


def plots(rows: Sequence[Row], name: str) -> list[Plot]:
    """One plot for each measure over the number of ids: the means over the clips for each detail."""
    details = sorted({row["detail"] for row in rows})

    def means(column: str) -> list[float]:
        return [float(np.mean([row[column] for row in rows if row["detail"] == detail])) for detail in details]

    found = []
    for measure, (better, full) in MEASURES.items():
        series = [Series(f"ScStream on {name}", means("ids"), means(measure))]
        for method, figures in PUBLISHED.items():
            series.append(Series(f"{method} on {PUBLISHED_ON}", list(map(float, IDS)), list(figures[measure]), True))
        title = f"{full.capitalize()} ({better} is better)"
        found.append(Plot(f"supervoxels_{measure}", title, "ids in a video", full, log_x=True, series=series))
    return found
