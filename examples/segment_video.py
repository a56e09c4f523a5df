"""Segment a video with the library and store the ids of all frames.

    python examples/segment_video.py                          # a sample clip, ids in out/kite_surf_ids.npz
    python examples/segment_video.py clip.mp4 results

The library takes frames as NumPy arrays from any decoder; here PyAV decodes them. The result is an archive with one
array `ids` (frames, height, width): a number means the same segment in every frame.
"""

import sys
from collections import Counter
from pathlib import Path

import av
import numpy as np

from scstream import VideoSegmenter

SAMPLE = Path(__file__).parents[1] / "sample_videos" / "kite_surf.mp4"


def read_frames(path):
    """Yield the frames of a video as RGB arrays (height, width, 3) of uint8."""
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def main(video=SAMPLE, folder="out"):
    """Segment the video, print what happened, and write the ids to the folder."""
    segmenter = VideoSegmenter(seed=0)
    id_maps, kinds = [], Counter()
    for number, frame in enumerate(read_frames(video)):
        id_maps.append(segmenter.segment(frame))
        kinds.update(str(event.kind) for event in segmenter.events_)
        if number % 20 == 0:
            print(f"frame {number}: {len(segmenter.statistics_)} segments")

    print("events:", ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    for row in segmenter.statistics_[:3]:
        print(
            f"segment {row['id']}: {row['share']:.0%} of the last frame, {row['age']} frames old, "
            f"around row {row['row']:.0f}, column {row['column']:.0f}"
        )
    target = Path(folder) / f"{Path(video).stem}_ids.npz"
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(target, ids=np.stack(id_maps))
    print(f"{len(id_maps)} frames written to {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
