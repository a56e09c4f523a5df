"""The registry: which formats there are and in which order, and that a new one takes a single module."""

import pytest

from helpers.export_scenes import story
from helpers.exports import COUNTS, added_module, export
from scstream_app.export import FORMATS
from scstream_app.export.writer import GROUPS
from scstream_app.terminal.command_options import parse_formats


def in_group(group):
    return [name for name, writer in FORMATS.items() if writer.group == group]


def test_formats_are_in_the_order_of_the_dialog():
    assert {group: in_group(group) for group in GROUPS} == {
        "Pictures": ["overlay", "mean", "boundaries", "matte", "exr", "frames"],
        "Movies": ["mp4", "webm", "prores", "gif"],
        "Masks and ids": [
            "ids",
            "object",
            "davis",
            "coco",
            "coco_images",
            "yolo",
            "mots",
            "labelme",
            "ctc",
            "ctc_gt",
        ],
        "Tables and volumes": ["csv", "parquet", "ome_zarr", "zarr", "tiff", "imagej", "npz"],
    }
    assert list(FORMATS) == [name for group in GROUPS for name in in_group(group)]


def test_a_format_is_in_the_folder_of_its_group():
    folders = {name: writer.__module__.split(".")[-2] for name, writer in FORMATS.items()}
    assert {folders[name] for name in in_group("Pictures")} == {"pictures"}
    assert {folders[name] for name in in_group("Movies")} == {"movies"}
    assert {folders[name] for name in in_group("Masks and ids")} == {"masks"}
    assert {folders[name] for name in in_group("Tables and volumes")} == {"tables", "volumes"}


def test_every_format_has_a_title_of_its_own():
    assert len({writer.title for writer in FORMATS.values()}) == len(FORMATS)


def test_a_new_module_is_a_new_format(tmp_path):
    before = list(FORMATS)
    with added_module(tmp_path, COUNTS):
        assert in_group("Masks and ids")[-2:] == ["ctc_gt", "counts"]
        path = export(tmp_path / "out", "counts", story())
        assert [file.read_text() for file in sorted(path.iterdir())] == ["3", "3", "4", "4", "3"]
        assert parse_formats("counts") == ("counts",)
    assert list(FORMATS) == before


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"counts"', '"mp4"', "two formats are called 'mp4'"),
        ('"Masks and ids"', '"Sounds"', "the group of 'counts' must be one of Pictures, .* got 'Sounds'"),
        ('"boundaries"', '"borders"', "the view of 'counts' must be one of ids, original, .* got 'borders'"),
        ("    format =", "    other =", r"formats\.added\.Counts must have the attribute 'format'"),
        ("    title =", "    other =", r"formats\.added\.Counts must have the attribute 'title'"),
        ("    about =", "    other =", r"formats\.added\.Counts must have the attribute 'about'"),
        ("    group =", "    other =", r"formats\.added\.Counts must have the attribute 'group'"),
    ],
)
def test_mistakes_of_a_module_are_reported_at_the_import(tmp_path, old, new, problem):
    with pytest.raises(ValueError, match=problem), added_module(tmp_path, COUNTS.replace(old, new)):
        pass


def test_another_name_of_a_class_is_no_other_format(tmp_path):
    with added_module(tmp_path, f"{COUNTS}\nSegmentCounts = Counts\nPublicTextWriter = _TextWriter\n"):
        assert in_group("Masks and ids")[-2:] == ["ctc_gt", "counts"]
