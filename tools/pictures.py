"""Draw the images of the documentation from the sample clips.

python tools/pictures.py [FOLDER]
python tools/pictures.py --before-after CLIP [CLIP ...]

The second form draws the segments of one frame of each clip, coloured by id: on the left those of the bare model, on
the right those with smoothing and steadiness.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter
from scstream_app.export.atomic_files import write_bytes
from scstream_app.pipeline.run import FrameResult, segment_frames
from scstream_app.render import views
from scstream_app.render.palette import colours
from scstream_app.sources import open_source

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"

Picture = npt.NDArray[np.uint8]


def main() -> None:
    """Parse the command line and write the images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=IMAGES)
    parser.add_argument("--before-after", nargs="+", type=Path, default=[], metavar="CLIP")
    parser.add_argument("--frame", type=int, default=30, help="frame to draw with --before-after")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    for clip in arguments.before_after:
        save(folder / f"before_after_{clip.stem}.png", before_after(clip, arguments.frame))
    if arguments.before_after:
        return
    (surf,) = segmented("kite_surf", [40])
    images = [surf.rgb, views.mean_colour(surf.rgb, surf.ids), views.overlay(surf.rgb, surf.ids)]
    save(folder / "views.png", side_by_side(images))
    pond = segmented("crossing", [10, 40, 70])
    save(folder / "identity.png", side_by_side([views.overlay(result.rgb, result.ids) for result in pond]))


def segmented(clip: str, indices: Sequence[int]) -> list[FrameResult]:
    """Segment a sample clip from its first frame and return the chosen frames."""
    return results_of(ROOT / "sample_videos" / f"{clip}.mp4", VideoSegmenter(seed=0), indices)


def results_of(clip: Path, segmenter: VideoSegmenter, indices: Sequence[int]) -> list[FrameResult]:
    """Segment a clip from its first frame and return the chosen frames."""
    results = segment_frames(open_source(str(clip)), segmenter, stop=max(indices) + 1)
    return [result for result in results if result.index in indices]


def before_after(clip: Path, index: int) -> Picture:
    """Ids of one frame at half size, by the bare model and with the defaults."""
    bare = VideoSegmenter(seed=0, smoothing=0.0, steadiness=0.0)
    (before,), (after,) = (results_of(clip, segmenter, [index]) for segmenter in (bare, VideoSegmenter(seed=0)))
    return side_by_side(
        [views.paint(result.ids[::2, ::2], colours(int(result.ids.max()) + 1)) for result in (before, after)]
    )


def side_by_side(pictures: Sequence[Picture], gap: int = 8) -> Picture:
    """Arrange pictures in a row with white gaps."""
    white = np.full((pictures[0].shape[0], gap, 3), 255, np.uint8)
    row = [part for picture in pictures for part in (white, picture)][1:]
    return np.hstack(row)


def save(path: Path, rgb: Picture) -> None:
    """Write a PNG file, quantised to steps of four levels: invisible, and a third smaller."""
    bgr = cv2.cvtColor(rgb // 4 * 4 + 2, cv2.COLOR_RGB2BGR)
    _, encoded = cv2.imencode(".png", bgr, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    write_bytes(path, encoded.tobytes())
    print(f"{path.name}: {encoded.size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
