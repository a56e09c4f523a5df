"""`scstream export`, and objects from masks."""

import json

import numpy as np
import pytest
from PIL import Image

from helpers.clips import moving_square, read_video, square_mask, write_video
from helpers.command_line import ids_in, segment
from helpers.fake_source import FakeSource
from scstream_app import cli
from scstream_app.commands import segment as segment_command


def test_an_object_is_followed_to_the_end(clip, tmp_path, capsys):
    frames = moving_square(6)
    mask = square_mask(tmp_path, frames[0])
    assert segment(clip, tmp_path / "out", "--object", str(mask), "--formats", "matte") == 0
    assert "clip.scstream, matte, object" in capsys.readouterr().out
    truth = tmp_path / "truth"
    truth.mkdir()
    for n, frame in enumerate(frames):
        square_mask(tmp_path, frame).rename(truth / f"{n:05d}.png")
    assert cli.main(["evaluate", str(tmp_path / "out" / "object"), str(truth), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["frames"] == 6
    assert scores["j_mean"] > 0.8
    with Image.open(tmp_path / "out" / "matte" / "00005.png") as matte:
        alpha = np.asarray(matte)[..., 3] > 0
    with Image.open(tmp_path / "out" / "object" / "00005.png") as written:
        np.testing.assert_array_equal(alpha, np.asarray(written) > 0)


def test_several_objects_in_one_mask(clip, tmp_path):
    labels = np.zeros((48, 64), np.uint8)
    labels[16:32, 4:20], labels[32:, :] = 1, 2
    image = Image.fromarray(labels).convert("P")
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    image.save(tmp_path / "masks.png")
    assert (
        segment(clip, tmp_path / "out", "--object", str(tmp_path / "masks.png"), "--formats", "davis", "--quiet") == 0
    )
    assert sorted(path.name for path in (tmp_path / "out" / "object").iterdir()) == ["object 1", "object 2"]
    with Image.open(tmp_path / "out" / "davis" / "00000.png") as first:
        agreement = (np.asarray(first) == labels).mean()
    assert agreement > 0.9


@pytest.mark.parametrize(
    ("kind", "message"),
    [("absent", "No such file"), ("text", "Cannot open"), ("size", "it is 5 x 5"), ("empty", "the mask is empty")],
)
def test_an_invalid_mask_is_rejected_before_anything_is_written(clip, tmp_path, capsys, kind, message):
    path = tmp_path / "mask.png"
    match kind:
        case "text":
            path.write_text("no image")
        case "size":
            Image.fromarray(np.ones((5, 5), np.uint8)).save(path)
        case "empty":
            Image.fromarray(np.zeros((48, 64), np.uint8)).save(path)
    assert segment(clip, tmp_path / "out", "--object", str(path)) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_format_that_needs_an_object_says_so_at_once(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "matte") == 1
    assert "needs an object" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_export_of_an_object_that_there_is_none_of(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    command = ["export", str(tmp_path / "out"), "--formats", "matte", "--out", str(tmp_path / "e"), "--quiet"]
    assert cli.main(command) == 1
    assert "add one with --object" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--view", "nope"], ["--formats", "mp4:nope"]])
def test_only_views_that_can_be_written_are_offered(tmp_path, capsys, options):
    command = ["export", str(tmp_path), "--out", str(tmp_path / "e"), "--formats", "mp4"]
    assert cli.main([*command, *options]) == 2
    error = capsys.readouterr().err
    assert "mean_colour" in error
    assert "uncertainty" not in error


def test_export_needs_the_source_only_for_pictures(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    clip.rename(tmp_path / "gone.mp4")
    session = str(tmp_path / "out" / "clip.scstream")
    assert cli.main(["export", session, "--formats", "npz,ids", "--out", str(tmp_path / "e"), "--frames", "2:5"]) == 0
    assert "3 frames written" in capsys.readouterr().out
    written, first = ids_in(tmp_path / "e"), ids_in(tmp_path / "out")
    assert list(written) == ["00002.png", "00003.png", "00004.png"]
    for name, ids in written.items():
        np.testing.assert_array_equal(ids, first[name])
    assert cli.main(["export", session, "--formats", "mp4", "--out", str(tmp_path / "e")]) == 1
    assert "clip.mp4" in capsys.readouterr().err


def test_export_of_a_moved_source(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    moved = clip.rename(tmp_path / "moved.mp4")
    other = write_video(tmp_path / "other.mp4", moving_square(6)[::-1])
    command = ["export", str(tmp_path / "out" / "clip.scstream"), "--formats", "mp4", "--out", str(tmp_path / "e")]
    assert cli.main([*command, "--quiet", "--source", str(other)]) == 1
    assert "its frame 0 is a different picture" in capsys.readouterr().err
    assert cli.main([*command, "--quiet", "--source", str(moved)]) == 0
    assert len(read_video(tmp_path / "e" / "overlay.mp4")) == 6


def test_export_of_nothing_fails(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    command = ["export", str(tmp_path / "out" / "clip.scstream"), "--formats", "ids", "--out", str(tmp_path / "e")]
    assert cli.main([*command, "--frames", "20:30", "--quiet"]) == 1
    assert "has no such frame" in capsys.readouterr().err
    assert cli.main([*command, "--view", "nope"]) == 2
    assert cli.main([*command, "--palette", "nope"]) == 2
    assert not (tmp_path / "e").exists()


def test_a_live_source_takes_no_start(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(segment_command, "open_given", lambda *given: FakeSource(moving_square(3), live=True))
    assert segment("camera:0", tmp_path / "out", "--frames", "100:") == 2
    assert "is live: --frames can only set the end" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_export_of_what_is_there_already(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    session, there = str(tmp_path / "out" / "clip.scstream"), tmp_path / "out" / "ids" / "00002.png"
    there.write_bytes(b"precious")
    again = ["export", session, "--formats", "ids", "--out", str(tmp_path / "out"), "--quiet"]
    assert cli.main([*again, "--existing", "refuse"]) == 1
    assert "--existing replace" in capsys.readouterr().err
    assert cli.main([*again, "--existing", "skip"]) == 0
    assert there.read_bytes() == b"precious"
    assert cli.main(again) == 0
    assert there.read_bytes() != b"precious"


@pytest.mark.parametrize("command", [["resume"], ["export", "--formats", "ids", "--out", "x"]])
def test_no_session_is_said(tmp_path, capsys, command):
    assert cli.main([command[0], str(tmp_path / "none.scstream"), *command[1:]]) == 1
    error = capsys.readouterr().err
    assert error.startswith("scstream: Cannot open")
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["pictures", "pictures.scstream", "notes.txt"])
@pytest.mark.parametrize(
    "command", [["resume"], ["export", "--formats", "ids", "--out", "x"], ["info"]], ids=lambda words: words[0]
)
def test_a_folder_or_file_that_is_not_a_session_is_named_so(tmp_path, capsys, command, name):
    (tmp_path / "notes.txt").write_text("x")
    for folder in ("pictures", "pictures.scstream"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pictures.scstream" / "00000.png").touch()
    assert cli.main([command[0], str(tmp_path / name), *command[1:]]) == 1
    error = capsys.readouterr().err
    assert "it is not a session. A session is a folder NAME.scstream" in error
    assert error.count("\n") == 1


def test_a_session_that_has_lost_its_manifest_is_still_named_a_session(clip, tmp_path, capsys):
    assert segment(clip, tmp_path / "out", "--formats", "ids", "--quiet") == 0
    (tmp_path / "out" / "clip.scstream" / "manifest.json").unlink()
    assert cli.main(["info", str(tmp_path / "out" / "clip.scstream")]) == 1
    assert "manifest.json is missing" in capsys.readouterr().err
