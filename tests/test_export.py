"""What is written can be read by others, and nothing half-written stays behind."""

import errno
import os

import av
import numpy as np
import pytest
from PIL import Image

from clips import leftovers, locked_folder, moving_square, read_video
from scstream_app.export import ExportError, IdImages, Movie, files


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --- id images


def test_id_images_hold_id_plus_one(tmp_path):
    ids = np.random.default_rng(0).integers(0, 60_000, (31, 47)).astype(np.int32)
    ids[0, 0], ids[0, 1] = -1, 65534
    IdImages(tmp_path / "deep" / "ids").write(42, ids)
    with Image.open(tmp_path / "deep" / "ids" / "00042.png") as image:
        assert image.mode == "I;16"
        np.testing.assert_array_equal(np.asarray(image), ids + 1)
    assert not leftovers(tmp_path)


def test_id_that_does_not_fit_is_named(tmp_path):
    with pytest.raises(ExportError, match=r"Cannot write '.*00007.png': id 65535 does not fit into 16 bits"):
        IdImages(tmp_path).write(7, np.full((4, 4), 65535, np.int32))
    assert not list(tmp_path.iterdir())


def test_full_disk_keeps_the_old_image(tmp_path, monkeypatch):
    writer = IdImages(tmp_path)
    writer.write(0, np.zeros((4, 4), np.int32))
    before = (tmp_path / "00000.png").read_bytes()
    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ExportError, match=r"Cannot write '.*00000.png': No space left on device"):
        writer.write(0, np.ones((4, 4), np.int32))
    assert (tmp_path / "00000.png").read_bytes() == before
    assert not leftovers(tmp_path)


def test_file_in_the_way_of_a_folder_is_named(tmp_path):
    (tmp_path / "ids").write_text("in the way")
    with pytest.raises(ExportError, match=r"Cannot write '.*ids'"):
        IdImages(tmp_path / "ids")


# --- movies


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
        monkeypatch.setattr(movie._file, "write_frame", full_disk)
        movie.write(moving_square(1)[0])


def test_failing_encoder_leaves_nothing(tmp_path, monkeypatch):
    with pytest.raises(ExportError, match=r"Cannot write '.*a.mp4': No space left"):
        write_until_the_disk_is_full(tmp_path / "a.mp4", monkeypatch)
    assert not list(tmp_path.iterdir())


def test_movie_under_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ExportError, match=r"Cannot write '.*file'"):
        Movie(tmp_path / "file" / "a.mp4", 25.0)


def test_read_only_folder_is_named(tmp_path):
    folder = locked_folder(tmp_path / "locked")
    with pytest.raises(ExportError, match=r"Cannot write '.*a.mp4': Permission denied"):
        Movie(folder / "a.mp4", 25.0)
    with pytest.raises(ExportError, match=r"Cannot write '.*00000.png': Permission denied"):
        IdImages(folder).write(0, np.zeros((4, 4), np.int32))


def test_temporary_sibling_keeps_the_suffix(tmp_path):
    assert files.partial(tmp_path / "mean.mp4") == tmp_path / ".mean.partial.mp4"
