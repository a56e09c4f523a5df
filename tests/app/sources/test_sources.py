"""Video files and image sequences: order, rotation and times of frames, and messages for bad sources."""

import os

import cv2
import numpy as np
import pytest
from PIL import Image

from helpers.clips import busy, moving_square, read_video_cv2, write_images, write_video
from scstream_app.errors import SourceError
from scstream_app.sources import IMAGE_RATE, DamagedFrame, ImageOptions, ImageSequence, VideoFile, open_source

AUTO, FULL = ImageOptions(), ImageOptions(ranges=())


def pictures(source, *span):
    return np.stack([frame.rgb for frame in source.frames(*span)])


# --- video files


def test_video_frames_equal_those_of_another_reader(tmp_path):
    path = write_video(tmp_path / "a.mp4", moving_square(8))
    source = open_source(str(path))
    assert (source.width, source.height, source.rate, source.length) == (64, 48, 25.0, 8)
    assert (source.name, source.duration, source.live) == ("a.mp4", pytest.approx(8 / 25), False)
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


def test_time_starts_at_the_first_frame(tmp_path):
    path = write_video(tmp_path / "late.mkv", moving_square(3), ticks=[5000, 5040, 5090])
    assert [frame.time for frame in VideoFile(path).frames()] == pytest.approx([0, 0.04, 0.09])


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_video_is_turned_upright(tmp_path, rotation):
    path = write_video(tmp_path / "turned.mp4", moving_square(3), rotation=rotation)
    source = VideoFile(path)
    expected = read_video_cv2(path)
    assert (source.height, source.width) == expected.shape[1:3] == ((48, 64) if rotation == 180 else (64, 48))
    assert np.abs(pictures(source).astype(int) - expected).mean() < 2


@pytest.mark.parametrize("span", [(0, None), (2, 5), (3, None), (0, 100), (7, 9)])
def test_a_range_equals_a_slice_of_all_frames(tmp_path, span):
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
    for rgb in kept:
        rgb[:] = 0
    assert pictures(source).mean() > 20


# --- images in order


def test_images_come_in_natural_order(tmp_path):
    frames = moving_square(12)
    source = open_source(str(write_images(tmp_path / "f", frames, "shot {}.png")))
    assert (source.length, source.count(), source.duration) == (12, 12, 12 / IMAGE_RATE)
    np.testing.assert_array_equal(pictures(source), np.stack(frames))
    assert [frame.time for frame in source.frames(3, 5)] == pytest.approx([3 / IMAGE_RATE, 4 / IMAGE_RATE])


def test_only_visible_images_count(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(2))
    for name in ("notes.txt", ".00009.png", "._00000.png", "Thumbs.db"):
        (folder / name).write_bytes(b"a leftover")
    (folder / "sub.png").mkdir()
    (folder / "00000.png").rename(folder / "00000.PNG")
    assert [path.name for path in ImageSequence(folder).paths] == ["00000.PNG", "00001.png"]


def test_a_pattern_selects_images(tmp_path):
    frames = busy(12)
    for name in ("left_{}.png", "right_{}.png"):
        write_images(tmp_path / "f", frames, name)
    source = open_source(str(tmp_path / "f" / "left_??.png"))
    assert [path.name for path in source.paths] == ["left_10.png", "left_11.png"]
    source = open_source(str(tmp_path / "f" / "right_*.png"))
    np.testing.assert_array_equal(pictures(source), np.stack(frames))
    np.testing.assert_array_equal(pictures(open_source(source.address)), np.stack(frames))


def test_a_recursive_pattern_skips_macos_metadata(tmp_path):
    for name in ("shot 10", "shot 9", "__MACOSX"):
        write_images(tmp_path / name, busy(1), "a.png")
    source = open_source(str(tmp_path / "**" / "*.png"))
    assert [path.parent.name for path in source.paths] == ["shot 9", "shot 10"]


def test_list_of_images_is_ordered_and_can_be_opened_again(tmp_path, monkeypatch):
    frames = busy(3)
    folder = write_images(tmp_path / "f", frames, "n{}.png")
    monkeypatch.chdir(folder)
    source = ImageSequence([folder / "n2.png", folder / "n0.png"])
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(pictures(open_source(source.address)), np.stack([frames[0], frames[2]]))


def test_name_with_brackets_is_no_pattern(tmp_path):
    folder = write_images(tmp_path / "take [1]", busy(2))
    assert open_source(str(folder)).length == 2
    write_video(tmp_path / "clip [a-z].mp4", moving_square(2))
    assert open_source(str(tmp_path / "clip [a-z].mp4")).length == 2


def test_one_image_is_a_source(tmp_path):
    folder = write_images(tmp_path / "f", busy(2))
    source = open_source(str(folder / "00001.png"))
    np.testing.assert_array_equal(pictures(source), [busy(2)[1]])
    assert source.address == str(folder / "00001.png")


def test_names_in_any_script(tmp_path):
    folder = write_images(tmp_path / "Aufnahme übermäßig 录像", busy(2), "кадр {} ☂.png")
    assert len(list(open_source(str(folder)).frames())) == 2


def test_the_home_folder_is_expanded(tmp_path, monkeypatch):
    write_images(tmp_path / "f", busy(2))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert open_source(os.path.join("~", "f")).length == 2
    assert open_source(os.path.join("~", "f", "*1.png")).length == 1


# --- image formats


def save(path, picture, mode=None, **options):
    image = Image.fromarray(picture)
    (image.convert(mode) if mode else image).save(path, **options)


def read_one(path, options=AUTO):
    (rgb,) = pictures(ImageSequence([path], options))
    assert rgb.dtype == np.uint8
    return rgb


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        *(("a.png", mode) for mode in ("L", "LA", "P", "1", "RGB")),
        *(("a.tif", mode) for mode in ("L", "LA", "P", "RGB", "CMYK")),
        *(("a.bmp", mode) for mode in ("L", "P", "RGB")),
        ("a.webp", "RGB"),
        ("a.jpg", "L"),
        ("a.jpg", "CMYK"),
        ("a.ppm", "RGB"),
    ],
)
def test_any_kind_of_image_becomes_rgb(tmp_path, name, mode):
    save(
        tmp_path / name, cv2.GaussianBlur(busy(1)[0], (0, 0), 3), mode, **({"lossless": True} if "webp" in name else {})
    )
    expected = np.asarray(Image.open(tmp_path / name).convert("RGB")).astype(int)
    assert np.abs(read_one(tmp_path / name) - expected).mean() < (2 if name == "a.jpg" else 0.01)


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
def test_transparency_is_ignored(tmp_path, name):
    rgb = busy(1)[0]
    alpha = np.zeros(rgb.shape[:2], np.uint8)
    options = {"lossless": True, "exact": True} if name == "a.webp" else {}
    save(tmp_path / name, np.dstack([rgb, alpha]), **options)
    np.testing.assert_array_equal(read_one(tmp_path / name), rgb)


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_sixteen_bits_are_rounded_to_eight(tmp_path, name, channels):
    deep = np.random.default_rng(0).integers(0, 65536, (40, 50, channels), np.uint16)
    deep[0, :6] = np.array([0, 128, 129, 65535 - 129, 65535 - 128, 65535])[:, None]
    assert cv2.imwrite(str(tmp_path / name), deep)
    colours = deep[..., :1].repeat(3, 2) if channels == 1 else deep[..., 2::-1]
    np.testing.assert_array_equal(read_one(tmp_path / name, FULL), np.rint(colours / 257.0).astype(np.uint8))


def test_floating_point_is_clipped(tmp_path):
    stored = np.array([[-1.0, 0.0, 0.5, 1.0, 7.0, np.nan]], np.float32)
    assert cv2.imwrite(str(tmp_path / "a.tif"), np.dstack([stored] * 3))
    np.testing.assert_array_equal(read_one(tmp_path / "a.tif", FULL)[0, :, 0], [0, 0, 128, 255, 255, 0])


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
def test_images_are_turned_upright(tmp_path, name):
    exif = Image.Exif()
    exif[0x0112] = 6
    smooth = cv2.GaussianBlur(busy(1)[0], (0, 0), 5)
    save(tmp_path / name, smooth, exif=exif, quality=95)
    expected = np.rot90(smooth, -1).astype(int)
    assert read_one(tmp_path / name).shape == expected.shape
    assert np.abs(read_one(tmp_path / name) - expected).mean() < 3


def test_images_keep_their_sizes(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(2))
    write_images(folder, moving_square(1, height=40), "00001.png")
    source = ImageSequence(folder)
    assert [frame.rgb.shape[:2] for frame in source.frames()] == [(48, 64), (40, 64)]
    assert (source.height, source.width) == (48, 64)


# --- bad images


@pytest.mark.parametrize("content", [b"", b"no image", "half"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_damaged_image_keeps_its_index(tmp_path, content, place):
    folder = write_images(tmp_path / "f", busy(3))
    path = folder / f"0000{place}.png"
    path.write_bytes(path.read_bytes()[:2000] if content == "half" else content)
    source = ImageSequence(folder)
    damaged = []
    assert [frame.index for frame in source.frames(on_damage=damaged.append)] == [i for i in range(3) if i != place]
    assert [damage.index for damage in damaged] == [place]
    assert f"Cannot read '{path}'" in str(damaged[0])


def test_a_damaged_image_raises_without_a_callback(tmp_path):
    folder = write_images(tmp_path / "f", busy(3))
    (folder / "00001.png").write_bytes(b"no image")
    source = ImageSequence(folder)
    with pytest.raises(DamagedFrame, match=r"Cannot read '.*00001.png'"):
        list(source.frames())
    assert source.read().index == 2


def test_a_deleted_image_counts_as_damaged(tmp_path):
    folder = write_images(tmp_path / "f", busy(3))
    source = ImageSequence(folder)
    (folder / "00001.png").unlink()
    damaged = []
    assert [frame.index for frame in source.frames(on_damage=damaged.append)] == [0, 2]
    assert damaged[0].index == 1


def test_a_folder_of_damaged_images_raises(tmp_path):
    for name in ("0.png", "1.png"):
        (tmp_path / name).write_bytes(b"no image")
    with pytest.raises(SourceError, match=r"Cannot read '.*0.png': it is not an image or is damaged"):
        open_source(str(tmp_path))


def test_a_folder_without_images_raises(tmp_path):
    with pytest.raises(SourceError, match=r"the folder contains no images \(\.bmp .*\.webp\)"):
        open_source(str(tmp_path))


def test_a_pattern_without_match_raises(tmp_path):
    with pytest.raises(SourceError, match=r"Cannot open '.*\*.png': no image matches the pattern"):
        open_source(str(tmp_path / "*.png"))


def test_a_missing_video_is_named_whatever_signs_its_name_has(tmp_path):
    write_video(tmp_path / "clip d.mp4", moving_square(2))
    with pytest.raises(SourceError, match=r"Cannot open '.*clip \[dQw4\]\.mp4': .*[Nn]o such file"):
        open_source(str(tmp_path / "clip [dQw4].mp4"))


def test_a_pattern_that_matches_videos_raises(tmp_path):
    write_video(tmp_path / "b.mp4", moving_square(2))
    write_images(tmp_path, busy(1))
    with pytest.raises(SourceError, match=r"'b.mp4' is a video. Patterns are for images; open videos one by one"):
        open_source(str(tmp_path / "*"))


def test_an_empty_list_raises():
    with pytest.raises(SourceError, match="it is empty"):
        ImageSequence([])


def test_a_closed_sequence_returns_no_frames(tmp_path):
    with ImageSequence(write_images(tmp_path / "f", busy(2))) as source:
        assert source.read().index == 0
    assert source.read() is None


# --- images that disappear, and other files in the folder


def test_moving_the_images_raises(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(6))
    source = ImageSequence(folder)
    assert source.read().index == 0
    folder.rename(tmp_path / "g")
    for _ in range(2):
        with pytest.raises(SourceError, match=r"00001\.png.*Have the images of 'f' been moved") as caught:
            source.read()
        assert not isinstance(caught.value, DamagedFrame)
    (tmp_path / "g").rename(folder)
    source.seek(1)
    assert [frame.index for frame in source.frames(1)] == [1, 2, 3, 4, 5]


def test_two_missing_images_in_a_row_raise(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(9))
    source, damaged = ImageSequence(folder), []
    for index in (2, 4, 6, 7):
        (folder / f"{index:05d}.png").unlink()
    with pytest.raises(SourceError, match=r"00007\.png.*been moved"):
        list(source.frames(on_damage=lambda damage: damaged.append(damage.index)))
    assert damaged == [2, 4, 6]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes among files")
def test_pipes_are_rejected(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(2))
    os.mkfifo(folder / "00000b.png")
    os.mkfifo(tmp_path / "pipe.png")
    (folder / "00000c.png").mkdir()
    for address in (folder, folder / "*.png"):
        assert [path.name for path in ImageSequence(address).paths] == ["00000.png", "00001.png"]
    for address in (tmp_path / "pipe.png", tmp_path / "pipe.pn[g]"):
        with pytest.raises(SourceError, match=r"pipe.*(not a regular file|no image matches)"):
            open_source(str(address))
    with pytest.raises(SourceError, match="not a regular file"):
        ImageSequence([tmp_path / "pipe.png"])


def test_only_the_most_common_kind_of_image_is_used(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(3), "{:05d}.png")
    write_images(folder, moving_square(1), "ids.tif")
    write_images(folder, moving_square(2), "photo{}.jpg")
    for address in (str(folder), str(folder / "*")):
        source = open_source(address)
        assert [path.name for path in source.paths] == ["00000.png", "00001.png", "00002.png"]
        assert source.notes == (
            "Only the .png images (3) are used, not those of other kinds: 2 .jpg images, 1 .tif image.",
        )
    assert open_source(str(folder / "*.png")).notes == ()
    for old, new in (("photo0.jpg", "p0.JPG"), ("photo1.jpg", "p1.jpeg")):
        (folder / old).rename(folder / new)
    write_images(folder, moving_square(2), "p{}x.jpg")
    assert [path.name for path in open_source(str(folder)).paths] == ["p0.JPG", "p0x.jpg", "p1.jpeg", "p1x.jpg"]


def test_tiff_loses_a_tie_between_two_kinds(tmp_path):
    folder = write_images(tmp_path / "f", moving_square(1), "ids.tif")
    write_images(folder, moving_square(1), "photo.png")
    assert open_source(str(folder)).paths == [folder / "photo.png"]
    assert open_source(str(folder / "*.tif")).paths == [folder / "ids.tif"]


def test_an_unreadable_folder_raises(tmp_path, monkeypatch):
    folder = write_images(tmp_path / "f", moving_square(1))

    def refuse(path, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.stat", refuse)
    for address in (folder, folder / "*.png"):
        with pytest.raises(SourceError, match=r"Cannot open '.*f.*': Permission denied\.$"):
            ImageSequence(address)
