"""Scores of objects, compared with independent computations; and inputs that cannot be compared."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from scipy.ndimage import distance_transform_edt

from helpers.label_images import save
from scstream_app.errors import EvaluationError
from scstream_app.evaluation.scores import evaluate

Mask = npt.NDArray[np.bool_]


def disc(row: float, column: float, radius: float, shape: tuple[int, int] = (60, 90)) -> Mask:
    y, x = np.indices(shape)
    return np.hypot(y - row, x - column) < radius


def boundary_f_by_distances(predicted: Mask, truth: Mask) -> float:
    """F from distance transforms: how far each outline pixel is from the other outline."""

    def outline(mask: Mask) -> Mask:
        padded = np.pad(mask, ((0, 1), (0, 1)), mode="edge")
        return (mask != padded[:-1, 1:]) | (mask != padded[1:, :-1]) | (mask != padded[1:, 1:])

    radius = math.ceil(0.008 * math.hypot(*truth.shape))
    a, b = outline(predicted), outline(truth)
    precision = float((distance_transform_edt(~b)[a] <= radius).mean())
    recall = float((distance_transform_edt(~a)[b] <= radius).mean())
    return 2 * precision * recall / (precision + recall)


def test_one_object_scores_j_and_f_frame_by_frame(tmp_path: Path) -> None:
    truth = [disc(30, 30 + 3 * n, 14) for n in range(8)]
    predicted = [disc(31, 30 + 2 * n, 13) for n in range(8)]
    scores = evaluate(
        save(tmp_path / "mine", [255 * mask.astype(np.uint8) for mask in predicted]),
        save(tmp_path / "truth", [255 * mask.astype(np.uint8) for mask in truth]),
    )
    j = [(p & t).sum() / (p | t).sum() for p, t in zip(predicted, truth, strict=True)]
    f = [boundary_f_by_distances(p, t) for p, t in zip(predicted, truth, strict=True)]
    assert scores["frames"] == 8
    assert scores["kind"] == "objects"
    assert scores["j_mean"] == pytest.approx(np.mean(j), abs=1e-6)
    assert scores["f_mean"] == pytest.approx(np.mean(f), abs=1e-6)
    assert scores["j_recall"] == pytest.approx(np.mean(np.array(j) > 0.5), abs=1e-6)
    assert scores["j_decay"] == pytest.approx(np.mean(j[:3]) - np.mean(j[-3:]), abs=1e-6)
    assert scores["j_and_f"] == pytest.approx((np.mean(j) + np.mean(f)) / 2, abs=1e-6)
    assert 0.3 < scores["f_mean"] < 0.99


def test_masks_with_transparency_count_where_they_are_opaque(tmp_path: Path) -> None:
    mask = disc(30, 40, 14)
    truth = save(tmp_path / "truth", [255 * mask.astype(np.uint8)])
    for name, channels in (("grey", 1), ("colour", 3)):
        (tmp_path / name).mkdir()
        white = [np.full(mask.shape, 255, np.uint8)] * channels
        Image.fromarray(np.dstack([*white, 255 * mask.astype(np.uint8)])).save(tmp_path / name / "00000.png")
        assert evaluate(tmp_path / name, truth)["j_mean"] == 1.0


def test_a_hand_made_mask(tmp_path: Path) -> None:
    truth, mine = np.zeros((4, 6), np.uint8), np.zeros((4, 6), np.uint8)
    truth[1:3, 1:5] = 255
    mine[1:3, 3:6] = 255
    scores = evaluate(save(tmp_path / "mine", [mine]), save(tmp_path / "truth", [truth]))
    assert scores["j_mean"] == pytest.approx(4 / 10, abs=1e-6)


def test_several_objects_are_matched_by_value_and_void_is_not_judged(tmp_path: Path) -> None:
    truth, mine = np.zeros((10, 20), np.uint8), np.zeros((10, 20), np.uint8)
    truth[:, 0:5], truth[:, 10:15], truth[:, 15:17] = 1, 2, 255
    mine[:, 0:10], mine[:, 10:17] = 1, 2
    scores = evaluate(save(tmp_path / "mine", [mine]), save(tmp_path / "truth", [truth]))
    assert scores["objects"]["1"]["j_mean"] == pytest.approx(0.5)
    assert scores["objects"]["2"]["j_mean"] == pytest.approx(1.0)
    assert scores["j_mean"] == pytest.approx(0.75)
    assert "255" not in scores["objects"]


def test_the_void_label_can_be_chosen(tmp_path: Path) -> None:
    truth, mine = np.zeros((10, 20), np.uint8), np.zeros((10, 20), np.uint8)
    truth[:, 0:5], truth[:, 5:10] = 1, 9
    mine[:, 0:10] = 1
    folders = save(tmp_path / "mine", [mine]), save(tmp_path / "truth", [truth])
    assert evaluate(*folders)["objects"].keys() == {"1", "9"}
    scores = evaluate(*folders, void=9)
    assert scores["objects"].keys() == {"1"}
    assert scores["j_mean"] == 1.0


def test_the_ends_can_be_left_out(tmp_path: Path) -> None:
    truth = [255 * disc(30, 40, 10).astype(np.uint8)] * 4
    wrong = np.zeros_like(truth[0])
    mine = save(tmp_path / "mine", [wrong, truth[0], truth[0], wrong])
    right = save(tmp_path / "truth", truth)
    assert evaluate(mine, right)["j_mean"] == pytest.approx(0.5)
    inner = evaluate(mine, right, skip_ends=True)
    assert (inner["frames"], inner["j_mean"]) == (2, 1.0)


# --- frames without a prediction or without a truth


def test_a_missing_prediction_counts_as_missed(tmp_path: Path) -> None:
    mask = 255 * disc(30, 40, 10).astype(np.uint8)
    mine, truth = save(tmp_path / "mine", [mask] * 8), save(tmp_path / "truth", [mask] * 8)
    for number in (0, 4):
        (mine / f"{number:05d}.png").unlink()
    scores = evaluate(mine, truth)
    assert (scores["frames"], scores["frames_without_prediction"]) == (8, 2)
    assert scores["j_mean"] == scores["f_mean"] == scores["j_recall"] == 6 / 8
    # One of the three frames of the first quarter is missing.
    assert scores["j_decay"] == scores["f_decay"] == pytest.approx(-1 / 3, abs=1e-6)


@pytest.mark.parametrize("count", [5, 11])
def test_missing_predictions_lower_j_and_count_in_the_decay_of_davis(tmp_path: Path, count: int) -> None:
    truth = [disc(30, 40, 12) for _ in range(count)]
    predicted = [disc(30, 40 + n, 12) for n in range(count)]
    missing = (1, count - 2)
    mine = save(tmp_path / "mine", [255 * mask.astype(np.uint8) for mask in predicted])
    right = save(tmp_path / "truth", [255 * mask.astype(np.uint8) for mask in truth])
    complete = evaluate(mine, right)
    for number in missing:
        (mine / f"{number:05d}.png").unlink()
    scores = evaluate(mine, right)
    j = np.array([(p & t).sum() / (p | t).sum() for p, t in zip(predicted, truth, strict=True)])
    j[list(missing)] = 0.0
    # The four bins of the code of DAVIS, whose ends neighbours share.
    limits = (np.round(np.linspace(1, count, 5) + 1e-10) - 1).astype(np.uint8)
    bins = [j[limits[n] : limits[n + 1] + 1] for n in range(4)]
    assert scores["j_mean"] == pytest.approx(j.mean(), abs=1e-6)
    assert scores["j_mean"] < complete["j_mean"]
    assert scores["j_decay"] == pytest.approx(bins[0].mean() - bins[3].mean(), abs=1e-6)


def test_a_missing_prediction_at_an_end_that_is_left_out_does_not_count(tmp_path: Path) -> None:
    mask = 255 * disc(30, 40, 10).astype(np.uint8)
    mine, truth = save(tmp_path / "mine", [mask] * 4, first=1), save(tmp_path / "truth", [mask] * 6)
    assert evaluate(mine, truth)["frames_without_prediction"] == 2
    scores = evaluate(mine, truth, skip_ends=True)
    assert (scores["frames"], scores["frames_without_prediction"], scores["j_mean"]) == (4, 0, 1.0)


def test_an_object_that_is_seen_in_missing_frames_only_is_missed(tmp_path: Path) -> None:
    first, second = np.zeros((10, 20), np.uint8), np.zeros((10, 20), np.uint8)
    first[:, :5] = second[:, :5] = 1
    second[:, 10:] = 2
    scores = evaluate(save(tmp_path / "mine", [first]), save(tmp_path / "truth", [first, second]))
    assert scores["objects"]["1"]["j_mean"] == 0.5
    # It is absent from the first frame, in prediction and truth.
    assert scores["objects"]["2"]["j_mean"] == 0.5


def test_predictions_without_a_truth_are_ignored(tmp_path: Path) -> None:
    mask = 255 * disc(30, 40, 10).astype(np.uint8)
    mine = save(tmp_path / "mine", [255 - mask, mask, mask, 255 - mask])
    scores = evaluate(mine, save(tmp_path / "truth", [mask] * 2, first=1))
    assert (scores["frames"], scores["frames_without_prediction"], scores["j_mean"]) == (2, 0, 1.0)


# --- files


def test_an_indexed_image_is_read_by_index_not_by_colour(tmp_path: Path) -> None:
    from PIL import Image

    index = np.zeros((6, 8), np.uint8)
    index[:, 4:] = 3
    (tmp_path / "mine").mkdir()
    image = Image.fromarray(index, "P")
    image.putpalette([0, 0, 0, 9, 9, 9, 8, 8, 8, 200, 10, 10])
    image.save(tmp_path / "mine" / "00000.png")
    truth = save(tmp_path / "truth", [np.where(index == 3, 3, np.where(np.indices(index.shape)[0] == 0, 1, 0))])
    scores = evaluate(tmp_path / "mine", truth)
    assert scores["objects"]["3"]["j_mean"] == 1.0
    assert scores["objects"]["1"]["j_mean"] == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "absent", "no such file or folder"),
        (lambda p: save(p / "empty", []), "contains no PNG image with a frame number"),
        (lambda p: save(p / "later", [np.zeros((4, 6), np.uint8)], first=70), "share no frame number"),
        (lambda p: save(p / "small", [np.zeros((3, 6), np.uint8)]), "Frame 0 has 6 x 3 pixels"),
    ],
)
def test_inputs_that_cannot_be_compared_are_rejected(tmp_path: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    with pytest.raises(EvaluationError, match=message):
        evaluate(make(tmp_path), truth)


def test_frames_can_be_too_few_for_leaving_out_the_ends(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)] * 2)
    with pytest.raises(EvaluationError, match=r"--skip-ends ignores .* truth has only 2 frames"):
        evaluate(truth, truth, skip_ends=True)


def test_a_range_of_frames_gives_the_scores_of_these_frames(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [255 * disc(30, 30, 14).astype(np.uint8)] * 6, first=2)
    mine = save(tmp_path / "mine", [255 * disc(30, 30 + n, 14).astype(np.uint8) for n in range(6)], first=2)
    part = save(tmp_path / "part", [255 * disc(30, 30 + n, 14).astype(np.uint8) for n in range(1, 4)], first=3)
    some = save(tmp_path / "some", [255 * disc(30, 30, 14).astype(np.uint8)] * 3, first=3)
    assert evaluate(mine, truth, start=3, stop=6) == evaluate(part, some)
    assert evaluate(mine, truth, start=4, stop=99)["frames"] == 4
    # The ends are those of the whole truth, frames 2 and 7.
    assert evaluate(mine, truth, skip_ends=True, start=0, stop=5)["frames"] == 2


@pytest.mark.parametrize("skip_ends", [False, True])
def test_a_range_without_a_true_frame_is_rejected(tmp_path: Path, skip_ends: bool) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)] * 5, first=1)
    message = "it holds frames 2 to 4" if skip_ends else "it holds frames 1 to 5"
    with pytest.raises(EvaluationError, match=rf"truth' has no such frame; {message}\. Change --frames"):
        evaluate(truth, truth, skip_ends=skip_ends, start=20, stop=30)


def test_pictures_are_of_no_use_for_masks(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    with pytest.raises(EvaluationError, match=r"--source adds scores of segments, but .* contains masks"):
        evaluate(truth, truth, source=str(truth))


def test_images_in_subfolders_are_pointed_out(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    (tmp_path / "object").mkdir()
    for name in ("object 1", "object 2"):
        save(tmp_path / "object" / name, [np.full((4, 6), 255, np.uint8)])
    with pytest.raises(EvaluationError, match="in subfolders; choose one of them: object 1, object 2"):
        evaluate(tmp_path / "object", truth)


@pytest.mark.parametrize("kinds", [(np.uint8, np.uint16), (np.uint16, np.uint8)])
def test_images_of_two_kinds_are_refused(tmp_path: Path, kinds: tuple[type, type]) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)] * 2)
    mine = save(tmp_path / "mine", [np.ones((4, 6), kind) for kind in kinds])
    with pytest.raises(EvaluationError, match=r"mixes 8-bit images .* '00001.png' differs"):
        evaluate(mine, truth)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_nothing_waits_for_a_pipe(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    (tmp_path / "mine").mkdir()
    os.mkfifo(tmp_path / "mine" / "00000.png")
    os.mkfifo(tmp_path / "mine.npz")
    with pytest.raises(EvaluationError, match="it is not a regular file"):
        evaluate(tmp_path / "mine", truth)
    with pytest.raises(EvaluationError, match="give a folder of PNG images"):
        evaluate(tmp_path / "mine.npz", truth)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"labels": np.zeros((1, 4, 6), np.int32)}, "it has no array 'ids'"),
        ({"ids": np.int32(3)}, "'ids' must be integers of shape"),
        ({"ids": np.zeros((1, 4, 6))}, "'ids' must be integers of shape"),
        ({"ids": np.zeros((1, 0, 6), np.int32)}, "'ids' must be integers of shape"),
        ({"ids": np.array([[[{}]]])}, "it is not a NumPy archive, or it is damaged"),
        ({"ids": np.full((1, 4, 6), 1 << 40, np.uint64)}, "'ids' must fit into 32 bits"),
        ({"ids": np.zeros((1, 4, 6), np.int32), "frames": np.array([np.nan])}, "'frames' must be integers"),
        ({"ids": np.zeros((1, 4, 6), np.int32), "frames": np.int32(0)}, "'frames' must be integers"),
        ({"ids": np.zeros((2, 4, 6), np.int32), "frames": np.array([1, 1])}, "'frames' contains a number twice"),
    ],
)
def test_odd_archives_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(EvaluationError, match=message):
        evaluate(tmp_path / "mine.npz", truth)


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    rng = np.random.default_rng(0)
    np.savez_compressed(tmp_path / "whole.npz", ids=rng.integers(0, 9, (1, 4, 6)))
    whole = (tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "mine.npz"
    np.save(tmp_path / "plain.npy", np.zeros(3))
    damaged = [b"", b"PK", whole[: len(whole) // 2], whole[:60], (tmp_path / "plain.npy").read_bytes()]
    for place in range(0, len(whole), 7):
        damaged.append(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
    for data in damaged:
        path.write_bytes(data)
        # Some bytes do not matter; none of them may lead to another failure than this.
        with suppress(EvaluationError):
            evaluate(path, truth)
    path.write_bytes(damaged[2])
    with pytest.raises(EvaluationError, match="it is not a NumPy archive, or it is damaged"):
        evaluate(path, truth)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    truth = save(tmp_path / "truth", [np.full((4, 6), 255, np.uint8)])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "00000.png").write_bytes(b"no image")
    with pytest.raises(EvaluationError, match=r"Cannot read '.*00000.png': it is not an image or is damaged\.$"):
        evaluate(tmp_path / "mine", truth)
    (tmp_path / "mine.npz").write_bytes(b"no archive")
    with pytest.raises(EvaluationError, match=r"Cannot read '.*mine.npz'"):
        evaluate(tmp_path / "mine.npz", truth)
    np.savez(tmp_path / "flat.npz", ids=np.zeros(4, np.int32))
    with pytest.raises(EvaluationError, match="shape"):
        evaluate(tmp_path / "flat.npz", truth)
