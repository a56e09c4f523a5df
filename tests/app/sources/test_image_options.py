"""Ranges, rates, patterns and lists of images, and how a session keeps them."""

import cv2
import numpy as np
import pytest

from helpers.clips import busy, moving_square, write_images, write_video
from helpers.session_clips import QUICK
from scstream_app.addresses import absolute_address, short_name, split_reading
from scstream_app.errors import SourceError
from scstream_app.session import Session, SourceFacts
from scstream_app.sources import ImageOptions, ImageSequence, open_source
from scstream_app.sources.images import parse_options
from scstream_app.sources.images.intensity import measure_ranges, to_eight_bits


def write_deep(folder, frames):
    folder.mkdir()
    for index, frame in enumerate(frames):
        assert cv2.imwrite(str(folder / f"{index:05d}.png"), frame)
    return folder


def pictures(source):
    with source:
        return [frame.rgb for frame in source.frames()]


# --- range


def twelve_bit(count=3):
    rng = np.random.default_rng(2)
    return [rng.integers(0, 4096, (20, 30)).astype(np.uint16) for _ in range(count)]


def test_twelve_bits_in_sixteen_use_all_grey_levels(tmp_path):
    (picture, *_) = pictures(ImageSequence(write_deep(tmp_path / "f", twelve_bit())))
    assert len(np.unique(picture)) > 200


def test_all_frames_have_the_same_range(tmp_path):
    dark, bright = np.full((8, 8), 100, np.uint16), np.full((8, 8), 900, np.uint16)
    first, second = pictures(ImageSequence(write_deep(tmp_path / "f", [dark, bright])))
    assert (first.max(), second.min()) == (0, 255)


def test_the_range_is_reported_and_part_of_the_reading(tmp_path):
    source = ImageSequence(write_deep(tmp_path / "f", twelve_bit()))
    text = split_reading(f"a{source.reading}")[1]
    assert text.startswith("#range=")
    ((low, high),) = parse_options(text).ranges
    assert f"Values from {low:g} to {high:g} are shown as black to white" in source.notes[0]


def test_eight_bits_have_no_range_unless_one_is_given(tmp_path):
    folder = write_images(tmp_path / "f", busy(1))
    assert ImageSequence(folder).reading == ""
    np.testing.assert_array_equal(pictures(ImageSequence(folder))[0], busy(1)[0])
    stretched = pictures(ImageSequence(folder, ImageOptions(((0.0, 127.5),))))[0]
    np.testing.assert_array_equal(stretched, np.minimum(2 * busy(1)[0].astype(int), 255))


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([np.zeros((40, 40), np.uint16)], (0.0, 1.0)),
        ([np.full((4, 4), np.nan)], (0.0, 1.0)),
        ([np.full((4, 4), np.inf)], (0.0, 1.0)),
        ([np.eye(100, dtype=np.uint16)[:1].repeat(100, 0) * 0 + np.arange(100, dtype=np.uint16)], (0.0, 99.0)),
    ],
)
def test_measured_ranges(frames, expected):
    assert measure_ranges([[frame] for frame in frames]) == (expected,)


def test_a_few_bright_values_on_black_stay_visible():
    sky = np.zeros((200, 200), np.uint16)
    sky[7, 9] = 3000
    assert measure_ranges([[sky]]) == ((0.0, 3000.0),)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint16, np.int32, np.uint32, np.float32, np.float64])
def test_values_of_any_type_are_scaled_alike(kind):
    stored = np.array([[-7, 0, 50, 100, 120]]).clip(0 if kind in (np.uint16, np.uint32) else -7).astype(kind)
    assert to_eight_bits(stored, (0.0, 100.0)).tolist() == [[0, 0, 128, 255, 255]]


@pytest.mark.parametrize("text", ["", "5", "5:", "9:3", "3:3", "nan:4", "0:inf", "1:2,x", "1:2:3"])
def test_a_wrong_range_raises(text):
    with pytest.raises(SourceError, match="The range must be auto, full, or LOW:HIGH"):
        ImageOptions.parse(text)


@pytest.mark.parametrize(
    ("name", "value"), [("rate", "0"), ("rate", "x"), ("rate", "nan"), ("plane", "-1"), ("plane", "x")]
)
def test_a_wrong_option_raises(name, value):
    with pytest.raises(SourceError, match=f"The {name} must be"):
        ImageOptions.parse(**{name: value})


# --- options in an address


@pytest.mark.parametrize(
    "options", [ImageOptions(((0.1, 7e30), (-3.0, 4.0)), 12.5, 3), ImageOptions(()), ImageOptions(rate=0.001)]
)
def test_options_survive_as_text(options):
    assert parse_options(options.text()) == options


def test_options_are_no_part_of_a_name_or_a_path(tmp_path):
    assert short_name("/a/stack.tif#rate=3") == "stack.tif"
    assert absolute_address("/a/../stack.tif#rate=3") == "/stack.tif#rate=3"
    assert absolute_address("/b/../a.png\n/b.png\n#rate=3") == "/a.png\n/b.png\n#rate=3"


def test_an_existing_file_wins_over_options(tmp_path):
    path = write_video(tmp_path / "a.mp4", busy(2)).rename(tmp_path / "a#rate=3")
    assert open_source(str(path)).name == "a#rate=3"


def test_options_given_twice_raise(tmp_path):
    folder = write_images(tmp_path / "f", busy(1))
    with pytest.raises(SourceError, match="given twice"):
        open_source(f"{folder}#rate=3&rate=4")
    with pytest.raises(SourceError, match="given twice"):
        open_source(f"{folder}#rate=3", ImageOptions(rate=4.0))


@pytest.mark.parametrize("name", ["a.mp4", "camera:0", "http://localhost/a%d.mp4", "-"])
def test_a_source_that_is_no_images_refuses_options(tmp_path, name):
    write_video(tmp_path / "a.mp4", busy(1))
    address = str(tmp_path / name) if name == "a.mp4" else name
    with pytest.raises(SourceError, match=r"with rate=3: these options are for image sequences and TIFF files"):
        open_source(address, ImageOptions(rate=3.0))


# --- rate


def test_the_rate_of_images(tmp_path):
    folder = write_images(tmp_path / "f", busy(3))
    with open_source(f"{folder}#rate=10") as source:
        assert (source.rate, source.duration) == (10.0, pytest.approx(0.3))
        assert [frame.time for frame in source.frames()] == pytest.approx([0.0, 0.1, 0.2])


# --- patterns and lists


def test_a_numbered_pattern_begins_at_the_first_number(tmp_path):
    folder = write_images(tmp_path / "f", busy(3))
    for number, path in zip((7, 8, 10), sorted(folder.iterdir()), strict=True):
        path.rename(folder / f"x{number:03d}.png")
    write_images(folder, busy(1), "x0009.png")
    write_images(folder, busy(1), "y009.png")
    source = open_source(str(folder / "x%03d.png"))
    assert [path.name for path in source.paths] == ["x007.png", "x008.png", "x010.png"]
    assert "1 of the numbered images are missing, the first is 'x009.png'" in source.notes[0]


@pytest.mark.parametrize(("pattern", "names"), [("%d.png", ["9.png", "10.png"]), ("%02d.png", ["10.png"])])
def test_digits_of_a_numbered_pattern(tmp_path, pattern, names):
    folder = tmp_path / "50%"
    for name in ("9.png", "10.png", "010.png"):
        write_images(folder, busy(1), name)
    assert [path.name for path in open_source(str(folder / pattern)).paths] == names


def test_a_percent_sign_in_a_pattern(tmp_path):
    folder = write_images(tmp_path, busy(1), "50%_1.png")
    assert open_source(str(folder / "50%%_%d.png")).length == 1


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("%05d.png", "no image matches"), ("%d_%d.png", "must contain one number"), ("gone/%d.png", "there is no folder")],
)
def test_a_numbered_pattern_without_images_raises(tmp_path, pattern, why):
    with pytest.raises(SourceError, match=why):
        open_source(str(tmp_path / pattern))


def test_a_list_refuses_videos_and_folders(tmp_path):
    folder = write_images(tmp_path / "f", busy(1))
    with pytest.raises(SourceError, match=r"it is a video\. Open videos one by one"):
        open_source(f"{folder / '00000.png'}\n{tmp_path / 'a.mp4'}")
    with pytest.raises(SourceError, match=r"it is a folder\. Open folders one by one"):
        open_source(f"{folder / '00000.png'}\n{folder}")


# --- sessions


def test_a_session_reads_the_same_pictures_when_the_folder_has_grown(tmp_path):
    folder = write_deep(tmp_path / "f", twelve_bit())
    with open_source(f"{folder}#rate=10") as source:
        before = [frame.rgb for frame in source.frames()]
        Session.create(tmp_path / "a.scstream", source, QUICK).close()
    assert cv2.imwrite(str(folder / "00003.png"), np.full((20, 30), 60000, np.uint16))
    session = Session.open(tmp_path / "a.scstream")
    assert session.manifest.source.address == str(folder)
    with open_source(session.source_address) as again:
        assert again.rate == 10.0
        np.testing.assert_array_equal(before, [frame.rgb for frame in again.frames(0, 3)])


def test_facts_of_earlier_versions_and_damaged_ones(tmp_path):
    facts = SourceFacts.of(open_source(str(write_images(tmp_path / "f", moving_square(1))))).as_dict()
    assert SourceFacts.from_dict({name: value for name, value in facts.items() if name != "reading"}).reading == ""
    for wrong in ("x", "#rate=1\n#rate=2", "/etc/passwd#rate=3", 3):
        with pytest.raises(ValueError, match="reading"):
            SourceFacts.from_dict({**facts, "reading": wrong})
