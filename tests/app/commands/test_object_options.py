"""Objects on the command line, from the options to the files and scores."""

from __future__ import annotations

import csv
import json
import shutil
import signal
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from helpers.clips import moving_square
from scstream_app import cli
from scstream_app.export import Exporter
from scstream_app.session import Session


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A folder of six pictures, and of the true masks of their square."""
    (tmp_path / "clip").mkdir()
    (tmp_path / "truth").mkdir()
    for index, picture in enumerate(moving_square(6)):
        cv2.imwrite(str(tmp_path / "clip" / f"{index:05d}.png"), picture[..., ::-1])
        mask = (picture[..., 0] > 150).astype(np.uint8) * 255
        cv2.imwrite(str(tmp_path / "truth" / f"{index:05d}.png"), mask)
    return tmp_path / "clip"


def run(*words: Any) -> int:
    return cli.main([str(word) for word in words])


def segment(clip: Path, *words: Any) -> int:
    return run("segment", clip, "--out", clip.parent / "out", "--max-init-sweeps", 10, "--threads", 1, *words)


def test_area_and_confidence_are_in_json_and_csv(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mask = clip.parent / "truth" / "00000.png"
    assert segment(clip, "--object", f"square={mask}", "--object", "1,1", "--formats", "csv", "--json", "--quiet") == 0
    square, spot = json.loads(capsys.readouterr().out)["objects"]
    assert (square["name"], spot["name"]) == ("square", "object 2")
    assert square["frames"] == list(range(6))
    assert square["area"][0] == int((cv2.imread(str(mask), 0) > 0).sum())
    assert square["confidence"][0] == 1.0
    assert all(0.0 <= value <= 1.0 for value in square["confidence"])
    with (clip.parent / "out" / "objects.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["area"]) for row in rows if row["object"] == "square"] == square["area"]


def test_the_segments_do_not_depend_on_objects(clip: Path) -> None:
    assert segment(clip, "--formats", "ids", "--quiet") == 0
    plain = {path.name: path.read_bytes() for path in (clip.parent / "out" / "ids").iterdir()}
    mask = clip.parent / "truth" / "00000.png"
    assert segment(clip, "--object", mask, "--formats", "ids", "--quiet", "--overwrite") == 0
    assert {path.name: path.read_bytes() for path in (clip.parent / "out" / "ids").iterdir()} == plain


def test_corrections_of_an_export_leave_earlier_masks_as_they_are(clip: Path) -> None:
    out, fixes = clip.parent / "out", clip.parent / "fixes"
    assert segment(clip, "--object", clip.parent / "truth" / "00000.png", "--formats", "object", "--quiet") == 0
    fixes.mkdir()
    corner = np.zeros((48, 64), np.uint8)
    corner[30:40, 40:60] = 255
    cv2.imwrite(str(fixes / "00003.png"), corner)
    words = ["--formats", "object", "--out", clip.parent / "again", "--corrections", fixes, "--quiet"]
    assert run("export", out, *words) == 0
    for index in range(6):
        first, second = (folder / "object" / f"{index:05d}.png" for folder in (out, clip.parent / "again"))
        assert (first.read_bytes() == second.read_bytes()) == (index < 3)
    assert np.array_equal(cv2.imread(str(clip.parent / "again" / "object" / "00003.png"), 0), corner)


def press_ctrl_c(monkeypatch: pytest.MonkeyPatch, cls: type, method: str, index: int) -> None:
    """Press Ctrl-C when a frame is written."""
    write = getattr(cls, method)

    def interrupted(self: Any, result: Any) -> None:
        write(self, result)
        if result.index == index:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cls, method, interrupted)


@pytest.mark.parametrize("change", [["--remove-object", "square"], ["--object", "spot=1,1"]])
def test_an_interrupted_export_changes_no_objects(
    clip: Path, change: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = clip.parent / "out"
    assert (
        segment(clip, "--object", f"square={clip.parent / 'truth' / '00000.png'}", "--formats", "csv", "--quiet") == 0
    )
    press_ctrl_c(monkeypatch, Exporter, "write", 2)
    assert run("export", out, "--formats", "ids", "--out", clip.parent / "again", *change, "--quiet") == 130
    with Session.open(out / "clip.scstream") as session:
        assert [one.name for one in session.objects] == ["square"]


@pytest.mark.parametrize("as_json", [False, True])
def test_corrections_of_later_frames_are_applied_after_an_interruption(
    clip: Path, as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fixes = clip.parent / "fixes"
    fixes.mkdir()
    for frame in (1, 4, 5):
        shutil.copy(clip.parent / "truth" / f"{frame:05d}.png", fixes)
    if as_json:
        entries = [{"frame": 1, "box": [3, 4, 9, 8]}, {"frame": 4, "point": [5, 6], "kind": "added", "until": 6}]
        (fixes := clip.parent / "fixes.json").write_text(
            json.dumps([*entries, {"frame": 5, "mask": "fixes/00005.png"}])
        )
    words = ["--object", clip.parent / "truth" / "00000.png", "--corrections", fixes, "--formats", "csv", "--quiet"]
    assert segment(clip, *words) == 0
    with Session.open(clip.parent / "out" / "clip.scstream") as session:
        expected = session.objects
        assert session.waiting_prompts == ()
    with monkeypatch.context() as patched:
        press_ctrl_c(patched, Session, "append", 2)
        assert segment(clip, *words, "--overwrite") == 130
    assert capsys.readouterr().err.startswith("Interrupted after 3 frames. Resume with: scstream resume")
    path = clip.parent / "out" / "clip.scstream"
    with Session.open(path) as session:
        assert [prompt.frame for prompt in session.waiting_prompts] == [4, 5]
        assert len(session.objects[0].edits) == 2
    assert run("resume", path, "--quiet") == 0
    with Session.open(path) as session:
        assert session.objects == expected
        assert session.waiting_prompts == ()
    assert not (path / "prompts.json").exists()


def test_soft_edges_change_the_outline_of_mattes_only(clip: Path) -> None:
    out, mask = clip.parent / "out", clip.parent / "truth" / "00000.png"
    assert segment(clip, "--object", mask, "--formats", "matte", "--quiet") == 0
    assert run("export", out, "--formats", "matte", "--out", clip.parent / "soft", "--soft-edges", "--quiet") == 0
    hard, soft = (
        cv2.imread(str(folder / "matte" / "00000.png"), cv2.IMREAD_UNCHANGED)[..., 3]
        for folder in (out, clip.parent / "soft")
    )
    assert set(np.unique(hard)) == {0, 255}
    between = (soft > 0) & (soft < 255)
    near = cv2.dilate(
        cv2.morphologyEx(hard, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)), np.ones((19, 19), np.uint8)
    )
    assert between.any()
    assert not between[near == 0].any()


def test_evaluate_scores_the_tracked_objects_of_a_session(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mask = clip.parent / "truth" / "00000.png"
    assert segment(clip, "--object", mask, "--formats", "object,csv", "--quiet") == 0
    assert run("evaluate", clip.parent / "out" / "clip.scstream", clip.parent / "truth", "--json") == 0
    tracked = json.loads(capsys.readouterr().out)["tracked"]
    assert run("evaluate", clip.parent / "out" / "object", clip.parent / "truth", "--json") == 0
    masks = json.loads(capsys.readouterr().out)
    assert tracked["j_mean"] == masks["j_mean"] > 0.8
    assert tracked["frames_without_prediction"] == 0
    # Every frame is perfect, so there is nothing to rank.
    assert "confidence_rank_correlation" not in tracked
    assert run("evaluate", clip.parent / "out" / "clip.scstream", clip.parent / "truth") == 0
    assert "tracked j mean" in capsys.readouterr().out


def test_evaluate_says_on_how_many_frames_objects_were_not_tracked(
    clip: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = clip.parent / "out" / "clip.scstream"
    assert segment(clip, "--object", clip.parent / "truth" / "00000.png", "--formats", "object", "--quiet") == 0
    for index in (2, 3):
        (session / "object_masks" / f"{index:06d}.mask").unlink()
    assert run("evaluate", session, clip.parent / "truth") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tracked", "frames", "without", "prediction", "2"] in rows


def test_evaluate_ranks_frames_by_confidence(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = clip.parent / "found"
    found.mkdir()
    lines = ["frame,time,object,area,confidence"]
    for index in range(6):
        mask = cv2.imread(str(clip.parent / "truth" / f"{index:05d}.png"), 0)
        mask[: 16 + 2 * index] = 0
        cv2.imwrite(str(found / f"{index:05d}.png"), mask)
        lines.append(f"{index},0.0,square,{int((mask > 0).sum())},{0.9 - 0.1 * index:.1f}")
    (clip.parent / "objects.csv").write_text("\n".join(lines))
    assert run("evaluate", found, clip.parent / "truth", "--json") == 0
    assert json.loads(capsys.readouterr().out)["confidence_rank_correlation"] == pytest.approx(1.0)


def test_a_damaged_table_of_confidences_is_reported(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clip.parent / "truth" / "objects.csv").write_text("frame\nx\n")
    assert run("evaluate", clip.parent / "truth", clip.parent / "truth") == 1
    assert "it is not a table of objects" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--object", "1,2,3"], "a point is x,y"),
        (["--object", "999,1"], "outside the frames"),
        (["--corrections", "nowhere"], "no object to correct"),
    ],
)
def test_wrong_objects_end_before_anything_is_written(
    clip: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert segment(clip, *words, "--quiet") == 1
    assert message in capsys.readouterr().err
    assert not (clip.parent / "out").exists()


def objects_of(session: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Names of the objects in a session."""
    capsys.readouterr()
    assert run("info", session, "--json") == 0
    names = json.loads(capsys.readouterr().out)["objects"]
    assert isinstance(names, list)
    return names


def test_an_export_adds_objects_to_the_session_and_removes_them(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session, out = clip.parent / "out" / "clip.scstream", clip.parent / "e"
    assert segment(clip, "--object", "square=6,20", "--formats", "ids", "--quiet") == 0
    assert run("export", session, "--formats", "object", "--out", out, "--object", "corner=60,2") == 0
    assert f"Session changed: {session}, objects: square, corner" in capsys.readouterr().out
    assert objects_of(session, capsys) == ["square", "corner"]
    assert run("export", session, "--formats", "csv", "--out", out, "--remove-object", "Square") == 0
    assert f"Session changed: {session}, objects: corner" in capsys.readouterr().out
    assert objects_of(session, capsys) == ["corner"]
    with (out / "objects.csv").open() as file:
        assert {row["object"] for row in csv.DictReader(file)} == {"corner"}


def test_an_export_without_objects_says_nothing_of_a_change(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert segment(clip, "--formats", "ids", "--quiet") == 0
    assert run("export", clip.parent / "out", "--formats", "ids", "--out", clip.parent / "e") == 0
    assert "changed" not in capsys.readouterr().out


def test_objects_are_removed_without_the_source_and_may_be_begun_anew(
    clip: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = clip.parent / "out" / "clip.scstream"
    assert segment(clip, "--object", "dog=6,20", "--object", "cat=60,2", "--formats", "ids", "--quiet") == 0
    moved = clip.rename(clip.parent / "moved")
    words = ["export", session, "--formats", "csv", "--out", clip.parent / "e", "--quiet", "--remove-object", "dog"]
    assert run(*words, "--remove-object", "cat") == 0
    assert objects_of(session, capsys) == []
    assert run(*words[:-2], "--object", "dog=60,2", "--source", moved) == 0
    assert run(*words, "--object", "dog=6,20", "--source", moved) == 0
    assert [(edit.kind, edit.frame) for edit in Session.open(session).objects[0].edits] == [("made", 0)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--remove-object", "cat"], "has no such object; it has 'dog'"),
        (["--remove-object", "dog", "--object", "999,1"], "outside the frames"),
        (["--remove-object", "dog", "--corrections", "nowhere"], "no object to correct"),
        (["--remove-object", "dog"], "The format 'object' needs an object"),
        (["--remove-object", "dog", "--frames", "900:"], "has no such frame"),
        (["--object", "cat=60,2", "--out", "clip/00000.png/e"], "is a file, and a folder is needed there"),
    ],
)
def test_an_export_that_fails_does_not_change_the_session(
    clip: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clip.parent)
    session = clip.parent / "out" / "clip.scstream"
    assert segment(clip, "--object", "dog=6,20", "--formats", "ids", "--quiet") == 0
    assert run("export", session, "--formats", "object", "--out", clip.parent / "e", *words) == 1
    assert message in capsys.readouterr().err
    assert objects_of(session, capsys) == ["dog"]
    assert not (clip.parent / "e").exists()


def test_an_export_reports_the_objects_as_json(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = clip.parent / "out" / "clip.scstream"
    assert segment(clip, "--object", "dog=6,20", "--object", "cat=60,2", "--formats", "ids", "--quiet") == 0
    capsys.readouterr()
    words = ["export", session, "--formats", "csv", "--out", clip.parent / "e", "--json", "--remove-object", "dog"]
    assert run(*words) == 0
    assert json.loads(capsys.readouterr().out)["objects"] == ["cat"]


def test_the_help_of_export_promises_no_masks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert run("export", "--help") == 0
    text = capsys.readouterr().out
    assert "segment also writes" not in text
    assert "Stored in the session; written only by the formats of --formats" in text
    assert "change the session for good" in text
