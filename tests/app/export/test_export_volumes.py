"""All frames in one file: NumPy, TIFF, Zarr, read back with their libraries."""

import gc
import math
import tracemalloc
from xml.etree import ElementTree

import numpy as np
import pytest
import tifffile
import zarr

from helpers.export_scenes import leftovers, result, story
from helpers.exports import export, make_job
from helpers.label_maps import ragged
from scstream_app.export import ExportError, tiff_pages
from scstream_app.export.exporter import open_writer


def stack(results):
    return np.stack([one.ids for one in results])


# --- NumPy


@pytest.mark.parametrize(
    ("largest", "kind"), [(255, np.uint8), (256, np.uint16), (65_536, np.uint32), (1_000_000, np.uint32)]
)
def test_npz_takes_the_smallest_type(tmp_path, largest, kind):
    results = [result(3, ragged(0)), result(5, np.minimum(ragged(1), 255))]
    results[0].ids[:], results[1].ids[0, 0] = np.minimum(results[0].ids, 255), largest
    with np.load(export(tmp_path, "npz", results)) as archive:
        assert archive["ids"].dtype == kind
        np.testing.assert_array_equal(archive["ids"], stack(results))
        np.testing.assert_array_equal(archive["frames"], [3, 5])
        np.testing.assert_allclose(archive["times"], [0.12, 0.2])


def test_npz_with_pixels_of_no_segment_is_signed(tmp_path):
    results = [result(0, np.array([[70_000, 3]])), result(1, np.array([[-1, 3]]))]
    with np.load(export(tmp_path, "npz", results)) as archive:
        assert archive["ids"].dtype == np.int32
        np.testing.assert_array_equal(archive["ids"], stack(results))


# --- TIFF


def test_tiff_is_a_stack_of_labels(tmp_path):
    results = [result(frame, ragged(frame)) for frame in range(4)]
    results[2].ids[3, 3], results[2].ids[3, 4] = 1_000_000, -1
    path = export(tmp_path, "tiff", results)
    assert path.name == "ids.ome.tif"
    with tifffile.TiffFile(path) as file:
        (series,) = file.series
        assert (series.axes, series.shape, series.dtype) == ("TYX", (4, 13, 17), np.int32)
        assert file.is_ome
        assert not file.is_bigtiff
        np.testing.assert_array_equal(series.asarray(), stack(results) + 1)
    np.testing.assert_array_equal(tifffile.imread(path), stack(results) + 1)
    assert not leftovers(tmp_path)


def ome_pixels(path):
    with tifffile.TiffFile(path) as file:
        root = ElementTree.fromstring(file.ome_metadata)
    schema = {"ome": "http://www.openmicroscopy.org/Schemas/OME/2016-06"}
    (pixels,) = root.findall("ome:Image/ome:Pixels", schema)
    return pixels.attrib, [plane.attrib for plane in pixels.findall("ome:Plane", schema)]


def test_tiff_holds_the_time_of_every_frame(tmp_path):
    """Also of a variable rate, and after a gap."""
    moments = {2: 0.5, 3: 0.6, 7: 1.25, 8: math.nan, 9: 1.5}
    results = [result(frame, ragged(frame), time=time) for frame, time in moments.items()]
    pixels, planes = ome_pixels(export(tmp_path, "tiff", results))
    assert (pixels["SizeT"], float(pixels["TimeIncrement"]), pixels["TimeIncrementUnit"]) == ("5", 0.25, "s")
    assert [plane["TheT"] for plane in planes] == ["0", "1", "2", "3", "4"]
    assert [float(plane["DeltaT"]) for plane in planes if "DeltaT" in plane] == [0.5, 0.6, 1.25, 1.5]


@pytest.mark.parametrize("name", ["tiff", "imagej"])
def test_stack_of_one_frame(tmp_path, name):
    path = export(tmp_path, name, [result(0, ragged(0))])
    np.testing.assert_array_equal(tifffile.imread(path), ragged(0) + 1)
    if name == "tiff":
        assert ome_pixels(path)[0]["SizeT"] == "1"
        assert float(ome_pixels(path)[0]["TimeIncrement"]) == 0.04


def test_tiff_becomes_a_big_one_when_it_outgrows_the_classic(tmp_path, monkeypatch):
    monkeypatch.setattr(tiff_pages, "CLASSIC_BYTES", 3500)
    results = [result(frame, ragged(frame)) for frame in range(12)]
    with tifffile.TiffFile(export(tmp_path, "tiff", results)) as file:
        assert file.is_bigtiff
        assert file.series[0].axes == "TYX"
        np.testing.assert_array_equal(file.series[0].asarray(), stack(results) + 1)
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(("largest", "kind"), [(65_534, np.uint16), (65_535, np.float32), (2**24 - 1, np.float32)])
def test_imagej_stack_has_a_time_axis_and_16_bits_if_ids_fit(tmp_path, largest, kind):
    results = [result(frame, ragged(frame)) for frame in range(4)]
    results[2].ids[3, 3], results[2].ids[3, 4] = largest, -1
    with tifffile.TiffFile(export(tmp_path, "imagej", results)) as file:
        (series,) = file.series
        assert (file.is_imagej, file.is_ome, file.is_bigtiff) == (True, False, False)
        assert (series.axes, series.shape, series.dtype) == ("TYX", (4, 13, 17), kind)
        # ImageJ reads the pixels of all frames from where those of the first begin.
        assert series.dataoffset is not None
        np.testing.assert_array_equal(series.asarray(), stack(results) + 1)
        found = file.imagej_metadata
        assert (found["images"], found["frames"], found["finterval"], found["max"]) == (4, 4, 0.04, largest + 1)
    assert not leftovers(tmp_path)


def test_imagej_stack_refuses_what_imagej_cannot_read(tmp_path, monkeypatch):
    large = result(0, np.full((4, 4), 90))
    large.ids[0, 0] = 2**24
    with pytest.raises(ExportError, match="id 16777216 is too large for ImageJ"):
        export(tmp_path, "imagej", [large])
    monkeypatch.setattr(tiff_pages, "CLASSIC_BYTES", 1000)
    with pytest.raises(ExportError, match=r"ImageJ reads no TIFF file beyond 4 GB; .* use tiff"):
        export(tmp_path, "imagej", story())
    assert not list(tmp_path.iterdir())


def test_tiff_is_compressed(tmp_path):
    results = [result(frame, np.zeros((200, 300))) for frame in range(3)]
    assert export(tmp_path, "tiff", results).stat().st_size < 10_000


# --- Zarr


def test_zarr_is_an_array_of_labels(tmp_path):
    results = [result(frame, ragged(frame)) for frame in (2, 3, 7)]
    results[1].ids[0, 0], results[1].ids[0, 1] = 1_000_000, -1
    array = zarr.open_array(export(tmp_path, "zarr", results), mode="r")
    assert (array.shape, array.chunks, array.dtype) == ((3, 13, 17), (1, 13, 17), np.int32)
    np.testing.assert_array_equal(array[:], stack(results) + 1)
    assert array.attrs["frames"] == [2, 3, 7]
    assert array.attrs["times"] == pytest.approx([0.08, 0.12, 0.28])
    assert (array.metadata.zarr_format, array.metadata.dimension_names) == (3, ("frame", "row", "column"))


def test_zarr_keeps_its_chunks_in_one_folder(tmp_path):
    path = export(tmp_path, "zarr", story()[:2])
    assert sorted(entry.name for entry in path.iterdir()) == ["0.0.0", "1.0.0", "zarr.json"]


def test_zarr_replaces_an_older_one_whole(tmp_path):
    export(tmp_path, "zarr", story())
    path = export(tmp_path, "zarr", story()[:2])
    np.testing.assert_array_equal(zarr.open_array(path, mode="r")[:], stack(story()[:2]) + 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.zarr"]


# --- all of them


@pytest.mark.parametrize("name", ["tiff", "zarr"])
def test_napari_would_take_them_for_labels(tmp_path, name):
    """It goes by the type, and shows nothing where the label is 0."""
    path = export(tmp_path, name, story())
    volume = tifffile.imread(path) if name == "tiff" else zarr.open_array(path, mode="r")[:]
    assert volume.dtype in (np.int32, np.uint32, np.int64, np.uint64)
    assert volume.ndim == 3
    assert volume.min() == 1


@pytest.mark.parametrize("name", ["npz", "tiff", "imagej", "zarr", "ome_zarr", "coco"])
def test_memory_stays_flat(tmp_path, name):
    """What a writer holds must not grow with the frames but by a few bytes each."""
    ids = np.random.default_rng(0).integers(0, 3, (240, 320)).astype(np.int32)
    one = result(0, ids)
    with open_writer(tmp_path, name, make_job(320, 240, 25.0)) as writer:
        for _ in range(3):
            writer.write(one)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(12):
            writer.write(one)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert grown < 2 * ids.nbytes
