"""Image formats, read back with independent readers."""

import json
import os
from dataclasses import replace

import cv2
import numpy as np
import pytest
from PIL import Image

from helpers.export_scenes import leftovers, result, split, story
from helpers.exports import KITE, export, full_disk, made_of
from scstream_app.export import ExportError
from scstream_app.render import views
from scstream_app.render.palette import Colouring

GROUND = made_of("ground", 0)


def pillow(path):
    with Image.open(path) as image:
        return image.mode, np.asarray(image)


def numbers(folder, suffix="png"):
    return sorted(path.name for path in folder.glob(f"*.{suffix}"))


# --- ids


def test_ids_are_id_plus_one_under_the_source_s_frame_number(tmp_path):
    results = story(first=3, gap=4)
    folder = export(tmp_path, "ids", results)
    assert numbers(folder) == ["00003.png", "00007.png", "00011.png", "00015.png", "00019.png"]
    for one in results:
        read = cv2.imread(str(folder / f"{one.index:05d}.png"), cv2.IMREAD_UNCHANGED)
        assert read.dtype == np.uint16
        np.testing.assert_array_equal(read, one.ids + 1)


def test_ids_beyond_16_bits_are_refused_with_a_way_out(tmp_path):
    export(tmp_path, "ids", [result(0, np.full((2, 2), 65534))])
    with pytest.raises(ExportError, match=r"00001.png': id 65535 does not fit into 16 bits.*npz, tiff or zarr"):
        export(tmp_path, "ids", [result(1, np.full((2, 2), 65535))])
    assert numbers(tmp_path / "ids") == ["00000.png"]


def test_full_disk_keeps_the_old_image(tmp_path, monkeypatch):
    path = export(tmp_path, "ids", [result(0, np.zeros((4, 4)))]) / "00000.png"
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ExportError, match=r"Cannot write '.*00000.png': No space left on device"):
        export(tmp_path, "ids", [result(0, np.ones((4, 4)))])
    assert path.read_bytes() == before
    assert not leftovers(tmp_path)


def test_pixels_of_no_segment_are_zero(tmp_path):
    folder = export(tmp_path, "ids", [result(0, [[-1, 65_534, -7]])])
    mode, read = pillow(folder / "00000.png")
    assert mode == "I;16"
    assert read.tolist() == [[0, 65_535, 0]]


# --- DAVIS


def test_davis_is_indexed_with_the_voc_palette(tmp_path):
    results = story()
    folder = export(tmp_path, "davis", results, objects=(KITE, GROUND))
    with Image.open(folder / "00000.png") as image:
        assert image.mode == "P"
        # The first colours as DAVIS publishes them.
        assert image.getpalette()[:15] == [0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0, 0, 0, 128]
        assert len(image.getpalette()) == 768
    for one in results:
        expected = np.where(np.isin(one.ids, [1, 3]), 1, np.where(one.ids == 0, 2, 0))
        np.testing.assert_array_equal(pillow(folder / f"{one.index:05d}.png")[1], expected)


def test_davis_takes_the_largest_segments_of_the_first_frame(tmp_path):
    ids = np.repeat(np.arange(40), 10).reshape(20, 20)
    ids[ids == 33] = 5
    later = np.where(ids == 5, 50, ids)
    folder = export(tmp_path, "davis", [result(4, ids), result(5, later, [split(5, 5, 50)])], names={5: "sky"})
    first, second = (pillow(folder / f"{frame:05d}.png")[1] for frame in (4, 5))
    assert set(np.unique(first)) == set(range(21))
    assert (first[ids == 5] == 1).all()
    np.testing.assert_array_equal(first, second)
    legend = json.loads((tmp_path / "davis.json").read_text())
    assert legend["frame"] == 4
    assert legend["objects"][0] == {"number": 1, "name": "sky", "ids": [5], "colour": [128, 0, 0]}
    assert legend["objects"][1]["name"] == "segment 0"
    assert len(legend["palette"]) == 256


def test_davis_says_where_a_new_scene_ends_the_objects(tmp_path):
    results = [replace(one, cut=one.index == 3) for one in story()]
    export(tmp_path, "davis", results)
    legend = json.loads((tmp_path / "davis.json").read_text())
    assert legend["chosen"] == "largest segments of the first frame"
    assert legend["cuts"] == [3]
    assert "new scene" in legend["note"]
    export(tmp_path, "davis", story(), objects=(KITE,))
    legend = json.loads((tmp_path / "davis.json").read_text())
    assert legend["chosen"] == "marked"
    assert "cuts" not in legend


def test_davis_refuses_more_than_it_evaluates(tmp_path):
    objects = tuple(made_of(f"{n}", n) for n in range(21))
    with pytest.raises(ExportError, match="DAVIS allows at most 20 objects, got 21"):
        export(tmp_path, "davis", story(), objects=objects)


def test_an_id_of_two_objects_belongs_to_the_later_one(tmp_path):
    both = (made_of("a", 1), made_of("b", 1, 2))
    folder = export(tmp_path, "davis", story()[:1], objects=both)
    ids = story()[0].ids
    np.testing.assert_array_equal(pillow(folder / "00000.png")[1], np.isin(ids, [1, 2]) * 2)


# --- views


@pytest.mark.parametrize(
    ("name", "draw"),
    [("mean", views.mean_colour), ("overlay", views.overlay), ("boundaries", views.boundaries)],
)
def test_pictures_are_the_views(tmp_path, name, draw):
    results = story()
    folder = export(tmp_path, name, results)
    for one in results:
        mode, read = pillow(folder / f"{one.index:05d}.png")
        assert mode == "RGB"
        np.testing.assert_array_equal(read, draw(one.picture, one.ids))


def test_overlay_takes_its_looks_from_the_job(tmp_path):
    one = story()[0]
    looks = {"opacity": 0.8, "palette": "safe", "colours": {1: (255, 0, 0)}, "hidden": frozenset({2})}
    folder = export(tmp_path, "overlay", [one], **looks)
    colouring = Colouring("safe", {1: (255, 0, 0)}, frozenset({2}))
    expected = views.overlay(one.picture, one.ids, 0.8, True, colouring)
    np.testing.assert_array_equal(pillow(folder / "00000.png")[1], expected)


@pytest.mark.parametrize("scale", [0.5, 0.3, 2.0])
def test_scaled_images_have_the_scaled_size(tmp_path, scale):
    for name in ("ids", "overlay", "davis", "matte"):
        folder = export(tmp_path, name, story()[:1], scale=scale, objects=(KITE,))
        assert pillow(folder / "00000.png")[1].shape[:2] == (round(24 * scale), round(32 * scale))


# --- cut-outs


def test_matte_is_the_object_with_straight_alpha(tmp_path):
    results = story()
    folder = export(tmp_path, "matte", results, objects=(KITE,))
    for one in results:
        mode, read = pillow(folder / f"{one.index:05d}.png")
        inside = np.isin(one.ids, [1, 3])
        assert mode == "RGBA"
        np.testing.assert_array_equal(read[..., 3], inside * 255)
        np.testing.assert_array_equal(read[inside, :3], one.picture[inside])
        assert not read[~inside].any()


@pytest.mark.parametrize("name", ["matte", "object"])
def test_cutting_out_needs_an_object(tmp_path, name):
    with pytest.raises(ExportError, match=f"{name} needs an object, and none is given"):
        export(tmp_path, name, story())
    assert not list(tmp_path.iterdir())


def test_one_object_has_its_masks_in_the_folder(tmp_path):
    results = story()
    folder = export(tmp_path, "object", results, objects=(KITE,))
    for one in results:
        mode, read = pillow(folder / f"{one.index:05d}.png")
        assert mode == "L"
        np.testing.assert_array_equal(read, np.isin(one.ids, [1, 3]) * 255)


def test_several_objects_have_folders_of_their_names(tmp_path):
    objects = (KITE, GROUND, made_of("a b", 2), made_of("Kite", 2))
    folder = export(tmp_path, "object", story(), objects=objects, pattern="{name}-{frame}")
    assert sorted(path.name for path in folder.iterdir()) == ["Kite 2", "a b", "ground", "kite"]
    assert pillow(folder / "kite" / "kite-2.png")[1].any()
    assert not pillow(folder / "a b" / "a b-4.png")[1].any()
    assert not leftovers(tmp_path)
