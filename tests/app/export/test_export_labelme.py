"""LabelMe files, read as its documentation and its own reader do."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image, ImageDraw

from helpers.export_scenes import result, story
from helpers.exports import KITE, export, made_of
from helpers.label_maps import ragged

FIELDS = ["version", "flags", "shapes", "imagePath", "imageData", "imageHeight", "imageWidth"]


def read(path):
    """The annotation of a frame; checks the fields, and the picture beside it."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert list(whole) == FIELDS
    assert whole["imageData"] is None
    with Image.open(path.parent / whole["imagePath"]) as picture:
        assert picture.size == (whole["imageWidth"], whole["imageHeight"])
    for shape in whole["shapes"]:
        assert sorted(shape) == ["description", "flags", "group_id", "label", "mask", "points", "shape_type"]
        assert isinstance(shape["group_id"], int)
    return whole


def drawn(shape, size):
    """The mask of a shape, as LabelMe draws it."""
    picture = Image.new("L", size)
    if shape["shape_type"] == "polygon":
        assert len(shape["points"]) > 2
        assert shape["mask"] is None
        ImageDraw.Draw(picture).polygon([tuple(point) for point in shape["points"]], outline=1, fill=1)
        return np.array(picture, bool)
    assert shape["shape_type"] == "mask"
    mask = np.zeros(size[::-1], bool)
    (left, top), (right, bottom) = shape["points"]
    with Image.open(io.BytesIO(base64.b64decode(shape["mask"]))) as part:
        mask[top : bottom + 1, left : right + 1] = np.asarray(part).astype(bool)
    return mask


def tracks(whole):
    """The map of the groups, checked for overlaps; -1 where there is none."""
    size = whole["imageWidth"], whole["imageHeight"]
    found = np.full(size[::-1], -1)
    for shape in whole["shapes"]:
        mask = drawn(shape, size)
        assert (found[mask] == -1).all()
        found[mask] = shape["group_id"]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_shapes_are_the_segments_to_the_pixel(tmp_path, seed):
    ids = ragged(seed)
    ids[6, 2:7] = -1
    folder = export(tmp_path, "labelme", [result(0, ids)])
    np.testing.assert_array_equal(tracks(read(folder / "00000.json")), ids)


def test_a_frame_is_a_picture_and_a_file_of_the_same_name(tmp_path):
    results = story(first=3, gap=4)
    folder = export(tmp_path, "labelme", results, names={1: 'a "kite" / ä'})
    expected = {f"{one.index:05d}.{suffix}" for one in results for suffix in ("jpg", "json")}
    assert {path.name for path in folder.iterdir()} == expected
    for one in results:
        whole = read(folder / f"{one.index:05d}.json")
        assert whole["imagePath"] == f"{one.index:05d}.jpg"
        np.testing.assert_array_equal(tracks(whole), one.ids)
        assert {shape["label"] for shape in whole["shapes"]} == {"segment", 'a "kite" / ä'}


def test_labels_are_the_objects_and_parts_are_a_group(tmp_path):
    ids = np.zeros((20, 30), np.int32)
    ids[2:8, 2:8] = ids[12:18, 20:28] = 1
    ids[2:18, 12:16] = 2
    objects = (made_of("strip", 2), KITE, made_of("nowhere", 77))
    whole = read(export(tmp_path, "labelme", [result(0, ids)], objects=objects) / "00000.json")
    assert sorted((shape["label"], shape["group_id"]) for shape in whole["shapes"]) == [
        ("kite", 1), ("kite", 1), ("strip", 0),
    ]  # fmt: skip
    assert {shape["shape_type"] for shape in whole["shapes"]} == {"polygon"}
    np.testing.assert_array_equal(tracks(whole), np.choose(ids, [-1, 1, 0]))


def test_holes_and_single_pixels_are_kept_as_masks(tmp_path):
    ids = np.ones((12, 10), np.int32)
    ids[3:7, 3:7], ids[5, 5] = 0, 1
    whole = read(export(tmp_path, "labelme", [result(0, ids)], objects=(KITE,)) / "00000.json")
    assert [shape["shape_type"] for shape in whole["shapes"]] == ["mask", "mask"]
    np.testing.assert_array_equal(tracks(whole), ids - 1)


def test_a_frame_without_the_object_has_no_shapes(tmp_path):
    folder = export(tmp_path, "labelme", [result(0, np.zeros((8, 8)))], objects=(KITE,))
    assert read(folder / "00000.json")["shapes"] == []


def test_labelme_itself_opens_them(tmp_path):
    label_file = pytest.importorskip("labelme._label_file")
    folder = export(tmp_path, "labelme", story())
    opened = label_file.LabelFile(str(folder / "00002.json"))
    assert opened.image_path == "00002.jpg"
    assert [shape["group_id"] for shape in opened.shapes] == [0, 1, 2, 3]
