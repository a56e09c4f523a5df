"""The sample clips are what their script draws, and their ground truth fits them."""

import subprocess
import sys

import av
import numpy as np
import pytest

import render
from drawing import HEIGHT, WIDTH, Canvas, X, Y, colour, ellipse, limb, polygon

pytestmark = pytest.mark.slow

SHAPE = (HEIGHT, WIDTH)


def decode(name):
    with av.open(render.FOLDER / f"{name}.mp4") as container:
        stream = container.streams.video[0]
        assert stream.average_rate == render.FPS
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(stream)])


@pytest.mark.parametrize("name", render.CLIPS)
def test_clip_and_truth_are_what_the_script_draws(name):
    clip, truth, frames = render.scene(name), render.load_truth(name), decode(name)
    assert frames.shape == (clip.FRAMES, *SHAPE, 3)
    assert truth.ids.shape == (clip.FRAMES, *SHAPE)
    for index in (0, clip.FRAMES // 2, clip.FRAMES - 1):
        rgb, ids = render.render_frame(name, index)
        # A sine may differ in its last bit from one processor to another, which can tip a pixel on an edge.
        assert np.mean(ids != truth.ids[index]) < 1e-4
        error = np.mean((rgb.astype(float) - frames[index]) ** 2)
        assert 10 * np.log10(255**2 / error) > 30


@pytest.mark.parametrize("name", render.CLIPS)
def test_ids_are_consistent(name):
    clip, truth = render.scene(name), render.load_truth(name)
    assert truth.ids.dtype == np.uint8
    assert truth.names == list(clip.NAMES)
    assert truth.objects == clip.OBJECTS
    assert len(set(truth.names)) == len(truth.names)
    np.testing.assert_array_equal(np.unique(truth.ids), np.arange(len(truth.names)))
    for members in truth.objects.values():
        assert set(members) <= set(range(len(truth.names)))


@pytest.mark.parametrize("name", ["kite_surf", "crossing", "lighting"])
def test_every_object_is_there_on_every_frame(name):
    truth = render.load_truth(name)
    for id in range(len(truth.names)):
        assert (truth.ids == id).sum(axis=(1, 2)).min() >= 200


def test_still_scene_keeps_its_outlines_while_its_light_changes():
    truth, frames = render.load_truth("lighting"), decode("lighting")
    assert (truth.ids == truth.ids[0]).all()
    first, last = frames[0].astype(float).mean(axis=(0, 1)), frames[-1].astype(float).mean(axis=(0, 1))
    assert last.mean() > 1.5 * first.mean()
    assert last[2] / last[0] > 1.3 * first[2] / first[0]


def test_cut_shares_no_object_between_its_shots():
    ids, cut = render.load_truth("cut").ids, render.scene("cut").CUT
    assert not set(np.unique(ids[:cut])) & set(np.unique(ids[cut:]))


def test_fish_hide_one_another():
    truth = render.load_truth("crossing")
    area = (np.isin(truth.ids, truth.objects["blue fish"])).sum(axis=(1, 2))
    assert area[35:45].min() < 0.5 * area[-1]


def test_unknown_clip_is_named():
    with pytest.raises(ValueError, match=r"'nope'.*kite_surf"):
        render.scene("nope")
    script = [sys.executable, str(render.FOLDER / "render.py"), "nope"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown clip 'nope'" in done.stderr


def test_truth_survives_a_round_trip(tmp_path):
    ids = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    render.save_truth(tmp_path / "x_ids.npz", render.Truth(ids, ["a"], {"b": [0]}))
    back = render.load_truth("x", tmp_path)
    np.testing.assert_array_equal(back.ids, ids)
    assert (back.names, back.objects) == (["a"], {"b": [0]})


def test_encoding_twice_gives_the_same_bytes(tmp_path):
    # x264 reads beyond the edges of pictures of a few blocks, so that their bytes do differ; the clips are larger.
    ramp = (np.indices((216, 384)).sum(axis=0) * 3).astype(np.uint8)
    picture = np.dstack([ramp, ramp[::-1], ramp[:, ::-1]])
    frames = [np.roll(picture, shift, axis=1) for shift in range(8)]
    for name in ("a.mp4", "b.mp4"):
        render.encode(tmp_path / name, iter(frames))
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_shapes_cover_their_area():
    for distance, area in (
        (ellipse(100, 80, 30, 12, 0.7), np.pi * 30 * 12),
        (limb([(60, 60), (160, 100)], [8, 8]), np.pi * 64 + 16 * np.hypot(100, 40)),
        (polygon([(20, 20), (80, 20), (80, 100), (50, 60), (20, 100)]), 60 * 80 - 60 * 40 / 2),
    ):
        canvas = Canvas(2)
        canvas.fill(distance, colour("#ffffff"), 1)
        assert canvas.shares[1].sum() == pytest.approx(area, rel=0.01)


def test_id_is_that_of_the_object_which_fills_most_of_a_pixel():
    canvas = Canvas(3)
    canvas.paint(1, colour("#000000"), 0)
    canvas.paint(0.4 * (X < 10), colour("#ff0000"), 1)
    canvas.paint(0.6 * (Y < 10), colour("#00ff00"), 2)
    canvas.paint(1, colour("#0000ff"), None)
    _, ids = canvas.pictures()
    assert ids[5, 5] == 2
    assert ids[20, 5] == 0
    np.testing.assert_allclose(canvas.shares.sum(axis=0), 1)
