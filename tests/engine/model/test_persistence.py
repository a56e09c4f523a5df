"""Saved models: they go on bit by bit alike, and a file that is none is refused with the reason."""

from __future__ import annotations

import json
import os
import stat
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

from reference import Array, clip_frames
from scstream import (
    Component,
    DiagonalGaussian,
    Gaussian,
    ModelFileError,
    Multinomial,
    ScStream,
    VideoSegmenter,
    persistence,
)

COMPONENTS: dict[str, Component] = {
    "gaussian": Gaussian(0.5, nu=6.0, psi=2.0),
    "diagonal": DiagonalGaussian(psi=1.0),
    "multinomial": Multinomial(0.5),
}


def stream(name: str, n: int) -> list[Array]:
    """Batches of blobs that come and go, so that clusters split, merge and die."""
    rng = np.random.default_rng(1)
    batches = []
    for b in range(n):
        centres = 12.0 * np.random.default_rng([2, b // 2]).normal(size=(4, 3))
        X = centres[rng.integers(0, 4, 120)] + rng.normal(size=(120, 3))
        batches.append(np.floor(np.abs(X)) if name == "multinomial" else X)
    return batches


def assert_alike(one: ScStream, other: ScStream) -> None:
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.events_ == other.events_
    assert one.log_posterior_ == other.log_posterior_
    for a, b in zip(one.clusters_, other.clusters_, strict=True):
        assert (a.id, a.count, a.share) == (b.id, b.count, b.share)
        assert a.summary.keys() == b.summary.keys()
        for name, value in a.summary.items():
            np.testing.assert_array_equal(value, b.summary[name])
    for name, column in one.genealogy_.state().items():
        np.testing.assert_array_equal(column, other.genealogy_.state()[name])


@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.parametrize(
    ("kernel", "follow"), [("exponential", "nothing"), ("window", "clusters"), ("exponential", "halves")]
)
def test_a_loaded_model_goes_on_bit_by_bit_alike(name: str, kernel: str, follow: str, tmp_path: Path) -> None:
    batches = stream(name, 7)
    options: dict[str, Any] = {"burn_in": 1, "sweeps": 2, "seed": 5, "max_init_sweeps": 40}
    model = ScStream(COMPONENTS[name], alpha=50.0, decay=0.4, kernel=kernel, follow=follow, **options)
    for X in batches[:3]:
        model.partial_fit(X)
    model.save(tmp_path / "model.npz")
    loaded = ScStream.load(tmp_path / "model.npz")
    assert loaded.events_ == model.events_
    np.testing.assert_array_equal(loaded.predict(batches[3]), model.predict(batches[3]))
    np.testing.assert_array_equal(loaded.score_samples(batches[3]), model.score_samples(batches[3]))
    n_events = 0
    for X in batches[3:]:
        assert_alike(model.partial_fit(X), loaded.partial_fit(X))
        n_events += len(model.events_)
    assert n_events > 0


def test_parameters_come_back(tmp_path: Path) -> None:
    parameters: dict[str, Any] = {
        "alpha": 1e20, "decay": 0.25, "kernel": "rbf", "epsilon": 1e-4, "sweeps": 3, "burn_in": 2,
        "max_init_sweeps": 9, "split_last": False, "restart": None, "merge": "paper", "follow": "halves",
        "seed": 11,
    }  # fmt: skip
    ScStream(**parameters).partial_fit(stream("gaussian", 1)[0]).save(tmp_path / "m")
    loaded = ScStream.load(tmp_path / "m").get_params(deep=False)
    assert {name: loaded[name] for name in parameters} == parameters


def test_numbers_of_numpy_can_be_saved(tmp_path: Path) -> None:
    model = ScStream(seed=np.int64(3), alpha=np.float32(2.0), sweeps=np.int32(2), split_last=np.bool_(True))
    model.partial_fit(stream("gaussian", 1)[0]).save(tmp_path / "m")
    loaded = ScStream.load(tmp_path / "m")
    assert (loaded.seed, loaded.alpha, loaded.sweeps, loaded.split_last) == (3, 2.0, 2, True)


@pytest.mark.parametrize(("colour", "scale"), [("rgb", 1.0), ("lab", 0.5)])
def test_a_loaded_segmenter_goes_on_bit_by_bit_alike(colour: str, scale: float, tmp_path: Path) -> None:
    frames = [frame[::3, ::3] for frame in clip_frames("crossing", 5, step=4)]
    segmenter = VideoSegmenter(colour, scale, seed=2, max_init_sweeps=30)
    for frame in frames[:2]:
        segmenter.segment(frame)
    segmenter.save(tmp_path / "video.npz")
    loaded = VideoSegmenter.load(tmp_path / "video.npz")
    assert (loaded.colour, loaded.scale, loaded.shape_) == (colour, scale, segmenter.shape_)
    for frame in frames[2:]:
        np.testing.assert_array_equal(loaded.segment(frame), segmenter.segment(frame))
        assert loaded.events_ == segmenter.events_
        np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)
        np.testing.assert_array_equal(loaded.uncertainty(), segmenter.uncertainty())
    assert loaded.model_.n_clusters_ > 3


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_loaded_model_knows_the_labels_of_its_last_batch(name: str, tmp_path: Path) -> None:
    model = ScStream(COMPONENTS[name], seed=5, max_init_sweeps=20)
    for X in stream(name, 2):
        model.partial_fit(X)
    model.save(tmp_path / "m.npz")
    loaded = ScStream.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.labels_.dtype == np.int64
    assert not hasattr(loaded, "feature_names_in_")


def test_a_loaded_model_knows_the_names_of_its_features(tmp_path: Path) -> None:
    X = stream("gaussian", 1)[0]
    model = ScStream(seed=5, max_init_sweeps=5).fit(X)
    # As scikit-learn sets them for a data frame.
    model.feature_names_in_ = np.array(["x", "y", "größe"], dtype=object)
    model.save(tmp_path / "m.npz")
    loaded = ScStream.load(tmp_path / "m.npz")
    assert loaded.feature_names_in_.tolist() == ["x", "y", "größe"]
    assert loaded.feature_names_in_.dtype == object
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        loaded.predict(X)


def test_a_loaded_model_is_fitted_again_like_the_original(tmp_path: Path) -> None:
    """Hyperparameters that came from the first batch come from the next first batch."""
    first, _, other = stream("gaussian", 3)
    for component in (None, Gaussian(psi=2.0), DiagonalGaussian()):
        model = ScStream(component, seed=5, max_init_sweeps=20).fit(first)
        model.save(tmp_path / "m.npz")
        loaded = ScStream.load(tmp_path / "m.npz")
        assert_alike(clone(loaded).fit(100.0 * other), clone(model).fit(100.0 * other))
        assert_alike(loaded.partial_fit(other), model.partial_fit(other))


def test_a_component_set_after_the_fit_leaves_the_saved_one_as_it_is(saved: Path, tmp_path: Path) -> None:
    model = ScStream.load(saved).set_params(component=DiagonalGaussian())
    model.save(tmp_path / "m.npz")
    loaded = ScStream.load(tmp_path / "m.npz").component
    assert isinstance(loaded, Gaussian)
    assert loaded.get_params() == ScStream.load(saved).component.get_params()


@pytest.mark.parametrize("kappa", [2.0, 2, np.float32(2.0), np.int64(2)])
def test_a_number_that_the_first_batch_adjusts_is_loaded_as_it_was_set(kappa: Any, tmp_path: Path) -> None:
    model = ScStream(Gaussian(kappa=kappa), max_init_sweeps=3).fit(stream("gaussian", 1)[0])
    model.save(tmp_path / "model.npz")
    _, arrays = persistence.read(tmp_path / "model.npz")
    assert arrays["prior.kappa"] < 2.0
    assert ScStream.load(tmp_path / "model.npz").component.kappa == 2.0


def test_a_file_of_an_earlier_version_loads_with_the_values_from_its_data(saved: Path, tmp_path: Path) -> None:
    meta, arrays = persistence.read(saved)
    assert meta.pop("from_data") == ["m", "nu", "psi", "resolution"]
    persistence.write(tmp_path / "earlier.npz", meta, arrays)
    loaded = ScStream.load(tmp_path / "earlier.npz").component
    np.testing.assert_allclose(loaded.m, stream("gaussian", 1)[0].mean(axis=0))


def test_a_file_without_labels_loads_and_can_be_saved_again(saved: Path, tmp_path: Path) -> None:
    """Files of earlier versions have none."""
    earlier = rewritten(saved, tmp_path / "earlier.npz", {}, {"labels": None})
    model = ScStream.load(earlier)
    assert not hasattr(model, "labels_")
    model.save(tmp_path / "again.npz")
    X = stream("gaussian", 3)[2]
    expected = ScStream.load(saved).partial_fit(X).labels_
    np.testing.assert_array_equal(ScStream.load(tmp_path / "again.npz").partial_fit(X).labels_, expected)


# --- the file


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.npz"
    model = ScStream(seed=1, max_init_sweeps=20)
    for X in stream("gaussian", 2):
        model.partial_fit(X)
    model.save(path)
    return path


def test_the_file_is_an_archive_of_plain_arrays(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert all(name.endswith(".npy") for name in archive.namelist())
    with np.load(saved, allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "iuf" for name in archive.files)
        meta = json.loads(archive["meta"].tobytes())
    assert meta["format"] == "scstream-model"


def refuse(path: Path) -> None:
    """Both kinds of model refuse the file, by name."""
    for load in (ScStream.load, VideoSegmenter.load):
        with pytest.raises(ModelFileError, match=path.name):
            load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n", b"PK\x03\x04", b"\x80\x04N.", b"\x93NUMPY\x01\x00", bytes(500)],
    ids=repr,
)
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content[:600])
    refuse(path)


def test_a_truncated_file_is_refused_wherever_it_ends(saved: Path, tmp_path: Path) -> None:
    whole, path = saved.read_bytes(), tmp_path / "short.npz"
    cuts = np.random.default_rng(3).integers(0, len(whole) - 1, 60)
    for cut in {1, 30, len(whole) - 1, *cuts.tolist()}:
        path.write_bytes(whole[:cut])
        refuse(path)


def test_a_flipped_byte_is_refused_or_without_effect(saved: Path, tmp_path: Path) -> None:
    """Some bytes of a zip archive (dates, attributes) carry nothing; wherever it loads, it is the same model."""
    whole, path = saved.read_bytes(), tmp_path / "flipped.npz"
    expected, X = ScStream.load(saved), stream("gaussian", 1)[0]
    rng = np.random.default_rng(4)
    refused = 0
    for place in rng.integers(0, len(whole), 300).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            loaded = ScStream.load(path)
        except ModelFileError:
            refused += 1
        else:
            np.testing.assert_array_equal(loaded.score_samples(X), expected.score_samples(X))
            assert loaded.get_params(deep=False).keys() == expected.get_params(deep=False).keys()
            assert loaded.log_posterior_ == expected.log_posterior_
    assert refused > 100


def rewritten(saved: Path, path: Path, meta: dict[str, Any], arrays: dict[str, npt.NDArray[Any] | None]) -> Path:
    """The saved model with some entries changed, or left out where None."""
    old_meta, old = persistence.read(saved)
    both = {name: value for name, value in {**old, **arrays}.items() if value is not None}
    persistence.write(path, {**old_meta, **meta}, both)
    return path


@pytest.mark.parametrize(
    "arrays",
    [
        {"records": None},
        {"ids": None},
        {"genealogy.id": None},
        {"prior.psi": None},
        {"ids": np.arange(0)},
        {"ids": np.arange(99)},
        {"age": np.zeros(99, np.int64)},
        {"times": np.zeros(99)},
        {"records": np.zeros((2, 3))},
        {"prior.psi": -np.eye(3)},
        {"prior.nu": np.array(np.nan)},
        {"prior.what": np.zeros(3)},
        {"genealogy.id": np.zeros(99, np.int64)},
        {"labels": np.zeros(9)},
        {"labels": np.zeros((3, 3), np.int64)},
        {"labels": np.full(9, -1)},
        {"labels": np.full(9, 10**6)},
    ],
    ids=lambda arrays: str({k: None if v is None else v.shape for k, v in arrays.items()}),
)
def test_an_archive_whose_parts_do_not_fit_is_refused(
    arrays: dict[str, npt.NDArray[Any] | None], saved: Path, tmp_path: Path
) -> None:
    refuse(rewritten(saved, tmp_path / "odd.npz", {}, arrays))


def test_negative_counts_are_refused(saved: Path, tmp_path: Path) -> None:
    records = persistence.read(saved)[1]["records"].copy()
    records[0, 0, 1, 0] = -1e300
    refuse(rewritten(saved, tmp_path / "odd.npz", {}, {"records": records}))


@pytest.mark.parametrize(
    "meta",
    [
        {"component": "cauchy"},
        {"parameters": {"alpha": -1.0}},
        {"parameters": {"nonsense": 1}},
        {"parameters": None},
        {"n_features": 99},
        {"n_features": "three"},
        {"time": None},
        {"batch": "x"},
        {"events": [{}]},
        {"events": 7},
        {"log_posterior": "x"},
        {"from_data": "psi"},
        {"from_data": ["sigma"]},
        {"from_data": [["psi"]]},
        {"from_data": 3},
        {"adjusted": ["kappa"]},
        {"adjusted": {"kappa": "1"}},
        {"from_data": ["kappa"], "adjusted": {"kappa": 1.0}},
        {"adjusted": {"sigma": 1.0}},
        {"feature_names": "xyz"},
        {"feature_names": ["x", "y"]},
        {"feature_names": ["x", "y", 3]},
        {"feature_names": {"x": 1, "y": 2, "z": 3}},
    ],
    ids=str,
)
def test_a_description_that_makes_no_sense_is_refused(meta: dict[str, Any], saved: Path, tmp_path: Path) -> None:
    refuse(rewritten(saved, tmp_path / "odd.npz", meta, {}))


def test_threads_belong_to_the_machine_and_are_neither_saved_nor_loaded(saved: Path, tmp_path: Path) -> None:
    model = ScStream.load(saved)
    model.threads = 3
    model.save(tmp_path / "model.npz")
    meta, _ = persistence.read(tmp_path / "model.npz")
    assert "threads" not in meta["parameters"]
    for stored in (0, -1, "all", [2]):
        odd = rewritten(saved, tmp_path / "odd.npz", {"parameters": {**meta["parameters"], "threads": stored}}, {})
        assert ScStream.load(odd).threads is None


def test_a_bad_number_of_threads_does_not_spoil_a_snapshot(tmp_path: Path) -> None:
    segmenter = VideoSegmenter(seed=2, max_init_sweeps=10)
    segmenter.segment(clip_frames("crossing", 1)[0][::3, ::3])
    with pytest.raises(ValueError, match="threads must be a whole number >= 1, got 0"):
        segmenter.set_params(threads=0)
    segmenter.save(tmp_path / "video.npz")
    assert VideoSegmenter.load(tmp_path / "video.npz").threads is None


GENEALOGIES: dict[str, Any] = {
    "a live id is unknown": lambda tree: {"id": tree["id"] + 1, "next_id": tree["next_id"] + 1},
    "a live id is dead": lambda tree: {"dead": tree["id"][:1]},
    "an unknown id is alive": lambda tree: {"next_id": tree["next_id"] * 0},
    "an id twice": lambda tree: {"id": tree["id"] * 0},
    "its own parent": lambda tree: {"parent": tree["id"]},
    "absorbed by itself": lambda tree: {"merged": tree["id"]},
    "an unknown parent": lambda tree: {"parent": tree["id"] - 1000},
    "never born": lambda tree: {"born": tree["born"] * np.nan},
    "dead and alive": lambda tree: {"died": tree["born"]},
    "a live id not yet born": lambda tree: {"pending": tree["id"]},
    "no time": lambda tree: {"now": np.array(np.nan)},
}


@pytest.mark.parametrize("kind", GENEALOGIES)
def test_a_genealogy_that_is_not_that_of_the_live_clusters_is_refused(kind: str, saved: Path, tmp_path: Path) -> None:
    _, arrays = persistence.read(saved)
    tree = {name.removeprefix("genealogy."): value for name, value in arrays.items() if name.startswith("genealogy.")}
    changed = {f"genealogy.{name}": value for name, value in GENEALOGIES[kind](tree).items()}
    refuse(rewritten(saved, tmp_path / "odd.npz", {}, changed))


# --- anything at all in the place of anything


@pytest.fixture(scope="module")
def saved_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A segmenter with a past: a restart, a merge by hand, a lock."""
    frames = [frame[::8, ::8] for frame in clip_frames("crossing", 3, step=4)]
    segmenter = VideoSegmenter(seed=2, max_init_sweeps=20)
    segmenter.segment(frames[0])
    segmenter.restart()
    segmenter.segment(frames[1])
    segmenter.segment(frames[2])
    ids = sorted(int(i) for i in segmenter.statistics_["id"])
    segmenter.merge(ids[:2])
    segmenter.locked_ = ids[2:3]
    path = tmp_path_factory.mktemp("models") / "video.npz"
    segmenter.save(path)
    return path


def loads_or_is_refused(path: Path) -> bool:
    """Whether it loads; anything but a ModelFileError comes through, warnings too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            VideoSegmenter.load(path)
    except ModelFileError:
        return False
    return True


def distorted(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """What a stored array could be replaced by."""
    values: list[npt.NDArray[Any]] = [
        array.astype(np.float32), array.astype(str), array.astype(bool), array.astype(np.complex128),
        np.full(array.shape, np.nan), np.full(array.shape, np.inf), np.full(array.shape, 1e308),
        np.full(array.shape, 2**63, np.uint64), np.full(array.shape, -(2**63), np.int64),
        np.zeros(array.shape, "M8[s]"), np.zeros(array.shape, [("x", "f8")]),
        array[None], array.reshape(-1), array.reshape(-1)[:-1], np.zeros(0), np.zeros((0, 3)), np.array(7), -array,
        np.concatenate([array.reshape(-1)] * 2), np.zeros(array.shape, array.dtype), np.ones((9,) * 5),
    ]  # fmt: skip
    return values


def test_whatever_array_is_replaced_the_file_loads_or_is_refused(saved_video: Path, tmp_path: Path) -> None:
    meta, arrays = persistence.read(saved_video)
    odd, outcomes = tmp_path / "odd.npz", []
    for name, array in arrays.items():
        for value in distorted(array):
            persistence.write(odd, meta, {**arrays, name: value})
            outcomes.append(loads_or_is_refused(odd))
    assert loads_or_is_refused(saved_video)
    assert outcomes.count(False) > len(outcomes) / 2


@pytest.mark.parametrize(
    "value",
    [None, [], [None], {}, {"a": [1]}, "", "x", True, -1, 1e999, 2**70, "9" * 5000],
    ids=lambda value: repr(value)[:12],
)
def test_whatever_entry_is_replaced_the_file_loads_or_is_refused(value: Any, saved_video: Path, tmp_path: Path) -> None:
    meta, _ = persistence.read(saved_video)
    loaded = []
    for name in meta.keys() - {"format", "version"}:
        replaced = [{name: value}]
        if isinstance(meta[name], dict):
            replaced += [{name: {**meta[name], inner: value}} for inner in meta[name]]
        if name in ("events", "pending") and meta[name]:
            replaced += [{name: [{**event, inner: value}]} for event in meta[name][:1] for inner in event]
        for entries in replaced:
            if loads_or_is_refused(rewritten(saved_video, tmp_path / "odd.npz", entries, {})):
                loaded.append(name)
    assert "component" not in loaded


@pytest.mark.parametrize("height", [0, -3, 2**40, 10**400, 48.0, True, "48"], ids=lambda value: repr(value)[:12])
def test_an_impossible_frame_size_is_refused(height: Any, saved_video: Path, tmp_path: Path) -> None:
    meta, _ = persistence.read(saved_video)
    video = {**meta["video"], "shape": [height, 64]}
    with pytest.raises(ModelFileError, match="height must be a whole number >= 1"):
        VideoSegmenter.load(rewritten(saved_video, tmp_path / "odd.npz", {"video": video}, {}))


def test_pickled_arrays_are_refused(saved_video: Path, tmp_path: Path) -> None:
    with np.load(saved_video) as archive:
        arrays = {name: archive[name] for name in archive.files}
    path = tmp_path / "pickled.npz"
    for name in arrays:
        np.savez(path, **{**arrays, name: np.array([arrays[name], None], dtype=object)})
        assert not loads_or_is_refused(path)


def test_another_version_is_named(saved: Path, tmp_path: Path) -> None:
    path = rewritten(saved, tmp_path / "new.npz", {"version": 99}, {})
    with pytest.raises(ModelFileError, match="99"):
        ScStream.load(path)


def test_archives_of_others_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "foreign.npz", a=np.arange(3))
    np.savez(tmp_path / "meta.npz", meta=np.arange(3.0))
    np.savez(tmp_path / "list.npz", meta=np.frombuffer(b"[1, 2]", np.uint8))
    np.savez(tmp_path / "other.npz", meta=np.frombuffer(b'{"format": "other"}', np.uint8))
    np.save(tmp_path / "single.npy", np.arange(3))
    np.savez(tmp_path / "pickled.npz", meta=np.array([{"format": "scstream-model"}], dtype=object))
    for path in sorted(tmp_path.iterdir()):
        refuse(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for load in (ScStream.load, VideoSegmenter.load):
        with pytest.raises(FileNotFoundError, match=r"none\.npz"):
            load(tmp_path / "none.npz")
        with pytest.raises((ModelFileError, IsADirectoryError), match=tmp_path.name):
            load(tmp_path)


def test_a_video_model_is_no_model_of_points(tmp_path: Path) -> None:
    segmenter = VideoSegmenter(max_init_sweeps=5)
    segmenter.segment(np.zeros((12, 20, 3), np.uint8))
    segmenter.save(tmp_path / "video.npz")
    with pytest.raises(ModelFileError, match=r"video\.npz': it is a video model, use VideoSegmenter\.load"):
        ScStream.load(tmp_path / "video.npz")


def test_a_model_of_points_is_no_video_model(saved: Path) -> None:
    with pytest.raises(ModelFileError, match="video"):
        VideoSegmenter.load(saved)


# --- writing


def test_a_failing_write_leaves_the_old_file_and_nothing_else(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(saved.read_bytes())
    model = ScStream.load(saved)

    def half_a_write(file: Any, **arrays: Any) -> None:
        file.write(b"PK")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", half_a_write)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == saved.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_saving_replaces_the_old_file(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")
    ScStream.load(saved).save(str(path))
    assert ScStream.load(path).log_posterior_ == ScStream.load(saved).log_posterior_
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
def test_others_may_read_a_model_as_any_file_of_the_user(saved: Path, tmp_path: Path) -> None:
    model, path, other = ScStream.load(saved), tmp_path / "model.npz", tmp_path / "other"
    other.touch()
    model.save(path)
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    model.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_where_nothing_can_be_saved_is_named(saved: Path, tmp_path: Path) -> None:
    model = ScStream.load(saved)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "model.npz")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_kernel_of_ones_own_cannot_be_saved(tmp_path: Path) -> None:
    model = ScStream(kernel=lambda age: 0.5**age).partial_fit(stream("gaussian", 1)[0])
    with pytest.raises(ValueError, match="kernel"):
        model.save(tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())


def test_a_text_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("no model")
    with pytest.raises(ModelFileError, match=r"not a ScStream model, or damaged$"):
        ScStream.load(tmp_path / "a.npz")
