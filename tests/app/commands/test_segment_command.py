"""`scstream segment`: what it writes, and what its options change."""

import json
import subprocess
import sys

import numpy as np
import pytest

from helpers.clips import leftovers, moving_square, read_video, write_images, write_video
from helpers.command_line import environment, ids_in, segment
from helpers.settings import OTHER
from scstream import VideoSegmenter
from scstream_app import headless
from scstream_app.errors import StudioError
from scstream_app.session import Session
from scstream_app.settings import SPECS, Settings
from scstream_app.sources import open_source

REPORT = {
    "frames", "width", "height", "ms_per_frame_median", "ms_per_frame_p95", "ms_engine_median", "fps",
    "segments_last", "segments_ever", "init_seconds", "seed", "threads", "ms_decode_median", "share_not_engine",
}  # fmt: skip


def test_segment_writes_what_the_library_finds(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--seed", "3") == 0
    written = ids_in(tmp_path / "out")
    assert list(written) == [f"{n:05d}.png" for n in range(6)]
    segmenter = VideoSegmenter(seed=3)
    for frame, ids in zip(open_source(str(clip)).frames(), written.values(), strict=True):
        np.testing.assert_array_equal(ids, segmenter.segment(frame.rgb))
    assert not leftovers(tmp_path)
    assert "6 frames of 64 x 48" in capsys.readouterr().out


def test_a_run_without_formats_names_only_the_session(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "", "--frames", ":1", "--max-init-sweeps", "5") == 0
    assert capsys.readouterr().out.endswith(f": {clip.stem}.scstream\n")


def test_smoothing_and_steadiness_can_be_switched_off(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--smoothing", "0", "--steadiness", "0", "--quiet") == 0
    bare = VideoSegmenter(smoothing=0, steadiness=0)
    for frame, ids in zip(open_source(str(clip)).frames(), ids_in(tmp_path / "out").values(), strict=True):
        np.testing.assert_array_equal(ids, bare.segment(frame.rgb))
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        settings = session.manifest.settings
    assert (settings.smoothing, settings.steadiness) == (0.0, 0.0)


def test_the_session_holds_what_the_files_do(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert session.manifest.complete
        for index, ids in enumerate(ids_in(tmp_path / "out").values()):
            np.testing.assert_array_equal(session.ids(index), ids)


def test_movies_show_what_they_are_asked_to(clip, tmp_path):
    assert segment(clip, tmp_path / "out", "--formats", "ids,mp4,mp4:mean_colour", "--quiet") == 0
    frames = np.stack([frame.rgb for frame in open_source(str(clip)).frames()]).astype(int)
    mean, overlay = read_video(tmp_path / "out" / "mean.mp4"), read_video(tmp_path / "out" / "overlay.mp4")
    assert mean.shape == overlay.shape == frames.shape
    assert np.abs(mean - frames).mean() < 12
    last = ids_in(tmp_path / "out")["00005.png"]
    largest = last == np.bincount(last.ravel()).argmax()
    assert mean[5][largest].std(axis=0).max() < frames[5].reshape(-1, 3).std(axis=0).max() / 2


def test_json_is_all_there_is_on_standard_output(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--json", "--threads", "2", "--seed", "5") == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) >= REPORT
    assert (report["frames"], report["width"], report["height"]) == (6, 64, 48)
    assert (report["seed"], report["threads"]) == (5, 2)
    assert 0 < report["ms_engine_median"] <= report["ms_per_frame_median"] <= report["ms_per_frame_p95"]
    last = ids_in(tmp_path / "out")["00005.png"]
    assert len(np.unique(last)) <= report["segments_last"] <= report["segments_ever"]


def test_one_frame_has_no_rate(tmp_path, capsys):
    folder = write_images(tmp_path / "one", moving_square(1))
    assert segment(folder, tmp_path / "out", "--json", "--quiet") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["frames"] == 1
    assert report["fps"] is None
    assert report["init_seconds"] > 0
    assert segment(folder, tmp_path / "other") == 0


def test_quiet_says_nothing(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_ids_do_not_depend_on_threads(clip, tmp_path):
    for threads in ("1", "2", "5"):
        assert segment(clip, tmp_path / threads, "--threads", threads, "--quiet") == 0
    for name in ids_in(tmp_path / "1"):
        one = (tmp_path / "1" / "ids" / name).read_bytes()
        assert one == (tmp_path / "2" / "ids" / name).read_bytes() == (tmp_path / "5" / "ids" / name).read_bytes()


def test_part_of_a_folder_of_images(tmp_path):
    folder = write_images(tmp_path / "frames", moving_square(12), "{}.png")
    assert segment(folder, tmp_path / "out", "--frames", "9:11", "--quiet") == 0
    assert list(ids_in(tmp_path / "out")) == ["00009.png", "00010.png"]
    assert len(read_video(tmp_path / "out" / "overlay.mp4")) == 2


def test_an_earlier_session_is_not_lost_unasked(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--frames", ":2", "--quiet") == 1
    error = capsys.readouterr().err
    assert "scstream resume" in error
    assert "--overwrite" in error
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--frames", ":2", "--overwrite", "--quiet") == 0
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        assert session.frames.tolist() == [0, 1]


def test_the_way_to_go_on_can_be_copied(tmp_path, capsys):
    clip = write_video(tmp_path / "my  clip.mp4", moving_square(1))
    assert segment(clip, tmp_path / "out", "--quiet") == 0
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    error = capsys.readouterr().err
    assert f"resume it with: scstream resume '{tmp_path / 'out' / 'my  clip.scstream'}'" in error


def test_files_of_another_source_are_not_lost_unasked(clip, tmp_path, capsys):
    other = write_video(tmp_path / "cut.mp4", moving_square(2))
    assert segment(other, tmp_path / "out", "--quiet") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--quiet") == 1
    assert capsys.readouterr().err == (
        f"scstream: '{tmp_path / 'out'}' holds the session 'cut.scstream' of another source: "
        "choose another --out, or use --overwrite.\n"
    )
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert segment(clip, tmp_path / "out", "--quiet", "--overwrite") == 0
    assert len(ids_in(tmp_path / "out")) == 6


@pytest.mark.parametrize("options", ["--scale 0.5 --burn-in 9", "--colour lab --merge paper", "--sweeps 0"])
def test_options_reach_the_engine(clip, tmp_path, options):
    assert segment(clip, tmp_path / "out", "--quiet", *options.split()) == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {(48, 64)}
    with Session.open(tmp_path / "out" / "clip.scstream") as session:
        chosen = session.manifest.settings.as_dict()
    flags = iter(options.split())
    for flag, value in zip(flags, flags, strict=True):
        assert str(chosen[flag[2:].replace("-", "_")]) == value


def test_every_setting_has_its_option(clip, tmp_path, monkeypatch):
    prepared = []

    def prepare(source, out, settings, *_, **__):
        prepared.append(settings)
        raise StudioError("enough")

    monkeypatch.setattr(headless, "prepare", prepare)
    options = []
    for name, value in OTHER.items():
        flag = SPECS[name].flag
        options += [f"--no-{flag[2:]}"] if value is False else [flag, "none" if value is None else str(value)]
    assert segment(clip, tmp_path / "out", *options) == 1
    assert segment(clip, tmp_path / "out") == 1
    assert prepared == [Settings(**OTHER), Settings()]


@pytest.mark.parametrize("shape", [(47, 63), (16, 16), (5, 3)])
def test_odd_and_tiny_frames(tmp_path, shape):
    frames = [np.ascontiguousarray(frame[: shape[0], : shape[1]]) for frame in moving_square(3)]
    assert segment(write_images(tmp_path / "in", frames), tmp_path / "out", "--quiet") == 0
    assert {ids.shape for ids in ids_in(tmp_path / "out").values()} == {shape}


def test_unicode_and_spaces_in_names(tmp_path):
    clip = write_video(tmp_path / "Größe – 鳥 (1).mp4", moving_square(2))
    out = tmp_path / "mein Ordner ✓"
    assert segment(clip, out, "--quiet") == 0
    assert len(ids_in(out)) == 2
    assert (out / "Größe – 鳥 (1).scstream").is_dir() or len(list(out.glob("*.scstream"))) == 1


def test_letters_that_the_output_does_not_have(tmp_path):
    clip = write_video(tmp_path / "鳥.mp4", moving_square(1))
    command = [sys.executable, "-m", "scstream_app", "segment", str(clip), "--out", str(tmp_path / "Größe")]
    done = subprocess.run(command, env=environment(PYTHONIOENCODING="ascii"), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert rb"Gr\xf6\xdfe" in done.stdout
