"""Movie formats: views, timestamps and transparency."""

from dataclasses import replace
from fractions import Fraction

import av
import numpy as np
import pytest
from PIL import Image, ImageSequence

from helpers.clips import read_video
from helpers.export_scenes import leftovers, result, story
from helpers.exports import KITE, export, make_job
from scstream_app.export import ExportError
from scstream_app.export.formats.movies.mp4 import Mp4
from scstream_app.export.movie import H264, Clock
from scstream_app.render import views


def flat_story(shape=(48, 64), **more):
    """The story in even colours, which codecs keep."""
    colours = np.array([[40, 60, 160], [230, 200, 40], [30, 120, 50], [200, 40, 40]], np.uint8)
    return [result(one.index, one.ids, one.events, rgb=colours[one.ids], **more) for one in story(shape)]


def stream_of(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return stream.codec_context.name, stream.codec_context.pix_fmt, stream.metadata


def times(path):
    with av.open(str(path)) as container:
        return [float(frame.time) for frame in container.decode(video=0)]


def read_alpha(path, decoder=None):
    """RGBA (n, H, W, 4); FFmpeg's own VP9 decoder does not know transparency."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        context = av.CodecContext.create(decoder, "r") if decoder else stream.codec_context
        frames = [frame for packet in container.demux(stream) for frame in context.decode(packet)]
        return np.stack([frame.to_ndarray(format="rgba") for frame in frames])


# --- what they show


@pytest.mark.parametrize(("name", "suffix"), [("mp4", "mp4"), ("webm", "webm"), ("prores", "mov")])
@pytest.mark.parametrize(("view", "stem"), [("overlay", "overlay"), ("mean_colour", "mean"), ("side_by_side", None)])
def test_movie_shows_the_view(tmp_path, name, suffix, view, stem):
    results = flat_story()
    path = export(tmp_path, name, results, view=view)
    assert path.name == f"{stem or view}.{suffix}"
    back = read_video(path).astype(int)
    scenes = [make_job(64, 48, 25.0).scene(one) for one in results]
    assert np.abs(back - np.stack([views.draw(view, scene) for scene in scenes])).mean() < 8
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("objects", [(), (KITE,)], ids=["opaque", "alpha"])
def test_prores_is_right_at_every_pixel_of_any_width(tmp_path, objects):
    """A smooth picture whose width is no multiple of 16: no pixel strays where threads would have met."""
    ids = np.ones((48, 70), np.int32)
    smooth = np.linspace(40, 215, 3 * 48 * 70).reshape(48, 70, 3).astype(np.uint8)
    results = [result(n, ids, rgb=smooth) for n in range(6)]
    view = {} if objects else {"view": "original"}
    back = read_alpha(export(tmp_path, "prores", results, objects=objects, **view))[..., :3].astype(int)
    assert np.abs(back - smooth).max() <= 6


def test_formats_are_what_they_say(tmp_path):
    results = flat_story()
    assert stream_of(export(tmp_path, "mp4", results))[:2] == ("h264", "yuv420p")
    assert stream_of(export(tmp_path, "webm", results))[:2] == ("vp9", "yuv420p")
    codec, pixels, _ = stream_of(export(tmp_path, "prores", results))
    assert codec == "prores"
    assert pixels.startswith("yuv444p")


@pytest.mark.parametrize(("name", "decoder"), [("webm", "libvpx-vp9"), ("prores", None)])
def test_objects_are_cut_out_with_transparency(tmp_path, name, decoder):
    results = flat_story()
    path = export(tmp_path, name, results, objects=(KITE,))
    assert path.stem == "matte"
    back = read_alpha(path, decoder)
    inside = np.isin(np.stack([one.ids for one in results]), [1, 3])
    np.testing.assert_array_equal(back[..., 3] > 127, inside)
    assert back[inside, 3].min() > 240
    assert back[~inside, 3].max() < 15
    error = np.abs(back[inside, :3].astype(int) - np.stack([one.picture for one in results])[inside])
    assert np.median(error) < 8


@pytest.mark.parametrize(("name", "stem"), [("webm:mean_colour", "mean"), ("webm", "matte"), ("prores:matte", "matte")])
def test_objects_are_cut_out_where_no_other_view_is_asked_for(tmp_path, name, stem):
    results = story((48, 64))
    path = export(tmp_path, name, results, objects=(KITE,))
    assert path.stem == stem
    if stem == "mean":
        expected = views.flatten(views.mean_colour(results[0].picture, results[0].ids)).astype(int)
        assert np.abs(read_video(path)[0] - expected).mean() < 8
    assert export(tmp_path, "webm", results, objects=(KITE,), view="overlay").name == "overlay.webm"


def test_transparency_is_declared(tmp_path):
    assert stream_of(export(tmp_path, "webm", flat_story(), objects=(KITE,)))[2]["alpha_mode"] == "1"
    assert stream_of(export(tmp_path, "prores", flat_story(), objects=(KITE,)))[1].startswith("yuva444p")


def test_matte_without_transparency_lies_on_black(tmp_path):
    results = flat_story()
    back = read_video(export(tmp_path, "mp4", results, view="matte", objects=(KITE,)))
    far = ~np.isin(np.stack([one.ids for one in results]), [1, 3])
    assert np.median(back[far]) < 5


def test_cut_out_has_no_dark_fringe(tmp_path):
    """Colours at the edge of an object are its own, though codecs mix them with their neighbours'."""
    one = flat_story((48, 64))[0]
    bright = result(0, one.ids, rgb=np.full((48, 64, 3), 220, np.uint8))
    back = read_alpha(export(tmp_path, "webm", [bright], objects=(KITE,)), "libvpx-vp9")[0]
    assert back[one.ids == 1, :3].min() > 200


# --- colours


def bt709(rgb):
    """Y, Cb, Cr of 8 bits in the limited range, from the definition of BT.709."""
    red, green, blue = (level / 255 for level in rgb)
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 16 + 219 * luma, 128 + 224 * (blue - luma) / 1.8556, 128 + 224 * (red - luma) / 1.5748


@pytest.mark.parametrize(
    ("name", "objects"), [("mp4", ()), ("webm", ()), ("webm", (KITE,)), ("prores", ()), ("prores", (KITE,))]
)
def test_colours_are_bt709_and_say_so(tmp_path, name, objects):
    colour = (200, 40, 60)
    patch = result(0, np.ones((32, 48)), rgb=np.full((32, 48, 3), colour, np.uint8))
    path = export(tmp_path, name, [patch], objects=objects, **({} if objects else {"view": "original"}))
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        for tags in (container.streams.video[0].codec_context, frame):
            assert (tags.color_primaries, tags.color_trc, tags.colorspace, tags.color_range) == (1, 1, 1, 1)
    bits = frame.format.components[0].bits
    for plane, expected in zip(frame.planes, bt709(colour), strict=False):
        levels = np.frombuffer(plane, np.uint16 if bits > 8 else np.uint8) / 2 ** (bits - 8)
        assert levels[0] == pytest.approx(expected, abs=1.0 if bits == 8 else 0.3)
    assert np.abs(frame.to_ndarray(format="rgb24")[16, 24].astype(int) - colour).max() <= 3


@pytest.mark.parametrize(("name", "kind"), [("mp4", b"nclx"), ("prores", b"nclc")])
def test_containers_declare_the_colours_as_well(tmp_path, name, kind):
    content = export(tmp_path, name, flat_story()[:1]).read_bytes()
    assert b"colr" + kind + bytes([0, 1, 0, 1, 0, 1]) in content
    if name == "prores":
        # Primaries, transfer curve and matrix are bytes 14 to 16 of the header of a picture.
        start = content.index(b"icpf") + 4
        assert list(content[start + 14 : start + 17]) == [1, 1, 1]


# --- when


@pytest.mark.parametrize("name", ["mp4", "webm", "prores"])
def test_pictures_come_at_their_own_times(tmp_path, name):
    moments = [10.0, 10.04, 10.5, 10.533, 12.0]
    results = [result(n, one.ids, time=t) for n, (one, t) in enumerate(zip(story(), moments, strict=True))]
    assert times(export(tmp_path, name, results)) == pytest.approx([0.0, 0.04, 0.5, 0.533, 2.0], abs=2e-3)


@pytest.mark.parametrize("name", ["mp4", "webm", "prores", "gif"])
def test_times_that_stand_still_or_run_back_still_rise(tmp_path, name):
    moments = [0.0, 0.04, 0.04, 0.02, 0.2]
    results = [result(n, one.ids, time=t) for n, (one, t) in enumerate(zip(story(), moments, strict=True))]
    path = export(tmp_path, name, results)
    moments = times(path)
    assert (np.diff(moments) > 0).all()
    assert len(moments) == (5 if name != "gif" else 3)


def test_clock_counts_frames_where_there_is_no_time():
    clock = Clock(Fraction(1, 1000), 50.0)
    assert [clock.ticks(None) for _ in range(3)] == [0, 20, 40]
    assert [clock.ticks(time) for time in (float("nan"), 0.5, None)] == [60, 500, 520]


def test_movies_keep_a_constant_rate(tmp_path):
    rate = 30000 / 1001
    results = [result(n, np.zeros((16, 16)), rate=rate) for n in range(8)]
    with av.open(str(export(tmp_path, "mp4", results, rate=rate))) as container:
        assert float(container.streams.video[0].average_rate) == pytest.approx(rate, rel=1e-3)


# --- GIF


def frames_of(path):
    with Image.open(path) as image:
        return [
            (np.asarray(frame.convert("RGB")), frame.info["duration"], image.info["loop"])
            for frame in ImageSequence.Iterator(image)
        ]


def test_gif_moves_in_time_for_ever(tmp_path):
    results = flat_story()
    path = export(tmp_path, "gif", results, view="mean_colour")
    assert path.name == "mean.gif"
    frames = frames_of(path)
    assert [(duration, loop) for _, duration, loop in frames] == [(40, 0)] * 5
    for (picture, *_), one in zip(frames, results, strict=True):
        assert np.abs(picture.astype(int) - one.picture).max() <= 8


def test_gif_is_no_faster_than_browsers_play(tmp_path):
    results = [result(n, np.full((8, 8), n % 2), rate=100.0) for n in range(20)]
    durations = [duration for _, duration, _ in frames_of(export(tmp_path, "gif", results, rate=100.0))]
    assert durations == [20] * 10


def test_gif_keeps_every_frame_at_usual_rates(tmp_path):
    for rate in (24000 / 1001, 30.0, 50.0):
        results = [result(n, np.full((8, 8), n), rate=rate) for n in range(12)]
        frames = frames_of(export(tmp_path, "gif", results, rate=rate))
        assert len(frames) == 12
        assert sum(duration for _, duration, _ in frames) == pytest.approx(12_000 / rate, abs=11)


@pytest.mark.parametrize(("more", "width"), [({}, 640), ({"scale": 0.9}, 720), ({"scale": 0.5}, 400)])
def test_gif_is_small_unless_a_scale_is_given(tmp_path, more, width):
    results = [result(0, np.zeros((20, 800)))]
    assert frames_of(export(tmp_path, "gif", results, **more))[0][0].shape[1] == width


def test_view_that_needs_what_results_lack_is_refused():
    with pytest.raises(ExportError, match="uncertainty"):
        make_job(8, 8, 25.0, view="uncertainty")


def test_a_missing_encoder_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(Mp4, "codec", replace(H264, name="libmissing"))
    with pytest.raises(ExportError, match=r"Cannot write '.*mp4': this build of FFmpeg has no encoder 'libmissing'\."):
        export(tmp_path, "mp4", flat_story())
    assert leftovers(tmp_path) == []
