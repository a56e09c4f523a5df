"""Objects on the command line: what specs and corrections mean, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from scstream import metrics
from scstream_app import headless
from scstream_app.errors import SessionError, SettingsError, SourceError
from scstream_app.export import ExportOptions
from scstream_app.headless import Prompt, RunCallbacks
from scstream_app.session import Session
from scstream_app.settings import Settings

QUICK = Settings(max_init_sweeps=10, threads=1)


@pytest.fixture
def source() -> FakeSource:
    return FakeSource(moving_square(6))


def white(mask: np.ndarray, path: Path) -> Path:
    cv2.imwrite(str(path), mask.astype(np.uint8) * 255)
    return path


def box(rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((48, 64), bool)
    mask[rows, columns] = True
    return mask


def test_a_spec_is_a_mask_a_box_or_a_point(source: FakeSource, tmp_path: Path) -> None:
    path = white(box(slice(5, 20), slice(5, 20)), tmp_path / "mask.png")
    mask, thing, spot = headless.read_prompts([str(path), "dog=3,4,20,10", "7, 8"], source)
    assert [prompt.name for prompt in (mask, thing, spot)] == ["object 1", "dog", "object 3"]
    assert mask.mask is not None
    assert mask.mask.sum() == 225
    assert thing.box == (3, 4, 20, 10)
    assert spot.point == (7, 8)


def test_a_file_may_have_the_name_of_a_box(source: FakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    white(box(slice(5, 20), slice(5, 20)), tmp_path / "a=1,2.png").rename(tmp_path / "1,2")
    (prompt,) = headless.read_prompts(["1,2"], source)
    assert prompt.mask is not None


def test_a_mask_with_two_values_gives_two_objects(source: FakeSource, tmp_path: Path) -> None:
    values = box(slice(5, 20), slice(5, 20)).astype(np.uint8) + 2 * box(slice(30, 40), slice(30, 40))
    cv2.imwrite(str(tmp_path / "both.png"), values.astype(np.uint8))
    assert [prompt.name for prompt in headless.read_prompts([str(tmp_path / "both.png")], source)] == [
        "object 1",
        "object 2",
    ]
    assert [prompt.name for prompt in headless.read_prompts([f"cat={tmp_path / 'both.png'}"], source)] == [
        "cat 1",
        "cat 2",
    ]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (["1,2,3"], "a point is x,y and a box is"),
        (["64,0"], r"outside the frames, 64 x 48"),
        (["60,0,5,5"], "must lie inside the frames"),
        (["0,0,0,5"], "must lie inside the frames"),
        (["missing.png"], "Cannot open 'missing.png'"),
        (["a=1,1", "A=2,2"], "Two objects are named 'A'"),
        (["a:b=1,1"], "must not contain"),
    ],
)
def test_wrong_specs_are_refused(source: FakeSource, specs: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        headless.read_prompts(specs, source)


def test_corrections_from_a_folder(source: FakeSource, tmp_path: Path) -> None:
    white(box(slice(5, 20), slice(5, 20)), tmp_path / "frame_00004.png")
    white(np.zeros((48, 64), bool), tmp_path / "00005.png")
    (tmp_path / "readme.txt").write_text("not an image")
    hidden, seen = sorted(headless.read_corrections(tmp_path, source, ["object"]), key=lambda one: -(one.frame or 0))
    assert (seen.frame, hidden.frame) == (4, 5)
    assert hidden.mask is not None
    assert not hidden.mask.any()


def test_corrections_from_json(source: FakeSource, tmp_path: Path) -> None:
    white(box(slice(5, 20), slice(5, 20)), tmp_path / "4.png")
    entries = [
        {"frame": 4, "object": "dog", "mask": "4.png"},
        {"frame": 2, "object": "ball", "kind": "removed", "point": [3, 4], "until": 5},
        {"frame": 3, "object": "ball", "box": [3, 4, 10, 10]},
    ]
    (tmp_path / "fix.json").write_text(json.dumps(entries))
    mask, point, thing = headless.read_corrections(tmp_path / "fix.json", source, ["dog", "ball"])
    assert (mask.name, mask.frame, mask.kind) == ("dog", 4, "painted")
    assert (point.kind, point.point, point.stop) == ("removed", (3, 4), 5)
    assert thing.box == (3, 4, 10, 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "neither a folder of masks nor a JSON file"),
        ("{}", "must hold a list"),
        ("[3]", "correction 1 of"),
        ('[{"frame": 1, "colour": 3}]', "with the keys"),
        ('[{"frame": -1, "point": [1, 1]}]', "must be whole numbers"),
        ('[{"frame": 4, "until": 4, "point": [1, 1]}]', "must be whole numbers"),
        ('[{"frame": 4, "object": "cat", "point": [1, 1]}]', "must be one of dog"),
        ('[{"frame": 4, "kind": "made", "point": [1, 1]}]', "'kind' must be one of"),
        ('[{"frame": 4}]', "give one of 'mask'"),
        ('[{"frame": 4, "point": [1, 1], "box": [1, 1, 2, 2]}]', "give one of 'mask'"),
        ('[{"frame": 4, "point": [1.5, 1]}]', "give one of 'mask'"),
        ('[{"frame": 4, "point": [99, 1]}]', "outside the frames"),
        ('[{"frame": 4, "mask": "no.png"}]', "Cannot open"),
    ],
)
def test_wrong_corrections_are_refused(source: FakeSource, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "fix.json").write_text(text)
    with pytest.raises(SourceError, match=message):
        headless.read_corrections(tmp_path / "fix.json", source, ["dog"])


def test_corrections_need_an_object_and_a_readable_path(source: FakeSource, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no object to correct"):
        headless.read_corrections(tmp_path, source, [])
    with pytest.raises(SourceError, match="no PNG image with a frame number"):
        headless.read_corrections(tmp_path, source, ["dog"])
    with pytest.raises(SourceError, match="Cannot open"):
        headless.read_corrections(tmp_path / "missing.json", source, ["dog"])


def segmented(frames: list[np.ndarray], out: Path, prompts: list[Prompt]) -> Session:
    run = headless.prepare(FakeSource(frames), out, QUICK, ExportOptions(("ids",)), prompts=prompts)
    for _ in headless.segment(run, RunCallbacks()):
        pass
    assert run.session is not None
    return Session.open(run.session.path, writable=True)


def test_a_box_finds_the_thing_inside(tmp_path: Path) -> None:
    picture = np.full((48, 64, 3), 40, np.uint8)
    picture[15:33, 20:42] = (230, 200, 60)
    with segmented([picture] * 2, tmp_path, [Prompt("thing", box=(14, 9, 36, 30))]) as session:
        masks = session.read_object_masks(0, session.objects)
    assert masks is not None
    assert metrics.jaccard(masks.mask(0), box(slice(15, 33), slice(20, 42))) > 0.95


def test_a_point_chooses_its_segment(tmp_path: Path) -> None:
    with segmented(moving_square(2), tmp_path, [Prompt("thing", point=(0, 0))]) as session:
        masks, ids = session.read_object_masks(0, session.objects), session.ids(0)
    assert masks is not None
    assert np.array_equal(masks.mask(0), ids == ids[0, 0])


def test_a_correction_during_the_run_equals_one_afterwards(tmp_path: Path) -> None:
    frames = moving_square(6)
    first = Prompt("thing", mask=box(slice(5, 20), slice(5, 20)))
    later = Prompt("thing", 3, mask=box(slice(30, 40), slice(30, 50)))
    with segmented(frames, tmp_path / "now", [first, later]) as now:
        whole = [now.read_object_masks(index, now.objects) for index in range(6)]
    with segmented(frames, tmp_path / "then", [first]) as then:
        before = [then.read_object_masks(index, then.objects) for index in range(3)]
        then.objects = headless.objects_with(then, then.objects, [later], FakeSource(frames))
        list(headless.export(then, tmp_path / "out", ExportOptions(("object",)), source=FakeSource(frames)))
        after = [then.read_object_masks(index, then.objects) for index in range(6)]
        assert then.objects == now.objects
    for one, other in zip([*before, *whole[3:]], after, strict=True):
        assert one is not None
        assert other is not None
        assert np.array_equal(one.numbers, other.numbers)
    assert after[3] is not None
    assert np.array_equal(after[3].mask(0), box(slice(30, 40), slice(30, 50)))


def test_corrections_of_frames_outside_the_run_are_refused(tmp_path: Path) -> None:
    prompts = [Prompt("thing", point=(0, 0)), Prompt("thing", 9, point=(0, 0))]
    with pytest.raises(SettingsError, match="frame 9, which is not segmented"):
        headless.prepare(FakeSource(moving_square(3)), tmp_path, QUICK, ExportOptions(("ids",)), prompts=prompts)
    with segmented(moving_square(2), tmp_path, prompts[:1]) as session, pytest.raises(SessionError, match="no frame 9"):
        headless.objects_with(session, session.objects, prompts[1:], FakeSource(moving_square(3)))
