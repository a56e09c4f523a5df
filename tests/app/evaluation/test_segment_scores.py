"""Scores of segments: by themselves, against objects, against dense labels and along the motion of a video."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from helpers.clips import moving_square
from helpers.fake_source import FakeSource
from helpers.label_images import save
from helpers.session_clips import recorded
from scstream_app.errors import EvaluationError
from scstream_app.evaluation import comparison
from scstream_app.evaluation.scores import evaluate
from scstream_app.sources import DamagedFrame


def id_images(maps: npt.ArrayLike) -> list[npt.NDArray[np.uint16]]:
    """Id maps as the export "ids" writes them."""
    return list(np.asarray(maps, np.uint16) + np.uint16(1))


def test_segments_against_a_mask(tmp_path: Path) -> None:
    """Ids 0 and 1 make up the object exactly; in the last frame the background's id 2 has taken half of it."""
    ids = np.full((10, 20), 2)
    ids[:, 0:4], ids[:, 4:8] = 0, 1
    last = ids.copy()
    last[:, 4:8] = 2
    maps = [(picture + 1).astype(np.uint16) for picture in (ids, ids, ids, last)]
    mask = np.zeros((10, 20), np.uint8)
    mask[:, 0:8] = 255
    scores = evaluate(save(tmp_path / "mine", maps), save(tmp_path / "truth", [mask] * 4))
    assert scores["kind"] == "segments"
    assert scores["j_oracle"] == pytest.approx((3 * 1.0 + 0.5) / 4)
    assert scores["segments_mean"] == pytest.approx((3 * 3 + 2) / 4)
    assert "j_carried" not in scores
    assert "kept_along_flow" not in scores


def test_segments_against_true_segments(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, (3, 8, 9)).astype(np.int32)
    mine = np.where(rng.random(truth.shape) < 0.8, truth, 9)
    np.savez(tmp_path / "truth.npz", ids=truth)
    np.savez(tmp_path / "mine.npz", ids=mine, frames=np.arange(3))
    scores = evaluate(tmp_path / "mine.npz", tmp_path / "truth.npz")
    each = list(zip(truth.reshape(3, -1), mine.reshape(3, -1), strict=True))
    assert scores["ari"] == pytest.approx(np.mean([adjusted_rand_score(t, m) for t, m in each]), abs=1e-6)
    assert scores["nmi"] == pytest.approx(np.mean([normalized_mutual_info_score(t, m) for t, m in each]), abs=1e-6)


# --- by themselves


def test_pieces_and_lives(tmp_path: Path) -> None:
    ids = np.zeros((12, 4, 6), int)
    ids[:, :, 3:] = 1
    # Id 2 is seen once, in two pieces that cut neither of the others; id 1 ends in the last frame.
    ids[5, 0, 0] = ids[5, 3, 5] = 2
    ids[11] = 0
    scores = evaluate(
        save(tmp_path / "mine", id_images(ids)), save(tmp_path / "truth", [np.ones((4, 6), np.uint8)] * 12)
    )
    assert scores["ids"] == 3
    assert scores["segments_mean"] == pytest.approx((10 * 2 + 3 + 1) / 12, abs=1e-6)
    assert scores["pieces_mean"] == pytest.approx((10 * 2 + 4 + 1) / 12, abs=1e-6)
    assert scores["pieces_per_segment"] == pytest.approx((10 * 1 + 4 / 3 + 1) / 12, abs=1e-6)
    assert scores["mean_life"] == pytest.approx((12 + 11 + 1) / 36, abs=1e-6)
    assert scores["short_lived"] == pytest.approx(1 / 3, abs=1e-6)


def test_a_change_of_size_is_refused(tmp_path: Path) -> None:
    maps = [np.ones((4, 6), np.uint16), np.ones((5, 6), np.uint16)]
    truth = [np.ones((4, 6), np.uint8), np.ones((5, 6), np.uint8)]
    with pytest.raises(EvaluationError, match=r"Frame 1 of .* has 6 x 5 pixels, but the first has 6 x 4"):
        evaluate(save(tmp_path / "mine", maps), save(tmp_path / "truth", truth))


# --- against objects


def test_missing_frames_count_as_missed_by_the_oracle(tmp_path: Path) -> None:
    ids = np.zeros((6, 4, 8), int)
    ids[:, :, 4:] = 1
    mask = np.zeros((4, 8), np.uint8)
    mask[:, 5:] = 255
    mine = save(tmp_path / "mine", id_images(ids))
    truth = save(tmp_path / "truth", [mask] * 6)
    assert evaluate(mine, truth)["j_oracle"] == pytest.approx(3 / 4)
    for number in (1, 2):
        (mine / f"{number:05d}.png").unlink()
    scores = evaluate(mine, truth)
    assert (scores["frames"], scores["frames_without_prediction"]) == (6, 2)
    assert scores["j_oracle"] == scores["j_oracle_per_frame"] == pytest.approx(4 / 6 * 3 / 4)
    # Lives are those in the frames that there are.
    assert scores["mean_life"] == 1.0


def test_objects_are_regions_and_the_background_is_not(tmp_path: Path) -> None:
    ids, truth = np.zeros((2, 1, 12), int), np.zeros((1, 12), np.uint8)
    ids[:, :, 4:] = 1
    truth[:, 1:4], truth[:, 4:9], truth[:, 9:11] = 1, 2, 255
    scores = evaluate(save(tmp_path / "mine", id_images(ids)), save(tmp_path / "truth", [truth] * 2))
    # Object 1 has 3 of 4 pixels of its segment, object 2 has 5 of 8; 255 is void.
    assert scores["ue3d"] == pytest.approx((1 / 3 + 3 / 5) / 2, abs=1e-6)
    assert scores["sa3d"] == 1.0
    # Boundary pixels of the objects are 1, 3, 4 and 8; segments have 3 and 4.
    assert scores["br3d"] == 0.5
    assert scores["duration"] == 2.0


def test_a_truth_without_an_object_has_no_regions(tmp_path: Path) -> None:
    scores = evaluate(
        save(tmp_path / "mine", id_images(np.zeros((2, 4, 6), int))),
        save(tmp_path / "truth", [np.zeros((4, 6), np.uint8)] * 2),
    )
    assert scores["j_oracle"] == 1.0
    assert "ue3d" not in scores


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sessions") / "clip.scstream"
    recorded(path, moving_square(8))
    return path


def square_masks(numbers: range) -> list[npt.NDArray[np.uint8]]:
    masks = np.zeros((len(numbers), 48, 64), np.uint8)
    for mask, number in zip(masks, numbers, strict=True):
        mask[16:32, 4 + 3 * number : 20 + 3 * number] = 255
    return list(masks)


def test_carried_ids_need_the_events_of_all_frames_between(tmp_path: Path, session: Path) -> None:
    truth = save(tmp_path / "truth", square_masks(range(2, 12)), first=2)
    scores = evaluate(session, truth)
    assert (scores["frames"], scores["frames_without_prediction"]) == (10, 4)
    assert 0.5 < scores["j_carried"] <= scores["j_oracle"] <= 0.6
    (truth / "00005.png").unlink()
    assert "j_carried" not in evaluate(session, truth)


# --- against dense labels


def test_unlabelled_pixels_are_not_judged(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, (3, 8, 9))
    mine = np.where(rng.random(truth.shape) < 0.7, truth, 9)
    holes = np.where(rng.random(truth.shape) < 0.3, -1, truth)
    np.savez(tmp_path / "mine.npz", ids=mine)
    np.savez(tmp_path / "holes.npz", ids=holes)
    scores = evaluate(tmp_path / "mine.npz", tmp_path / "holes.npz")
    each = [adjusted_rand_score(t[t >= 0], m[t >= 0]) for t, m in zip(holes, mine, strict=True)]
    assert scores["ari"] == pytest.approx(np.mean(each), abs=1e-6)
    # The same labels as 8-bit images of classes, among which 0 is one and 11 means void.
    classes = save(tmp_path / "classes", [np.where(frame < 0, 11, frame).astype(np.uint8) for frame in holes])
    by_class = evaluate(tmp_path / "mine.npz", classes, void=11)
    assert by_class == scores
    assert "j_oracle" not in by_class
    assert {"ue3d", "sa3d", "br3d", "duration"} <= by_class.keys()


def test_supervoxels_of_a_known_volume(tmp_path: Path) -> None:
    """Three equal frames of 2 x 4 pixels; id 2 is the upper row without its first pixel."""
    truth = np.zeros((3, 2, 4), np.int32)
    truth[:, :, 2:] = 1
    mine = truth.copy()
    mine[:, 0, 1:] = 2
    np.savez(tmp_path / "truth.npz", ids=truth)
    np.savez(tmp_path / "mine.npz", ids=mine)
    scores = evaluate(tmp_path / "mine.npz", tmp_path / "truth.npz")
    # Segments have 3, 2 and 3 pixels a frame: the left region touches 0 and 2, the right one 1 and 2.
    assert scores["ue3d"] == pytest.approx(((6 - 4) / 4 + (5 - 4) / 4) / 2, abs=1e-6)
    assert scores["sa3d"] == pytest.approx((3 / 4 + 1) / 2, abs=1e-6)
    # The boundary is columns 1 and 2; each of its pixels has a neighbour of another id.
    assert scores["br3d"] == 1.0
    assert (scores["duration"], scores["ids"]) == (3.0, 3)


def test_a_truth_of_void_alone_has_no_scores_of_regions(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", ids=np.zeros((2, 4, 6), int))
    truth = save(tmp_path / "truth", [np.full((4, 6), 11, np.uint8)] * 2)
    scores = evaluate(tmp_path / "mine.npz", truth, void=11)
    assert not {"ari", "ue3d", "j_oracle"} & scores.keys()
    assert scores["ids"] == 1


# --- with the pictures of the video


def running_texture(count: int, height: int = 60, width: int = 80) -> list[npt.NDArray[np.uint8]]:
    """Pictures of a smooth texture that runs left by 2 and up by 1 pixels a frame."""
    noise = ndimage.gaussian_filter(np.random.default_rng(0).standard_normal((height + 40, width + 80, 3)), (2, 2, 0))
    texture = np.clip(128 + 50 * noise / noise.std(), 0, 255).astype(np.uint8)
    return [np.ascontiguousarray(texture[n : n + height, 2 * n : 2 * n + width]) for n in range(count)]


def running_ids(count: int, height: int = 60, width: int = 80) -> npt.NDArray[np.int32]:
    """Squares of 10 pixels that move with the texture."""
    rows, columns = np.indices((height, width))
    return np.stack([(rows + n) // 10 * 100 + (columns + 2 * n) // 10 for n in range(count)]).astype(np.int32)


def save_rgb(folder: Path, pictures: list[npt.NDArray[np.uint8]]) -> str:
    return str(save(folder, [np.ascontiguousarray(rgb[..., ::-1]) for rgb in pictures]))


@pytest.fixture
def texture(tmp_path: Path) -> dict[str, Any]:
    """Arguments of `evaluate` for squares that move with the picture."""
    ids = running_ids(5)
    np.savez(tmp_path / "mine.npz", ids=ids)
    np.savez(tmp_path / "truth.npz", ids=ids // 100)
    return {
        "predictions": tmp_path / "mine.npz",
        "truth": tmp_path / "truth.npz",
        "source": save_rgb(tmp_path / "frames", running_texture(5)),
    }


def test_ids_that_move_with_the_picture_are_kept(texture: dict[str, Any], tmp_path: Path) -> None:
    # At the sides of squares, an error of the flow of half a pixel shows.
    assert evaluate(**texture)["kept_along_flow"] > 0.95
    np.savez(texture["predictions"], ids=running_ids(5)[[0] * 5])
    assert evaluate(**texture)["kept_along_flow"] < 0.8
    del texture["source"]
    assert not {"kept_along_flow", "explained_variation"} & evaluate(**texture).keys()


def test_explained_variation_is_that_of_the_mean_colours(texture: dict[str, Any]) -> None:
    pictures, ids = np.stack(running_texture(5)).astype(float), running_ids(5)
    painted = np.empty_like(pictures)
    for label in np.unique(ids):
        painted[ids == label] = pictures[ids == label].mean(axis=0)
    residual = ((pictures - painted) ** 2).sum()
    variation = ((pictures - pictures.mean(axis=(0, 1, 2))) ** 2).sum()
    assert evaluate(**texture)["explained_variation"] == pytest.approx(1 - residual / variation, abs=1e-6)


def test_frames_of_the_video_are_found_by_number(texture: dict[str, Any]) -> None:
    """Predictions begin at frame 2 of the video, and frame 3 is missing."""
    np.savez(texture["predictions"], ids=running_ids(7)[[2, 4]], frames=[2, 4])
    scores = evaluate(**texture)
    assert (scores["frames"], scores["frames_without_prediction"]) == (5, 3)
    assert scores["kept_along_flow"] > 0.9


def test_a_single_frame_has_no_motion(texture: dict[str, Any]) -> None:
    np.savez(texture["predictions"], ids=running_ids(1))
    scores = evaluate(**texture)
    assert "kept_along_flow" not in scores
    assert "explained_variation" in scores


def test_a_damaged_frame_matters_only_if_it_has_a_prediction(
    texture: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[Any] = list(running_texture(5))
    frames[1] = DamagedFrame("frame 1 is damaged", 1)
    monkeypatch.setattr(comparison, "open_source", lambda address: FakeSource(frames))
    with pytest.raises(EvaluationError, match="Cannot read frame 1 of 'clip'"):
        evaluate(**texture)
    np.savez(texture["predictions"], ids=running_ids(5)[[0, 2, 3, 4]], frames=[0, 2, 3, 4])
    assert evaluate(**texture)["kept_along_flow"] > 0.9


def test_videos_that_do_not_match_are_refused(
    texture: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EvaluationError, match="Cannot read frame 3 of 'short'"):
        evaluate(**texture | {"source": save_rgb(tmp_path / "short", running_texture(3))})
    with pytest.raises(EvaluationError, match="Frame 0 has 40 x 30 pixels in 'small' but 80 x 60"):
        evaluate(**texture | {"source": save_rgb(tmp_path / "small", running_texture(5, 30, 40))})
    monkeypatch.setattr(comparison, "open_source", lambda address: FakeSource(running_texture(5), live=True))
    with pytest.raises(EvaluationError, match="'clip' again: it is a live source"):
        evaluate(**texture)


def test_pictures_that_are_too_small_for_flow_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", ids=np.zeros((2, 11, 30), int))
    source = save_rgb(tmp_path / "frames", [np.zeros((11, 30, 3), np.uint8)] * 2)
    with pytest.raises(EvaluationError, match="30 x 11 pixels, and 12 x 12 are needed"):
        evaluate(tmp_path / "mine.npz", tmp_path / "mine.npz", source=source)
