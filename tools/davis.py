"""Measure the segmenter on clips in the layout of DAVIS 2016: oracle J and carried J of an object.

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

from scstream import VideoSegmenter, metrics


def measure(
    root: Path, clip: str, seed: int, options: dict[str, object], use_mask: bool
) -> dict[str, float | str | int]:
    """Oracle J, carried J, number of segments, and the fraction of frames in which the main segment keeps its id."""
    images = sorted((root / "JPEGImages/480p" / clip).glob("*.jpg"))
    masks = [cv2.imread(str(root / "Annotations/480p" / clip / f"{image.stem}.png"), 0) > 0 for image in images]
    segmenter = VideoSegmenter(seed=seed, threads=1, **options)  # type: ignore[arg-type]
    ids, events, counts = [], [], []
    for image in images:
        mask = masks[0] if use_mask and not ids else None
        ids.append(segmenter.segment(cv2.cvtColor(cv2.imread(str(image)), cv2.COLOR_BGR2RGB), mask=mask))
        events.append(segmenter.events_)
        counts.append(segmenter.model_.n_clusters_)
    main = metrics.dominant_id(ids, masks)
    return {
        "clip": clip,
        "seed": seed,
        "oracle": float(metrics.oracle_jaccard(ids, masks).mean()),
        "carried": float(metrics.carried_jaccard(ids, masks, events).mean()),
        "segments": float(np.mean(counts)),
        "main_id_share": float(np.mean(main == np.bincount(main[main >= 0]).argmax())),
    }


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
    print(f"{'clip':20} {'oracle J':>9} {'carried J':>9} {'segments':>9} {'main id':>8}")
    for clip in [*clips, "mean"]:
        chosen = [row for row in rows if clip in (row["clip"], "mean")]
        values = [np.mean([row[key] for row in chosen]) for key in ("oracle", "carried", "segments", "main_id_share")]
        print(f"{clip:20} {values[0]:9.3f} {values[1]:9.3f} {values[2]:9.0f} {values[3]:8.2f}")


if __name__ == "__main__":
    main()
