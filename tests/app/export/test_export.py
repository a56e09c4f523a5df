"""What all writers share: jobs, file names, sizes and overwrite policies; and the class Movie."""

import json
import os
from dataclasses import replace

import av
import cv2
import numpy as np
import pytest
from scipy import ndimage

from helpers.clips import moving_square, read_video
from helpers.export_scenes import leftovers, result, story
from helpers.exports import KITE, export, full_disk, job_for, made_of, make_job, needs, with_masks
from scstream_app.export import FORMATS, ExportError, Movie, atomic_files
from scstream_app.export.exporter import open_writer
from scstream_app.export.movie import Encoder
from scstream_app.objects import ObjectEdit
from scstream_app.pipeline.frame_result import ObjectMasks

# --- the job


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "a size of 0 x 8 holds no picture"),
        ({"rate": 0.0}, "rate must be a positive number"),
        ({"rate": float("nan")}, "rate must be a positive number"),
        ({"scale": 0.0}, "scale must be above 0"),
        ({"scale": 100.0}, "scale must be above 0 and at most 8"),
        ({"opacity": 1.5}, "opacity must be from 0 to 1, got 1.5"),
        ({"overwrite": "maybe"}, "overwrite must be one of replace, skip, refuse, got 'maybe'"),
        ({"palette": "dull"}, "palette must be one of vivid, safe, got 'dull'"),
        ({"view": "nope"}, "view must be one of .*, got 'nope'"),
        ({"view": "uncertainty"}, "results hold no uncertainty"),
        ({"view": "matte"}, "the view 'matte' needs an object"),
        ({"pattern": "frame"}, r"must contain \{frame\}"),
        ({"pattern": "{frame:.0e}"}, r"must contain \{frame\}"),
        ({"pattern": "a/{frame}"}, "makes names with '/'"),
        ({"pattern": r"a\{frame}"}, r"makes names with '\\\\'"),
        ({"pattern": "{frame}:{time}"}, "makes names with ':'"),
        ({"pattern": ".{frame}"}, "begin with a dot"),
        ({"pattern": "{frame}{id}"}, "knows {frame}, {time}, {name}; .* has the field {id}"),
        ({"pattern": "{frame:999999999d}"}, "more than 64 digits"),
        ({"pattern": "{frame}{time:.999999999f}"}, "more than 64 digits"),
        ({"pattern": "{frame:{frame}}"}, "a field within a field"),
        ({"view": "nope"}, "view must be one of original, overlay, mean_colour, boundaries, matte"),
        ({"pattern": "{frame.real}"}, "field"),
        ({"pattern": "{frame"}, "does not work"),
        ({"pattern": "{}"}, "has the field {}"),
        ({"pattern": "{frame:x^y}"}, "does not work"),
    ],
)
def test_invalid_job_is_rejected_before_anything_is_written(change, message):
    with pytest.raises(ExportError, match=message):
        make_job(**{"width": 9, "height": 8, "rate": 25.0, **change})


def test_pattern_names_the_images(tmp_path):
    results = story(first=7)[:2]
    export(tmp_path, "ids", results, pattern="{name}_{frame:03d}_{time:.2f}s")
    assert sorted(path.name for path in (tmp_path / "ids").iterdir()) == ["ids_007_0.28s.png", "ids_008_0.32s.png"]


def test_scaled_ids_are_those_at_the_centres():
    ids = np.arange(6 * 8, dtype=np.int32).reshape(6, 8)
    half, twice = (make_job(8, 6, 25.0, scale=scale).ids(result(0, ids)) for scale in (0.5, 2.0))
    np.testing.assert_array_equal(half, ids[1::2, 1::2])
    np.testing.assert_array_equal(twice, np.repeat(np.repeat(ids, 2, 0), 2, 1))
    assert make_job(8, 6, 25.0, scale=0.01).ids(result(0, ids)).shape == (1, 1)


def test_scaled_pictures_are_means_of_areas():
    rgb = np.random.default_rng(0).integers(0, 256, (6, 8, 3)).astype(np.uint8)
    small = make_job(8, 6, 25.0, scale=0.5).picture(result(0, np.zeros((6, 8)), rgb=rgb))
    np.testing.assert_allclose(small, rgb.reshape(3, 2, 4, 2, 3).mean(axis=(1, 3)), atol=0.51)


def test_numbers_of_objects_are_scaled_like_ids():
    ids = np.arange(6 * 8, dtype=np.int32).reshape(6, 8)
    masks = ObjectMasks((ids % 3).astype(np.uint8), (1.0, 1.0))
    half = make_job(8, 6, 25.0, scale=0.5)
    np.testing.assert_array_equal(half.numbers(replace(result(0, ids), objects=masks)), ids[1::2, 1::2] % 3)


# --- objects


OBJECT_FORMATS = ["davis", "object", "matte", "coco", "yolo", "mots", "labelme", "ctc", "prores"]


@pytest.mark.parametrize("name", OBJECT_FORMATS)
def test_masks_of_the_results_are_written(tmp_path, name):
    """The mask of an object is where it is tracked, not where its segments are."""
    results = story()
    numbers = np.zeros(results[0].ids.shape, np.uint8)
    numbers[5:15, 7:20] = 1
    tracked = [replace(one, objects=ObjectMasks(numbers, (0.8,))) for one in results]
    as_segments = [replace(one, ids=numbers.astype(np.int32), events=()) for one in results]
    assert frames_of(tmp_path / "tracked", name, KITE, tracked) == frames_of(tmp_path / "ids", name, KITE, as_segments)


def soft_and_hard(folder, name):
    """A frame with one object, and its mattes with and without soft edges."""
    one = next(with_masks(story((48, 64)), (KITE,)))
    found = []
    for soft in (True, False):
        (picture,) = frames_of(folder / str(soft), name, KITE, [one], soft_edges=soft)
        array = np.frombuffer(picture, np.uint8)
        found.append(cv2.imdecode(array, cv2.IMREAD_UNCHANGED) if name == "matte" else array.reshape(48, 64, 4))
    return one, *(picture[..., 3].astype(int) for picture in found)


@pytest.mark.parametrize("name", ["matte", "prores"])
def test_soft_edges_are_partly_transparent_near_the_outline_alone(tmp_path, name):
    one, soft, hard = soft_and_hard(tmp_path, name)
    inside = one.objects.mask(0)
    np.testing.assert_array_equal(hard, inside * 255)
    distance = np.maximum(*(ndimage.distance_transform_cdt(part, "chessboard") for part in (inside, ~inside)))
    assert ((soft > 0) & (soft < 255) & (distance <= 4)).sum() > 50
    np.testing.assert_array_equal(soft[distance > 8], hard[distance > 8])


@pytest.mark.parametrize("name", OBJECT_FORMATS)
def test_a_removal_leaves_the_frames_before_it_unchanged(tmp_path, name):
    # 3 splits off from 1 on frame 2.
    kite = KITE.with_edits([*KITE.edits, ObjectEdit("removed", 3, {3})])
    unchanged, removed = (frames_of(tmp_path / each.name, name, each, story()) for each in (made_of("before", 1), kite))
    assert unchanged[:3] == removed[:3]
    assert unchanged[3] != removed[3]


def frames_of(folder, name, object_, results, **more):
    """Each frame of an export as bytes, or the part of a file that describes it."""
    path = export(folder, name, results, objects=(object_,), **more)
    if name == "coco":
        (track,) = json.loads(path.read_text())["annotations"]
        return track["segmentations"]
    if name == "mots":
        return path.read_text().splitlines()
    if path.is_dir():
        files = {"yolo": "labels/0*", "labelme": "0*.json", "ctc": "mask*"}.get(name, "0*")
        return [file.read_bytes().replace(object_.name.encode(), b"it") for file in sorted(path.glob(files))]
    with av.open(path) as movie:
        return [frame.to_ndarray(format="rgba").tobytes() for frame in movie.decode(video=0)]


# --- what every format does


@pytest.fixture(params=sorted(FORMATS))
def name(request):
    if FORMATS[request.param].library:
        pytest.importorskip(FORMATS[request.param].library)
    return request.param


def test_format_describes_itself(name):
    kind = FORMATS[name]
    assert kind.format == name
    assert kind.about
    assert "\n" not in kind.about


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (7, 3), (23, 31)])
def test_any_size_one_frame(tmp_path, name, shape):
    assert export(tmp_path, name, [result(3, np.zeros(shape), rate=30.0)], **needs(name)).exists()
    assert not leftovers(tmp_path)


def test_nothing_is_written_without_frames(tmp_path, name):
    with open_writer(tmp_path, name, make_job(8, 6, 25.0, **needs(name))):
        pass
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, GeneratorExit])
def test_interrupted_work_leaves_whole_files(tmp_path, name, error):
    results = list(with_masks(story(), (KITE,)))

    def work():
        with open_writer(tmp_path, name, job_for(results, **needs(name))) as writer:
            for one in results[:3]:
                writer.write(one)
            raise error

    with pytest.raises(error):
        work()
    assert not leftovers(tmp_path)
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_what_goes_in_is_left_alone(tmp_path, name):
    results = story()
    before = [(one.ids.copy(), one.picture.copy(), one.statistics.copy()) for one in results]
    export(tmp_path, name, results, **needs(name))
    for one, (ids, rgb, rows) in zip(results, before, strict=True):
        np.testing.assert_array_equal(one.ids, ids)
        np.testing.assert_array_equal(one.picture, rgb)
        np.testing.assert_array_equal(one.statistics, rows)


def test_only_some_formats_need_the_picture(tmp_path, name):
    bare = [replace(one, rgb=None) for one in story()]
    if FORMATS[name].needs_picture:
        with pytest.raises(ExportError, match="frame 0 was read without its picture"):
            export(tmp_path, name, bare, **needs(name))
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    else:
        export(tmp_path, name, bare, **needs(name))


def test_frame_of_another_size_is_named(tmp_path, name):
    results = [result(0, np.zeros((6, 8))), result(1, np.zeros((6, 9)))]
    with pytest.raises(ExportError, match="frame 1 is 9 x 6, the others 8 x 6"):
        export(tmp_path, name, results, **needs(name))
    assert not leftovers(tmp_path)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_refusing_names_the_file_and_the_way_out(tmp_path, name):
    export(tmp_path, name, story()[:2], **needs(name))
    before = contents(tmp_path)
    with pytest.raises(ExportError, match=r"the file exists. .*--existing replace") as caught:
        export(tmp_path, name, story()[:2], overwrite="refuse", **needs(name))
    assert str(tmp_path) in str(caught.value)
    assert contents(tmp_path) == before


def test_replacing_gives_the_new_export(tmp_path, name):
    other = [replace(one, ids=one.ids[:, ::-1].copy()) for one in story()]
    export(tmp_path / "a", name, story(), **needs(name))
    export(tmp_path / "a", name, other, **needs(name))
    export(tmp_path / "b", name, other, **needs(name))
    a, b = ({p.relative_to(f): c for p, c in contents(f).items()} for f in (tmp_path / "a", tmp_path / "b"))
    assert a.keys() == b.keys()
    if name != "npz":  # Archives note when they were written.
        assert a == b


def test_skipping_keeps_what_is_there(tmp_path, name):
    export(tmp_path, name, story()[:2], **needs(name))
    before = contents(tmp_path)
    export(tmp_path, name, story(), overwrite="skip", **needs(name))
    after = contents(tmp_path)
    assert {path: after[path] for path in before} == before


def test_names_of_classes_are_neither_lost_nor_passed_over(tmp_path):
    for file in ("classes.txt", "data.yaml"):
        path = tmp_path / file / "yolo" / file
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        with pytest.raises(ExportError, match="the file exists"):
            export(tmp_path / file, "yolo", story(), overwrite="refuse")
        export(tmp_path / file, "yolo", story(), overwrite="skip")
        assert path.read_text() == "mine"


@pytest.mark.parametrize("pattern", ["{frame:05d}", "{name}-{frame}", "{frame}_{time:.2f}"])
def test_replacing_a_longer_sequence_leaves_nothing_of_it(tmp_path, pattern):
    both = (KITE, made_of("ground", 0))
    for name in ("ids", "object"):
        export(tmp_path, name, story(), pattern=pattern, objects=both)
        (tmp_path / name / "mine 1.png").write_text("mine")
        export(tmp_path, name, story()[:2], pattern=pattern, objects=both[:1] if name == "ids" else both)
    assert len(list((tmp_path / "ids").glob("*.png"))) == 2 + 1
    assert len(list((tmp_path / "object" / "kite").glob("*.png"))) == 2
    export(tmp_path, "object", story()[:1], pattern=pattern, objects=both[:1])
    assert len(list((tmp_path / "object").rglob("*.png"))) == 1 + 1


@pytest.mark.parametrize(
    "name", ["ids", "davis", "mean", "overlay", "boundaries", "matte", "object", "yolo", "labelme"]
)
def test_skipping_resumes_a_sequence(tmp_path, name):
    export(tmp_path / "whole", name, story(), **needs(name))
    export(tmp_path / "resumed", name, story()[:3], **needs(name))
    export(tmp_path / "resumed", name, story(), overwrite="skip", **needs(name))
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    assert {p.relative_to(whole): c for p, c in contents(whole).items()} == {
        p.relative_to(resumed): c for p, c in contents(resumed).items()
    }


def test_writing_after_the_end_is_an_error(tmp_path, name):
    results = list(with_masks(story(), (KITE,)))
    writer = open_writer(tmp_path, name, job_for(results, **needs(name)))
    writer.write(results[0])
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.write(results[1])


# --- movies on their own


def test_movie_is_plain_h264(tmp_path):
    frames = moving_square(10)
    with Movie(tmp_path / "a.mp4", 30.0) as movie:
        for frame in frames:
            movie.write(frame)
    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.frames) == (64, 48, 10)
        assert float(stream.average_rate) == pytest.approx(30.0)
    assert np.abs(read_video(tmp_path / "a.mp4").astype(int) - np.stack(frames)).mean() < 6
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("rate", [24000 / 1001, 12.5, 1.0, 240.0])
def test_movie_keeps_the_rate(tmp_path, rate):
    with Movie(tmp_path / "a.mp4", rate) as movie:
        for frame in moving_square(4):
            movie.write(frame)
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert float(container.streams.video[0].average_rate) == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("shape", [(47, 64), (48, 63), (47, 63), (1, 1)])
def test_odd_sizes_are_made_even(tmp_path, shape):
    frames = moving_square(3, 60, 80)
    with Movie(tmp_path / "odd.mp4", 25.0) as movie:
        for frame in frames:
            movie.write(np.ascontiguousarray(frame[: shape[0], : shape[1]]))
    back = read_video(tmp_path / "odd.mp4")
    assert back.shape == (3, shape[0] + shape[0] % 2, shape[1] + shape[1] % 2, 3)


@pytest.mark.parametrize("height", [480, 720])
def test_colours_come_back_whatever_the_size(tmp_path, height):
    picture = np.zeros((height, 64, 3), np.uint8)
    picture[: height // 2], picture[height // 2 :] = (200, 30, 40), (30, 190, 60)
    with Movie(tmp_path / "a.mp4", 25.0) as movie:
        movie.write(picture)
    back = read_video(tmp_path / "a.mp4")[0].astype(int)
    assert np.abs(back[[height // 4, -height // 4], 32] - picture[[height // 4, -height // 4], 32]).max() <= 4
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert container.streams.video[0].codec_context.colorspace == 1


def write_then_raise(path, error):
    with Movie(path, 25.0) as movie:
        for frame in moving_square(4):
            movie.write(frame)
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, GeneratorExit])
def test_interrupted_work_leaves_a_whole_movie(tmp_path, error):
    with pytest.raises(error):
        write_then_raise(tmp_path / "a.mp4", error)
    assert len(read_video(tmp_path / "a.mp4")) == 4
    assert not leftovers(tmp_path)


def test_movie_without_pictures_is_no_file(tmp_path):
    with Movie(tmp_path / "a.mp4", 25.0):
        pass
    assert not list(tmp_path.iterdir())


def test_movie_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "a.mp4").write_bytes(b"the old one")
    monkeypatch.setattr(os, "replace", full_disk)
    with (
        pytest.raises(ExportError, match=r"Cannot write '.*a.mp4': No space left"),
        Movie(tmp_path / "a.mp4", 25.0) as movie,
    ):
        movie.write(moving_square(1)[0])
    assert (tmp_path / "a.mp4").read_bytes() == b"the old one"
    assert not leftovers(tmp_path)


def write_until_the_disk_is_full(path, monkeypatch):
    with Movie(path, 25.0) as movie:
        movie.write(moving_square(1)[0])
        monkeypatch.setattr(Encoder, "encode", full_disk)
        movie.write(moving_square(1)[0])


def test_failing_encoder_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(ExportError, match=r"Cannot write '.*a.mp4': No space left"):
        write_until_the_disk_is_full(tmp_path / "a.mp4", monkeypatch)
    assert not list(tmp_path.iterdir())


def test_movie_under_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ExportError, match=r"Cannot write '.*file': '.*file' is a file"):
        Movie(tmp_path / "file" / "a.mp4", 25.0)


def test_temporary_sibling_keeps_the_suffix(tmp_path):
    assert atomic_files.temporary_path(tmp_path / "mean.mp4") == tmp_path / ".mean.partial.mp4"
