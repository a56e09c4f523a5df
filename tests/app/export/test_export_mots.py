"""MOTS text files, read with pycocotools."""

import numpy as np
import pytest
from pycocotools import mask as coco_mask

from helpers.export_scenes import result, story
from helpers.exports import KITE, export, made_of
from helpers.label_maps import ragged
from scstream_app.export import ExportError

# Its decoder predates NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")


def read(path):
    """Masks by frame and track; checks what the tools of the challenge check."""
    found = {}
    for line in path.read_text(encoding="ascii").splitlines():
        frame, track, kind, height, width, rle = line.split(" ")
        assert int(track) // 1000 == int(kind)
        assert int(kind) in (1, 2)
        masks = found.setdefault(int(frame), {})
        assert int(track) not in masks
        masks[int(track)] = coco_mask.decode({"size": [int(height), int(width)], "counts": rle.encode()}).astype(bool)
        assert masks[int(track)].any()
    for masks in found.values():
        assert sum(mask.astype(int) for mask in masks.values()).max() <= 1
    return found


def test_frames_are_numbered_from_one_and_segments_by_their_ids(tmp_path):
    results = story(first=4, gap=2)
    found = read(export(tmp_path, "mots", results))
    assert list(found) == [5, 7, 9, 11, 13]
    for one in results:
        masks = found[one.index + 1]
        assert list(masks) == [2001 + id for id in np.unique(one.ids)]
        for track, mask in masks.items():
            np.testing.assert_array_equal(mask, one.ids == track - 2001)


def test_tracks_are_the_objects(tmp_path):
    results = story()
    results[2].ids[:] = 0
    objects = (made_of("nowhere", 77), KITE, made_of("Car 2", 2), made_of("carrot", 0))
    found = read(export(tmp_path, "mots", results, objects=objects))
    assert [list(masks) for masks in found.values()] == [
        [2002, 1003, 2004], [2002, 1003, 2004], [2004], [2002, 1003, 2004], [2002, 2004],
    ]  # fmt: skip
    np.testing.assert_array_equal(found[4][2002], np.isin(results[3].ids, [1, 3]))


def test_ragged_masks_and_pixels_of_no_segment(tmp_path):
    ids = ragged(0)
    ids[3:5] = -1
    (masks,) = read(export(tmp_path, "mots", [result(0, ids)])).values()
    assert list(masks) == [2001, 2005, 2006, 2901]
    np.testing.assert_array_equal(sum(masks.values()), ids >= 0)


def test_more_tracks_than_can_be_numbered_are_refused(tmp_path):
    read(export(tmp_path, "mots", [result(0, [[998, 0]])]))
    with pytest.raises(ExportError, match=r"mots.txt': id 999 on frame 7 does not fit: MOTS numbers 999 tracks\."):
        export(tmp_path / "more", "mots", [result(7, [[999, 0]])])
    assert not list((tmp_path / "more").iterdir())


def test_objects_that_never_appear_make_an_empty_file(tmp_path):
    assert read(export(tmp_path, "mots", story(), objects=(made_of("nowhere", 77),))) == {}
