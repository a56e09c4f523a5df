"""Damaged, unusual and hostile videos: whole frames are read, anything else raises a one-line message."""

import os
import wave
from pathlib import Path

import av
import numpy as np
import pytest

from helpers.clips import blank_packets, busy, encode, moving_square, write_video
from scstream_app.errors import SourceError
from scstream_app.sources import DamagedFrame, VideoFile, containers, open_source
from scstream_app.sources.decoder import has_picture
from scstream_app.sources.frame_times import scan_frame_times
from scstream_app.sources.rgb_conversion import RgbConverter

H264 = {"g": "10", "bf": "2", "preset": "veryfast"}
HIT = (23, 38)
KINDS = {
    "h264.mp4": {"options": H264},
    "mpeg4.avi": {"codec": "mpeg4", "options": {"g": "10"}},
    "mjpeg.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "prores.mov": {"codec": "prores_ks", "pix_fmt": "yuv422p10le"},
    "no times.avi": {"options": H264},
}


def read_all(source):
    """Frames by index, and the indices of damaged ones."""
    damaged = []
    frames = {frame.index: frame for frame in source.frames(on_damage=lambda damage: damaged.append(damage.index))}
    return frames, damaged


# --- damaged in the middle


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_frames_are_skipped_and_the_others_keep_their_indices(tmp_path, kind):
    path = encode(tmp_path / kind, busy(40), **KINDS[kind])
    whole = {frame.index: frame for frame in VideoFile(path).frames()}
    frames, damaged = read_all(VideoFile(blank_packets(path, HIT)))
    assert len(damaged) == 2
    assert sorted([*frames, *damaged]) == list(range(40))
    assert [frame.time for frame in frames.values()] == [whole[index].time for index in frames]
    for index in range(min(damaged)):
        np.testing.assert_array_equal(frames[index].rgb, whole[index].rgb)


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_over_damage_are_exact(tmp_path, kind):
    path = blank_packets(encode(tmp_path / kind, busy(40), **KINDS[kind]), HIT)
    frames, damaged = read_all(VideoFile(path))
    source = VideoFile(path)
    for index in [39, damaged[0], 30, damaged[1], 3, damaged[0] + 1]:
        source.seek(index)
        if index in damaged:
            with pytest.raises(DamagedFrame, match=f"frame {index} of '.*{kind}'") as caught:
                source.read()
            assert caught.value.index == index
            index += 1
        frame = source.read()
        assert frame.index == index
        np.testing.assert_array_equal(frame.rgb, frames[index].rgb)


def test_a_damaged_key_frame_also_loses_the_frames_that_depend_on_it(tmp_path):
    path = encode(tmp_path / "a.mp4", busy(40), options=H264)
    whole = [frame.rgb for frame in VideoFile(path).frames()]
    frames, damaged = read_all(VideoFile(blank_packets(path, [20])))
    assert 20 in damaged
    assert sorted([*frames, *damaged]) == list(range(40))
    for index in [*range(18), *range(30, 40)]:
        np.testing.assert_array_equal(frames[index].rgb, whole[index])


def test_damage_raises_without_a_callback_and_reading_can_continue(tmp_path):
    path = encode(tmp_path / "a.mov", busy(12), **KINDS["prores.mov"])
    source = VideoFile(blank_packets(path, [5]))
    with pytest.raises(DamagedFrame):
        list(source.frames())
    assert source.read().index == 6


def test_a_range_that_ends_in_damage(tmp_path):
    source = VideoFile(blank_packets(encode(tmp_path / "a.mov", busy(12), **KINDS["prores.mov"]), [5]))
    heard = []
    assert [frame.index for frame in source.frames(3, 6, heard.append)] == [3, 4]
    assert [damage.index for damage in heard] == [5]


def test_damage_before_the_first_picture_does_not_count(tmp_path):
    path = encode(tmp_path / "a.mov", busy(6), **KINDS["prores.mov"])
    whole = list(VideoFile(path).frames())
    frames, damaged = read_all(VideoFile(blank_packets(path, [0])))
    assert (list(frames), damaged) == (list(range(5)), [])
    np.testing.assert_array_equal(frames[0].rgb, whole[1].rgb)


# --- truncated files


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.mp4", {"options": H264, "muxing": {"movflags": "faststart"}}),
        ("a.mkv", {"options": H264}),
        ("a.ts", {"options": H264, "container": "mpegts"}),
        ("a.avi", {"codec": "mpeg4", "options": {"g": "4"}}),
        ("a.h264", {"options": H264, "container": "h264"}),
    ],
)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_truncated_file_ends_with_its_last_whole_frame(tmp_path, name, how, share):
    path = encode(tmp_path / name, busy(40), **how)
    whole = [frame.rgb for frame in VideoFile(path).frames()]
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    source = VideoFile(path)
    frames, damaged = read_all(source)
    assert 4 < len(frames) < 40
    assert len(damaged) <= 1
    assert source.length == 1 + max(frames)
    same = [np.array_equal(frame.rgb, whole[index]) for index, frame in frames.items()]
    assert sum(same) >= len(same) - 3
    assert source.read() is None


# --- no video


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.mp4", b"", r"Cannot open '.*empty.mp4': the file is empty"),
        ("text.mp4", b"this is no video at all\n" * 50, r"Cannot open '.*text.mp4': it is a text file, not a video"),
        ("cut.mp4", b"\x00\x00\x00\x20ftypisom" + b"\x00" * 40, r"Cannot open '.*cut.mp4'"),
        ("noise.mkv", np.random.default_rng(0).bytes(5000), r"Cannot open '.*noise.mkv'"),
    ],
)
def test_a_file_that_is_no_video_raises(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        open_source(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def write_tone(path):
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(4000))
    return path


def test_audio_without_video_raises(tmp_path):
    with pytest.raises(SourceError, match=r"'.*tone.wav': it is not a video or an image"):
        open_source(str(write_tone(tmp_path / "tone.wav")))


def test_a_cover_picture_is_no_video(tmp_path):
    cover = encode(tmp_path / "cover.mov", busy(1), codec="mjpeg", pix_fmt="yuvj420p")
    with av.open(str(cover)) as source, av.open(str(tmp_path / "song.mp4"), "w") as output:
        stream = output.add_stream_from_template(source.streams.video[0])
        stream.disposition = av.stream.Disposition.attached_pic
        (packet,) = [packet for packet in source.demux(video=0) if packet.size]
        packet.stream = stream
        output.mux(packet)
    with pytest.raises(SourceError, match=r"'.*song.mp4': it contains no video"):
        VideoFile(tmp_path / "song.mp4")


def test_an_unknown_codec_raises(tmp_path):
    path = encode(tmp_path / "odd.avi", busy(3), codec="mpeg4")
    path.write_bytes(path.read_bytes().replace(b"FMP4", b"QQQQ"))
    with pytest.raises(SourceError, match=r"'.*odd.avi': no decoder is available for it. Re-encode it as H.264 MP4"):
        VideoFile(path)


def test_a_video_without_decodable_frames_raises(tmp_path):
    path = blank_packets(encode(tmp_path / "bad.mov", busy(3), **KINDS["prores.mov"]), range(3))
    with pytest.raises(SourceError, match=r"'.*bad.mov': it contains no frame that can be decoded"):
        VideoFile(path)


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(SourceError, match=r"Cannot open '.*nowhere': there is no such file or folder"):
        open_source(str(tmp_path / "nowhere"))


def test_a_folder_is_no_video_file(tmp_path):
    with pytest.raises(SourceError, match="it is a folder, not a video"):
        VideoFile(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_raises_instead_of_blocking(tmp_path):
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(SourceError, match="it is not a regular file"):
        open_source(str(tmp_path / "pipe.mp4"))


def test_an_unreadable_file_raises(tmp_path, monkeypatch):
    path = encode(tmp_path / "mine.mp4", busy(2))

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"Cannot open '.*mine.mp4': Permission denied\.$"):
        open_source(str(path))


# --- texts


@pytest.mark.parametrize("name", ["notes.txt", "poem.ans", "notes"])
def test_a_text_is_not_a_video(tmp_path, name):
    (tmp_path / name).write_text("These are notes.\n" * 100)
    with pytest.raises(SourceError, match=r"^Cannot open '.*': it is (not a video|a text file)"):
        open_source(str(tmp_path / name))


# --- playlists


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nsecret.ts\n#EXT-X-ENDLIST\n"),
        ("looks like one.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nsecret.ts\n#EXT-X-ENDLIST\n"),
        ("a.ffconcat", "ffconcat version 1.0\nfile secret.ts\n"),
        ("bom.ffconcat", "\ufeffffconcat version 1.0\nfile secret.ts\n"),
        ("a.mpd", '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>'),
        ("a.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n"),
    ],
)
def test_a_playlist_raises(tmp_path, name, content):
    encode(tmp_path / "secret.ts", busy(5), container="mpegts")
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(SourceError, match="it is a playlist of other files"):
        open_source(str(tmp_path / name))


def test_an_unrecognised_playlist_is_rejected_by_its_format(tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "_LIST_STARTS", (b"none of these",))
    encode(tmp_path / "secret.ts", busy(5), container="mpegts")
    (tmp_path / "a.m3u8").write_text("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nsecret.ts\n#EXT-X-ENDLIST\n")
    (tmp_path / "a.ffconcat").write_text("ffconcat version 1.0\nfile secret.ts\n")
    for name in ("a.m3u8", "a.ffconcat"):
        with pytest.raises(SourceError, match="it is not a video or an image"):
            open_source(str(tmp_path / name))


def test_a_file_name_is_never_parsed_as_a_protocol(tmp_path, monkeypatch):
    encode(tmp_path / "a.mp4", busy(2))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match="there is no such file"):
        open_source("concat:a.mp4|a.mp4")
    os.link("a.mp4", "subfile,,start,0,end,9,,:b.mp4")
    assert open_source("subfile,,start,0,end,9,,:b.mp4").read().index == 0


# --- unusual but valid


@pytest.mark.parametrize(
    ("codec", "pix_fmt", "bound"),
    [
        ("ffv1", "yuv420p", 3),
        ("ffv1", "yuv444p", 2),
        ("ffv1", "yuva420p", 3),
        ("ffv1", "yuv422p10le", 3),
        ("ffv1", "gbrp10le", 1),
        ("ffv1", "bgra", 0),
        ("qtrle", "rgb24", 0),
        ("png", "rgba", 0),
        ("png", "rgb48be", 0),
    ],
)
@pytest.mark.parametrize("size", [(64, 96), (37, 51), (1, 1)])
def test_any_pixel_format_and_size(tmp_path, codec, pix_fmt, bound, size):
    height, width = size
    smooth = np.linspace(20, 235, 3 * height * width).reshape(height, width, 3).astype(np.uint8)
    name = "a.mkv" if codec == "ffv1" else "a.mov"
    source = VideoFile(encode(tmp_path / name, [smooth] * 3, codec=codec, pix_fmt=pix_fmt))
    frames = [frame.rgb for frame in source.frames()]
    assert [rgb.shape for rgb in frames] == [(height, width, 3)] * 3
    assert (source.height, source.width) == size
    assert all(rgb.flags.c_contiguous and rgb.dtype == np.uint8 for rgb in frames)
    assert np.abs(frames[1].astype(int) - smooth).max() <= bound + 2 * (size == (1, 1))


@pytest.mark.parametrize("pix_fmt", ["gray", "gray10le", "gray16le", "ya8"])
def test_grey_video_is_grey(tmp_path, pix_fmt):
    name, codec = ("a.mov", "png") if pix_fmt == "ya8" else ("a.mkv", "ffv1")
    grey = np.repeat(np.linspace(0, 255, 48 * 64).reshape(48, 64, 1).astype(np.uint8), 3, 2)
    frame = VideoFile(encode(tmp_path / name, [grey], codec=codec, pix_fmt=pix_fmt)).read()
    assert np.abs(frame.rgb.astype(int) - grey).max() <= 2


@pytest.mark.parametrize(
    ("matrix", "weights"), [("bt709", (0.2126, 0.0722)), ("smpte170m", (0.299, 0.114)), ("bt2020nc", (0.2627, 0.0593))]
)
@pytest.mark.parametrize("full", [False, True])
def test_colours_follow_the_matrix_and_range_of_the_stream(tmp_path, matrix, weights, full):
    colour = np.array([200, 60, 30])
    spaces = {"bt709": 1, "smpte170m": 6, "bt2020nc": 9}
    red, blue = weights
    luma = (red * colour[0] + (1 - red - blue) * colour[1] + blue * colour[2]) / 255
    chroma = [(colour[2] / 255 - luma) / (2 - 2 * blue), (colour[0] / 255 - luma) / (2 - 2 * red)]
    floor, span, swing = (0, 255, 255) if full else (16, 219, 224)
    values = [floor + span * luma, *(128 + swing * c for c in chroma)]
    with av.open(str(tmp_path / "a.mkv"), "w") as output:
        stream = output.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        stream.codec_context.colorspace, stream.codec_context.color_range = spaces[matrix], 2 if full else 1
        picture = av.VideoFrame(32, 32, "yuv420p")
        for plane, value in zip(picture.planes, values, strict=True):
            plane.update(bytes([round(value)]) * plane.buffer_size)
        output.mux(stream.encode(picture))
        output.mux(stream.encode())
    assert np.abs(VideoFile(tmp_path / "a.mkv").read().rgb - colour).max() <= 3


def test_an_unknown_colour_matrix_is_replaced():
    picture = av.VideoFrame.from_ndarray(busy(1)[0], format="rgb24").reformat(format="yuv444p")
    expected = RgbConverter().rgb(picture)
    picture.colorspace = 8
    np.testing.assert_array_equal(RgbConverter().rgb(picture), expected)


def test_size_may_change_in_mid_stream(tmp_path):
    for name, frames in (("1.h264", busy(8)), ("2.h264", busy(8, 48, 80))):
        encode(tmp_path / name, frames, options=H264, container="h264")
    path = tmp_path / "both.h264"
    path.write_bytes((tmp_path / "1.h264").read_bytes() + (tmp_path / "2.h264").read_bytes())
    source = VideoFile(path)
    assert (source.height, source.width) == (64, 96)
    assert [frame.rgb.shape[:2] for frame in source.frames()] == [(64, 96)] * 8 + [(48, 80)] * 8


def test_times_that_decrease_are_corrected(tmp_path):
    encode(tmp_path / "1.ts", busy(40), options=H264, container="mpegts")
    path = tmp_path / "twice.ts"
    path.write_bytes((tmp_path / "1.ts").read_bytes() * 2)
    source = VideoFile(path)
    frames = list(source.frames())
    assert len(frames) >= 78
    assert (np.diff([frame.time for frame in frames]) > 0).all()
    source.seek(70)
    again = source.read()
    assert (again.index, again.time) == (70, frames[70].time)
    np.testing.assert_array_equal(again.rgb, frames[70].rgb)


def test_large_frames(tmp_path):
    frames = [np.full((2160, 3840, 3), value, np.uint8) for value in (20, 200)]
    path = encode(tmp_path / "4k.mp4", frames, options={"preset": "ultrafast"})
    assert [round(frame.rgb.mean()) for frame in VideoFile(path).frames()] == pytest.approx([20, 200], abs=2)


def test_metadata_in_no_known_encoding(tmp_path):
    path = write_video(tmp_path / "a.mkv", moving_square(2))
    with av.open(str(path)) as source, av.open(str(tmp_path / "b.mkv"), "w") as output:
        output.metadata["title"] = "TITLE-HERE"
        stream = output.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                output.mux(packet)
    named = tmp_path / "b.mkv"
    named.write_bytes(named.read_bytes().replace(b"TITLE-HERE", b"\xff\xfe\x80\x81\xc3\x28TLE."))
    assert len(list(VideoFile(named).frames())) == 2


# --- packets without a visible picture


class Codec:
    name = "vp8"


class Stream:
    codec_context = Codec()


class FakePacket(bytes):
    is_discard, is_keyframe, stream = False, True, Stream()
    pts = dts = 0

    @classmethod
    def at(cls, pts, dts, data=b"\x10"):
        packet = cls(data)
        packet.pts, packet.dts = pts, dts
        return packet


def test_vp8_reference_only_pictures_do_not_count():
    assert has_picture(FakePacket(b"\x10\x00"))
    assert not has_picture(FakePacket(b"\x01\x00"))


@pytest.mark.parametrize(
    ("times", "tells"),
    [
        ([(0, 0), (2, 1), (1, 2)], True),
        ([(0, 0), (1, None), (2, 2)], True),
        ([(0, 0), (None, 1)], False),
        ([(0, 0), (1, 1), (1, 2)], False),
        ([(0, 10), (5, 15), (3, 2)], False),
    ],
    ids=["reordered", "unknown decoding time", "missing", "twice", "turned back"],
)
def test_frame_times_exist_only_if_times_give_the_order(times, tells):
    made = scan_frame_times([FakePacket.at(pts, dts) for pts, dts in times], 0)
    assert (made is not None) == tells


# --- files that change while they are read


FASTSTART = {"options": H264, "muxing": {"movflags": "faststart"}}


def grown(path):
    path.write_bytes(path.read_bytes() + bytes(1000))


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def touched(path):
    os.utime(path, ns=(0, 0))


@pytest.mark.parametrize("change", [cut, grown, touched])
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_file_that_changes_while_it_is_read_raises(tmp_path, change, name):
    path = encode(tmp_path / name, busy(200, 240, 320), **(FASTSTART if name == "a.mp4" else {"options": H264}))
    with VideoFile(path) as source:
        assert source.read().index == 0
        change(path)
        with pytest.raises(SourceError, match=r"a\.m.* after \d+ frames: the file was changed"):
            list(source.frames(1, on_damage=lambda damage: None))


def test_a_file_truncated_before_opening_ends_normally(tmp_path):
    path = encode(tmp_path / "a.mp4", busy(60), **FASTSTART)
    cut(path)
    with VideoFile(path) as source:
        # The truncated frame may count as damaged.
        promised, damaged = source.length, []
        frames = len(list(source.frames(on_damage=damaged.append)))
        assert 0 < frames < promised == 60
        assert frames <= source.length <= frames + len(damaged)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files that are open")
def test_a_file_that_is_deleted_while_it_is_read_is_read_to_its_end(tmp_path):
    path = encode(tmp_path / "a.mp4", busy(60), options=H264)
    with VideoFile(path) as source:
        assert source.read().index == 0
        path.unlink()
        assert sum(1 for _ in iter(source.read, None)) == 59
