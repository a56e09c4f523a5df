"""OME-Zarr groups, read back with zarr and with napari's own plugin for them."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
import zarr

from helpers.export_scenes import leftovers, result, story
from helpers.exports import KITE, export, full_disk
from scstream_app.export import ExportError, needs_picture, uses_picture
from scstream_app.render import palette


def stack(results):
    return np.stack([one.ids for one in results])


def metadata(path):
    return json.loads((path / "zarr.json").read_text())["attributes"]["ome"]


def bare(results):
    return [replace(one, rgb=None) for one in results]


def test_group_holds_pictures_and_labels(tmp_path):
    results = story(first=10, gap=2)
    results[1].ids[0, 0], results[1].ids[0, 1] = 70_000, -1
    path = export(tmp_path, "ome_zarr", results)
    group = zarr.open_group(path, mode="r")
    pictures, labels = group["0"], group["labels/segments/0"]
    assert (pictures.dtype, pictures.chunks) == (np.uint8, (1, 3, 24, 32))
    assert (labels.dtype, labels.chunks) == (np.int32, (1, 24, 32))
    assert (pictures.metadata.dimension_names, labels.metadata.dimension_names) == (tuple("tcyx"), tuple("tyx"))
    np.testing.assert_array_equal(pictures[:], np.stack([one.picture for one in results]).transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(labels[:], stack(results) + 1)
    assert group.attrs["scstream"]["frames"] == [10, 12, 14, 16, 18]
    assert group.attrs["scstream"]["times"] == pytest.approx([0.4, 0.48, 0.56, 0.64, 0.72])
    assert not leftovers(tmp_path)


def check_multiscale(image, group, axes, interval, begin):
    """What version 0.5 of the specification demands of an image."""
    assert image["version"] == "0.5"
    (multiscale,) = image["multiscales"]
    assert [axis["name"] for axis in multiscale["axes"]] == list(axes)
    kinds = {"t": "time", "c": "channel", "y": "space", "x": "space"}
    assert [axis["type"] for axis in multiscale["axes"]] == [kinds[axis] for axis in axes]
    assert multiscale["axes"][0]["unit"] == "second"
    (dataset,) = multiscale["datasets"]
    scale, translation = dataset["coordinateTransformations"]
    assert scale == {"type": "scale", "scale": [interval] + [1.0] * (len(axes) - 1)}
    assert translation == {"type": "translation", "translation": [begin] + [0.0] * (len(axes) - 1)}
    assert group[dataset["path"]].ndim == len(axes)


def test_metadata_is_that_of_the_specification(tmp_path):
    path = export(tmp_path, "ome_zarr", story(first=10, gap=2), names={1: "kite"}, hidden=frozenset({2}))
    group = zarr.open_group(path, mode="r")
    check_multiscale(metadata(path), group, "tcyx", 0.08, 0.4)
    assert metadata(path / "labels") == {"version": "0.5", "labels": ["segments"]}
    labels = metadata(path / "labels" / "segments")
    check_multiscale(labels, group["labels/segments"], "tyx", 0.08, 0.4)
    about = labels["image-label"]
    assert about["source"] == {"image": "../../"}
    assert about["properties"] == [
        {"label-value": id + 1, "id": id, "name": "kite" if id == 1 else ""} for id in range(4)
    ]
    table = palette.colours(4).tolist()
    assert about["colors"] == [
        {"label-value": id + 1, "rgba": [*table[id], 0 if id == 2 else 255]} for id in range(4)
    ]  # fmt: skip


def test_labels_without_pictures_are_a_valid_group(tmp_path):
    results = story()
    path = export(tmp_path, "ome_zarr", bare(results))
    group = zarr.open_group(path, mode="r")
    assert "0" not in group
    check_multiscale(metadata(path), group, "tyx", 0.04, 0.0)
    image = group[metadata(path)["multiscales"][0]["datasets"][0]["path"]]
    np.testing.assert_array_equal(image[:], stack(results) + 1)


def test_pictures_that_are_missing_in_between_are_black(tmp_path):
    results = story()
    for place in (0, 2, 4):
        results[place] = replace(results[place], rgb=None)
    pictures = zarr.open_group(export(tmp_path, "ome_zarr", results), mode="r")["0"][:]
    assert [bool(picture.any()) for picture in pictures] == [False, True, False, True, False]


def test_clip_without_segments_has_no_colours(tmp_path):
    path = export(tmp_path, "ome_zarr", [result(0, np.full((3, 5), -1))])
    assert metadata(path / "labels" / "segments")["image-label"] == {"source": {"image": "../../"}}


def test_variable_rate_keeps_the_first_and_the_last_time(tmp_path):
    results = [replace(one, time=time) for one, time in zip(story(), (1.0, 1.1, 1.2, 1.9, 3.0), strict=True)]
    path = export(tmp_path, "ome_zarr", results)
    check_multiscale(metadata(path), zarr.open_group(path, mode="r"), "tcyx", 0.5, 1.0)


def test_pictures_are_wanted_but_not_needed():
    assert uses_picture(["ids", "ome_zarr"])
    assert not uses_picture(["ids", "zarr"])
    assert not needs_picture(["ome_zarr"])


def test_full_disk_leaves_an_earlier_group_as_it_was(tmp_path, monkeypatch):
    path = export(tmp_path, "ome_zarr", story())
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    monkeypatch.setattr(zarr.Array, "resize", full_disk)
    with pytest.raises(ExportError, match=r"clip\.ome\.zarr': No space left on device"):
        export(tmp_path, "ome_zarr", story()[:2])
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


# --- napari


@pytest.fixture(scope="module")
def napari():
    with warnings.catch_warnings():
        # Deprecations inside of napari at its import.
        warnings.simplefilter("ignore")
        pytest.importorskip("napari_ome_zarr")
        return pytest.importorskip("napari.layers")


def layers(path):
    from napari_ome_zarr import napari_get_reader

    return napari_get_reader(str(path))(str(path))


# napari adds the transparent default itself.
@pytest.mark.filterwarnings("ignore:color_dict did not provide a default color")
def test_napari_opens_labels_and_pictures(tmp_path, napari):
    results = story(first=10, gap=2)
    image, labels = layers(export(tmp_path, "ome_zarr", results, names={1: "kite"}, objects=(KITE,)))
    assert (image[2], image[1]["channel_axis"]) == ("image", 1)
    np.testing.assert_array_equal(np.asarray(image[0][0])[:, 1], np.stack([one.picture[..., 1] for one in results]))
    assert labels[2] == "labels"
    layer = napari.Labels(labels[0][0], **labels[1])
    np.testing.assert_array_equal(np.asarray(layer.data), stack(results) + 1)
    assert layer.scale.tolist() == [0.08, 1.0, 1.0]
    assert [str(unit) for unit in layer.units] == ["second", "pixel", "pixel"]
    assert layer.features["name"].tolist() == ["", "kite", "", ""]
    np.testing.assert_allclose(255 * layer.get_color(2), [*palette.colour(1), 255], atol=0.01)


def test_napari_opens_labels_alone(tmp_path, napari):
    results = story()
    *_, labels = layers(export(tmp_path, "ome_zarr", bare(results)))
    assert labels[2] == "labels"
    np.testing.assert_array_equal(np.asarray(labels[0][0]), stack(results) + 1)


def test_napari_takes_the_tiff_stack_for_labels(tmp_path, napari):
    from napari.layers.image._image_utils import guess_labels
    from napari_builtins.io import napari_get_reader

    path = str(export(tmp_path, "tiff", story()))
    ((data, *_),) = napari_get_reader(path)(path)
    np.testing.assert_array_equal(np.asarray(data), stack(story()) + 1)
    assert guess_labels(data) == "labels"
