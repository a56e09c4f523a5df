"""Render the sample clips and their ground truth: `python sample_videos/render.py [NAME...]`."""

import argparse
import importlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import av
import numpy as np
from numpy.typing import NDArray

CLIPS = ("kite_surf", "crossing", "lighting", "cut")
FOLDER = Path(__file__).resolve().parent
FPS = 25

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Truth:
    """Ground truth of a clip.

    `ids` (frames, height, width) holds one uint8 map per frame; `names[i]` is the name of id i; `objects` maps the
    name of an object to its ids, for example the parts of the surfer.
    """

    ids: Image
    names: list[str]
    objects: dict[str, list[int]]


def scene(name: str) -> ModuleType:
    """The module that draws a clip."""
    if name not in CLIPS:
        raise ValueError(f"Unknown clip {name!r}; choose from {', '.join(CLIPS)}.")
    return importlib.import_module(name)


def render_frame(name: str, index: int) -> tuple[Image, Image]:
    """One frame of a clip as sRGB (height, width, 3), and its id map (height, width)."""
    return scene(name).draw(index).pictures()


def load_truth(name: str, folder: Path = FOLDER) -> Truth:
    """Read the stored ground truth of a clip."""
    with np.load(folder / f"{name}_ids.npz", allow_pickle=False) as stored:
        about = json.loads(str(stored["about"]))
        return Truth(np.ascontiguousarray(stored["ids"]), about["names"], about["objects"])


def save_truth(path: Path, truth: Truth) -> None:
    """Write ground truth: the array `ids`, and `about`, a JSON string with the names and the objects."""
    about = json.dumps({"names": truth.names, "objects": truth.objects})
    # With time as the fastest axis, the file is small: the id of a pixel seldom changes.
    with path.open("wb") as file:
        np.savez_compressed(file, ids=np.asfortranarray(truth.ids), about=np.array(about))


def encode(path: Path, frames: Iterator[Image]) -> None:
    """Write an H.264 movie that is identical on every run: one thread, no dates."""
    flags = {"fflags": "+bitexact", "movflags": "+faststart"}
    with av.open(path, "w", format="mp4", options=flags) as container:
        stream = None
        for rgb in frames:
            if stream is None:
                options = {"crf": "19", "preset": "veryslow", "threads": "1", "flags": "+bitexact"}
                stream = container.add_stream("libx264", rate=FPS, options=options)
                stream.height, stream.width = rgb.shape[:2]
                stream.pix_fmt = "yuv420p"
                stream.codec_context.thread_count = 1
            container.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        if stream is not None:
            container.mux(stream.encode())


def render(name: str, folder: Path) -> None:
    """Render one clip into `folder`; an existing clip is replaced only when the new one is complete."""
    clip = scene(name)
    maps: list[Image] = []

    def frames() -> Iterator[Image]:
        for index in range(clip.FRAMES):
            rgb, ids = render_frame(name, index)
            maps.append(ids)
            yield rgb

    video, truth = folder / f"{name}.mp4", folder / f"{name}_ids.npz"
    new_video, new_truth = video.with_suffix(".mp4.tmp"), truth.with_suffix(".npz.tmp")
    try:
        encode(new_video, frames())
        save_truth(new_truth, Truth(np.stack(maps), list(clip.NAMES), clip.OBJECTS))
        os.replace(new_video, video)
        os.replace(new_truth, truth)
    finally:
        new_video.unlink(missing_ok=True)
        new_truth.unlink(missing_ok=True)


def main() -> None:
    """Render the clips named on the command line, or all."""
    parser = argparse.ArgumentParser(description="Render the sample clips and their ground truth.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(CLIPS)}; default: all")
    parser.add_argument("--out", type=Path, default=FOLDER, help="output folder; default: the folder of this script")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(CLIPS))
    if unknown:
        parser.error(f"unknown clip {unknown[0]!r}; choose from {', '.join(CLIPS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or CLIPS:
        render(name, options.out)
        size = sum(path.stat().st_size for path in options.out.glob(f"{name}[._]*"))
        print(f"{name}: {scene(name).FRAMES} frames, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
