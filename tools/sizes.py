"""Compare the segments of one picture at several sizes: their number, and how well they agree with those at 854 x 480.

    python tools/sizes.py PICTURE [PICTURE ...] [--seed 0]

Each picture is resized to all sizes. Beside them stand another seed, and the picture with 2 % of its values one level
higher: no two sizes can be expected to agree better than these.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter
from scstream.metrics import ari

Picture = npt.NDArray[np.uint8]

SIZES = ((427, 240), (640, 360), (854, 480), (1280, 720), (1708, 960), (1920, 1080), (3840, 2160))
#: The size with which all others are compared, and the one at which ids are.
NOMINAL, COMPARED = (854, 480), (427, 240)
#: Share of the values that are one level higher in the changed picture.
CHANGED = 0.02


def main() -> int:
    """Print a row for each case; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare the segments of a picture at several sizes.")
    parser.add_argument("pictures", type=Path, nargs="+", metavar="PICTURE")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'picture':24} {'case':12} {'segments':>8} {'ARI':>6} {'processor s':>12}")
    for path in options.pictures:
        picture = cv2.imread(str(path))
        if picture is None:
            print(f"Cannot read '{path}' as a picture.", file=sys.stderr)
            return 1
        compare(f"{path.parent.name}/{path.name}", cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), options.seed)
    return 0


def compare(name: str, picture: Picture, seed: int) -> None:
    """Print the rows of one picture."""
    nominal = resize(picture, NOMINAL)
    raised = np.random.default_rng(0).random(nominal.shape) < CHANGED
    cases = [
        (f"{NOMINAL[0]} x {NOMINAL[1]}", nominal, seed),
        ("other seed", nominal, seed + 1),
        ("changed", np.where(raised & (nominal < 255), nominal + 1, nominal).astype(np.uint8), seed),
        *((f"{size[0]} x {size[1]}", resize(picture, size), seed) for size in SIZES if size != NOMINAL),
    ]
    reference = None
    for case, image, number in cases:
        begin = time.process_time()
        ids = VideoSegmenter(seed=number).segment(image)
        seconds = time.process_time() - begin
        small = cv2.resize(ids.astype(np.float32), COMPARED, interpolation=cv2.INTER_NEAREST).astype(np.int32).ravel()
        reference = small if reference is None else reference
        print(f"{name:24} {case:12} {len(np.unique(ids)):8} {ari(reference, small):6.3f} {seconds:12.1f}", flush=True)


def resize(picture: Picture, size: tuple[int, int]) -> Picture:
    """Return the picture at a size (width, height)."""
    smaller = size[0] < picture.shape[1]
    resized = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_CUBIC)
    return np.asarray(resized, np.uint8)


if __name__ == "__main__":
    sys.exit(main())
