"""Smoothing and steadiness of VideoSegmenter: final ids and their statistics, model files, slow forgetting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from reference import clip_frames
from scstream import ModelFileError, VideoSegmenter, persistence
from scstream.components import PixelGaussian
from scstream.pixels.final_labels import FinalLabels
from scstream.pixels.parameters import VideoParameters
from scstream.pixels.tiles import Tiles
from scstream.sampler.history import History
from scstream.sampler.sampler import Sampler

Frame = npt.NDArray[np.uint8]
QUICK: dict[str, Any] = {"seed": 0, "max_init_sweeps": 30}


def patches(shift: int = 0, height: int = 45, width: int = 70, spread: int = 30) -> Frame:
    """A dark ground with two noisy patches of other colours, the right one moved by ``shift`` pixels."""
    rng = np.random.default_rng(shift)
    frame = np.full((height, width, 3), (30, 40, 60), np.int64)
    frame[10:35, 8:28] = (220, 60, 50)
    frame[10:35, 38 + shift : 58 + shift] = (60, 200, 90)
    return np.clip(frame + rng.integers(-spread, spread + 1, frame.shape), 0, 255).astype(np.uint8)


def clip(n: int) -> list[Frame]:
    return [np.ascontiguousarray(frame[::3, ::3]) for frame in clip_frames("crossing", n, step=2)]


def run(n: int = 4, **options: Any) -> VideoSegmenter:
    segmenter = VideoSegmenter(**{**QUICK, **options})
    for shift in range(n):
        segmenter.segment(patches(shift))
    return segmenter


def parts_of(segmenter: VideoSegmenter) -> tuple[Sampler, Tiles]:
    assert segmenter._sampler is not None
    assert segmenter._tiles is not None
    return segmenter._sampler, segmenter._tiles


def bare_ids(segmenter: VideoSegmenter) -> npt.NDArray[np.int32]:
    """Ids by score alone."""
    sampler, tiles = parts_of(segmenter)
    return tiles.ids(sampler.announced_of)


def n_pieces(ids: npt.NDArray[np.int32]) -> int:
    return sum(ndimage.label(ids == id)[1] for id in np.unique(ids))


def check_results(segmenter: VideoSegmenter, ids: npt.NDArray[np.int32]) -> None:
    """Check what must hold after every frame at full size."""
    rows = segmenter.statistics_
    live = set(segmenter.model_.genealogy_.live_ids)
    assert set(np.unique(ids).tolist()) <= live == set(rows["id"].tolist())
    assert {int(row["id"]): int(row["pixels"]) for row in rows} == {id: np.count_nonzero(ids == id) for id in live}
    np.testing.assert_array_equal(segmenter.ids_, ids)


# --- ids


def test_without_either_the_ids_are_those_of_the_sampler() -> None:
    segmenter = VideoSegmenter(smoothing=0.0, steadiness=0.0, **QUICK)
    for frame in clip(4):
        np.testing.assert_array_equal(segmenter.segment(frame), bare_ids(segmenter))
        assert segmenter._final is None


@pytest.mark.parametrize(
    "options", [{}, {"smoothing": 0.0}, {"steadiness": 0.0}, {"smoothing": 5.0, "steadiness": 2.0}]
)
def test_ids_are_live_and_counted_at_every_frame(options: dict[str, float]) -> None:
    segmenter = VideoSegmenter(**QUICK, **options)
    differs = False
    for frame in clip(6):
        ids = segmenter.segment(frame)
        check_results(segmenter, ids)
        differs |= not np.array_equal(ids, bare_ids(segmenter))
    assert differs


def test_the_number_of_threads_does_not_matter() -> None:
    frames = clip(5)
    alone, *others = (VideoSegmenter(threads=threads, **QUICK) for threads in (1, 2, 3))
    for frame in frames:
        ids = alone.segment(frame)
        for other in others:
            np.testing.assert_array_equal(other.segment(frame), ids)
            np.testing.assert_array_equal(other.statistics_, alone.statistics_)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 5), (17, 400)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_small_frames_work(size: tuple[int, int], scale: float) -> None:
    rng = np.random.default_rng(1)
    segmenter = VideoSegmenter(scale=scale, **QUICK)
    for _ in range(4):
        ids = segmenter.segment(rng.integers(0, 256, (*size, 3)).astype(np.uint8))
        assert ids.shape == size
        if scale == 1.0:
            check_results(segmenter, ids)


def specks(t: int) -> Frame:
    """Two flat halves with single pixels of the other's colour."""
    rng = np.random.default_rng(t)
    dark, bright = (40, 60, 90), (200, 150, 60)
    frame = np.full((240, 320, 3), dark, np.uint8)
    frame[:, 160:] = bright
    frame[rng.integers(0, 240, 150), rng.integers(0, 160, 150)] = bright
    frame[rng.integers(0, 240, 150), rng.integers(160, 320, 150)] = dark
    return frame


def test_smoothing_removes_specks() -> None:
    smooth, bare = VideoSegmenter(**QUICK), VideoSegmenter(smoothing=0.0, **QUICK)
    for t in range(4):
        ids = smooth.segment(specks(t))
        assert n_pieces(ids) <= 3
        assert not np.intersect1d(ids[:, :150], ids[:, 170:]).size
        assert n_pieces(bare.segment(specks(t))) > 200


def moving_square(t: int) -> Frame:
    """A textured square that moves by two pixels a frame over a grey ground."""
    frame = np.full((90, 120, 3), 110, np.uint8)
    texture = np.random.default_rng(0).integers(-25, 26, (24, 24, 3))
    frame[30:54, 10 + 2 * t : 34 + 2 * t] = np.clip(np.array((210, 60, 40)) + texture, 0, 255)
    return frame


def test_a_moving_square_keeps_its_id() -> None:
    segmenter = VideoSegmenter(**QUICK)
    seen = []
    for t in range(20):
        ids = segmenter.segment(moving_square(t))
        inside = ids[32:52, 12 + 2 * t : 32 + 2 * t]
        values, counts = np.unique(inside, return_counts=True)
        assert counts.max() > 0.9 * inside.size
        seen.append(int(values[counts.argmax()]))
        assert ids[5, 5] != seen[-1]
    assert len(set(seen)) == 1


# --- changes on the way


def test_parameters_can_change_between_frames() -> None:
    segmenter = VideoSegmenter(**QUICK)
    frames = clip(8)
    changes = [
        {}, {"smoothing": 0.0}, {"steadiness": 0.0}, {"smoothing": 10.0}, {"steadiness": 2.0, "smoothing": 0.0},
        {"smoothing": 0.0, "steadiness": 0.0}, {"steadiness": 1.0}, {"smoothing": 1.0},
    ]  # fmt: skip
    for frame, change in zip(frames, changes, strict=True):
        segmenter.set_params(**change)
        check_results(segmenter, segmenter.segment(frame))
        assert (segmenter._final is None) == (segmenter.smoothing == segmenter.steadiness == 0.0)


def test_the_results_of_a_frame_stay_when_parameters_change() -> None:
    segmenter = run()
    ids, rows = segmenter.ids_, segmenter.statistics_
    segmenter.set_params(smoothing=0.0, steadiness=0.0)
    np.testing.assert_array_equal(segmenter.ids_, ids)
    np.testing.assert_array_equal(segmenter.statistics_["pixels"], rows["pixels"])


def pixels_by_id(segmenter: VideoSegmenter) -> npt.NDArray[np.void]:
    """Ids and pixels of the segments; their own order leaves open which of two equal ones comes first."""
    return np.sort(segmenter.statistics_[["id", "pixels"]], order="id")


@pytest.mark.parametrize("scales", [(1.0, 0.5), (0.5, 1.0), (0.3, 0.7)], ids=str)
def test_the_scale_can_change_between_frames(scales: tuple[float, float], tmp_path: Path) -> None:
    segmenter = run(scale=scales[0])
    ids, rows = segmenter.ids_, pixels_by_id(segmenter)
    segmenter.set_params(scale=scales[1])
    np.testing.assert_array_equal(segmenter.ids_, ids)
    np.testing.assert_array_equal(pixels_by_id(segmenter), rows)
    segmenter.save(tmp_path / "m.npz")
    loaded = VideoSegmenter.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(pixels_by_id(loaded), rows)
    for shift in range(4, 7):
        ids = segmenter.segment(patches(shift))
        np.testing.assert_array_equal(loaded.segment(patches(shift)), ids)
        np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)
        if scales[1] == 1.0:
            check_results(segmenter, ids)


def test_a_merge_by_hand_is_counted_at_once() -> None:
    segmenter = run()
    assert segmenter._final is not None
    _, tiles = parts_of(segmenter)
    changed = segmenter._final.names[segmenter._final.count_changes(tiles)[:, 0] != 0]
    pixels = {int(row["id"]): int(row["pixels"]) for row in segmenter.statistics_}
    chosen = list(dict.fromkeys(changed.tolist()))[:3]
    assert len(chosen) == 3
    survivor = segmenter.merge(chosen)
    expected = {id: n for id, n in pixels.items() if id not in chosen} | {survivor: sum(pixels[id] for id in chosen)}
    assert {int(row["id"]): int(row["pixels"]) for row in segmenter.statistics_} == expected
    check_results(segmenter, segmenter.segment(patches(4)))


def test_a_split_by_hand_leaves_no_pixel_uncounted() -> None:
    segmenter = run()
    segmenter.split(int(segmenter.statistics_["id"][0]))
    assert segmenter.statistics_["pixels"].sum() == 45 * 70
    check_results(segmenter, segmenter.segment(patches(4)))


def test_a_restart_begins_without_the_labels_before() -> None:
    segmenter = run()
    segmenter.restart()
    frame = patches(2, 50, 90)
    ids = segmenter.segment(frame)
    check_results(segmenter, ids)
    check_results(segmenter, segmenter.segment(frame))


# --- saving


@pytest.mark.parametrize("options", [{}, {"steadiness": 0.0}, {"smoothing": 0.0, "scale": 0.5}, {"steadiness": 2.0}])
def test_a_loaded_segmenter_goes_on_alike(options: dict[str, float], tmp_path: Path) -> None:
    frames = clip(7)
    segmenter = VideoSegmenter(**QUICK, **options)
    for frame in frames[:3]:
        segmenter.segment(frame)
    segmenter.save(tmp_path / "m.npz")
    loaded = VideoSegmenter.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)
    for frame in frames[3:]:
        np.testing.assert_array_equal(loaded.segment(frame), segmenter.segment(frame))
        np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)
        assert loaded.events_ == segmenter.events_
        assert loaded.log_posterior_ == segmenter.log_posterior_


def test_a_file_saved_twice_is_the_same_model(tmp_path: Path) -> None:
    segmenter = run()
    segmenter.save(tmp_path / "one.npz")
    VideoSegmenter.load(tmp_path / "one.npz").save(tmp_path / "two.npz")
    one, two = (persistence.read(tmp_path / name)[1] for name in ("one.npz", "two.npz"))
    assert {name for name in one if name.startswith("final.")} == {
        "final.labels", "final.ids", "final.names", "final.changes", "final.luminance"
    }  # fmt: skip
    assert one.keys() == two.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(two[name], array)


def test_a_model_without_final_labels_loads(tmp_path: Path) -> None:
    segmenter = run()
    segmenter.save(tmp_path / "m.npz")
    meta, arrays = persistence.read(tmp_path / "m.npz")
    persistence.write(
        tmp_path / "e.npz", meta, {name: array for name, array in arrays.items() if not name.startswith("final.")}
    )
    loaded = VideoSegmenter.load(tmp_path / "e.npz")
    assert loaded._final is None
    check_results(loaded, loaded.segment(patches(4)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "video.npz"
    run().save(path)
    return path


def with_first(labels: npt.NDArray[np.int32], value: int) -> npt.NDArray[np.int32]:
    """The labels with another value in the first pixel."""
    changed = labels.copy()
    changed[0, 0] = value
    return changed


DAMAGES: dict[str, Any] = {
    "a label without an id": lambda a: {"labels": with_first(a["labels"], len(a["ids"]))},
    "a negative label": lambda a: {"labels": with_first(a["labels"], -1)},
    "labels that are no whole numbers": lambda a: {"labels": a["labels"] + 0.5},
    "labels of a larger frame": lambda a: {"labels": np.tile(a["labels"], (2, 1))},
    "labels of another size than the picture": lambda a: {"labels": a["labels"][::2, ::2]},
    "labels in a row": lambda a: {"labels": a["labels"].ravel()},
    "labels of no pixel": lambda a: {"labels": a["labels"][:0]},
    "no labels": lambda a: {"labels": None},
    "no ids": lambda a: {"ids": None},
    "no id": lambda a: {"ids": a["ids"][:0], "names": a["names"][:0], "changes": a["changes"][:0]},
    "an id too few": lambda a: {"ids": a["ids"][:-1]},
    "ids that are no whole numbers": lambda a: {"ids": a["ids"] + 0.5},
    "a single id": lambda a: {"ids": a["ids"][0]},
    "a name too many": lambda a: {"names": np.append(a["names"], 0)},
    "names that are no whole numbers": lambda a: {"names": a["names"] * 1.0},
    "no names": lambda a: {"names": None},
    "a change that is no number": lambda a: {"changes": np.full_like(a["changes"], np.nan)},
    "an infinite change": lambda a: {"changes": np.full_like(a["changes"], np.inf)},
    "changes of other statistics": lambda a: {"changes": a["changes"][:, 1:]},
    "no changes": lambda a: {"changes": None},
    "a picture of another size": lambda a: {"luminance": a["luminance"][1:]},
    "a picture of other numbers": lambda a: {"luminance": a["luminance"].astype(np.float32)},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_final_labels_are_refused(damage: str, saved: Path, tmp_path: Path) -> None:
    meta, arrays = persistence.read(saved)
    final = {name.removeprefix("final."): array for name, array in arrays.items() if name.startswith("final.")}
    changed = {**arrays, **{f"final.{name}": array for name, array in DAMAGES[damage](final).items()}}
    path = tmp_path / "damaged.npz"
    persistence.write(path, meta, {name: array for name, array in changed.items() if array is not None})
    with pytest.raises(ModelFileError, match=r"damaged\.npz"):
        VideoSegmenter.load(path)


def test_ids_of_a_file_that_no_cluster_has_do_no_harm(saved: Path, tmp_path: Path) -> None:
    meta, arrays = persistence.read(saved)
    for ids in (arrays["final.ids"] + 10**6, -arrays["final.ids"] - 5, np.zeros_like(arrays["final.ids"])):
        persistence.write(tmp_path / "odd.npz", meta, {**arrays, "final.ids": ids})
        loaded = VideoSegmenter.load(tmp_path / "odd.npz")
        assert len(loaded.statistics_)
        check_results(loaded, loaded.segment(patches(4)))


def test_state_and_back() -> None:
    segmenter = run()
    assert segmenter._final is not None
    state = segmenter._final.state(segmenter._tiles)
    again = FinalLabels.from_state(state, (45, 70))
    assert again is not None
    for name, array in again.state(None).items():
        np.testing.assert_array_equal(array, state[name])
    assert FinalLabels.from_state({}, (45, 70)) is None


# --- forgetting


@pytest.mark.parametrize("steadiness", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("decay", [0.5, 2.9])
def test_steadiness_slows_forgetting(steadiness: float, decay: float) -> None:
    kernel = VideoParameters(decay=decay, steadiness=steadiness).forgetting_kernel
    for age in (0.0, 1.0, 3.5, 12.0):
        assert kernel(age) == pytest.approx(2.0 ** (-decay * age / 4.0**steadiness))


@pytest.mark.parametrize("kernel", ["rbf", "window", lambda age: 1.0 / (1.0 + age)])
def test_steadiness_shortens_ages_under_every_kernel(kernel: Any) -> None:
    bare, steady = (VideoParameters(kernel=kernel, steadiness=s).forgetting_kernel for s in (0.0, 1.0))
    for age in (0.1, 1.0, 2.0, 9.0):
        assert steady(age) == pytest.approx(bare(age / 4.0))


def test_a_frame_has_the_weight_of_its_age_in_the_past() -> None:
    sampler, _ = parts_of(run(5))
    history = sampler.state.history
    ages = np.arange(4, 0, -1)
    assert history.times == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert history.mass == pytest.approx((2.0 ** (-2.9 * ages / 4.0)).sum())
    expected = np.tensordot(2.0 ** (-2.9 * ages / 4.0), history.records[:-1], 1)
    np.testing.assert_allclose(history.past, expected, rtol=1e-9, atol=1e-9)


def test_reweighing_the_history_takes_the_present_kernel() -> None:
    segmenter = run(4)
    sampler, _ = parts_of(segmenter)
    before = sampler.state.history
    mass, past = before.mass, before.past.copy()
    sampler.reweigh_history()
    assert sampler.state.history.mass == pytest.approx(mass)
    np.testing.assert_allclose(sampler.state.history.past, past, rtol=1e-9, atol=1e-9)
    segmenter.set_params(steadiness=0.0)
    sampler.reweigh_history()
    assert sampler.state.history.mass == pytest.approx(sum(2.0 ** (-2.9 * age) for age in (1, 2, 3)))


def test_translated_records_have_the_moments_of_translated_points() -> None:
    rng = np.random.default_rng(3)
    component = PixelGaussian(1.0, np.full(5, 0.5), 5.0, np.eye(5)).bind(np.zeros((1, 5)), np.ones(1))
    points, labels = rng.random((80, 5)), rng.integers(0, 6, 80).astype(np.int32)
    shift = np.zeros((3, 5))
    shift[:, :2] = rng.normal(0.0, 0.2, (3, 2))
    history, moved = History(3, component.n_statistics), History(3, component.n_statistics)
    for time in (0.0, 1.0):
        for target, X in ((history, points), (moved, points + shift[labels // 2])):
            target.append(time, component.statistics(X, np.ones(80), labels, 6).reshape(3, 2, -1))
    history.translate(component, shift)
    np.testing.assert_allclose(history.records, moved.records, atol=1e-9)
    for each in (history, moved):
        each.advance(2.0, VideoParameters(steadiness=1.0).forgetting_kernel, 1e-8)
    np.testing.assert_allclose(history.past, moved.past, atol=1e-9)


# --- weight of the prior


def test_the_prior_weighs_as_many_frames_as_are_remembered() -> None:
    segmenter = VideoSegmenter(**QUICK)
    kappas = []
    for _ in range(6):
        segmenter.segment(patches(0))
        sampler, _ = parts_of(segmenter)
        prior, weighed = sampler.component, sampler.posterior_component
        assert isinstance(prior, PixelGaussian)
        assert isinstance(weighed, PixelGaussian)
        mass = 1.0 + sampler.state.history.mass
        np.testing.assert_allclose(weighed.kappa, mass * np.asarray(prior.kappa))
        np.testing.assert_allclose(weighed.psi, mass * np.asarray(prior.psi))
        kappas.append(float(np.asarray(weighed.kappa)))
    assert (np.diff(kappas) > 0).all()


def test_without_steadiness_the_prior_keeps_its_weight() -> None:
    sampler, _ = parts_of(run(steadiness=0.0))
    assert sampler.posterior_component is sampler.component
    assert not VideoParameters(steadiness=0.0).weigh_prior
    assert VideoParameters(steadiness=0.1).weigh_prior


def test_the_prior_follows_a_change_of_scale_at_once() -> None:
    """With this kernel the past counts for one frame from the second frame on."""
    segmenter = run(kernel="window")
    sampler, _ = parts_of(segmenter)
    before = float(np.asarray(sampler.posterior_component.hyperparameters()["kappa"]))
    segmenter.set_params(scale=0.5)
    after = float(np.asarray(sampler.posterior_component.hyperparameters()["kappa"]))
    assert after == pytest.approx(before * (22 * 35) / (45 * 70), rel=0.01)
    segmenter.segment(patches(4))
    assert float(np.asarray(sampler.posterior_component.hyperparameters()["kappa"])) == after


def test_a_still_picture_is_not_divided_further() -> None:
    frame = clip(1)[0]
    segmenter = VideoSegmenter(**QUICK)
    count = []
    for _ in range(12):
        segmenter.segment(frame)
        sampler, _ = parts_of(segmenter)
        count.append(len(sampler.state.ids))
    assert 0.8 * count[0] <= min(count) <= max(count) <= 1.2 * count[0]
