"""The examples run as they are, and what they print and write is true."""

import ast
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from helpers.paths import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "notebook.ipynb"


def run(script, *arguments, folder=ROOT):
    """Run an example in a process of its own and return what it prints."""
    command = [sys.executable, EXAMPLES / script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_video_becomes_an_archive_of_ids(tmp_path):
    printed = run("segment_video.py", folder=tmp_path)
    with np.load(tmp_path / "out" / "kite_surf_ids.npz") as archive:
        ids = archive["ids"]
    assert ids.shape == (80, 216, 384)
    # All four frames that are reported, and the largest segment of the last frame with its share.
    reported = {int(frame): int(count) for frame, count in re.findall(r"frame (\d+): (\d+) segments", printed)}
    assert set(reported) == {0, 20, 40, 60}
    assert all(len(np.unique(ids[frame])) <= count for frame, count in reported.items())
    largest, share = map(int, re.search(r"segment (\d+): (\d+)% of the last frame", printed).groups())
    assert 100.0 * (ids[-1] == largest).mean() == pytest.approx(share, abs=0.51)
    assert re.search(r"events: .*\d+ birth", printed)


def test_a_camera_that_is_missing_is_replaced_by_a_clip():
    printed = run("live_camera.py", "camera:no such camera", "31").splitlines()
    assert "Playing 'crossing.mp4' instead." in printed[0]
    assert [int(re.match(r"frame (\d+):", line)[1]) for line in printed[1:]] == [0, 10, 20, 30]
    segments = [int(re.search(r"(\d+) segments", line)[1]) for line in printed[1:]]
    assert min(segments) > 5


def test_a_stream_of_points_is_learned_and_continued():
    printed = run("stream_of_points.py")
    scores = [float(score) for score in re.findall(r"index ([\d.]+) before", printed)]
    assert len(scores) == 4
    assert np.mean(scores) > 0.9
    # Two of the six Gaussians start on top of each other, and part.
    assert len(re.findall(r"split, ids", printed)) == 1
    assert re.search(r"batch 28: 6 clusters", printed)
    assert "lives since time 0;" in printed
    assert "same ids: True" in printed


def test_a_stream_can_come_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(9, 100))
    np.savez(tmp_path / "batches.npz", X=rng.normal(10.0 * y[..., None], 1.0, (9, 100, 3)), y=y)
    printed = run("stream_of_points.py", tmp_path / "batches.npz")
    assert "batch 7: 2 clusters, adjusted Rand index 1.00 before learning" in printed


def test_a_custom_component_finds_the_groups_and_is_saved():
    printed = run("custom_component.py")
    shares = re.findall(r"^cluster \d+: .* yes \[(.*)\]$", printed, re.MULTILINE)
    # The questions come in threes; each group answers yes to other ones, the first two groups both to the third three.
    mostly_yes = {tuple(float(share) > 0.5 for share in text.split()[::3]) for text in shares}
    assert mostly_yes == {(True, False, True, False), (False, True, True, False), (False, False, False, True)}
    assert "same ids: True" in printed
    loaded, continued = re.search(r"log posterior of both: (\S+), (\S+)", printed).groups()
    assert loaded == continued


def test_a_custom_component_takes_answers_from_a_file(tmp_path):
    np.save(tmp_path / "answers.npy", np.repeat([[0, 0, 1, 1, 0, 1], [1, 1, 0, 0, 1, 0]], 30, axis=0)[::-1])
    printed = run("custom_component.py", tmp_path / "answers.npy")
    assert "same ids: True" in printed


def test_a_session_is_read():
    printed = run("read_session.py")
    assert "30 frames of 384 x 216, complete: True" in printed
    assert re.search(r"events: .*\d+ birth", printed)
    # A twentieth of the picture is the surfer.
    pixels, confidence = re.search(r"object 'object' has (\d+) pixels, confidence (\d\.\d+)", printed).groups()
    assert 1000 < int(pixels) < 6000
    assert float(confidence) > 0.5
    assert "zarr reads (30, 216, 384) int32, the same ids: True" in printed


def last_value(source, names):
    """Run a cell; return the value of its last line, which a notebook shows."""
    tree = ast.parse(source)
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return None if shown is None else eval(compile(ast.Expression(shown.value), str(NOTEBOOK), "eval"), names)


def test_the_notebook_is_stored_without_results():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize("place", [".", "examples"])
def test_the_cells_of_the_notebook_run_in_order(place, monkeypatch):
    monkeypatch.chdir(ROOT / place)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names = {"__name__": "__main__"}
    shown = [last_value("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    first, segmented, followed, segmenter, events, (_, path), unsure = shown
    assert [picture.size for picture in (first, segmented, followed, unsure)] == [
        (384, 216),
        (768, 216),
        (768, 216),
        (384, 216),
    ]
    assert "table" in segmenter._repr_html_()
    assert {kind for _, kind, _ in events} <= {"birth", "split", "merge", "death"}
    assert abs(path[-1][1] - path[0][1]) > 20


def test_every_example_is_listed():
    listed = set(re.findall(r"\]\(([\w.]+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".ipynb"}} <= listed
