"""The Cell Tracking Challenge: label images and tracks, validated and loaded by the tools of the field."""

import numpy as np
import pytest
import tifffile

from helpers.export_scenes import birth, merge, result, split, story
from helpers.exports import KITE, export, made_of
from scstream_app.export import ExportError
from scstream_app.export.contiguous_tracks import ContiguousTracks, Track
from scstream_app.export.formats.masks import ctc


def table(folder, name="res_track.txt"):
    """Begin, end and parent of each label."""
    rows = [tuple(map(int, line.split(" "))) for line in (folder / name).read_text(encoding="ascii").splitlines()]
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    return {row[0]: row[1:] for row in rows}


def images(folder):
    return np.stack([tifffile.imread(path) for path in sorted(folder.glob("*.tif"))])


def check_rules(folder, name="res_track.txt"):
    """The rules of the challenge, checked without the code under test."""
    stack, tracks = images(folder), table(folder, name)
    assert stack.dtype == np.uint16
    for label, (begin, end, parent) in tracks.items():
        shown = np.flatnonzero((stack == label).any(axis=(1, 2)))
        assert shown.tolist() == list(range(begin, end + 1))
        assert parent == 0 or tracks[parent][1] < begin
    assert set(np.unique(stack)) - {0} == set(tracks)
    return stack, tracks


# --- labels


def test_an_id_keeps_its_label_while_it_is_visible():
    tracks = ContiguousTracks()
    assert [tracks.advance(frame, [4, 9], []) for frame in range(3)] == [{4: 1, 9: 2}] * 3
    assert tracks.tracks == {1: Track(0, 2, 0), 2: Track(0, 2, 0)}


def test_an_id_that_returns_is_a_child_of_itself():
    tracks = ContiguousTracks()
    assert [tracks.advance(frame, ids, []) for frame, ids in enumerate([[4], [], [], [4]])] == [{4: 1}, {}, {}, {4: 2}]
    assert tracks.tracks == {1: Track(0, 0, 0), 2: Track(3, 3, 1)}


def test_a_missing_frame_ends_all_tracks():
    tracks = ContiguousTracks()
    tracks.advance(0, [4, 5], [])
    tracks.advance(3, [4, 5], [])
    assert tracks.tracks == {1: Track(0, 0, 0), 2: Track(0, 0, 0), 3: Track(3, 3, 1), 4: Track(3, 3, 2)}


def test_both_parts_of_a_split_are_children():
    tracks = ContiguousTracks()
    tracks.advance(0, [4, 5], [])
    assert tracks.advance(1, [4, 5, 6], [(4, 6)]) == {4: 4, 5: 2, 6: 3}
    assert tracks.tracks == {1: Track(0, 0, 0), 2: Track(0, 1, 0), 3: Track(1, 1, 1), 4: Track(1, 1, 1)}


def test_a_part_that_becomes_visible_later_divides_its_parent_then():
    tracks = ContiguousTracks()
    tracks.advance(0, [4], [])
    tracks.advance(1, [4], [(4, 6)])
    tracks.advance(2, [4, 6], [])
    assert tracks.tracks == {1: Track(0, 1, 0), 2: Track(2, 2, 1), 3: Track(2, 2, 1)}


def test_the_parent_may_be_gone():
    tracks = ContiguousTracks()
    tracks.advance(0, [4], [])
    tracks.advance(1, [6], [(4, 6)])
    assert tracks.tracks == {1: Track(0, 0, 0), 2: Track(1, 1, 1)}


def test_an_ancestor_stands_in_for_a_parent_that_was_never_seen():
    tracks = ContiguousTracks()
    tracks.advance(0, [4], [])
    tracks.advance(1, [4, 6], [(4, 5), (5, 6)])
    assert tracks.tracks[2] == Track(1, 1, 1)


def test_parts_of_the_first_frame_have_no_parent():
    tracks = ContiguousTracks()
    tracks.advance(0, [4, 5], [(4, 5)])
    assert tracks.tracks == {1: Track(0, 0, 0), 2: Track(0, 0, 0)}


# --- files


def test_segments_are_tracks_with_their_parents(tmp_path):
    results = story()
    folder = export(tmp_path, "ctc", results)
    assert folder == tmp_path / "01_RES"
    assert sorted(path.name for path in folder.glob("*.tif")) == [f"mask{n:03d}.tif" for n in range(5)]
    stack, tracks = check_rules(folder)
    # 3 splits off from 1 on frame 2, and 2 is absorbed on frame 4.
    assert tracks == {1: (0, 4, 0), 2: (0, 1, 0), 3: (0, 3, 0), 4: (2, 4, 2), 5: (2, 4, 2)}
    for labels, one in zip(stack, results, strict=True):
        table_of_labels = [1, 2, 3] if one.index < 2 else [1, 5, 3, 4]
        np.testing.assert_array_equal(labels, np.array(table_of_labels)[one.ids])


def test_objects_have_no_genealogy_and_come_back_as_their_children(tmp_path):
    results = story()
    results[2].ids[:] = 0
    _, tracks = check_rules(export(tmp_path, "ctc", results, objects=(made_of("nowhere", 77), KITE)))
    assert tracks == {1: (0, 1, 0), 2: (3, 4, 1)}


def test_frames_count_from_the_first_one_and_gaps_are_empty(tmp_path):
    folder = export(tmp_path, "ctc", story(first=10, gap=2)[:3])
    stack, tracks = check_rules(folder)
    assert stack.any(axis=(1, 2)).tolist() == [True, False, True, False, True]
    assert [(begin, end) for begin, end, _ in tracks.values()] == [(0, 0)] * 3 + [(2, 2)] * 3 + [(4, 4)] * 4
    assert [parent for *_, parent in tracks.values()] == [0, 0, 0, 1, 2, 3, 4, 5, 6, 5]


def test_long_clips_have_longer_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(ctc, "_DIGITS", 1)
    folder = export(tmp_path, "ctc", [result(n, np.zeros((2, 2))) for n in range(11)])
    assert sorted(path.name for path in folder.glob("*.tif")) == [f"mask{n:02d}.tif" for n in range(11)]
    check_rules(folder)


def test_ground_truth_has_masks_of_tracking_and_segmentation(tmp_path):
    folder = export(tmp_path, "ctc_gt", story())
    assert {path.name for path in (folder / "TRA").iterdir()} == {
        "man_track.txt", *(f"man_track{n:03d}.tif" for n in range(5)),
    }  # fmt: skip
    stack, _ = check_rules(folder / "TRA", "man_track.txt")
    np.testing.assert_array_equal(images(folder / "SEG"), stack)
    assert (folder / "SEG" / "man_seg004.tif").is_file()


def test_more_labels_than_16_bits_hold_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ctc, "LARGEST_LABEL", 3)
    with pytest.raises(ExportError, match="01_RES': more than 3 tracks do not fit into 16 bits"):
        export(tmp_path, "ctc", story())
    assert not list(tmp_path.iterdir())


# --- tools of the field


def eventful(seed, frames=8, shape=(16, 16)):
    """Random ids that split, merge, vanish and come back."""
    rng = np.random.default_rng(seed)
    ids = np.zeros(shape, np.int32)
    results, last = [], 0
    for frame in range(frames):
        events = [birth(0, 0)] if frame == 0 else []
        for id in np.unique(ids).tolist():
            rows, columns = np.nonzero(ids == id)
            if len(rows) > 20 and rng.random() < 0.6:
                last += 1
                events.append(split(frame, id, last))
                upper = rows < np.median(rows) if rng.random() < 0.5 else columns < np.median(columns)
                ids[rows[upper], columns[upper]] = last
            elif id and rng.random() < 0.1:
                events.append(merge(frame, 0, id))
                ids[ids == id] = 0
        seen = np.where(ids == rng.choice(np.unique(ids)), -1, ids)
        results.append(result(frame + (frame > 4), seen, events))
        ids = ids.copy()
    return results


@pytest.mark.parametrize("seed", range(4))
def test_any_history_keeps_the_rules(tmp_path, seed):
    check_rules(export(tmp_path, "ctc", eventful(seed)))


@pytest.mark.filterwarnings("default", "ignore:Empty frame")
def test_ctcmetrics_finds_a_result_valid_and_equal_to_its_ground_truth(tmp_path, capsys):
    pytest.importorskip("ctc_metrics")
    from ctc_metrics.scripts.evaluate import evaluate_sequence
    from ctc_metrics.scripts.validate import validate_sequence

    # Its evaluation expects some background on every frame.
    results = [one for one in eventful(1) if (one.ids < 0).any()]
    paths = [str(export(tmp_path, name, results)) for name in ("ctc", "ctc_gt")]
    assert validate_sequence(paths[0], threads=1) == {"Valid": 1}
    scores = evaluate_sequence(*paths, metrics=["Valid", "DET", "SEG", "TRA"], threads=1)
    capsys.readouterr()
    assert {name: scores[name] for name in ("Valid", "DET", "SEG", "TRA")} == {"Valid": 1, "DET": 1, "SEG": 1, "TRA": 1}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_traccuracy_loads_the_divisions(tmp_path, capsys):
    pytest.importorskip("traccuracy")
    from traccuracy.loaders import load_ctc_data

    results = story()
    graph = load_ctc_data(str(export(tmp_path, "ctc", results)), run_checks=True)
    capsys.readouterr()
    assert graph.get_divisions() == ["2_1"]
    assert sorted(graph.graph.successors("2_1")) == ["4_2", "5_2"]
    assert len(graph.graph) == sum(len(np.unique(one.ids)) for one in results)
