"""Measure the segmenter on clips in the layout of DAVIS 2016: J of an object, and how whole and steady segments are.

    python tools/davis.py ROOT [CLIP ...] [--seeds 3] [--object] [--json]

ROOT holds JPEGImages/480p/CLIP/*.jpg and Annotations/480p/CLIP/*.png. Two clips run in parallel with one thread
each; ids do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter, metrics
from scstream_app.evaluation.flow import flow_both_ways

#: Measures, the headings of their columns and the format of the numbers.
COLUMNS = {
    "oracle": ("oracle J", ".3f"),
    "per_frame": ("per frame", ".3f"),
    "carried": ("carried J", ".3f"),
    "segments": ("segments", ".0f"),
    "main_id_share": ("main id", ".2f"),
    "mean_life": ("life", ".3f"),
    "short_lived": ("short", ".3f"),
    "pieces": ("pieces", ".1f"),
    "kept_along_flow": ("kept", ".3f"),
}


def measure(
    root: Path, clip: str, seed: int, options: dict[str, object], use_mask: bool
) -> dict[str, float | str | int]:
    """Measure one clip.

    The measures are J by the oracle (once per video and per frame) and carried from the first frame, the number of
    segments, the fraction of frames in which the main segment keeps its id, the lives of ids, the pieces per segment,
    and the share of ids that are kept along the optical flow.
    """
    images = sorted((root / "JPEGImages/480p" / clip).glob("*.jpg"))
    masks = [cv2.imread(str(root / "Annotations/480p" / clip / f"{image.stem}.png"), 0) > 0 for image in images]
    segmenter = VideoSegmenter(seed=seed, threads=1, **options)  # type: ignore[arg-type]
    ids, events, counts = [], [], []
    for image in images:
        mask = masks[0] if use_mask and not ids else None
        ids.append(segmenter.segment(read_rgb(image), mask=mask))
        events.append(segmenter.events_)
        counts.append(segmenter.model_.n_clusters_)
    main = metrics.dominant_id(ids, masks)
    lives = metrics.lives(ids)
    return {
        "clip": clip,
        "seed": seed,
        "oracle": float(metrics.oracle_jaccard(ids, masks).mean()),
        "per_frame": float(metrics.oracle_jaccard_per_frame(ids, masks).mean()),
        "carried": float(metrics.carried_jaccard(ids, masks, events).mean()),
        "segments": float(np.mean(counts)),
        "main_id_share": float(np.mean(main == np.bincount(main[main >= 0]).argmax())),
        "mean_life": lives.mean,
        "short_lived": lives.short_lived(),
        "pieces": float(np.mean([metrics.pieces(frame) / len(np.unique(frame)) for frame in ids])),
        "kept_along_flow": metrics.kept_along_flow(ids, flow_both_ways(map(read_rgb, images))),
    }


def read_rgb(path: Path) -> npt.NDArray[np.uint8]:
    """Read a picture."""
    return np.asarray(cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB), np.uint8)


def main() -> None:
    """Parse the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("clips", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--options", type=json.loads, default={}, help='VideoSegmenter parameters as JSON: {"decay": 4}'
    )
    parser.add_argument("--object", action="store_true", help="split the segments of the first frame along its mask")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    clips = arguments.clips or sorted(p.name for p in (arguments.root / "JPEGImages/480p").iterdir())
    jobs = [(clip, seed) for clip in clips for seed in range(arguments.seeds)]
    with ProcessPoolExecutor(2) as pool:
        futures = [pool.submit(measure, arguments.root, *job, arguments.options, arguments.object) for job in jobs]
        rows = [future.result() for future in futures]
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"{'clip':20}" + "".join(f"{heading:>10}" for heading, _ in COLUMNS.values()))
    for clip in [*clips, "mean"]:
        chosen = [row for row in rows if clip in (row["clip"], "mean")]
        values = (f"{np.mean([row[key] for row in chosen]):{style}}" for key, (_, style) in COLUMNS.items())
        print(f"{clip:20}" + "".join(f"{value:>10}" for value in values))


if __name__ == "__main__":
    main()
