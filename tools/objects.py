"""Measure the tracker of objects on clips in the layout of DAVIS 2016: the first mask is given.

    python tools/objects.py ROOT [CLIP ...] [--seeds 3] [--ablation] [--corrections 3] [--json]
    python tools/objects.py ROOT [CLIP ...] --backwards --every 2
    python tools/objects.py ROOT [CLIP ...] --speed
    python tools/objects.py ROOT [CLIP ...] --picture objects.png

ROOT holds JPEGImages/480p/CLIP/*.jpg and Annotations/480p/CLIP/*.png. J and F are means without the first and the last
frame. Two clips run in parallel with one thread each; masks do not depend on the number of threads. Played backwards,
or with every second frame only, the clips are others than those that the weights were chosen on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from scstream import VideoSegmenter, metrics
from scstream.sampler.genealogy import follow
from scstream_app.objects import MarkedObject, ObjectEdit, mask_to_png
from scstream_app.objects.tracker import ObjectTracker
from scstream_app.objects.tracking.weights import Weights
from scstream_app.pipeline.frame_result import FrameResult

Mask = npt.NDArray[np.bool_]
#: Weights that an ablation sets to zero together.
SOURCES = {
    "genealogy": ("genealogy",),
    "moved mask": ("warped", "segment_warped", "distance"),
    "first colours": ("first_colours", "segment_first_colours"),
    "recent colours": ("recent_colours",),
    "motion": ("motion", "segment_motion"),
    "segments": ("segment_warped", "segment_first_colours", "segment_motion", "genealogy"),
    "area": ("area",),
    "thin parts": ("thin_parts",),
}


@dataclass(frozen=True, slots=True)
class Clips:
    """A folder of clips and how they are played.

    Parameters
    ----------
    root : Path
    backwards : bool
        From the last frame to the first one, but from the first that shows at least half as much of the object as the
        median frame does.
    every : int
        Only every n-th frame.
    """

    root: Path
    backwards: bool = False
    every: int = 1

    def read(self, clip: str) -> tuple[list[npt.NDArray[np.uint8]], list[Mask]]:
        """Pictures and masks of a clip."""
        paths = sorted((self.root / "JPEGImages/480p" / clip).glob("*.jpg"), reverse=self.backwards)[:: self.every]
        folder = self.root / "Annotations/480p" / clip
        masks = [np.asarray(cv2.imread(str(folder / f"{path.stem}.png"), 0) > 0) for path in paths]
        areas = np.array([mask.sum() for mask in masks])
        first = int(np.argmax(areas >= 0.5 * np.median(areas))) if self.backwards else 0
        pictures = [cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB) for path in paths[first:]]
        return [np.asarray(picture, np.uint8) for picture in pictures], masks[first:]


def segmented(pictures: Sequence[npt.NDArray[np.uint8]], seed: int) -> list[FrameResult]:
    """Segment all pictures."""
    segmenter = VideoSegmenter(seed=seed, threads=1)
    return [
        FrameResult(index, 0.0, picture, segmenter.segment(picture), tuple(segmenter.events_), np.empty(0))
        for index, picture in enumerate(pictures)
    ]


def tracked(
    results: Sequence[FrameResult], edits: Sequence[ObjectEdit], weights: Weights | None = None
) -> tuple[list[Mask], list[float]]:
    """Masks and confidences of one object."""
    thing = MarkedObject("object", (255, 0, 0), tuple(edits))
    with closing(ObjectTracker([thing], weights)) as tracker:
        found = [tracker.advance(result) for result in results]
    return [one.mask(0) for one in found], [one.confidences[0] for one in found]


def painted(frame: int, mask: Mask) -> ObjectEdit:
    """An edit that gives a whole mask."""
    return ObjectEdit("painted", frame, frozenset(), mask_to_png(mask))


def overlaps(found: Sequence[Mask], masks: Sequence[Mask]) -> list[float]:
    """J of every frame but the first and the last."""
    return [metrics.jaccard(*pair) for pair in list(zip(found, masks, strict=True))[1:-1]]


def contours(found: Sequence[Mask], masks: Sequence[Mask]) -> float:
    """Mean F without the first and the last frame."""
    return float(np.mean([metrics.boundary_f(*pair) for pair in list(zip(found, masks, strict=True))[1:-1]]))


def by_genealogy(results: Sequence[FrameResult], mask: Mask) -> list[Mask]:
    """The object as whole segments that follow the genealogy."""
    members = metrics.ids_inside(results[0].ids, mask)
    found = []
    for place, result in enumerate(results):
        members = follow(members, result.events) if place else members
        found.append(np.isin(result.ids, list(members)))
    return found


def measure(clips: Clips, clip: str, seed: int, ablation: bool, corrections: int) -> dict[str, Any]:
    """Measure one clip with one seed."""
    pictures, masks = clips.read(clip)
    results = segmented(pictures, seed)
    first = painted(0, masks[0])
    found, confidences = tracked(results, [first])
    each = overlaps(found, masks)
    row: dict[str, Any] = {
        "clip": clip,
        "seed": seed,
        "j": float(np.mean(each)),
        "f": contours(found, masks),
        "j_genealogy": float(np.mean(overlaps(by_genealogy(results, masks[0]), masks))),
        "j_frames": each,
        "confidences": confidences[1:-1],
    }
    if ablation:
        row["without"] = {}
        for source, names in SOURCES.items():
            fewer = Weights(**{field.name: 0.0 for field in fields(Weights) if field.name in names})
            masks_found = tracked(results, [first], fewer)[0]
            row["without"][source] = (float(np.mean(overlaps(masks_found, masks))), contours(masks_found, masks))
    if corrections:
        row["corrected"] = list(correct(results, masks, corrections))
    return row


def correct(results: Sequence[FrameResult], masks: Sequence[Mask], count: int) -> Iterator[tuple[int, float]]:
    """Give the true mask at the frame of lowest confidence, several times; yields the frame and the new mean J."""
    edits = [painted(0, masks[0])]
    found, confidences = tracked(results, edits)
    for _ in range(count):
        known = {edit.frame for edit in edits}
        frame = min((index for index in range(len(masks)) if index not in known), key=confidences.__getitem__)
        edits.append(painted(frame, masks[frame]))
        before = found
        found, confidences = tracked(results, edits)
        for index in range(frame):
            assert np.array_equal(before[index], found[index]), "a correction changed an earlier frame"
        yield frame, float(np.mean(overlaps(found, masks)))


def speed(clips: Clips, clip: str) -> dict[str, float]:
    """Milliseconds per frame of the engine alone and with an object, frame by frame in turn, with two threads."""
    pictures, masks = clips.read(clip)
    plain, with_object = (VideoSegmenter(seed=0, threads=2) for _ in range(2))
    times: dict[str, list[float]] = {"engine": [], "with_object": []}
    with closing(ObjectTracker([MarkedObject("object", (255, 0, 0), (painted(0, masks[0]),))])) as tracker:
        for index, picture in enumerate(pictures):
            begin = perf_counter()
            plain.segment(picture)
            middle = perf_counter()
            tracker.prepare(picture)
            ids = with_object.segment(picture)
            tracker.advance(FrameResult(index, 0.0, picture, ids, tuple(with_object.events_), np.empty(0)))
            end = perf_counter()
            if index > 1:
                times["engine"].append(1000.0 * (middle - begin))
                times["with_object"].append(1000.0 * (end - middle))
    found = {name: float(np.median(values)) for name, values in times.items()}
    return {**found, "ratio": found["with_object"] / found["engine"]}


def strip(clips: Clips, clip: str, count: int = 4, width: int = 320) -> npt.NDArray[np.uint8]:
    """Some frames of a clip in a row: the tracked object tinted, its true outline as a line, and J."""
    pictures, masks = clips.read(clip)
    found = tracked(segmented(pictures, 0), [painted(0, masks[0])])[0]
    tiles = []
    for index in np.linspace(0, len(masks) - 2, count).astype(int):
        picture = pictures[index].copy()
        picture[found[index]] = picture[found[index]] // 2 + np.array([120, 20, 20], np.uint8)
        lines, _ = cv2.findContours(masks[index].astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(picture, lines, -1, (60, 255, 60), 2)
        tile = cv2.resize(picture, (width, width * picture.shape[0] // picture.shape[1]), interpolation=cv2.INTER_AREA)
        text = f"{clip} {index}: J {metrics.jaccard(found[index], masks[index]):.2f}"
        cv2.putText(tile, text, (5, 14), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (255, 255, 0), 1, cv2.LINE_AA)
        tiles.append(tile)
    return np.asarray(np.hstack(tiles), np.uint8)


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print means by clip, and over clips."""
    clips = list(dict.fromkeys(row["clip"] for row in rows))
    print(f"{'clip':20}{'J':>8}{'worst':>8}{'F':>8}{'genealogy':>11}")
    for clip in [*clips, "mean"]:
        some = [row for row in rows if clip in (row["clip"], "mean")]
        mean = {name: np.mean([row[name] for row in some]) for name in ("j", "f", "j_genealogy")}
        worst = min(row["j"] for row in some)
        print(f"{clip:20}{mean['j']:8.3f}{worst:8.3f}{mean['f']:8.3f}{mean['j_genealogy']:11.3f}")
    pooled = [np.concatenate([row[name] for row in rows]) for name in ("confidences", "j_frames")]
    print(f"rank correlation of confidence and J: {spearmanr(*pooled).statistic:.3f}")
    for source in rows[0].get("without", {}):
        j, f = np.mean([row["without"][source] for row in rows], axis=0)
        print(f"without {source:16} J {j:.3f}  F {f:.3f}")
    for row in rows:
        if "corrected" in row:
            steps = ", ".join(f"{j:.3f} (frame {frame})" for frame, j in row["corrected"])
            print(f"{row['clip']:20} seed {row['seed']}: {row['j']:.3f} -> {steps}")


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("clips", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ablation", action="store_true", help="also measure without each source of evidence")
    parser.add_argument("--corrections", type=int, default=0, help="number of corrections at the lowest confidence")
    parser.add_argument("--speed", action="store_true", help="compare the time of a frame with and without an object")
    parser.add_argument("--picture", type=Path, help="draw four frames of each clip into this PNG image")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--backwards", action="store_true", help="play the clips from the last frame to the first one")
    parser.add_argument("--every", type=int, default=1, help="use every n-th frame only")
    given = parser.parse_args()
    clips = Clips(given.root, given.backwards, given.every)
    names = given.clips or sorted(path.name for path in (given.root / "JPEGImages/480p").iterdir())
    if given.speed:
        found = {name: speed(clips, name) for name in names}
        print(json.dumps(found, indent=1))
        return
    if given.picture is not None:
        strips = np.vstack([strip(clips, name) for name in names])
        cv2.imwrite(str(given.picture), cv2.cvtColor(strips, cv2.COLOR_RGB2BGR))
        return
    jobs = [(name, seed) for name in names for seed in range(given.seeds)]
    with ProcessPoolExecutor(2) as pool:
        futures = [pool.submit(measure, clips, *job, given.ablation, given.corrections) for job in jobs]
        rows = [future.result() for future in futures]
    if given.json:
        print(json.dumps(rows))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
