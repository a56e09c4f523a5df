"""Damaged videos and images: each is refused with a message, or gives pictures of one type and a plausible size."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from helpers.clips import encode, moving_square, write_images
from helpers.session_clips import QUICK
from scstream_app.errors import StudioError
from scstream_app.pipeline.run import segment_frames
from scstream_app.sources import DamagedFrame, Source, open_source
from torture.mutations import Rng, damaged
from torture.outcome import Outcome
from torture.sandbox import Sandbox, forked

_FRAMES = 12
_SHAPE = (32, 48)
#: Frames that are read of one mutant at most: a damaged length may claim billions.
_MOST_READ = 60
#: Every n-th mutant is segmented as well.
_SEGMENT_EVERY = 20
_VIDEOS = {
    "mp4": ("libx264", "yuv420p"), "mkv": ("libx264", "yuv420p"), "webm": ("libvpx-vp9", "yuv420p"),
    "avi": ("mpeg4", "yuv420p"), "gif": ("gif", "rgb8"), "y4m": ("wrapped_avframe", "yuv420p"),
    "mov": ("mjpeg", "yuvj420p"), "ts": ("mpeg2video", "yuv420p"),
}  # fmt: skip
_IMAGES = ("png", "jpg", "tiff", "bmp", "webp")


class Media:
    """Mutants of small files of all formats."""

    name = "media"

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder / "media", seed

    def prepare(self) -> None:
        """Write the files that are damaged."""
        self._folder.mkdir(parents=True)
        if forked(self._write, self._folder.with_suffix(".log")):
            raise RuntimeError(self._folder.with_suffix(".log").read_text())

    def _write(self) -> int:
        frames = moving_square(_FRAMES, *_SHAPE)
        for suffix, (codec, pixels) in _VIDEOS.items():
            container = {"y4m": "yuv4mpegpipe"}.get(suffix)
            encode(self._folder / f"clip.{suffix}", frames, codec, None, pixels, container)
        for suffix in _IMAGES:
            assert cv2.imwrite(str(self._folder / f"clip.{suffix}"), frames[0][..., ::-1])
        return 0

    def run(self, case: int, sandbox: Sandbox) -> Outcome:
        """Damage one file, open it, read it, and seek in it."""
        rng = np.random.default_rng([self._seed, 1, case])
        files = sorted(self._folder.iterdir())
        path = files[case % len(files)]
        others = [other.read_bytes() for other in files if other != path]
        data = damaged(path.read_bytes(), rng, others)
        inside = sandbox.folder / "in"
        inside.mkdir()
        if path.suffix[1:] in _IMAGES and rng.random() < 0.5:
            # One damaged image among good ones.
            write_images(inside / "images", moving_square(3, *_SHAPE), name="{:05d}" + path.suffix)
            (inside / "images" / f"{int(rng.integers(3)):05d}{path.suffix}").write_bytes(data)
            target = inside / "images"
        else:
            target = inside / path.name
            target.write_bytes(data)
        return _open(target, rng, case % _SEGMENT_EVERY == 0)


def _open(path: Path, rng: Rng, segment: bool) -> Outcome:
    outcome = Outcome()
    try:
        with open_source(str(path)) as source:
            read = _read(source)
            if source.length and source.length < 10**6:
                source.seek(int(rng.integers(source.length)))
                _read(source, 3)
            source.seek(0)
            if segment and read:
                for _ in segment_frames(source, QUICK.segmenter(), stop=3):
                    pass
    except StudioError:
        outcome.refused = 1
    else:
        outcome.opened = 1
    return outcome


def _read(source: Source, most: int = _MOST_READ) -> int:
    last = -1
    count = 0
    for _ in range(most):
        try:
            frame = source.read()
        except DamagedFrame:
            continue
        if frame is None:
            break
        count += 1
        if frame.rgb.dtype != np.uint8 or frame.rgb.ndim != 3 or frame.rgb.shape[2] != 3 or frame.index <= last:
            raise AssertionError(f"frame {frame.index} after {last}: {frame.rgb.dtype} {frame.rgb.shape}")
        last = frame.index
    return count
