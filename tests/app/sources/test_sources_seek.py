"""Seeking is exact: frame i after any seek equals the i-th frame of sequential reading, bit for bit."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.clips import busy, encode, write_images
from scstream_app.errors import SourceError
from scstream_app.sources import ImageSequence, VideoFile, open_source, seeking_decoder, video
from scstream_app.sources.decoder import Decoder

H264 = {"g": "10", "bf": "3", "preset": "veryfast"}
OPEN_GOP = H264 | {"x264-params": "open-gop=1:b-pyramid=2:scenecut=0"}
REFRESH = {"g": "10", "bf": "0", "preset": "veryfast", "x264-params": "intra-refresh=1:scenecut=0"}
HEVC = {"preset": "ultrafast", "x265-params": "keyint=10:bframes=3:open-gop=1:log-level=none"}
VPX = {"g": "15", "deadline": "realtime", "cpu-used": "8", "auto-alt-ref": "1", "lag-in-frames": "10"}
UNEVEN = [int(tick) for tick in np.cumsum(np.random.default_rng(0).integers(5, 300, 60))]

KINDS = {
    "constant rate.mp4": {"options": H264},
    "variable rate.mp4": {"options": H264, "ticks": UNEVEN},
    "variable rate.mkv": {"options": H264, "ticks": UNEVEN},
    "open gop.mp4": {"options": OPEN_GOP},
    "open gop.mkv": {"options": OPEN_GOP},
    "open gop.ts": {"options": OPEN_GOP, "container": "mpegts"},
    "closed gop.ts": {"options": H264, "container": "mpegts"},
    "no true key frames.mp4": {"options": REFRESH},
    "no true key frames.ts": {"options": REFRESH, "container": "mpegts"},
    "one key frame.mp4": {"options": {"g": "999", "bf": "2", "preset": "veryfast"}},
    "no times.h264": {"options": H264, "container": "h264"},
    "no times.avi": {"options": H264},
    "mpeg4.avi": {"codec": "mpeg4", "options": {"g": "10"}},
    "mpeg4 with b.avi": {"codec": "mpeg4", "options": {"g": "10", "bf": "2"}},
    "mpeg2.mpg": {"codec": "mpeg2video", "options": {"g": "10", "bf": "2"}, "container": "mpeg"},
    "mpeg2.ts": {"codec": "mpeg2video", "options": {"g": "10", "bf": "2"}, "container": "mpegts"},
    "hevc.mp4": {"codec": "libx265", "options": HEVC},
    "hevc.ts": {"codec": "libx265", "options": HEVC, "container": "mpegts"},
    "vp8.webm": {"codec": "libvpx", "options": VPX},
    "vp9.webm": {"codec": "libvpx-vp9", "options": VPX},
    "ffv1.mkv": {"codec": "ffv1"},
    "prores.mov": {"codec": "prores_ks", "pix_fmt": "yuv422p10le"},
    "wmv2.wmv": {"codec": "wmv2", "container": "asf"},
    "flv1.flv": {"codec": "flv1", "container": "flv"},
    "animation.gif": {"codec": "gif", "pix_fmt": "rgb8"},
}
#: Where jumps by presentation time must work, or scrubbing would be slow.
JUMPS = set(KINDS) - {
    "no true key frames.mp4",
    "no true key frames.ts",
    "one key frame.mp4",
    "no times.h264",
    "no times.avi",
    "animation.gif",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kinds")


def check_jumps(path, count, reference):
    """Seek at random and compare; returns the number of seeks that jumped to a key frame."""
    chance = random.Random(7)
    jumped, moves = 0, []

    class WatchedDecoder(Decoder):
        """Notes whether it was started anew or sent to a key frame."""

        def __init__(self, *args):
            moves.append("start")
            super().__init__(*args)

        def seek(self, time):
            moves.append("jump")
            super().seek(time)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(seeking_decoder, "Decoder", WatchedDecoder)
        with VideoFile(path) as source:
            for index in [chance.randrange(len(reference)) for _ in range(count)]:
                source.seek(index)
                frame = source.read()
                assert (frame.index, frame.time) == (index, reference[index].time)
                np.testing.assert_array_equal(frame.rgb, reference[index].rgb)
                jumped += moves[-1] == "jump"
    return jumped


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_are_exact(folder, kind):
    path = encode(folder / kind, busy(60), **KINDS[kind])
    with VideoFile(path) as source:
        reference = list(source.frames())
    assert [frame.index for frame in reference] == list(range(60))
    assert len({frame.rgb.tobytes() for frame in reference}) == 60
    assert reference[0].time == 0
    assert (np.diff([frame.time for frame in reference]) > 0).all()
    jumped = check_jumps(path, 16, reference)
    assert (jumped > 0) == (kind in JUMPS)


@pytest.mark.parametrize("kind", ["open gop.ts", "no times.h264"])
def test_a_recording_that_starts_between_key_frames(folder, kind):
    whole = encode(folder / f"whole {kind}", busy(60), **KINDS[kind])
    data = whole.read_bytes()
    path = folder / f"cut {kind}"
    path.write_bytes(data[len(data) // 3 // 188 * 188 :])
    reference = list(VideoFile(path).frames())
    known = {frame.rgb.tobytes() for frame in VideoFile(whole).frames()}
    assert 20 < len(reference) < 50
    assert all(frame.rgb.tobytes() in known for frame in reference)
    check_jumps(path, 12, reference)


def test_frames_removed_by_an_edit_list_do_not_count(folder):
    muxing = {"avoid_negative_ts": "disabled", "use_editlist": "1"}
    ticks = [40 * index - 400 for index in range(40)]
    path = encode(folder / "edited.mp4", busy(40), options=H264, ticks=ticks, muxing=muxing)
    reference = list(VideoFile(path).frames())
    assert len(reference) == 30
    assert VideoFile(path).length is None
    assert VideoFile(path).count() == 30
    check_jumps(path, 12, reference)


def test_reading_continues_after_a_seek(folder):
    path = encode(folder / "on.mp4", busy(60), options=OPEN_GOP)
    source = VideoFile(path)
    reference = list(source.frames())
    for start, stop in [(50, 55), (13, 31), (0, 4), (4, 8), (58, 60)]:
        part = list(source.frames(start, stop))
        assert [frame.index for frame in part] == list(range(start, stop))
        for frame in part:
            np.testing.assert_array_equal(frame.rgb, reference[frame.index].rgb)


class ImpatientEvent:
    """Replaces the event of interruptions: is set once, at the ``left``-th check after a test has set ``left``."""

    left = 0

    def is_set(self):
        self.left -= 1
        return self.left == 0

    def clear(self):
        pass


@pytest.fixture
def impatience(monkeypatch):
    """The event that all videos use."""
    event = ImpatientEvent()
    monkeypatch.setattr(video, "Event", lambda: event)
    return event


@pytest.mark.parametrize(
    "kind", ["constant rate.mp4", "open gop.mkv", "no true key frames.ts", "one key frame.mp4", "no times.h264"]
)
def test_an_interrupted_read_loses_no_frame(folder, kind, impatience):
    path = encode(folder / kind, busy(60), **KINDS[kind])
    reference = [frame.rgb for frame in VideoFile(path).frames()]
    last = len(reference) - 1
    for place in (1, 2, 3, 5, 20, 58, 63, 66, 80, 120):
        with VideoFile(path) as source:
            for index in (last, 3, 45, last - 2):
                source.seek(index)
                impatience.left = place
                frames = [source.read(), source.read()]
                assert frames[0] is not None or impatience.left <= 0
                impatience.left = 0
                frame = frames[0] or frames[1]
                assert frame.index == index
                np.testing.assert_array_equal(frame.rgb, reference[index])
            assert source.length in (None, len(reference), VideoFile(path).length)


def test_seeking_elsewhere_after_an_interruption(folder, impatience):
    path = encode(folder / "constant rate.mp4", busy(60), options=H264)
    reference = [frame.rgb for frame in VideoFile(path).frames()]
    for place in range(1, 80, 7):
        with VideoFile(path) as source:
            source.seek(50)
            impatience.left = place
            source.read()
            impatience.left = 0
            source.seek(20)
            np.testing.assert_array_equal(source.read().rgb, reference[20])


def test_counting_can_be_interrupted_and_restarted(folder, impatience):
    with VideoFile(encode(folder / "open gop.ts", busy(60), **KINDS["open gop.ts"])) as source:
        impatience.left = 9
        assert source.count() is None
        assert source.count() == 60


def test_a_long_seek_can_be_interrupted(folder):
    path = encode(folder / "long.h264", busy(400), options=H264, container="h264")
    with VideoFile(path) as source, ThreadPoolExecutor() as pool:
        source.seek(399)
        reading = pool.submit(source.read)
        while not reading.done():
            source.interrupt()
        assert reading.result() is None
        assert source.read().index == 399


def test_near_frames_need_no_frame_times(folder):
    source = VideoFile(encode(folder / "near.mkv", busy(60), options=H264))
    for index in (0, 5, 37, 40):
        source.seek(index)
        assert source.read().index == index
    assert source.length is None


def test_reading_beyond_the_end_returns_none(folder):
    source = VideoFile(encode(folder / "end.mkv", busy(12), options=H264))
    for index in (12, 500):
        source.seek(index)
        assert source.read() is None
    source.seek(11)
    assert source.read().index == 11
    assert source.read() is None
    assert source.length == 12


@pytest.mark.parametrize("kind", ["ffv1.mkv", "mpeg2.ts", "constant rate.mp4"])
def test_frames_are_counted_on_demand(folder, kind):
    source = VideoFile(encode(folder / f"count {kind}", busy(30), **KINDS[kind]))
    assert source.count() == source.length == 30


def test_without_times_frames_are_counted_by_reading_to_the_end(folder):
    source = VideoFile(encode(folder / "count.h264", busy(20), options=H264, container="h264"))
    assert source.count() is None
    assert len(list(source.frames())) == 20
    assert source.count() == 20


def test_negative_indices_raise(folder):
    source = VideoFile(encode(folder / "negative.mp4", busy(2)))
    with pytest.raises(SourceError, match=r"Cannot seek to frame -1 of 'negative.mp4': frame numbers start at 0"):
        source.seek(-1)


def test_a_deleted_file_raises(folder):
    path = encode(folder / "gone.mp4", busy(60), options=H264)
    source = VideoFile(path)
    assert len(list(source.frames(0, 50))) == 50
    path.unlink()
    source.seek(0)
    with pytest.raises(SourceError, match=r"Cannot read '.*gone.mp4' after 50 frames: the file was deleted"):
        source.read()


def test_the_address_opens_the_same_source_again(tmp_path, monkeypatch):
    encode(tmp_path / "a.mp4", busy(3))
    monkeypatch.chdir(tmp_path)
    source = open_source("a.mp4")
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(open_source(source.address).read().rgb, source.read().rgb)


def test_a_closed_source_returns_none(folder):
    with VideoFile(encode(folder / "closed.mp4", busy(4))) as source:
        assert source.read().index == 0
    source.close()
    assert source.read() is None


def test_images_can_seek(tmp_path):
    source = ImageSequence(write_images(tmp_path, busy(6)))
    for index in (4, 1, 1, 5):
        source.seek(index)
        frame = source.read()
        assert frame.index == index
        np.testing.assert_array_equal(frame.rgb, busy(6)[index])
    assert source.read() is None
