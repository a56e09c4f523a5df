"""Network streams: remote files, live streams, servers that do not answer, and passwords in addresses."""

import os
import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread, Timer
from threading import enumerate as enumerate_threads
from time import sleep

import numpy as np
import pytest

from helpers.clips import busy, encode, write_images
from scstream_app.errors import SourceError
from scstream_app.session import SourceFacts
from scstream_app.sources import CameraStalled, LiveStream, VideoFile, VideoUrl, containers, open_source, video
from scstream_app.sources.seeking_decoder import SeekingDecoder

H264 = {"g": "10", "bf": "2", "preset": "veryfast"}


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; supports range requests if ``ranges``."""

    ranges = False

    def log_message(self, *args):
        pass

    def do_GET(self):
        asked = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not (self.ranges and asked):
            super().do_GET()
            return
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        start = int(asked[1])
        self.send_response(206)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start:])


class RangeHandler(Handler):
    ranges = True


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Ignore readers that close the connection early."""


@contextmanager
def serving(folder, handler=Handler):
    server = Server(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def sending(data, end):
    """Server that sends the data on every connection, and closes it when ``end`` is set."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def send():
            try:
                with listener.accept()[0] as connection:
                    connection.sendall(data)
                    end.wait(30)
            except OSError:
                pass

        thread = Thread(target=send)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            end.set()
            listener.close()
            thread.join()


@pytest.fixture(autouse=True)
def direct(monkeypatch):
    monkeypatch.delenv("http_proxy", raising=False)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(containers, "PATIENCE", 1.0)


# --- files from a server


@pytest.mark.parametrize("handler", [Handler, RangeHandler])
def test_a_remote_file_equals_the_local_one(tmp_path, handler):
    path = encode(tmp_path / "a b.mp4", busy(60), options=H264, muxing={"movflags": "faststart"})
    reference = [frame.rgb for frame in VideoFile(path).frames()]
    with serving(tmp_path, handler) as host, open_source(f"http://{host}/a%20b.mp4") as source:
        assert (source.name, source.live, source.length, source.width) == ("a b.mp4", False, 60, 96)
        for index, frame in enumerate(source.frames()):
            np.testing.assert_array_equal(frame.rgb, reference[index])
        for index in (50, 3, 44):
            source.seek(index)
            np.testing.assert_array_equal(source.read().rgb, reference[index])


def test_address_keeps_the_password_that_messages_hide(tmp_path):
    encode(tmp_path / "a.mp4", busy(2))
    with serving(tmp_path) as host:
        with open_source(f"http://me:secret@{host}/a.mp4") as source:
            assert source.address == f"http://me:secret@{host}/a.mp4"
            assert "secret" not in source.name
        with pytest.raises(SourceError, match=rf"Cannot open 'http://me@{host}/missing.mp4': .*404") as caught:
            open_source(f"http://me:secret@{host}/missing.mp4")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_stored_address_opens_with_the_secrets_it_was_opened_with(tmp_path):
    encode(tmp_path / "a.mp4", busy(2))
    with serving(tmp_path) as host:
        whole = f"http://me:secret@{host}/a.mp4?name=holiday_2024_in_rome"
        with open_source(whole) as source:
            stored = SourceFacts.of(source).address
        assert stored == f"http://me@{host}/a.mp4"
        with open_source(stored) as again:
            assert again.address == whole
            assert SourceFacts.of(again).address == stored


def test_a_remote_playlist_may_refer_to_the_server_but_not_to_local_files(tmp_path):
    encode(tmp_path / "part.ts", busy(10), options=H264, container="mpegts")
    playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:0.4,\n{}\n#EXT-X-ENDLIST\n"
    (tmp_path / "good.m3u8").write_text(playlist.format("part.ts"))
    (tmp_path / "bad.m3u8").write_text(playlist.format((tmp_path / "part.ts").as_uri()))
    with serving(tmp_path) as host:
        with open_source(f"http://{host}/good.m3u8") as source:
            assert len(list(source.frames())) == 10
        with pytest.raises(SourceError, match=r"Cannot open 'http://.*bad.m3u8'"):
            open_source(f"http://{host}/bad.m3u8")


def test_a_missing_server_raises():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(SourceError, match=rf"Cannot open 'http://127.0.0.1:{port}/a.mp4': Connection refused"):
        open_source(f"http://127.0.0.1:{port}/a.mp4")


def test_a_server_that_does_not_answer_raises(impatient):
    with sending(b"", Event()) as address, pytest.raises(SourceError, match="no data received for 1 seconds"):
        open_source(address)


# --- live


@pytest.fixture
def stream(tmp_path):
    path = encode(tmp_path / "a.ts", busy(60), options=H264, container="mpegts")
    return path.read_bytes(), list(VideoFile(path).frames())


def test_a_live_url_returns_every_frame(stream):
    data, reference = stream
    end = Event()
    with sending(data, end) as address, VideoUrl(address) as source:
        assert (source.live, source.length, source.duration, source.count()) == (True, None, None, None)
        with pytest.raises(SourceError, match="a live source has only a next frame"):
            source.seek(3)
        frames = source.frames()
        for expected in reference[:40]:
            frame = next(frames)
            assert frame.index == expected.index
            assert frame.time == pytest.approx(expected.time)
            np.testing.assert_array_equal(frame.rgb, expected.rgb)
        end.set()
        assert len(list(source.frames())) == 20
        assert source.read() is None


@contextmanager
def sending_in_parts(parts):
    """Server that sends part i when event i is set, and closes the connection after the last part."""
    go = [Event() for _ in parts]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def send():
            try:
                with listener.accept()[0] as connection:
                    for part, event in zip(parts, go, strict=True):
                        event.wait(30)
                        connection.sendall(part)
            except OSError:
                pass

        thread = Thread(target=send)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{listener.getsockname()[1]}", go
        finally:
            for event in go:
                event.set()
            listener.close()
            thread.join()


def wait_until(condition):
    while not condition():
        sleep(0.01)


@pytest.fixture
def patient(monkeypatch):
    """Let FFmpeg wait for a silent server until it hangs up, so that a thread that waits stays alive."""
    monkeypatch.setattr(containers, "PATIENCE", 600.0)


def is_running(name):
    """Whether a thread of this name is alive."""
    return any(thread.name == name for thread in enumerate_threads())


def test_a_live_stream_returns_the_newest_frame(stream):
    data, reference = stream
    half = len(data) // 2 // 188 * 188
    with sending_in_parts([data[:half], data[half:]]) as (address, go):
        go[0].set()
        with open_source(address) as source:
            assert isinstance(source, LiveStream)
            assert (source.live, source.length, source.duration, source.count()) == (True, None, None, None)
            with pytest.raises(SourceError, match="a live source has only a next frame"):
                source.seek(3)
            first = source.read()
            assert (first.index, source.state) == (0, "live")
            # A slow reader: all other frames arrive meanwhile, and the stream ends.
            go[1].set()
            wait_until(lambda: source.state == "closed")
            newest = source.read()
            assert newest.index == 1
            assert newest.time == pytest.approx(reference[-1].time)
            np.testing.assert_array_equal(newest.rgb, reference[-1].rgb)
            assert source.dropped >= len(reference) // 3
            assert source.read() is None


@pytest.mark.usefixtures("patient")
def test_a_live_stream_that_stalls_raises_and_can_be_interrupted(stream):
    data, _ = stream
    with sending(data[: len(data) // 2 // 188 * 188], Event()) as address:
        with open_source(address) as source:
            with pytest.raises(CameraStalled, match="delivers no new pictures"):
                list(source.frames())
            assert source.state == "stalled"
            with ThreadPoolExecutor() as pool:
                reading = pool.submit(source.read)
                while not reading.done():
                    source.interrupt()
                    sleep(0.01)
                # Without the interruption it would raise CameraStalled again.
                assert reading.result() is None
        # Closing has not waited for the thread that reads the silent stream.
        assert is_running("scstream-stream")
    wait_until(lambda: not is_running("scstream-stream"))


def test_a_stream_that_stops_sending_raises(stream, impatient):
    data, _ = stream
    with sending(data[: len(data) * 2 // 3 // 188 * 188], Event()) as address, open_source(address) as source:
        with pytest.raises(
            SourceError, match=r"Cannot read 'tcp://.*' after \d+ frames: no data received for 1 seconds"
        ):
            list(source.frames())


def test_closing_does_not_wait_for_a_blocked_read(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "_CLOSING", 0.01)
    source = VideoFile(encode(tmp_path / "a.mp4", busy(3)))
    held_up, end = Event(), Event()
    read_on = SeekingDecoder.next

    def wait_for_the_network(decoder):
        held_up.set()
        end.wait(10.0)
        return read_on(decoder)

    monkeypatch.setattr(SeekingDecoder, "next", wait_for_the_network)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(source.read)
        assert held_up.wait(60.0)
        source.close()
        assert not reading.done()
        end.set()
        reading.result(60.0)
    assert source.read() is None


# --- addresses


def test_a_file_url_opens_the_file(tmp_path):
    path = encode(tmp_path / "a b.mp4", busy(2))
    source = open_source(path.as_uri())
    assert isinstance(source, VideoFile)
    assert source.path == path
    assert open_source(write_images(tmp_path / "f", busy(2)).as_uri()).length == 2


def test_a_playlist_at_a_file_url_raises(tmp_path):
    (tmp_path / "a.m3u8").write_text("#EXTM3U\n")
    with pytest.raises(SourceError, match="it is a playlist"):
        open_source((tmp_path / "a.m3u8").as_uri())


@pytest.mark.parametrize("address", ["gopher://me:secret@host/a", "concat://a.mp4", "data://text"])
def test_an_unsupported_scheme_raises(address):
    with pytest.raises(SourceError, match=r"is not supported. Supported: .*http.*rtsp") as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://me:secret@[::1/a.mp4", "rtsp://[nonsense]/"])
def test_a_malformed_url_raises(address):
    with pytest.raises(SourceError, match=r"Cannot open '\w+://\[.*': it is not a valid URL") as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


# --- closed connections and Ctrl-C


class HalfHandler(Handler):
    """Announces the whole file but closes the connection halfway."""

    def do_GET(self):
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])


def test_a_connection_closed_halfway_raises(tmp_path):
    encode(tmp_path / "a.mp4", busy(60), options=H264, muxing={"movflags": "faststart"})
    with serving(tmp_path, HalfHandler) as host, open_source(f"http://{host}/a.mp4") as source:
        with pytest.raises(SourceError, match=r"Cannot read 'http://.*' after \d+ "):
            list(source.frames(on_damage=lambda damage: None))


@pytest.mark.usefixtures("patient")
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send Ctrl-C to itself")
def test_ctrl_c_does_not_wait_for_a_server(request):
    # SIGINT is ignored if the tests run in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with sending(b"", Event()) as address:
        interrupt = Timer(0.3, signal.raise_signal, [signal.SIGINT])
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            open_source(address)
        # The thread that opens the stream is still waiting for the server.
        assert is_running("scstream-opening")
        interrupt.join()
    wait_until(lambda: not is_running("scstream-opening"))


def test_a_container_opened_after_an_interrupt_is_closed(monkeypatch):
    go, closed = Event(), Event()

    class Late:
        close = closed.set

    def late(*args, **options):
        go.wait(10.0)
        return Late()

    def impatient(thread, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(containers.av, "open", late)
    with monkeypatch.context() as patched:
        patched.setattr(Thread, "join", impatient)
        with pytest.raises(KeyboardInterrupt):
            containers.open_url("tcp://127.0.0.1:9")
    go.set()
    assert closed.wait(60.0)
