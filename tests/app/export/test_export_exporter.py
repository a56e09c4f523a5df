"""Exporter: several formats at once, in order, on threads, and independent of each other when one fails."""

import threading
import zipfile
from dataclasses import replace

import cv2
import numpy as np
import pytest

from helpers.clips import read_video
from helpers.export_scenes import leftovers, result, story
from helpers.exports import KITE, full_disk, job_for, make_job
from scstream_app.export import FORMATS, Exporter, ExportError, needs_object, needs_picture, tables, target_names
from scstream_app.export.encodings import png
from scstream_app.export.formats.volumes.npz import Npz
from scstream_app.export.movie import Encoder
from scstream_app.pipeline.frame_result import ObjectMasks


def run(folder, formats, results, **more):
    with Exporter(folder, job_for(results, formats=formats, **more)) as exporter:
        for one in results:
            exporter.write(one)
    return exporter


def test_all_formats_at_once(tmp_path):
    pytest.importorskip("pyarrow")
    results = story((48, 64))
    exporter = run(tmp_path, list(FORMATS), results, objects=(KITE,))
    assert exporter.needs_picture
    assert len(exporter.paths) == len(FORMATS)
    assert all(path.exists() for path in exporter.paths)
    job = job_for(results, formats=list(FORMATS), objects=(KITE,))
    assert sorted(target_names(job)) == sorted(path.name for path in tmp_path.iterdir())
    assert len(read_video(tmp_path / "overlay.mp4")) == 5
    for one in results:
        read = cv2.imread(str(tmp_path / "ids" / f"{one.index:05d}.png"), cv2.IMREAD_UNCHANGED)
        np.testing.assert_array_equal(read, one.ids + 1)
    assert not leftovers(tmp_path)


def test_results_without_masks_show_the_segments_of_objects(tmp_path):
    # 3 splits off from 1 on frame 2. The masks of the results before do not change what comes after.
    results = story()
    somewhere = ObjectMasks(np.eye(24, 32, dtype=np.uint8), (0.5,))
    results[2] = replace(results[2], objects=somewhere)
    run(tmp_path, ["object"], results, objects=(KITE,))
    written = [cv2.imread(str(tmp_path / "object" / f"{n:05d}.png"), cv2.IMREAD_UNCHANGED) > 0 for n in range(5)]
    for n, members in ((0, [1]), (1, [1]), (3, [1, 3]), (4, [1, 3])):
        np.testing.assert_array_equal(written[n], np.isin(results[n].ids, members))
    np.testing.assert_array_equal(written[2], somewhere.mask(0))


def test_frames_reach_every_writer_in_order(tmp_path):
    results = [result(n, np.full((4, 4), n)) for n in range(40)]
    run(tmp_path, ["npz", "csv"], results)
    with np.load(tmp_path / "ids.npz") as archive:
        np.testing.assert_array_equal(archive["ids"][:, 0, 0], np.arange(40))
        np.testing.assert_array_equal(archive["frames"], np.arange(40))


def test_pictures_are_needed_only_by_some(tmp_path):
    with Exporter(tmp_path, make_job(8, 8, formats=["ids", "csv"])) as exporter:
        assert not exporter.needs_picture
    with Exporter(tmp_path, make_job(8, 8, formats=["ids", "mp4"])) as exporter:
        assert exporter.needs_picture


def test_needs_are_known_beforehand():
    assert not needs_picture(["ids", "npz", "csv", "object"])
    assert needs_picture(["ids", "gif:overlay"])
    assert [name for name in FORMATS if needs_object(name)] == ["matte", "object"]
    assert needs_object("mp4:matte")
    with pytest.raises(ExportError, match="Unknown format 'bmp'"):
        needs_object("bmp")


def test_movies_of_several_views(tmp_path):
    exporter = run(tmp_path, ["mp4:mean_colour", "mp4", "mp4"], story())
    assert [path.name for path in exporter.paths] == ["mean.mp4", "overlay.mp4"]
    assert all(path.exists() for path in exporter.paths)


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (["ids", "bmp"], "Unknown format 'bmp'. Choose from overlay, mean, .*npz"),
        (["ids:overlay"], "'ids' is not a movie and takes no view, got 'overlay'"),
        (["mp4:nope"], "Unknown view 'nope'. Choose from original, overlay"),
        (["ids", "matte"], "matte needs an object"),
        (["mp4", "mp4:overlay"], "two of the formats write this file"),
    ],
)
def test_invalid_formats_are_rejected_and_leave_no_files(tmp_path, formats, message):
    with pytest.raises(ExportError, match=message):
        Exporter(tmp_path, make_job(8, 8, formats=["npz", *formats]))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_writing_overlaps_other_work_within_bounds(tmp_path, monkeypatch):
    """The first frames are taken although nothing has been written yet, but not all of them."""
    gate, taken = threading.Event(), []
    encode = png.greys
    monkeypatch.setattr(png, "greys", lambda picture: (gate.wait(30), encode(picture))[1])
    results = [result(n, np.zeros((4, 4))) for n in range(30)]

    def produce():
        with Exporter(tmp_path, job_for(results, formats=["ids"])) as exporter:
            for one in results:
                exporter.write(one)
                taken.append(one.index)
                if len(taken) == 3:
                    few.set()

    few = threading.Event()
    producer = threading.Thread(target=produce)
    producer.start()
    assert few.wait(30)
    producer.join(0.05)
    assert 3 <= len(taken) <= 5
    gate.set()
    producer.join(30)
    assert len(list((tmp_path / "ids").iterdir())) == 30


def test_failure_comes_up_and_the_others_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(Encoder, "encode", full_disk)
    results = [result(n, np.full((8, 8), n)) for n in range(200)]
    given = []

    def work():
        with Exporter(tmp_path, job_for(results, formats=["mp4", "npz", "ids"])) as exporter:
            for one in results:
                exporter.write(one)
                given.append(one.index)

    with pytest.raises(ExportError, match=r"Cannot write '.*overlay.mp4': No space left on device"):
        work()
    assert len(given) < 200
    with np.load(tmp_path / "ids.npz") as archive:
        assert 1 <= len(archive["frames"]) <= len(given) + 1
        np.testing.assert_array_equal(archive["frames"], np.arange(len(archive["frames"])))
    assert not (tmp_path / "overlay.mp4").exists()
    assert not leftovers(tmp_path)


def test_failure_at_the_end_comes_up_too(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", full_disk)
    with pytest.raises(ExportError, match=r"Cannot write '.*ids.npz': No space left"):
        run(tmp_path, ["npz", "csv"], story())
    assert (tmp_path / "segments.csv").exists()
    assert not (tmp_path / "ids.npz").exists()
    assert not leftovers(tmp_path)


def test_several_failures_are_all_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", full_disk)
    monkeypatch.setattr(tables.Lineage, "graph", full_disk)
    with pytest.raises(ExportError, match=r"ids.npz") as caught:
        run(tmp_path, ["npz", "csv"], story())
    assert "segments.csv" in caught.value.__notes__[0]


def test_unforeseen_failure_names_the_file_too(tmp_path, monkeypatch):
    def burst(self, one):
        raise ZeroDivisionError("impossible")

    monkeypatch.setattr(Npz, "write", burst)
    with pytest.raises(ExportError, match=r"Cannot write '.*ids.npz': impossible"):
        run(tmp_path, ["npz"], story())


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, RuntimeError])
def test_interrupted_work_leaves_whole_files(tmp_path, error):
    results = story()

    def work():
        with Exporter(tmp_path, job_for(results, formats=["mp4", "npz", "csv"])) as exporter:
            for one in results[:3]:
                exporter.write(one)
            raise error

    with pytest.raises(error):
        work()
    assert len(read_video(tmp_path / "overlay.mp4")) == 3
    with np.load(tmp_path / "ids.npz") as archive:
        assert len(archive["ids"]) == 3
    assert not leftovers(tmp_path)


def test_with_a_listener_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(Encoder, "encode", full_disk)
    results, heard = [result(n, np.full((8, 8), n)) for n in range(20)], []
    with Exporter(tmp_path, job_for(results, formats=["mp4", "npz"]), heard.append) as exporter:
        for one in results:
            exporter.write(one)
        assert not exporter.failed
    assert ["overlay.mp4" in str(failure) for failure in heard] == [True]
    with np.load(tmp_path / "ids.npz") as archive:
        assert len(archive["frames"]) == 20


def test_what_is_abandoned_leaves_the_files_of_before(tmp_path):
    results = story()
    run(tmp_path, ["mp4", "npz", "csv"], results)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with Exporter(tmp_path, job_for(results, formats=["mp4", "npz", "csv"])) as exporter:
        exporter.write(results[0])
        exporter.abandon()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_closing_twice_is_closing_once(tmp_path):
    exporter = run(tmp_path, ["ids"], story())
    exporter.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("export ")]
