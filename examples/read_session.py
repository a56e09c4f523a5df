"""Read a session: ids, statistics, events and objects of a finished or interrupted run.

    python examples/read_session.py                       # segments a sample clip first, in a temporary folder
    python examples/read_session.py results/clip.scstream

`scstream segment` and the window write sessions, folders named NAME.scstream. `ids.zarr` in such a folder is an
ordinary zarr array: `zarr.open`, `dask.array.from_zarr` or napari open it without this program (there, -1 means that
a frame could not be read). docs/formats.md describes the other files.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import zarr

from scstream_app.cli import main as scstream
from scstream_app.session import Session

SAMPLES = Path(__file__).parents[1] / "sample_videos"


def make_session(folder):
    """Segment 30 frames of a sample clip, with the surfer marked as an object on the first frame."""
    with np.load(SAMPLES / "kite_surf_ids.npz") as truth:
        surfer = np.isin(truth["ids"][0], [4, 5, 6, 7])
    mask = Path(folder) / "surfer.png"
    cv2.imwrite(str(mask), np.uint8(255) * surfer)
    clip = str(SAMPLES / "kite_surf.mp4")
    arguments = ["--out", str(folder), "--frames", ":30", "--formats", "npz", "--object", str(mask), "--quiet"]
    if scstream(["segment", clip, *arguments]) != 0:
        raise SystemExit("the sample clip could not be segmented")
    return Path(folder) / "kite_surf.scstream"


def describe(path):
    """Print what a session holds."""
    with Session.open(path) as session:
        source = session.manifest.source
        print(f"{len(session)} frames of {source.width} x {source.height}, complete: {session.manifest.complete}")
        kinds = Counter(str(event.kind) for record in session.records() for event in record.events)
        print("events:", ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))

        last = int(session.frames[-1])
        ids, statistics = session.ids(last), session.statistics(last)
        largest = statistics[0]
        print(f"frame {last}: {len(statistics)} segments; the largest, {largest['id']}, has {largest['pixels']} pixels")
        masks = session.read_object_masks(last, session.objects)
        if masks is not None:
            for marked, area, confidence in zip(session.objects, masks.areas, masks.confidences, strict=True):
                print(f"object '{marked.name}' has {area} pixels, confidence {confidence:.2f}")

        volume = zarr.open_array(path / "ids.zarr", mode="r")
        same = np.array_equal(volume[last - session.manifest.start], ids)
        print(f"zarr reads {volume.shape} {volume.dtype}, the same ids: {same}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        describe(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            describe(make_session(place))
