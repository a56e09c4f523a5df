"""Headless jobs: failures, objects, masks, existing sessions, exports and names of sessions."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from helpers.clips import leftovers, moving_square, write_images, write_video
from helpers.export_scenes import story
from helpers.fake_source import FakeSource
from helpers.session_clips import QUICK, clip, recorded
from scstream import metrics
from scstream_app import headless
from scstream_app.errors import ExportError, SessionError, SettingsError, SourceError, StudioError
from scstream_app.export import ExportOptions
from scstream_app.export.encodings import png
from scstream_app.headless import Prompt, RunCallbacks, RunProgress, stored_options
from scstream_app.objects import ObjectEdit
from scstream_app.session import MarkedObject, Session
from scstream_app.settings import Settings
from scstream_app.sources import DamagedFrame, open_source
from scstream_app.terminal.progress import report_run

Values = npt.NDArray[Any]


def square(height: int = 48, width: int = 64) -> npt.NDArray[np.uint8]:
    """A mask of the moving square on its first frame."""
    mask = np.zeros((height, width), np.uint8)
    mask[height // 3 : height // 3 + 16, 4:20] = 1
    return mask


def segment(source: FakeSource, out: Path, formats: str = "ids", settings: Settings = QUICK, **more: Any) -> Any:
    run = headless.prepare(source, out, settings, ExportOptions(tuple(formats.split(","))), **more)
    for _ in headless.segment(run, RunCallbacks()):
        pass
    return run


def reading(path: Path) -> Values:
    with Image.open(path) as image:
        return np.asarray(image)


# --- objects


@pytest.fixture
def story_session(tmp_path: Path) -> Iterator[Session]:
    """A session of a story in which a segment splits at frame 2 and another is absorbed at frame 4."""
    results = story()
    with Session.create(tmp_path / "clip.scstream", FakeSource([one.picture for one in results]), QUICK) as session:
        for one in results:
            session.append(one)
        yield session


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize("marked", range(5))
def test_an_object_is_shown_as_the_session_has_it(
    story_session: Session, tmp_path: Path, marked: int, start: int
) -> None:
    kite = MarkedObject.made("kite", (1, 2, 3), marked, {1, 2})
    edits = [ObjectEdit("removed", 2, {3}), ObjectEdit("added", 3, {0}, stop=4), ObjectEdit("removed", 4, {1})]
    story_session.objects = [kite.with_edits([*kite.edits, *edits])]
    exported = headless.export(story_session, tmp_path / "out", ExportOptions(("object",)), start)
    assert list(exported) == list(range(start, 5))
    for index, (members,) in story_session.members(story_session.objects, start):
        shown = reading(tmp_path / "out" / "object" / f"{index:05d}.png") > 0
        np.testing.assert_array_equal(shown, np.isin(story_session.ids(index), list(members)), err_msg=f"frame {index}")


@pytest.mark.parametrize("frames_before_the_kill", [1, 3, 6])
def test_a_run_killed_before_its_objects_were_noted(tmp_path: Path, frames_before_the_kill: int) -> None:
    frames = moving_square(6)
    recorded(tmp_path / "clip.scstream", frames[:frames_before_the_kill], masks=square(), formats=["object"])
    if frames_before_the_kill < 6:
        manifest = tmp_path / "clip.scstream" / "manifest.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"complete": False}))
    with Session.open(tmp_path / "clip.scstream", writable=True) as session:
        _, steps = headless.resume(session, FakeSource(frames), 1, RunCallbacks())
        list(steps)
        (marked_object,) = session.objects
        assert marked_object.frame == 0
        assert marked_object.ids == metrics.ids_inside(session.ids(0), square())


def test_objects_that_were_not_noted_are_exported_all_the_same(tmp_path: Path) -> None:
    recorded(tmp_path / "clip.scstream", moving_square(3), masks=square())
    with Session.open(tmp_path / "clip.scstream") as session:
        list(headless.export(session, tmp_path / "out", ExportOptions(("object",)), 1))
    assert (reading(tmp_path / "out" / "object" / "00001.png") > 0).sum() > 100


def test_removed_objects_of_an_older_session_do_not_come_back(tmp_path: Path) -> None:
    recorded(tmp_path / "clip.scstream", moving_square(3), masks=square())
    with Session.open(tmp_path / "clip.scstream", writable=True) as session:
        assert [one.name for one in headless.session_objects(session)] == ["object"]
        headless.replace_objects(session, headless.objects_without(session, ["object"]))
    assert headless.session_objects(Session.open(tmp_path / "clip.scstream")) == ()


def test_a_mask_smaller_than_any_segment_makes_an_object(tmp_path: Path) -> None:
    mask = np.zeros((48, 64), np.uint8)
    mask[25, 41] = 1
    settings = Settings(scale=0.25, max_init_sweeps=10, threads=1)
    segment(FakeSource(moving_square(2)), tmp_path / "out", settings=settings, prompts=[Prompt("spot", mask=mask > 0)])
    np.testing.assert_array_equal(reading(tmp_path / "out" / "object" / "00000.png") > 0, mask > 0)


def test_a_tiny_mask_makes_an_object(tmp_path: Path) -> None:
    mask = np.zeros((48, 64), np.uint8)
    mask[40:43, 50:53] = 1
    run = segment(FakeSource(moving_square(1)), tmp_path / "out", prompts=[Prompt("object", mask=mask > 0)])
    np.testing.assert_array_equal(reading(tmp_path / "out" / "object" / "00000.png") > 0, mask > 0)
    assert run.options.formats == ("ids", "object")


# --- masks


def image(values: Values, mode: str | None = None) -> Image.Image:
    return Image.fromarray(values) if mode is None else Image.fromarray(values).convert(mode)


def indexed(values: Values) -> Image.Image:
    picture = Image.fromarray(values).convert("P")
    picture.putdata(values.ravel().tolist())
    return picture


BOX = np.zeros((48, 64), np.uint8)
BOX[16:32, 8:24] = 255
TWO = np.where(BOX > 0, np.where(np.arange(64) < 16, 1, 2), 0).astype(np.uint8)
SOFT = BOX.copy()
SOFT[16:32, [7, 24]], SOFT[16:32, [6, 25]] = 160, 60
SOFT_TRUTH = (SOFT >= 128).astype(np.uint8)


def jpeg(values: Values, mode: str) -> Image.Image:
    memory = io.BytesIO()
    Image.fromarray(values).convert(mode).save(memory, "JPEG", quality=60)
    return Image.open(memory)


def cut_out(alpha: Values) -> Image.Image:
    """A photograph of which only a part is to be seen."""
    photograph = np.random.default_rng(0).integers(0, 256, (*alpha.shape, 3), dtype=np.uint8)
    return Image.fromarray(np.dstack([photograph, alpha]))


def opaque(grey: Values, alpha: Values, channels: int) -> Image.Image:
    return Image.fromarray(np.dstack([grey] * channels + [alpha]))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: image(BOX), BOX > 0),
        (lambda: image(BOX, "RGB"), BOX > 0),
        (lambda: image(BOX, "1"), BOX > 0),
        (lambda: image(BOX // 255), BOX > 0),
        (lambda: image(BOX.astype(np.uint16) * 257), BOX > 0),
        (lambda: image(TWO.astype(np.uint16)), TWO),
        (lambda: image(TWO), TWO),
        (lambda: opaque(BOX, np.full_like(BOX, 255), 1), BOX > 0),
        (lambda: opaque(np.full_like(BOX, 255), BOX, 1), BOX > 0),
        (lambda: opaque(np.full_like(BOX, 255), BOX, 3), BOX > 0),
        (lambda: indexed(TWO), TWO),
        (lambda: indexed(np.where(TWO, TWO, 255).astype(np.uint8)), TWO),
        (lambda: indexed(BOX), BOX > 0),
        (lambda: image(SOFT), SOFT_TRUTH),
        (lambda: image(np.minimum(SOFT, 254)), SOFT_TRUTH),
        (lambda: image(SOFT.astype(np.uint16) * 257), SOFT_TRUTH),
        (lambda: jpeg(BOX, "L"), BOX > 0),
        (lambda: jpeg(BOX, "RGB"), BOX > 0),
        (lambda: opaque(np.zeros_like(BOX), BOX, 1), BOX > 0),
        (lambda: opaque(np.zeros_like(BOX), BOX, 3), BOX > 0),
        (lambda: cut_out(BOX), BOX > 0),
        (lambda: image(np.dstack([TWO == 1, TWO == 2, TWO < 0]).astype(np.uint8) * 255), np.where(TWO, 3 - TWO, 0)),
    ],
    ids=[
        "grey", "rgb", "1-bit", "grey 1", "16-bit", "16-bit numbers", "numbers", "grey and alpha", "grey on nothing",
        "white on transparent", "indexed", "davis void", "indexed white", "soft", "soft 254", "soft 16-bit", "jpeg",
        "rgb jpeg", "black on nothing, grey", "black on nothing", "photograph cut out", "colours",
    ],
)  # fmt: skip
def test_masks_as_programs_save_them(tmp_path: Path, make: Callable[[], Image.Image], expected: Values) -> None:
    picture = make()
    picture.save(tmp_path / "mask.png")
    np.testing.assert_array_equal(
        headless.read_masks(tmp_path / "mask.png", FakeSource([np.zeros((48, 64, 3), np.uint8)])), expected
    )


@pytest.mark.parametrize("through", ["L", "RGB"])
def test_a_mask_made_for_print(tmp_path: Path, through: str) -> None:
    Image.fromarray(BOX).convert(through).convert("CMYK").save(tmp_path / "mask.jpg", quality=60)
    masks = headless.read_masks(tmp_path / "mask.jpg", FakeSource([np.zeros((48, 64, 3), np.uint8)]))
    np.testing.assert_array_equal(masks, BOX > 0)


def test_a_mask_of_no_kind_is_explained(tmp_path: Path) -> None:
    source = FakeSource([np.zeros((48, 64, 3), np.uint8)])
    cut_out(np.full_like(BOX, 255)).convert("RGB").save(tmp_path / "photograph.png")
    with pytest.raises(SourceError, match=r"it has \d+ colours; a mask has one colour per object"):
        headless.read_masks(tmp_path / "photograph.png", source)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SourceError, match="it is not a regular file"):
        headless.read_masks(tmp_path / "folder.png", source)
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(SourceError, match=r"text.png': it is not an image or is damaged\.$"):
        headless.read_masks(tmp_path / "text.png", source)


# --- existing sessions


def test_an_earlier_session_goes_only_when_the_new_one_has_a_frame(tmp_path: Path) -> None:
    segment(FakeSource(moving_square(3)), tmp_path)
    broken = FakeSource([DamagedFrame("broken", 0), DamagedFrame("broken", 1)])
    with pytest.raises(StudioError, match="none of its 2 frames"):
        segment(broken, tmp_path, overwrite=True)
    with Session.open(tmp_path / "clip.scstream") as session:
        assert len(session) == 3
    segment(FakeSource(moving_square(2)), tmp_path, overwrite=True)
    with Session.open(tmp_path / "clip.scstream") as session:
        assert len(session) == 2


@pytest.mark.parametrize("formats", ["ids", "overlay", "davis"])
def test_overwriting_leaves_no_frame_of_before(tmp_path: Path, formats: str) -> None:
    segment(FakeSource(moving_square(8)), tmp_path, formats)
    mine = tmp_path / formats / "notes 00001.png"
    mine.write_bytes(b"mine")
    segment(FakeSource(moving_square(3)), tmp_path, formats, overwrite=True)
    names = sorted(path.stem for path in (tmp_path / formats).iterdir())
    assert names == ["00000", "00001", "00002", "notes 00001"]


def test_prepare_writes_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        headless.prepare(FakeSource(moving_square(2)), tmp_path / "out", QUICK, ExportOptions())
    assert not (tmp_path / "out").exists()
    with pytest.raises(SourceError, match="ends before frame 7"):
        segment(FakeSource(moving_square(2)), tmp_path / "out", start=7)
    assert not (tmp_path / "out").exists()


def test_errors_that_would_stop_the_run_are_raised_by_prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = FakeSource(moving_square(2))
    many = [Prompt(f"object {number}", point=(number, 0)) for number in range(21)]
    with pytest.raises(ExportError, match="at most 20 objects, got 21"):
        headless.prepare(source, tmp_path / "out", QUICK, ExportOptions(("davis",)), prompts=many)
    with pytest.raises(ExportError, match="two of the formats write this file"):
        headless.prepare(source, tmp_path / "out", QUICK, ExportOptions(("mp4", "mp4:overlay")))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(ExportError, match="pyarrow is not installed"):
        headless.prepare(source, tmp_path / "out", QUICK, ExportOptions(("parquet",)))
    live = FakeSource(moving_square(2), live=True)
    with pytest.raises(SettingsError, match="is live: --frames can only set the end"):
        headless.prepare(live, tmp_path / "out", QUICK, ExportOptions(), start=100)
    assert not (tmp_path / "out").exists()


def test_a_format_that_fails_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode, count = png.greys, iter(range(100))

    def too_many(picture: Values) -> bytes:
        if next(count) == 2:
            raise ValueError("id 65535 does not fit into 16 bits")
        return encode(picture)

    monkeypatch.setattr(png, "greys", too_many)
    run = headless.prepare(FakeSource(moving_square(8)), tmp_path, QUICK, ExportOptions(("ids", "npz")))
    heard: list[ExportError] = []
    for _ in headless.segment(run, RunCallbacks(on_failure=heard.append)):
        pass
    assert [str(failure) for failure in heard] == [
        f"Cannot write '{tmp_path / 'ids' / '00002.png'}': id 65535 does not fit into 16 bits."
    ]
    assert run.progress.report(run.segmenter)["failures"] == [str(heard[0])]
    with Session.open(tmp_path / "clip.scstream") as session:
        assert session.manifest.complete
        assert len(session) == 8
    with np.load(tmp_path / "ids.npz") as archive:
        assert len(archive["frames"]) == 8
    assert len(list((tmp_path / "ids").iterdir())) == 2


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_second_run_into_the_same_folder_leaves_the_first_one_alone(tmp_path: Path, overwrite: bool) -> None:
    options = ExportOptions(("ids", "mp4", "csv"))
    frames = clip(4, cut=None)
    late = headless.prepare(FakeSource(frames), tmp_path, QUICK, options, overwrite=overwrite)
    first = headless.prepare(FakeSource(frames), tmp_path, QUICK, options)
    steps = headless.segment(first, RunCallbacks())
    next(steps)
    # A run that was prepared before the first one wrote anything, and one that is prepared after it.
    with pytest.raises(ExportError, match="another ScStream process is writing to it"):
        next(headless.segment(late, RunCallbacks()))
    with pytest.raises(ExportError, match="another ScStream process is writing to it"):
        headless.prepare(FakeSource(frames), tmp_path, QUICK, options, overwrite=overwrite)
    for _ in steps:
        pass
    assert first.progress.failures == []
    assert len(Session.open(first.path)) == len(list((tmp_path / "ids").iterdir())) == 4
    assert (tmp_path / "overlay.mp4").stat().st_size > 0
    assert leftovers(tmp_path) == []


# --- exporting


def test_formats_that_can_do_without_pictures_take_them_if_the_source_is_there(tmp_path: Path) -> None:
    source = write_video(tmp_path / "clip.mp4", moving_square(2))
    with open_source(str(source)) as opened:
        segment(opened, tmp_path / "out")
    for there in (True, False):
        if not there:
            source.unlink()
        with Session.open(tmp_path / "out" / "clip.scstream") as session:
            assert list(headless.export(session, tmp_path / "out", ExportOptions(("ome_zarr",)))) == [0, 1]
        assert (tmp_path / "out" / "clip.ome.zarr" / "0").exists() == there
        assert (tmp_path / "out" / "clip.ome.zarr" / "labels" / "segments" / "0").exists()


def test_frames_of_a_live_source_do_not_wait_for_the_first_one(tmp_path: Path) -> None:
    path, sweeps = write_video(tmp_path / "clip.mp4", moving_square(2)), []
    for address in (str(path), f"live:{path}"):
        with open_source(address) as source:
            run = headless.prepare(source, tmp_path / "out", Settings(), ExportOptions())
            sweeps.append(run.segmenter.parameters.max_init_sweeps)
    assert sweeps == [200, 8]


def test_dropped_frames_of_a_live_source_are_reported(tmp_path: Path) -> None:
    class Hasty(FakeSource):
        dropped = 5

    run = segment(Hasty(moving_square(3), live=True), tmp_path)
    assert run.report()["dropped"] == 5
    out = io.StringIO()
    with redirect_stdout(out):
        report_run(run, as_json=False, quiet=False)
    assert "\nDropped 5 frames that came while earlier ones were segmented." in out.getvalue()


def test_pictures_of_a_live_source_are_gone(tmp_path: Path) -> None:
    segment(FakeSource(moving_square(2), live=True), tmp_path)
    with Session.open(tmp_path / "clip.scstream") as session:
        with pytest.raises(
            ExportError, match=r"^Cannot write mp4: 'clip' was a live source whose pictures were not saved\. Choose ids"
        ):
            list(headless.export(session, tmp_path / "out", ExportOptions(("ids", "mp4"))))
        assert not (tmp_path / "out").exists()
        assert list(headless.export(session, tmp_path / "out", ExportOptions(("ids", "csv")))) == [0, 1]


def test_pictures_come_from_the_right_source_only(tmp_path: Path) -> None:
    frames = moving_square(3)
    segment(FakeSource(frames), tmp_path)
    with Session.open(tmp_path / "clip.scstream") as session:
        for other, why in [(frames[::-1], "frame 0 is a different picture"), ([frames[0][:40]], "frames are 64 x 40")]:
            with pytest.raises(SessionError, match=f"Cannot use 'clip' for .*{why}"):
                list(headless.export(session, tmp_path / "out", ExportOptions(("overlay",)), source=FakeSource(other)))
        exported = headless.export(session, tmp_path / "out", ExportOptions(("overlay",)), 1, source=FakeSource(frames))
        assert list(exported) == [1, 2]


@pytest.mark.parametrize("end", ["cancelled", "left"])
def test_an_export_that_is_broken_off_leaves_the_files_of_before(tmp_path: Path, end: str) -> None:
    names = ("npz", "coco", "coco_images", "mots", "ctc", "csv", "ids", "tiff", "imagej", "ome_zarr")
    formats = ExportOptions(names)
    segment(FakeSource(moving_square(5)), tmp_path, ",".join(formats.formats))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    cancel = threading.Event()
    with Session.open(tmp_path / "clip.scstream") as session:
        steps = headless.export(session, tmp_path, formats, cancel=cancel)
        next(steps)
        if end == "cancelled":
            cancel.set()
            assert list(steps) == []
        else:
            steps.close()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not leftovers(tmp_path)


def test_an_export_that_is_cancelled_while_objects_are_tracked_leaves_the_files_of_before(tmp_path: Path) -> None:
    source, formats = FakeSource(moving_square(5)), ExportOptions(("npz", "csv", "coco"))
    segment(source, tmp_path, ",".join(formats.formats), prompts=[Prompt("square", mask=square() > 0)])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    cancel = threading.Event()
    with Session.open(tmp_path / "clip.scstream") as session:
        other = (MarkedObject.made("other", (0, 0, 0), 0, {0}),)
        read = session.results

        def cancelled_at(*range_: Any, **more: Any) -> Iterator[Any]:
            for result in read(*range_, **more):
                if result.index == 2:
                    cancel.set()
                yield result

        session.results = cancelled_at  # type: ignore[method-assign]
        assert list(headless.export(session, tmp_path, formats, cancel=cancel, source=source, objects=other)) == [0, 1]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not leftovers(tmp_path)


def test_an_export_of_nothing_is_a_failure(tmp_path: Path) -> None:
    segment(FakeSource(moving_square(3)), tmp_path)
    with Session.open(tmp_path / "clip.scstream") as session:
        with pytest.raises(ExportError, match=r"Cannot export: .* has no such frame; it holds frames 0 to 2\."):
            list(headless.export(session, tmp_path / "out", ExportOptions(("ids",)), 10))


def test_an_export_of_some_frames_leaves_the_others(tmp_path: Path) -> None:
    segment(FakeSource(moving_square(4)), tmp_path)
    with Session.open(tmp_path / "clip.scstream") as session:
        list(headless.export(session, tmp_path, ExportOptions(("ids",)), 2, 3))
    assert len(list((tmp_path / "ids").iterdir())) == 4


def test_an_export_goes_on_without_the_format_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment(FakeSource(moving_square(6)), tmp_path / "a", "csv")

    def fail(picture: Values) -> bytes:
        raise OSError("full")

    monkeypatch.setattr(png, "greys", fail)
    with Session.open(tmp_path / "a" / "clip.scstream") as session:
        with pytest.raises(ExportError, match="full"):
            list(headless.export(session, tmp_path / "b", ExportOptions(("ids", "npz"))))
    with np.load(tmp_path / "b" / "ids.npz") as archive:
        assert len(archive["frames"]) == 6


# --- stored options, progress, names of sessions


def test_all_export_options_are_kept_with_the_session(tmp_path: Path) -> None:
    options = ExportOptions(("ids", "mp4"), 0.5, "{name}-{frame}", view="boundaries", palette="safe")
    run = headless.prepare(FakeSource(moving_square(1)), tmp_path, QUICK, options)
    list(headless.segment(run, RunCallbacks()))
    with Session.open(tmp_path / "clip.scstream") as session:
        assert stored_options(session.manifest) == options
    path = tmp_path / "clip.scstream" / "manifest.json"
    old = json.loads(path.read_text())
    del old["export"]
    path.write_text(json.dumps(old))
    with Session.open(tmp_path / "clip.scstream") as session:
        assert stored_options(session.manifest) == ExportOptions(("ids", "mp4"))


@pytest.mark.parametrize(
    "export", [[], {"run": "x"}, {"pattern": 3}, {"scale": "1"}, {"view": 0}, {"palette": "x" * 300}]
)
def test_invalid_stored_options_are_rejected(tmp_path: Path, export: Any) -> None:
    segment(FakeSource(moving_square(1)), tmp_path)
    path = tmp_path / "clip.scstream" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"export": export}))
    with pytest.raises(SessionError, match=r"clip\.scstream"):
        Session.open(tmp_path / "clip.scstream")


def test_segments_are_counted_by_their_events(story_session: Session) -> None:
    progress = RunProgress(32, 24)
    for result in story_session.results():
        progress.add(result)
    # Three at first, and one that splits from them later.
    assert (progress.segments_ever, progress.segments_last) == (4, 3)


def test_a_resumed_run_counts_the_segments_from_before(tmp_path: Path) -> None:
    frames, cancel = clip(10), threading.Event()
    whole = segment(FakeSource(frames), tmp_path / "whole")
    run = headless.prepare(FakeSource(frames), tmp_path, QUICK, ExportOptions(("ids",)))
    for _ in headless.segment(run, RunCallbacks(cancel)):
        cancel.set()
    with Session.open(tmp_path / "clip.scstream", writable=True) as session:
        run, steps = headless.resume(session, FakeSource(frames), 1, RunCallbacks())
        list(steps)
    assert run.progress.segments_ever == whole.progress.segments_ever > run.progress.segments_last


def test_a_resumed_run_has_no_first_frame_to_time(tmp_path: Path) -> None:
    frames, cancel = moving_square(5), threading.Event()
    run = headless.prepare(FakeSource(frames), tmp_path, QUICK, ExportOptions(("ids",)))
    for progress in headless.segment(run, RunCallbacks(cancel)):
        assert progress.init_seconds is not None
        cancel.set()
    with Session.open(tmp_path / "clip.scstream", writable=True) as session:
        before = len(session)
        run, steps = headless.resume(session, FakeSource(frames), 1, RunCallbacks())
        list(steps)
        assert run.progress.frames == 5 - before > 0
        assert run.progress.report(run.segmenter)["init_seconds"] is None


def test_sessions_are_called_after_what_they_are_of(tmp_path: Path) -> None:
    frames = moving_square(1)
    folder = write_images(tmp_path / "clip.v2", frames)
    names = {
        str(folder): "clip.v2",
        f"{folder}/*.png": "clip.v2",
        f"{tmp_path}/*/*.png": tmp_path.name,
        str(folder / "00000.png"): "00000",
        str(write_video(tmp_path / "a.b.mp4", frames)): "a.b",
    }
    for address, name in names.items():
        with open_source(address) as source:
            assert headless.session_name(source) == f"{name}.scstream"
    listed = "\n".join([str(folder / "00000.png")] * 200)
    with open_source(listed) as source:
        assert headless.session_name(source) == "clip.v2.scstream"


@pytest.mark.parametrize("name", ["a" * 246, "鳥" * 80])
def test_long_names_are_shortened(tmp_path: Path, name: str) -> None:
    clip = write_video(tmp_path / "clip.mp4", moving_square(1)).rename(tmp_path / f"{name}.mp4")
    with open_source(str(clip)) as source:
        made = headless.session_name(source)
        assert made.removesuffix(".scstream") in name
        assert 150 < len(made.encode()) <= 209
        run = headless.prepare(source, tmp_path / "out", QUICK, ExportOptions(("ids",)))
        list(headless.segment(run, RunCallbacks()))
    assert (tmp_path / "out" / made).is_dir()
