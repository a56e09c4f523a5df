"""Draw the pictures of the documentation from the sample clips: `python tools/pictures.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from scstream import VideoSegmenter
from scstream_app.export.files import write_bytes
from scstream_app.pipeline.run import FrameResult, segment_frames
from scstream_app.render import views
from scstream_app.sources import open_source

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"

Picture = npt.NDArray[np.uint8]


def main() -> None:
    """Draw them all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    (surf,) = segmented("kite_surf", [40])
    images = [surf.rgb, views.mean_colour(surf.rgb, surf.ids), views.overlay(surf.rgb, surf.ids)]
    save("views.png", side_by_side(images))
    pond = segmented("crossing", [10, 40, 70])
    save("identity.png", side_by_side([views.overlay(result.rgb, result.ids) for result in pond]))


def segmented(clip: str, indices: Sequence[int]) -> list[FrameResult]:
    """The chosen frames of a sample clip, segmented from its beginning."""
    source = open_source(str(ROOT / "sample_videos" / f"{clip}.mp4"))
    results = segment_frames(source, VideoSegmenter(seed=0), stop=max(indices) + 1)
    return [result for result in results if result.index in indices]


def side_by_side(pictures: Sequence[Picture], gap: int = 8) -> Picture:
    """Pictures in a row on white, a gap apart."""
    white = np.full((pictures[0].shape[0], gap, 3), 255, np.uint8)
    row = [part for picture in pictures for part in (white, picture)][1:]
    return np.hstack(row)


def save(name: str, rgb: Picture) -> None:
    """Write a PNG; steps of four grey levels cannot be seen and save a third of the bytes."""
    bgr = cv2.cvtColor(rgb // 4 * 4 + 2, cv2.COLOR_RGB2BGR)
    _, encoded = cv2.imencode(".png", bgr, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    write_bytes(IMAGES / name, encoded.tobytes())
    print(f"{name}: {encoded.size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
