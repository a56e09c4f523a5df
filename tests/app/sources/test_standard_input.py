"""Video from standard input, and files that FFmpeg must not take for a video."""

import os
import threading

import av
import numpy as np
import pytest

from helpers.clips import busy, encode, read_video
from scstream_app.errors import SourceError
from scstream_app.sources import STDIN, RawVideo, StandardInput, open_source


@pytest.fixture
def piped():
    """Function that writes bytes into a pipe and returns its reading end."""
    opened, threads = [], []

    def make(content):
        reading, writing = os.pipe()
        opened.append(reading)

        def feed():
            with open(writing, "wb") as file:
                try:
                    file.write(content)
                except BrokenPipeError:
                    return

        threads.append(threading.Thread(target=feed))
        threads[-1].start()
        return reading

    yield make
    for descriptor in opened:
        os.close(descriptor)
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("name", "container", "codec", "muxing"),
    [
        ("a.mkv", "matroska", "libx264", None),
        ("a.ts", "mpegts", "libx264", None),
        ("a.nut", "nut", "ffv1", None),
        ("a.y4m", "yuv4mpegpipe", "wrapped_avframe", None),
        ("a.mjpeg", "mjpeg", "mjpeg", None),
        ("a.mp4", "mp4", "libx264", {"movflags": "frag_keyframe+empty_moov"}),
    ],
)
def test_containers_that_stream(tmp_path, piped, name, container, codec, muxing):
    pixels = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    path = encode(tmp_path / name, busy(5), codec, pix_fmt=pixels, container=container, muxing=muxing)
    expected = [frame.rgb for frame in open_source(str(path)).frames()]
    with StandardInput(descriptor=piped(path.read_bytes())) as source:
        assert (source.name, source.address, source.live, source.length) == ("stdin", STDIN, True, None)
        found = [frame.rgb for frame in source.frames()]
    np.testing.assert_array_equal(found, expected)


def test_raw_video(piped):
    frames = busy(3)
    content = b"".join(frame.tobytes() for frame in frames)
    with StandardInput(RawVideo.parse("96x64@12.5:rgb24"), piped(content)) as source:
        assert (source.width, source.height, source.rate) == (96, 64, 12.5)
        found = list(source.frames())
    np.testing.assert_array_equal([frame.rgb for frame in found], frames)
    assert [frame.time for frame in found] == pytest.approx([0.0, 0.08, 0.16])


def test_an_incomplete_raw_frame_at_the_end_is_left_out(piped):
    content = b"".join(frame.tobytes() for frame in busy(3))[:-500]
    damaged = []
    with StandardInput(RawVideo.parse("96x64"), piped(content)) as source:
        assert len(list(source.frames(on_damage=damaged.append))) == 2
    (damage,) = damaged
    expected = "ended after 17932 of the 18432 bytes of a frame (96 x 64 rgb24); the frames before it are kept."
    assert (damage.index, str(damage)) == (2, f"standard input {expected}")


def test_less_than_one_raw_frame_raises(piped):
    message = r"Cannot read standard input: it ended after 100 of the 9216 bytes of a frame \(96 x 64 yuv420p\)\."
    with pytest.raises(SourceError, match=message):
        StandardInput(RawVideo.parse("96x64:yuv420p"), piped(bytes(100)))


@pytest.mark.parametrize("text", ["", "96", "96x", "0x5", "96x64@", "96x64@0", "96x64:", "96x64@30:nope", "-3x4"])
def test_wrong_descriptions_of_raw_video_raise(text):
    with pytest.raises(SourceError, match=r"Raw video must be|no pixel format"):
        RawVideo.parse(text)


def test_an_empty_pipe_raises(piped):
    with pytest.raises(SourceError, match="it is empty or closed"):
        StandardInput(descriptor=piped(b""))
    with pytest.raises(SourceError, match="it is empty or closed"):
        StandardInput(RawVideo.parse("96x64"), piped(b""))


@pytest.mark.parametrize("content", [b"hello\n" * 100, bytes(range(256)) * 400, b"\x1b[31m hello \x1b[0m\n" * 50])
def test_garbage_raises(piped, content):
    with pytest.raises(SourceError, match=r"Cannot read standard input: .*Matroska"):
        StandardInput(descriptor=piped(content))


def test_a_pipe_that_breaks_off_ends_with_its_last_frame(tmp_path, piped):
    content = encode(tmp_path / "a.mkv", busy(20), container="matroska").read_bytes()
    with StandardInput(descriptor=piped(content[: len(content) * 2 // 3])) as source:
        assert 0 < len(list(source.frames(on_damage=lambda damage: None))) < 20


def test_a_waiting_read_ends_when_the_source_is_closed():
    content = b"".join(frame.tobytes() for frame in busy(4, 32, 32))
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        source = StandardInput(RawVideo.parse("32x32"), reading)
        thread = threading.Thread(target=lambda: list(source.frames(on_damage=lambda damage: None)))
        thread.start()
        source.close()
        thread.join(20.0)
        assert not thread.is_alive()
    finally:
        os.close(writing)
        os.close(reading)


def test_a_terminal_raises():
    main, other = os.openpty()
    try:
        with pytest.raises(SourceError, match="it is a terminal"):
            StandardInput(descriptor=other)
    finally:
        os.close(main)
        os.close(other)


def test_standard_input_cannot_be_opened_again():
    with pytest.raises(SourceError, match="it came from standard input, and its pictures were not kept"):
        open_source(STDIN)


# --- what is no video


@pytest.mark.parametrize("name", ["a.txt", "a.ans", "a.srt", "a.nfo", "a.asc", "a"])
def test_text_is_no_video(tmp_path, name):
    (tmp_path / name).write_text("1\n00:00:01,000 --> 00:00:02,000\nhello\n\n" * 30)
    with pytest.raises(SourceError, match=r"it is (not a video|a text file)"):
        open_source(str(tmp_path / name))


def test_schemes_may_be_capitals(monkeypatch, tmp_path):
    path = encode(tmp_path / "a.mp4", busy(2))
    seen = []

    def opened(url):
        seen.append(url)
        return av.open(str(path))

    monkeypatch.setattr("scstream_app.sources.video.open_url", opened)
    with open_source("HTTP://example.org/A.mp4") as source:
        assert len(list(source.frames())) == len(read_video(path))
    assert set(seen) == {"http://example.org/A.mp4"}
