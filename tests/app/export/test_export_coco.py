"""COCO files, for video and per image, read with pycocotools."""

import json

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from helpers.export_scenes import result, story
from helpers.exports import KITE, export, made_of
from helpers.label_maps import ragged
from scstream_app.export.run_lengths import track_shapes

# Its decoder predates NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")


def stack(results):
    return np.stack([one.ids for one in results])


# --- run lengths


@pytest.mark.parametrize("seed", range(5))
def test_run_lengths_are_those_of_the_library(seed):
    ids = ragged(seed)
    ids[0, 0], ids[-1, -1] = (0, 900) if seed % 2 else (900, 0)
    shapes = track_shapes(ids)
    assert [shape.track for shape in shapes] == np.unique(ids).tolist()
    for shape in shapes:
        assert shape.counts == coco_mask.encode(np.asfortranarray(ids == shape.track).astype(np.uint8))["counts"]


def test_more_segments_than_fit_into_eight_bits():
    ids = np.arange(900, dtype=np.int32).reshape(30, 30)
    shapes = track_shapes(ids)
    assert [shape[:6] for shape in shapes] == [(id, 1, id % 30, id // 30, 1, 1) for id in range(900)]


def test_pixels_of_no_segment_are_in_no_track():
    assert track_shapes(np.full((3, 3), -1, np.int32)) == []
    assert [shape[:2] for shape in track_shapes(np.array([[-1, 7]], np.int32))] == [(7, 1)]


# --- YouTube-VIS


def decoded(annotation, length, shape):
    masks = np.zeros((length, *shape), bool)
    for place, rle in enumerate(annotation["segmentations"]):
        if rle is not None:
            assert rle["size"] == list(shape)
            masks[place] = coco_mask.decode({**rle, "counts": rle["counts"].encode()})
    return masks


def test_coco_has_one_annotation_a_track(tmp_path):
    results = story(first=10, gap=2)
    whole = json.loads(export(tmp_path, "coco", results, names={1: "kite"}).read_text())
    assert whole["videos"] == [
        {"id": 1, "width": 32, "height": 24, "length": 5,
         "file_names": ["00010.png", "00012.png", "00014.png", "00016.png", "00018.png"]}
    ]  # fmt: skip
    assert [category["id"] for category in whole["categories"]] == [1]
    assert [one["track_id"] for one in whole["annotations"]] == [0, 1, 2, 3]
    assert [one["id"] for one in whole["annotations"]] == [1, 2, 3, 4]
    assert whole["annotations"][1]["name"] == "kite"
    for one in whole["annotations"]:
        assert (one["video_id"], one["category_id"], one["iscrowd"]) == (1, 1, 0)
        expected = stack(results) == one["track_id"]
        np.testing.assert_array_equal(decoded(one, 5, (24, 32)), expected)
        check_sizes(one, expected)


def check_sizes(annotation, masks):
    assert len(annotation["areas"]) == len(annotation["bboxes"]) == len(masks)
    for area, box, mask in zip(annotation["areas"], annotation["bboxes"], masks, strict=True):
        if not mask.any():
            assert area is None
            assert box is None
            continue
        rows, columns = np.nonzero(mask)
        assert area == mask.sum()
        assert box == [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]


def test_coco_is_null_where_a_track_is_absent(tmp_path):
    absent = [json.loads(export(tmp_path, "coco", story()).read_text())["annotations"][place] for place in (2, 3)]
    assert [rle is None for rle in absent[0]["segmentations"]] == [False, False, False, False, True]
    assert [rle is None for rle in absent[1]["segmentations"]] == [True, True, False, False, False]


def test_coco_tracks_are_objects_where_they_are_given(tmp_path):
    results = story()
    objects = (made_of("nowhere", 77), KITE)
    whole = json.loads(export(tmp_path, "coco", results, objects=objects).read_text())
    assert [category["name"] for category in whole["categories"]] == ["nowhere", "kite"]
    (one,) = whole["annotations"]
    assert (one["name"], one["category_id"]) == ("kite", 2)
    expected = np.isin(stack(results), [1, 3])
    np.testing.assert_array_equal(decoded(one, 5, (24, 32)), expected)
    check_sizes(one, expected)


def test_coco_lists_the_files_of_the_source(tmp_path):
    names = [f"cam a/Bild {n} ä.jpg" for n in range(5)]
    whole = json.loads(export(tmp_path, "coco", story()[1:4:2], file_names=names).read_text(encoding="utf-8"))
    assert whole["videos"][0]["file_names"] == [names[1], names[3]]


# --- COCO per image


def opened(path, capsys):
    coco = COCO(str(path))
    capsys.readouterr()
    return coco


def self_evaluation(coco, capsys, kind="segm"):
    """Average precision of the annotations, taken as detections of themselves."""
    with_scores = [{**one, "score": 1.0} for one in coco.dataset["annotations"]]
    evaluation = COCOeval(coco, coco.loadRes(with_scores), kind)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    capsys.readouterr()
    return evaluation.stats[0]


@pytest.mark.parametrize("kind", ["segm", "bbox"])
def test_coco_images_agree_with_themselves_in_the_library(tmp_path, capsys, kind):
    coco = opened(export(tmp_path, "coco_images", story((48, 64))), capsys)
    assert self_evaluation(coco, capsys, kind) == pytest.approx(1.0)


def test_coco_images_have_an_annotation_a_frame_and_segment(tmp_path, capsys):
    results = story(first=10, gap=2)
    results[1].ids[:] = ragged(0, (24, 32))
    coco = opened(export(tmp_path, "coco_images", results, names={1: 'a "kite" / ä'}), capsys)
    assert coco.loadCats(coco.getCatIds()) == [{"id": 1, "name": "segment", "supercategory": "object"}]
    assert [(image["frame"], image["file_name"]) for image in coco.dataset["images"]] == [
        (one.index, f"{one.index:05d}.png") for one in results
    ]
    for image, one in zip(coco.dataset["images"], results, strict=True):
        annotations = coco.loadAnns(coco.getAnnIds(imgIds=image["id"], iscrowd=False))
        assert [each["track_id"] for each in annotations] == np.unique(one.ids).tolist()
        for each in annotations:
            expected = one.ids == each["track_id"]
            np.testing.assert_array_equal(coco.annToMask(each), expected)
            rows, columns = np.nonzero(expected)
            assert each["bbox"] == [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
            assert each["area"] == expected.sum()
    assert {each["name"] for each in coco.dataset["annotations"] if each["track_id"] == 1} == {'a "kite" / ä'}
    assert sorted(coco.anns) == list(range(1, len(coco.anns) + 1))


def test_coco_images_have_the_names_of_the_source_s_files(tmp_path, capsys):
    names = ["b/9.jpg", "b/10 ä.jpg", "c/1.jpg", "c/2.jpg", "c/3.jpg"]
    coco = opened(export(tmp_path, "coco_images", story()[1:3], file_names=names), capsys)
    assert [image["file_name"] for image in coco.dataset["images"]] == names[1:3]


def test_categories_of_coco_images_are_the_objects(tmp_path, capsys):
    results = story()
    results[3].ids[:] = 0
    objects = (made_of("nowhere", 77), made_of("a 'kite', ä", 1), made_of("strip", 2), made_of("strip", 0))
    coco = opened(export(tmp_path, "coco_images", results, objects=objects), capsys)
    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["nowhere", "a 'kite', ä", "strip", "strip"]
    kites = coco.loadAnns(coco.getAnnIds(catIds=2))
    assert [(one["image_id"], one["track_id"]) for one in kites] == [(1, 1), (2, 1), (3, 1), (5, 1)]
    assert not coco.getAnnIds(catIds=1)
    assert self_evaluation(coco, capsys) == pytest.approx(1.0)


def test_coco_images_without_anything_to_annotate_can_be_opened(tmp_path, capsys):
    coco = opened(export(tmp_path, "coco_images", story(), objects=(made_of("nowhere", 77),)), capsys)
    assert (len(coco.imgs), len(coco.anns)) == (5, 0)


@pytest.mark.parametrize(
    "mask",
    [
        pytest.param(np.pad([[1]], ((3, 8), (0, 9))), id="a pixel"),
        pytest.param(np.ones((12, 10), int), id="the whole frame"),
        pytest.param(1 - np.pad(np.ones((4, 4), int), ((4, 4), (3, 3))), id="a frame with a hole"),
    ],
)
def test_odd_masks_come_back_as_they_were(tmp_path, capsys, mask):
    coco = opened(export(tmp_path, "coco_images", [result(0, mask)], objects=(made_of("it", 1),)), capsys)
    (one,) = coco.anns.values()
    np.testing.assert_array_equal(coco.annToMask(one), mask)
