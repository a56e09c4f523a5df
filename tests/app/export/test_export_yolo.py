"""YOLO-seg data sets, read as Ultralytics documents them."""

import cv2
import numpy as np
import pytest
import yaml

from helpers.export_scenes import leftovers, result, story
from helpers.exports import KITE, export, made_of
from helpers.label_maps import ragged

GROUND = made_of("ground", 0)


def rows(path):
    """Class and polygon (n, 2) of each row, checked as the documentation of the format asks."""
    for line in path.read_text(encoding="ascii").splitlines():
        number, *values = line.split(" ")
        points = np.array(values, float).reshape(-1, 2)
        assert len(points) >= 3
        assert (points >= 0.0).all()
        assert (points <= 1.0).all()
        # A box without an area is no target for training.
        assert (np.ptp(points, axis=0) > 0.0).all()
        yield int(number), points


def drawn(points, shape):
    """The mask of a polygon, as Ultralytics draws it."""
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [(points * shape[::-1]).astype(np.int32)], 1)
    return mask.astype(bool)


def masks(folder, frame, shape):
    return [(number, drawn(points, shape)) for number, points in rows(folder / "labels" / f"{frame:05d}.txt")]


def overlap(a, b):
    return (a & b).sum() / (a | b).sum()


def test_every_picture_has_labels_of_the_same_name(tmp_path):
    results = story((48, 64), first=3, gap=4)
    folder = export(tmp_path, "yolo", results, objects=(KITE,))
    data = yaml.safe_load((folder / "data.yaml").read_text(encoding="utf-8"))
    # Without a path, the folders are relative to the file.
    assert data == {"train": "images", "val": "images", "names": {0: "kite"}}
    pictures = sorted((folder / data["train"]).iterdir())
    assert [path.name for path in pictures] == [f"{one.index:05d}.jpg" for one in results]
    assert [path.stem for path in sorted((folder / "labels").iterdir())] == [path.stem for path in pictures]
    for path, one in zip(pictures, results, strict=True):
        read = cv2.imread(str(path))[..., ::-1].astype(int)
        assert read.shape == (48, 64, 3)
        assert np.abs(read - one.picture).mean() < 8
    assert sorted(path.name for path in folder.iterdir()) == ["classes.txt", "data.yaml", "images", "labels"]
    assert not leftovers(tmp_path)


def test_polygons_are_the_masks_with_their_holes(tmp_path):
    results = story((48, 64))
    folder = export(tmp_path, "yolo", results)
    for one in results:
        found = masks(folder, one.index, one.ids.shape)
        assert [number for number, _ in found] == [0] * len(np.unique(one.ids))
        for (_, mask), id in zip(found, np.unique(one.ids), strict=True):
            np.testing.assert_array_equal(mask, one.ids == id)
    assert yaml.safe_load((folder / "data.yaml").read_text())["names"] == {0: "segment"}
    assert (folder / "classes.txt").read_text() == "segment\n"


def test_classes_are_the_objects(tmp_path):
    objects = (GROUND, made_of("a: 'kite' # ä".replace(":", ","), 1), made_of("nowhere", 77), made_of("ground", 2))
    folder = export(tmp_path, "yolo", story((48, 64)), objects=objects)
    names = ["ground", "a, 'kite' # ä", "nowhere", "ground"]
    data = yaml.safe_load((folder / "data.yaml").read_text(encoding="utf-8"))
    assert data["names"] == dict(enumerate(names))
    assert (folder / "classes.txt").read_text(encoding="utf-8").splitlines() == names
    found = dict(masks(folder, 3, (48, 64)))
    assert sorted(found) == [0, 1, 3]
    assert overlap(found[1], np.isin(story((48, 64))[3].ids, [1, 3])) > 0.95


def test_an_instance_is_one_row_with_its_parts_joined(tmp_path):
    ids = np.zeros((60, 80), np.int32)
    ids[5:25, 5:25] = ids[5:25, 30:60] = ids[40:55, 40:70] = 1
    folder = export(tmp_path, "yolo", [result(0, ids)], objects=(KITE,))
    ((number, mask),) = masks(folder, 0, ids.shape)
    assert number == 0
    assert mask[ids == 1].all()
    assert overlap(mask, ids == 1) > 0.95


@pytest.mark.parametrize("cells", [[(7, 3)], [(7, 3), (7, 4)], [(7, 3), (8, 4)], [(7, 4), (8, 3)], [(0, 0)], [(9, 9)]])
def test_tiny_masks_keep_an_area_and_their_pixels(tmp_path, cells):
    ids = np.zeros((10, 10), np.int32)
    ids[tuple(zip(*cells, strict=True))] = 1
    folder = export(tmp_path, "yolo", [result(0, ids)], objects=(KITE,))
    ((_, mask),) = masks(folder, 0, ids.shape)
    np.testing.assert_array_equal(mask, ids == 1)


def test_holes_stay_empty(tmp_path):
    ids = np.ones((40, 50), np.int32)
    ids[4:20, 5:30] = ids[25, 25] = ids[30:38, 3:47] = 0
    folder = export(tmp_path, "yolo", [result(0, ids)], objects=(KITE,))
    ((_, mask),) = masks(folder, 0, ids.shape)
    np.testing.assert_array_equal(mask, ids == 1)


def test_a_mask_that_fills_the_frame(tmp_path):
    folder = export(tmp_path, "yolo", [result(0, np.ones((12, 16)))], objects=(KITE,))
    ((_, mask),) = masks(folder, 0, (12, 16))
    assert mask.all()


def test_a_frame_without_the_object_has_empty_labels(tmp_path):
    results = story((48, 64))
    results[2].ids[:] = 0
    folder = export(tmp_path, "yolo", results, objects=(KITE,))
    sizes = [path.stat().st_size for path in sorted((folder / "labels").iterdir())]
    assert [size > 0 for size in sizes] == [True, True, False, True, True]


@pytest.mark.parametrize("seed", range(3))
def test_no_pixel_of_a_ragged_mask_is_lost(tmp_path, seed):
    ids = ragged(seed)
    folder = export(tmp_path, "yolo", [result(0, ids)])
    for (_, mask), id in zip(masks(folder, 0, ids.shape), np.unique(ids), strict=True):
        assert mask[ids == id].all()


def test_three_hundred_segments(tmp_path):
    ids = np.arange(300).reshape(15, 20).repeat(6, 0).repeat(6, 1)
    folder = export(tmp_path, "yolo", [result(0, ids)])
    found = masks(folder, 0, ids.shape)
    assert len(found) == 300
    assert all((mask == (ids == id)).all() for id, (_, mask) in enumerate(found))


def test_a_shorter_export_leaves_nothing_of_a_longer_one(tmp_path):
    folder = export(tmp_path, "yolo", story(), objects=(KITE,))
    # As earlier versions wrote them.
    (folder / "00003.txt").write_text("0 0.1 0.1 0.2 0.2 0.3 0.1\n")
    (folder / "mine.txt").write_text("mine")
    export(tmp_path, "yolo", story()[:2], objects=(KITE,))
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        "classes.txt", "data.yaml", "images/00000.jpg", "images/00001.jpg", "labels/00000.txt", "labels/00001.txt",
        "mine.txt",
    ]  # fmt: skip
