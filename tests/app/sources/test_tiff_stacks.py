"""TIFF stacks: axes, channels, planes, damage and claims."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from helpers.clips import moving_square, pictures, write_images
from helpers.session_clips import QUICK
from scstream_app.errors import SourceError
from scstream_app.pipeline.run import segment_frames
from scstream_app.sources import ImageOptions, ImageSequence, TiffStack, open_source

RNG = np.random.default_rng(5)
GREY = {"photometric": "minisblack"}
IMAGEJ = {"imagej": True, "metadata": {"axes": "TYX"}}
FULL = ImageOptions(ranges=())


def values(*shape, kind=np.uint8):
    return RNG.integers(0, 256, shape).astype(kind)


def write(path, data, **options):
    tifffile.imwrite(path, data, **options)
    return path


def opened(path, options=FULL):
    return pictures(TiffStack(path, options))


def grey(picture):
    return np.repeat(picture[..., None], 3, axis=2)


# --- what is a frame


@pytest.mark.parametrize(
    "options",
    [
        {"metadata": None},
        {},
        {"metadata": {"axes": "TYX"}, "imagej": True},
        {"metadata": {"axes": "ZYX"}, "imagej": True},
        {"metadata": {"axes": "TYX"}, "ome": True},
        {"metadata": None, "compression": "zlib"},
        {"metadata": None, "byteorder": ">"},
        {"metadata": None, "bigtiff": True},
    ],
    ids=lambda options: "-".join(map(str, options)) or "shaped",
)
def test_every_page_is_a_frame(tmp_path, options):
    data = values(5, 12, 16)
    path = write(tmp_path / "a.tif", data, **GREY, **options)
    with open_source(str(path)) as source:
        assert isinstance(source, TiffStack)
        assert (source.length, source.width, source.height) == (5, 16, 12)
        assert source.notes == ()
        for index in (3, 0, 4):
            source.seek(index)
            np.testing.assert_array_equal(source.read().rgb, grey(data[index]))


def test_sixteen_bits_in_foreign_byte_order_keep_their_values(tmp_path):
    data = np.array([[[0, 257, 65535]], [[514, 0, 25700]]], np.uint16)
    path = write(tmp_path / "a.tif", data, byteorder=">", **IMAGEJ)
    assert [picture[0, :, 0].tolist() for picture in opened(path)] == [[0, 1, 255], [2, 0, 100]]


def test_one_page_is_one_frame(tmp_path):
    data = values(12, 16, 3)
    (picture,) = opened(write(tmp_path / "a.tif", data))
    np.testing.assert_array_equal(picture, data)


@pytest.mark.parametrize("kind", ["imagej", "ome"])
def test_depth_over_time_is_projected(tmp_path, kind):
    data = values(4, 3, 12, 16)
    path = write(tmp_path / "a.tif", data, metadata={"axes": "TZYX"}, **{kind: True})
    with TiffStack(path) as source:
        assert "3 planes per frame: the maximum over them is shown" in source.notes[0]
    for picture, planes in zip(opened(path), data, strict=True):
        np.testing.assert_array_equal(picture, grey(planes.max(axis=0)))


def test_a_plane_can_be_chosen(tmp_path):
    data = values(2, 3, 12, 16)
    path = write(tmp_path / "a.tif", data, metadata={"axes": "TZYX"}, imagej=True)
    first, _ = pictures(open_source(f"{path}#plane=2"))
    np.testing.assert_array_equal(first, grey(data[0, 2]))
    with pytest.raises(SourceError, match="at plane 3: it has the planes 0 to 2"):
        TiffStack(path, ImageOptions(plane=3))


def test_a_plane_of_frames_without_depth_is_refused(tmp_path):
    for name, options in (("pages.tif", {"metadata": None}), ("axes.tif", {"metadata": {"axes": "TYX"}, "ome": True})):
        path = write(tmp_path / name, values(2, 12, 16), **options, **GREY)
        with pytest.raises(SourceError, match="at plane 1: its frames have one plane, number 0"):
            TiffStack(path, ImageOptions(plane=1))
        TiffStack(path, ImageOptions(plane=0)).close()


def test_the_files_of_a_folder_are_frames_and_their_pages_planes(tmp_path):
    data = values(2, 3, 12, 16)
    for number, planes in enumerate(data):
        write(tmp_path / f"t{number:03d}.tif", planes, metadata=None, **GREY)
    source = ImageSequence(tmp_path)
    assert "3 planes per frame" in source.notes[0]
    for picture, planes in zip(pictures(source), data, strict=True):
        np.testing.assert_array_equal(picture, grey(planes.max(axis=0)))


def test_small_copies_are_no_frames(tmp_path):
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(values(24, 32), metadata=None, **GREY)
        file.write(values(12, 16), metadata=None, subfiletype=1, **GREY)
    assert [picture.shape for picture in opened(path)] == [(24, 32, 3)]


# --- channels and samples


def test_channels_are_added_in_their_colours(tmp_path):
    data = values(2, 2, 12, 16)
    path = write(tmp_path / "a.tif", data, metadata={"axes": "TCYX"}, imagej=True)
    first, _ = opened(path)
    np.testing.assert_array_equal(first, np.dstack([data[0, 0], data[0, 1], np.zeros((12, 16), np.uint8)]))


def test_the_fourth_channel_is_white(tmp_path):
    data = np.zeros((4, 1, 2), np.uint8)
    data[0, 0, 0], data[3, 0, :] = 200, 100
    (picture,) = opened(write(tmp_path / "a.tif", data, metadata={"axes": "CYX"}, ome=True, **GREY))
    assert picture[0].tolist() == [[255, 100, 100], [100, 100, 100]]


def test_every_channel_has_its_own_range(tmp_path):
    data = np.zeros((2, 2, 8, 8), np.uint16)
    data[:, 0], data[:, 1] = RNG.integers(100, 200, (2, 8, 8)), RNG.integers(0, 4096, (2, 8, 8))
    path = write(tmp_path / "a.tif", data, metadata={"axes": "TCYX"}, imagej=True)
    first, second = opened(path, ImageOptions())
    assert max(first[..., 0].max(), second[..., 0].max()) == 255
    assert pictures(TiffStack(path, ImageOptions(((0.0, 400.0), (0.0, 4095.0)))))[0][..., 0].max() < 130
    with pytest.raises(SourceError, match="it has 2 channels, but 3 ranges are given"):
        TiffStack(path, ImageOptions(((0.0, 1.0),) * 3))


def test_a_grey_stack_has_one_channel(tmp_path):
    path = write(tmp_path / "a.tif", values(2, 12, 16), metadata=None, **GREY)
    with pytest.raises(SourceError, match="it has 1 channel, but 2 ranges are given"):
        TiffStack(path, ImageOptions(((0.0, 1.0),) * 2))


@pytest.mark.parametrize("samples", [3, 4])
@pytest.mark.parametrize("planar", ["contig", "separate"])
def test_rgb_samples_are_taken_as_they_are(tmp_path, samples, planar):
    data = values(2, 12, 16, samples)
    stored = data if planar == "contig" else np.moveaxis(data, -1, 1)
    path = write(tmp_path / "a.tif", stored, photometric="rgb", planarconfig=planar)
    np.testing.assert_array_equal(opened(path)[1], data[1, ..., :3])


def test_white_may_be_zero(tmp_path):
    data = values(2, 12, 16)
    path = write(tmp_path / "a.tif", data, photometric="miniswhite", metadata=None)
    np.testing.assert_array_equal(opened(path)[1], grey(255 - data[1]))


def test_pages_with_a_palette(tmp_path):
    pages = [Image.fromarray(picture).quantize(16) for picture in values(2, 12, 16, 3)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    for picture, page in zip(opened(tmp_path / "a.tif"), pages, strict=True):
        np.testing.assert_array_equal(picture, np.asarray(page.convert("RGB")))


def test_compressed_pages_without_imagecodecs(tmp_path, monkeypatch):
    data = values(3, 12, 16, kind=np.uint16)
    pages = [Image.fromarray(page) for page in data]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:], compression="tiff_lzw")

    def missing(page, *args, **options):
        raise ValueError("<COMPRESSION.LZW: 5> requires the 'imagecodecs' package")

    monkeypatch.setattr(tifffile.TiffPage, "asarray", missing)
    for picture, page in zip(opened(tmp_path / "a.tif", ImageOptions(((0.0, 255.0),))), data, strict=True):
        np.testing.assert_array_equal(picture, grey(page.astype(np.uint8)))


# --- damage


def test_pages_may_differ_in_size(tmp_path):
    path = tmp_path / "a.tif"
    with tifffile.TiffWriter(path) as file:
        for number in range(9):
            file.write(values(20 if number == 3 else 12, 16), metadata=None, contiguous=False, **GREY)
    with TiffStack(path) as source:
        assert [frame.rgb.shape[0] for frame in source.frames()] == [12, 12, 12, 20, 12, 12, 12, 12, 12]
        assert (source.height, source.width) == (12, 16)


@pytest.mark.parametrize("options", [{"metadata": None}, {}, IMAGEJ, {"ome": True, "compression": "zlib"}])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_gives_its_whole_frames_or_an_error(tmp_path, options, share):
    data = values(6, 24, 32)
    path = write(tmp_path / "a.tif", data, **GREY, **options)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    damaged = []
    try:
        with TiffStack(path) as source:
            found = list(source.frames(on_damage=damaged.append))
            notes = source.notes
    except SourceError:
        return
    for frame in found:
        np.testing.assert_array_equal(frame.rgb, grey(data[frame.index]))
    assert len(found) == 6 or damaged or notes


@pytest.mark.parametrize(
    "content", [b"", b"II", b"II*\0\0\0\0\0", b"II*\0\x08\0\0\0\xff\xff", b"MM\0+" + bytes(12), b"II*\0" + b"\xff" * 40]
)
def test_a_file_without_pages_raises(tmp_path, content):
    (tmp_path / "a.tif").write_bytes(content)
    with pytest.raises(SourceError, match=r"a\.tif"):
        open_source(str(tmp_path / "a.tif"))


def test_a_chain_of_pages_that_bites_its_tail_ends(tmp_path):
    path = write(tmp_path / "a.tif", values(12, 16), metadata=None, **GREY)
    content = bytearray(path.read_bytes())
    start = int.from_bytes(content[4:8], "little")
    end = start + 2 + 12 * int.from_bytes(content[start : start + 2], "little")
    content[end : end + 4] = content[4:8]
    path.write_bytes(content)
    with TiffStack(path) as source:
        assert source.length == 1


def test_a_huge_claimed_size_raises(tmp_path):
    path = write(tmp_path / "a.tif", values(4, 4), metadata=None, **GREY)
    with tifffile.TiffFile(path, mode="r+") as file:
        for tag in ("ImageWidth", "ImageLength"):
            file.pages[0].tags[tag].overwrite(2_000_000)
    with pytest.raises(SourceError, match="it claims a size of 2000000 x 2000000"):
        TiffStack(path)


def test_frames_beyond_the_end_of_a_contiguous_file_are_left_out(tmp_path):
    data = values(6, 24, 32)
    path = write(tmp_path / "a.tif", data, **GREY)
    path.write_bytes(path.read_bytes()[: -3 * 24 * 32])
    with TiffStack(path) as source:
        assert source.length == len(list(source.frames())) < 6
        assert "truncated" in " ".join(source.notes)


def test_values_of_nan_are_black_and_pages_of_nan_have_no_data(tmp_path):
    data = RNG.random((3, 12, 16)).astype(np.float32) * 7.0
    data[1] = np.nan
    data[0, 0, :2] = np.inf, -np.inf
    data[2, 0, 0] = np.nan
    damaged = []
    with TiffStack(write(tmp_path / "a.tif", data, **GREY)) as source:
        first, third = source.frames(on_damage=damaged.append)
    assert first.rgb[0, :2, 0].tolist() == [255, 0]
    assert (third.index, third.rgb[0, 0, 0]) == (2, 0)
    assert [(damage.index, str(damage)) for damage in damaged] == [
        (1, "it has no data: all values of frame 1 of 'a.tif' are NaN.")
    ]


def test_a_channel_of_nan_leaves_the_others(tmp_path):
    data = RNG.random((2, 2, 12, 16)).astype(np.float32)
    data[:, 0] = np.nan
    path = write(tmp_path / "a.tif", data, imagej=True, metadata={"axes": "TCYX"})
    assert [picture[..., 0].max() for picture in opened(path, ImageOptions())] == [0, 0]


def test_a_frame_without_data_is_no_scene_cut(tmp_path):
    data = np.stack([picture.mean(axis=2) for picture in moving_square(4)]).astype(np.float32)
    data[2] = np.nan
    notices = []
    with TiffStack(write(tmp_path / "a.tif", data, **GREY)) as source:
        results = list(segment_frames(source, QUICK.segmenter(), on_notice=notices.append))
    assert [(result.index, result.cut) for result in results] == [(0, False), (1, False), (3, False)]
    assert [(notice.kind, notice.frame) for notice in notices if notice.kind != "source"] == [("damaged", 2)]


def test_every_layout_of_a_sequence_is_reported(tmp_path):
    for name, planes in (("a", 3), ("b", 3), ("c", 1), ("d", 4)):
        write(tmp_path / f"{name}.tif", RNG.integers(0, 255, (planes, 12, 16)).astype(np.uint8), **GREY)
    notices = []
    with open_source(str(tmp_path)) as source:
        list(segment_frames(source, QUICK.segmenter(), scene_cuts=False, on_notice=notices.append))
    told = " ".join(notice.text for notice in notices if notice.kind == "source")
    assert "'a.tif' has 3 planes per frame" in told
    assert "'d.tif' has 4 planes per frame" in told
    assert "'b.tif'" not in told


def test_complex_values_are_refused(tmp_path):
    with pytest.raises(SourceError, match="complex64 are not supported"):
        TiffStack(write(tmp_path / "a.tif", np.zeros((2, 4, 4), np.complex64), **GREY))


def test_images_and_a_list_of_tiffs_use_the_same_reader(tmp_path):
    folder = write_images(tmp_path / "f", [values(12, 16, 3), values(12, 16, 3)], "{:05d}.tif")
    assert len(pictures(open_source("\n".join(map(str, sorted(folder.iterdir())))))) == 2
