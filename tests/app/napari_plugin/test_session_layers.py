"""A session as layers of napari."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.clips import write_images
from helpers.export_scenes import story
from helpers.object_clips import painted, unseparated
from scstream_app.errors import SessionError, StudioError
from scstream_app.napari_plugin.reader import get_reader
from scstream_app.objects import MarkedObject
from scstream_app.pipeline.frame_result import FrameResult, ObjectMasks
from scstream_app.render.palette import colours
from scstream_app.session import Names, Session
from scstream_app.settings import Settings
from scstream_app.sources import open_source

CLIP = story((24, 32), first=2)


def write(
    place: Path, results: Sequence[FrameResult], names: Names | None = None, objects: Sequence[MarkedObject] = ()
) -> Path:
    """Write results as a session, next to the images that it is made of."""
    first = results[0]
    pictures = [first.picture] * first.index + [one.picture for one in results]
    folder, path = write_images(place / "frames", pictures), place / "clip.scstream"
    with (
        open_source(str(folder)) as source,
        Session.create(path, source, Settings(), start=first.index, objects=objects) as session,
    ):
        for result in results:
            session.append(result)
        session.names = names or Names()
    return path


def read(path: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Layers of a session by the last word of their names."""
    reader = get_reader(str(path))
    assert reader is not None
    return {options["name"].split()[-1]: (data, options) for data, options, _ in reader(str(path))}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Frames 2 to 6 of a source, incomplete, in which segment 1 has a name and 3 a colour, and 2 is hidden."""
    names = Names({1: "square"}, {3: (1, 2, 3)}, frozenset({2}))
    return write(tmp_path_factory.mktemp("session"), CLIP, names)


def test_every_frame_has_its_ids_plus_one(session: Path) -> None:
    labels, options = read(session)["segments"]
    np.testing.assert_array_equal(labels, np.stack([one.ids for one in CLIP]) + 1)
    assert tuple(options["translate"]) == (2, 0, 0)
    assert options["metadata"]["complete"] is False
    np.testing.assert_allclose(options["metadata"]["times"], [one.time for one in CLIP])


def test_pictures_are_those_of_the_source(session: Path) -> None:
    pictures, options = read(session)["pictures"]
    np.testing.assert_array_equal(pictures, np.stack([one.picture for one in CLIP]))
    np.testing.assert_array_equal(pictures[1], CLIP[1].picture)
    assert options["rgb"]


def test_segments_have_the_colours_and_names_of_the_user(session: Path, viewer: Any) -> None:
    data, options = read(session)["segments"]
    layer = viewer.add_labels(data, **options)
    np.testing.assert_allclose(layer.get_color(1)[:3], colours(1)[0] / 255.0)
    np.testing.assert_allclose(layer.get_color(4)[:3], np.array([1, 2, 3]) / 255.0)
    assert layer.get_color(3)[3] == 0.0
    viewer.dims.set_point(0, 2)
    row, column = np.argwhere(CLIP[0].ids == 1)[0]
    assert "name: square" in layer.get_status((2, row, column), world=True)["value"]


def test_a_track_has_the_label_the_colour_and_the_parent_of_its_segment(session: Path, viewer: Any) -> None:
    data, options = read(session)["tracks"]
    layer = viewer.add_tracks(data, **options)
    assert layer.graph == {4: [2]}
    assert set(layer.data[:, 0]) == {1, 2, 3, 4}
    split = layer.data[layer.data[:, 0] == 4]
    assert split[:, 1].tolist() == [index for index, one in enumerate(CLIP) if 3 in one.ids]
    np.testing.assert_allclose(layer.track_colors[0, :3], colours(1)[0] / 255.0)
    np.testing.assert_allclose(layer.track_colors[-1, :3], np.array([1, 2, 3]) / 255.0)


def test_all_layers_lie_on_each_other(session: Path, viewer: Any) -> None:
    reader = get_reader(str(session))
    assert reader is not None
    for data, options, kind in reader(str(session)):
        getattr(viewer, f"add_{kind}")(data, **options)
    assert [layer.name for layer in viewer.layers] == ["clip pictures", "clip segments", "clip tracks"]
    viewer.dims.set_point(0, 4)
    rows, columns = (viewer.layers.extent.world[:, axis] for axis in (1, 2))
    assert np.ptp(rows) <= 24
    assert np.ptp(columns) <= 32
    assert viewer.layers["clip segments"].get_value((4, 0, 0), world=True) == CLIP[2].ids[0, 0] + 1


# --- objects


def test_objects_are_labels_with_names(tmp_path: Path, viewer: Any) -> None:
    """One frame has a stored mask; on the others the object has the segments that it was made of."""
    objects = [MarkedObject.made("strip", (9, 8, 7), 0, {2}), painted("box", 0, mask=lambda _: np.eye(24, 32) > 0)]
    path = write(tmp_path, story((24, 32)), objects=objects)
    numbers = np.zeros((24, 32), np.uint8)
    numbers[:3] = 2
    with Session.open(path, writable=True) as session:
        session.store_object_masks(1, ObjectMasks(numbers, (0.5, 0.5)), session.objects)
    data, options = read(path)["objects"]
    np.testing.assert_array_equal(data[1], numbers)
    np.testing.assert_array_equal(data[2] == 1, story((24, 32))[2].ids == 2)
    layer = viewer.add_labels(data, **options)
    np.testing.assert_allclose(layer.get_color(1)[:3], np.array([9, 8, 7]) / 255.0)
    viewer.dims.set_point(0, 1)
    assert "name: box" in layer.get_status((1, 0, 0), world=True)["value"]


# --- what is missing or damaged


def test_a_session_opens_without_its_source(session: Path, tmp_path: Path, messages: list[str]) -> None:
    shutil.copytree(session.parent, tmp_path / "copy")
    moved = tmp_path / "copy" / session.name
    manifest = json.loads((moved / "manifest.json").read_text())
    manifest["source"]["address"] = str(tmp_path / "gone")
    (moved / "manifest.json").write_text(json.dumps(manifest))
    assert set(read(moved)) == {"segments", "tracks"}
    (message,) = messages
    assert "there is no such file" in message
    assert message.endswith("The segments are shown without their pictures.")


def test_damage_is_reported_and_the_rest_is_shown(tmp_path: Path, messages: list[str]) -> None:
    results = story((24, 32))
    path = write(tmp_path, [*results[:2], *results[3:]])
    with Session.open(path, writable=True) as session:
        session.finish()
    (path / "names.json").write_text("{")
    chunk = path / "ids.zarr" / "1.0.0"
    chunk.write_bytes(chunk.read_bytes()[::-1])
    labels, _ = read(path)["segments"]
    assert any("names.json" in message for message in messages)
    assert "Skipped because the source is damaged: frame 2. All other frames are complete." in messages
    messages.clear()
    whole = np.asarray(labels)
    assert not whole[1].any()
    assert not whole[2].any()
    np.testing.assert_array_equal(whole[4], results[4].ids + 1)
    assert [message for message in messages if "ids.zarr/1.0.0 is damaged" in message] == messages
    assert len(messages) == 1


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "other.scstream"
    folder.mkdir()
    with pytest.raises(SessionError, match=r"Cannot open '.*other\.scstream'"):
        read(folder)


def test_a_session_of_a_newer_program_is_refused(session: Path, tmp_path: Path) -> None:
    shutil.copytree(session, tmp_path / "new.scstream")
    manifest = json.loads((session / "manifest.json").read_text())
    (tmp_path / "new.scstream" / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    with pytest.raises(SessionError, match="it has format version 99, but this program reads version 1"):
        read(tmp_path / "new.scstream")


def test_a_session_without_frames_is_refused(tmp_path: Path) -> None:
    (one,) = unseparated(1)
    folder = write_images(tmp_path / "frames", [one.picture])
    with open_source(str(folder)) as source, Session.create(tmp_path / "new.scstream", source, Settings()):
        pass
    with pytest.raises(StudioError, match="it has no frames yet"):
        read(tmp_path / "new.scstream")
