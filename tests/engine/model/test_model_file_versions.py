"""Model files of earlier versions load and continue as they would have.

The statistics of version 1 are relative to zero; version 2 has no hidden clusters and no final labels; version 3 has no
resolution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
from scstream.components import PixelGaussian

OFFSET = np.array([300.0, -70.0, 5.0])


def batches(component: Component, n: int) -> list[Array]:
    rng = np.random.default_rng(1)
    centres = rng.normal(0.0, 12.0, (4, 3))
    points = [centres[rng.integers(0, 4, 150)] + rng.normal(size=(150, 3)) + OFFSET for _ in range(n)]
    return [np.floor(np.abs(X)) for X in points] if isinstance(component, Multinomial) else points


def relative_to_zero(records: Array, m: Array, full: bool) -> Array:
    """Statistics of the points x + m, given those of the points x: (n, sum x, sum x x' or sum x^2)."""
    D = len(m)
    n, first, second = records[..., :1], records[..., 1 : 1 + D], records[..., 1 + D :]
    i, j = np.tril_indices(D) if full else (np.arange(D),) * 2
    moved = second + m[i] * first[..., j] + first[..., i] * m[j] + n * m[i] * m[j]
    return np.concatenate([n, first + n * m, moved], axis=-1)


def as_version_1(path: Path, meta: dict[str, Any], arrays: dict[str, Any]) -> Path:
    return write_old(path, 1, meta, arrays)


def write_old(path: Path, version: int, meta: dict[str, Any], arrays: dict[str, Any]) -> Path:
    """Write a file without what later versions have added; what version 4 has added must be without effect."""
    old = {"parameters": {name: value for name, value in meta["parameters"].items() if name != "patience"}}
    if "video" in meta:
        new = ("smoothing", "steadiness")
        old["video"] = {name: value for name, value in meta["video"].items() if name not in new}
    assert not arrays.get("prior.resolution", np.zeros(1)).any()
    kept = {name: array for name, array in arrays.items() if name not in ("owner", "newcomer", "prior.resolution")}
    kept = {name: array for name, array in kept.items() if not name.startswith("final.")}
    persistence.write(path, {**meta, **old, "version": version}, kept)
    return path


@pytest.mark.parametrize("follow", ["nothing", "halves"])
@pytest.mark.parametrize(
    "component",
    [Gaussian(), Gaussian(m=OFFSET + 2.0, psi=1.0), DiagonalGaussian(), Multinomial()],
    ids=["gaussian", "gaussian with a mean", "diagonal", "multinomial"],
)
def test_a_model_of_version_1_continues_as_it_would_have(component: Component, follow: str, tmp_path: Path) -> None:
    first, second, third, fourth = batches(component, 4)
    model = ScStream(component, alpha=10.0, decay=0.5, follow=follow, seed=2, max_init_sweeps=40)
    model.partial_fit(first).partial_fit(second).save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    if not isinstance(component, Multinomial):
        full = isinstance(component, Gaussian)
        arrays["records"] = relative_to_zero(arrays["records"], arrays["prior.m"], full)
    loaded = ScStream.load(as_version_1(tmp_path / "old.npz", meta, arrays))
    for one, other in zip(loaded.clusters_, model.clusters_, strict=True):
        for name, value in one.summary.items():
            np.testing.assert_allclose(value, other.summary[name], rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(loaded.score_samples(third), model.score_samples(third), rtol=1e-6)
    for X in (third, fourth):
        np.testing.assert_array_equal(loaded.partial_fit(X).labels_, model.partial_fit(X).labels_)
        assert loaded.log_posterior_ == pytest.approx(model.log_posterior_, rel=1e-8)
    # Saved again, it is a file of this version.
    loaded.save(tmp_path / "new.npz")
    np.testing.assert_allclose(ScStream.load(tmp_path / "new.npz").score_samples(X), model.score_samples(X), rtol=1e-6)


@pytest.mark.parametrize("component", [Gaussian(), DiagonalGaussian()], ids=["gaussian", "diagonal"])
def test_a_model_of_version_3_continues_as_it_would_have(component: Component, tmp_path: Path) -> None:
    first, second, third = batches(component, 3)
    model = ScStream(component, seed=2, max_init_sweeps=40).partial_fit(first).partial_fit(second)
    model.save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    assert not arrays.pop("prior.resolution").any()
    persistence.write(tmp_path / "old.npz", {**meta, "version": 3}, arrays)
    loaded = ScStream.load(tmp_path / "old.npz")
    np.testing.assert_array_equal(loaded.partial_fit(third).labels_, model.partial_fit(third).labels_)
    assert loaded.log_posterior_ == model.log_posterior_


def test_a_model_of_version_3_looks_for_steps_when_it_is_fitted_anew(tmp_path: Path) -> None:
    X = np.concatenate([batch.round() for batch in batches(Gaussian(), 3)])
    ScStream(max_init_sweeps=3).fit(batches(Gaussian(), 1)[0]).save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    meta["from_data"].remove("resolution")
    del arrays["prior.resolution"]
    persistence.write(tmp_path / "old.npz", {**meta, "version": 3}, arrays)
    loaded, fresh = ScStream.load(tmp_path / "old.npz"), ScStream(max_init_sweeps=3)
    np.testing.assert_array_equal(loaded.fit(X).labels_, fresh.fit(X).labels_)


def test_records_of_version_1_must_stay_finite(tmp_path: Path) -> None:
    X = batches(Gaussian(), 1)[0]
    for component in (Gaussian(), DiagonalGaussian()):
        ScStream(component, max_init_sweeps=3).fit(X).save(tmp_path / "model.npz")
        meta, arrays = persistence.read(tmp_path / "model.npz")
        arrays["records"] = np.full(arrays["records"].shape, 1e308)
        with pytest.raises(ModelFileError, match="finite"):
            ScStream.load(as_version_1(tmp_path / "old.npz", meta, arrays))


@pytest.mark.parametrize(("version", "component"), [(1, "gaussian"), (2, PixelGaussian.name)])
def test_a_video_model_of_an_earlier_version_continues_bit_by_bit_alike(
    version: int, component: str, tmp_path: Path
) -> None:
    """The component of version 1 is that of points, but its statistics are those of pixels today."""
    frames = [frame[::3, ::3] for frame in clip_frames("crossing", 4, step=4)]
    segmenter = VideoSegmenter(smoothing=0.0, steadiness=0.0, seed=2, max_init_sweeps=30)
    for frame in frames[:2]:
        segmenter.segment(frame)
    segmenter.save(tmp_path / "video.npz")
    meta, arrays = persistence.read(tmp_path / "video.npz")
    assert meta["component"] == PixelGaussian.name
    loaded = VideoSegmenter.load(write_old(tmp_path / "old.npz", version, {**meta, "component": component}, arrays))
    assert loaded.get_params() == segmenter.get_params()
    for frame in frames[2:]:
        np.testing.assert_array_equal(loaded.segment(frame), segmenter.segment(frame))
        assert loaded.events_ == segmenter.events_
        np.testing.assert_array_equal(loaded.statistics_, segmenter.statistics_)


@pytest.mark.parametrize("version", [0, 5, -1, "1", None, [1]])
def test_other_versions_are_refused(version: Any, tmp_path: Path) -> None:
    ScStream(max_init_sweeps=3).fit(batches(Gaussian(), 1)[0]).save(tmp_path / "model.npz")
    meta, arrays = persistence.read(tmp_path / "model.npz")
    persistence.write(tmp_path / "other.npz", {**meta, "version": version}, arrays)
    with pytest.raises(ModelFileError, match="this program reads 1 to 4"):
        ScStream.load(tmp_path / "other.npz")
