"""Frames come out in order, upright and on time, and a bad source says what is wrong with it."""

import wave

import cv2
import numpy as np
import pytest

from clips import moving_square, read_video_cv2, write_images, write_video
from scstream_app.errors import SourceError
from scstream_app.sources import IMAGE_RATE, ImageSequence, VideoFile, open_source


def pictures(source, *span):
    return np.stack([frame.rgb for frame in source.frames(*span)])


# --- video files


def test_video_is_what_another_reader_sees(tmp_path):
    path = write_video(tmp_path / "a.mp4", moving_square(8))
    source = open_source(str(path))
    assert (source.width, source.height, source.rate, source.length) == (64, 48, 25.0, 8)
    ours, theirs = pictures(source), read_video_cv2(path)
    assert ours.dtype == np.uint8
    assert ours.shape == theirs.shape
    assert np.abs(ours.astype(int) - theirs).mean() < 2


def test_presentation_times_are_those_of_the_file(tmp_path):
    ticks = [0, 40, 80, 400, 440, 1000]
    path = write_video(tmp_path / "vfr.mp4", moving_square(6), ticks=ticks)
    frames = list(VideoFile(path).frames())
    assert [frame.index for frame in frames] == list(range(6))
    assert [frame.time for frame in frames] == pytest.approx([tick / 1000 for tick in ticks])


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_video_is_turned_upright(tmp_path, rotation):
    path = write_video(tmp_path / "turned.mp4", moving_square(3), rotation=rotation)
    source = VideoFile(path)
    expected = read_video_cv2(path)
    assert (source.height, source.width) == expected.shape[1:3] == ((48, 64) if rotation == 180 else (64, 48))
    assert np.abs(pictures(source).astype(int) - expected).mean() < 2


@pytest.mark.parametrize("span", [(0, None), (2, 5), (3, None), (0, 100), (7, 9)])
def test_a_span_is_a_slice_of_the_whole(tmp_path, span):
    source = VideoFile(write_video(tmp_path / "b.mp4", moving_square(8), options={"bf": "2"}))
    whole = list(source.frames())
    part = list(source.frames(*span))
    assert [frame.index for frame in part] == [frame.index for frame in whole[slice(*span)]]
    for ours, theirs in zip(part, whole[slice(*span)], strict=True):
        assert ours.time == theirs.time
        np.testing.assert_array_equal(ours.rgb, theirs.rgb)


def test_frames_own_their_pixels(tmp_path):
    source = VideoFile(write_video(tmp_path / "c.mp4", moving_square(4)))
    kept = [frame.rgb for frame in source.frames()]
    np.testing.assert_array_equal(np.stack(kept), pictures(source))


def test_truncated_video_gives_the_frames_that_are_whole(tmp_path):
    path = write_video(tmp_path / "d.mkv", moving_square(40), options={"g": "4"})
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    assert 0 < len(list(VideoFile(path).frames())) < 40


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.mp4", b"", r"Cannot open '.*empty.mp4': the file is empty"),
        ("text.mp4", b"this is no video at all\n" * 50, r"Cannot open '.*text.mp4': .*re-encode it as H.264 MP4"),
        ("cut.mp4", b"\x00\x00\x00\x20ftypisom" + b"\x00" * 40, r"Cannot open '.*cut.mp4'"),
    ],
)
def test_useless_file_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        open_source(str(tmp_path / name))


def test_sound_without_pictures_is_named(tmp_path):
    with wave.open(str(tmp_path / "tone.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(4000))
    with pytest.raises(SourceError, match=r"'.*tone.wav': it holds no video"):
        open_source(str(tmp_path / "tone.wav"))


def test_missing_source_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"Cannot open '.*nowhere': there is no such file or folder"):
        open_source(str(tmp_path / "nowhere"))


# --- folders of images


def test_images_come_in_natural_order(tmp_path):
    frames = moving_square(12)
    source = open_source(str(write_images(tmp_path / "f", frames, "shot {}.png")))
    assert source.length == 12
    np.testing.assert_array_equal(pictures(source), np.stack(frames))
    assert [frame.time for frame in source.frames(3, 5)] == pytest.approx([3 / IMAGE_RATE, 4 / IMAGE_RATE])


def test_only_visible_images_count(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(2))
    (folder / "notes.txt").write_text("not a frame")
    (folder / ".00009.png").write_bytes(b"a leftover")
    (folder / "00000.png").rename(folder / "00000.PNG")
    assert [path.name for path in ImageSequence(folder).paths] == ["00000.PNG", "00001.png"]


@pytest.mark.parametrize("kind", ["grey", "alpha", "deep"])
def test_any_kind_of_image_becomes_rgb(tmp_path, kind):
    grey = np.arange(48 * 64).reshape(48, 64) % 256
    stored = {
        "grey": grey.astype(np.uint8),
        "alpha": np.dstack([grey] * 3 + [np.full_like(grey, 255)]).astype(np.uint8),
        "deep": (grey * 257).astype(np.uint16),
    }[kind]
    assert cv2.imwrite(str(tmp_path / "0.png"), stored)
    (rgb,) = pictures(ImageSequence(tmp_path))
    np.testing.assert_array_equal(rgb, np.dstack([grey] * 3))


def test_folder_without_images_is_named(tmp_path):
    with pytest.raises(SourceError, match="there are no images in this folder"):
        open_source(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"no image"])
def test_damaged_image_is_named(tmp_path, content):
    folder = write_images(tmp_path / "f", moving_square(2))
    (folder / "00001.png").write_bytes(content)
    with pytest.raises(SourceError, match=r"Cannot read '.*00001.png'"):
        pictures(ImageSequence(folder))


def test_images_of_two_sizes_are_refused(tmp_path):
    folder = write_images(tmp_path / "f", [*moving_square(1), *moving_square(2, height=40)[1:]])
    write_images(folder, moving_square(1, height=40), "00001.png")
    with pytest.raises(SourceError, match=r"00001.png .* is 64 x 40, the first frame is 64 x 48"):
        pictures(ImageSequence(folder))
