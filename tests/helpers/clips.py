"""Small clips for tests, written with nothing of the application."""

from fractions import Fraction

import av
import cv2
import numpy as np
import pytest


def moving_square(count=6, height=48, width=64):
    """RGB frames: a bright square wanders over a two-coloured, slightly noisy ground."""
    rng = np.random.default_rng(3)
    frames = []
    for index in range(count):
        frame = np.empty((height, width, 3), np.uint8)
        frame[: height // 2], frame[height // 2 :] = (40, 60, 160), (30, 120, 50)
        left = 4 + 3 * index
        frame[height // 3 : height // 3 + 16, left : left + 16] = (230, 200, 40)
        noise = rng.integers(-6, 7, frame.shape)
        frames.append(np.clip(frame + noise, 0, 255).astype(np.uint8))
    return frames


def square_mask(folder, frame):
    """File with the mask of the square in a frame of `moving_square`."""
    path = folder / "mask.png"
    mask = (np.abs(frame.astype(int) - (230, 200, 40)).sum(axis=2) < 60).astype(np.uint8) * 255
    cv2.imwrite(str(path), mask)
    return path


def busy(count, height=64, width=96):
    """RGB frames that differ everywhere: a coarse texture runs by, with a bar that counts."""
    rng = np.random.default_rng(1)
    texture = rng.integers(0, 256, ((height + 2 * count) // 8 + 1, (width + 3 * count) // 8 + 1, 3), np.uint8)
    texture = texture.repeat(8, 0).repeat(8, 1)
    frames = [texture[2 * i : 2 * i + height, 3 * i : 3 * i + width].copy() for i in range(count)]
    for index, frame in enumerate(frames):
        frame[4:8, : index % width + 1] = 255
    return frames


def encode(
    path, frames, codec="libx264", options=None, pix_fmt="yuv420p", container=None, rate=25, ticks=None, muxing=None
):
    """Write with any codec and container that FFmpeg has; ``ticks`` are presentation times in 1 / 1000 s."""
    with av.open(str(path), "w", format=container, container_options=muxing or {}) as output:
        stream = output.add_stream(codec, rate=rate, options=options or {})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pix_fmt
        if ticks is not None:
            stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
        for index, rgb in enumerate(frames):
            # With several threads swscale gets pixels wrong in 10-bit formats.
            picture = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format=pix_fmt, threads=1)
            if ticks is not None:
                picture.pts, picture.time_base = ticks[index], Fraction(1, 1000)
            output.mux(stream.encode(picture))
        output.mux(stream.encode())
    return path


def blank_packets(path, which):
    """Overwrite the given packets of a video (counted in file order) with zeros."""
    with av.open(str(path)) as container:
        found = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    data = bytearray(path.read_bytes())
    for position, size in (found[index] for index in which):
        data[position : position + size] = bytes(size)
    path.write_bytes(data)
    return path


def write_video(path, frames, rate=25, ticks=None, rotation=0, options=None):
    """Write H.264; ``ticks`` are presentation times in 1 / 1000 s, by default evenly spaced."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options=options or {"crf": "12"})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        if rotation:
            stream.set_display_rotation(rotation)
        if ticks is not None:
            stream.codec_context.time_base = stream.time_base = Fraction(1, 1000)
        for index, rgb in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(rgb, format="rgb24")
            if ticks is not None:
                picture.pts, picture.time_base = ticks[index], Fraction(1, 1000)
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def write_images(folder, frames, name="{:05d}.png"):
    """Write a folder of lossless images."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, rgb in enumerate(frames):
        assert cv2.imwrite(str(folder / name.format(index)), rgb[..., ::-1])
    return folder


def pictures(source):
    """Read all pictures of a source, and close it."""
    with source:
        return [frame.rgb for frame in source.frames()]


def read_video(path):
    """Every frame (n, H, W, 3) of a movie."""
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def read_video_cv2(path):
    """The same through OpenCV, which turns pictures upright by itself."""
    capture = cv2.VideoCapture(str(path))
    frames = []
    while True:
        there, bgr = capture.read()
        if not there:
            break
        frames.append(bgr[..., ::-1])
    capture.release()
    return np.stack(frames)


def leftovers(folder):
    """Files under a folder that look half-written."""
    return [path for path in folder.rglob("*") if path.name.startswith(".") or ".partial" in path.name]


def locked_folder(path):
    """A folder that may not be written to; skips the test where such a thing does not exist, as for root."""
    path.mkdir(mode=0o555, exist_ok=True)
    try:
        (path / "probe").write_text("")
    except OSError:
        return path
    (path / "probe").unlink()
    return pytest.skip("this user may write everywhere")
