"""Model files that would take all memory are refused by what they declare, before anything is allocated."""

from __future__ import annotations

import shutil
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scstream import Gaussian, ModelFileError, ScStream, VideoSegmenter, persistence


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.npz"
    points = np.random.default_rng(0).normal(size=(60, 3))
    ScStream(Gaussian(0.5, nu=6.0, psi=2.0), max_init_sweeps=5).fit(points).save(path)
    return path


def rewritten(saved: Path, path: Path, meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Copy of a model file with some entries replaced."""
    old_meta, old = persistence.read(saved)
    persistence.write(path, {**old_meta, **meta}, {**old, **arrays})
    return path


def refuse(path: Path) -> None:
    """Both kinds of model refuse the file, by name."""
    for load in (ScStream.load, VideoSegmenter.load):
        with pytest.raises(ModelFileError, match=path.name):
            load(path)


def bomb(path: Path, name: str, shape: tuple[int, ...], size: int, kind: str = "|u1", how: int = 8) -> Path:
    """Add an array to an archive: its header states a shape, and it unpacks to ``size`` zeros."""
    with zipfile.ZipFile(path, "a", how) as archive, archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, {"descr": kind, "fortran_order": False, "shape": shape})
        member.write(bytes(size))
    return path


@pytest.fixture
def measured() -> Iterator[Callable[[], int]]:
    """The most memory allocated since the beginning of the test, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("load", [ScStream.load, VideoSegmenter.load])
def test_an_archive_is_refused_before_it_is_unpacked(
    load: Callable[[Path], object], saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros, header, negative = (Path(shutil.copy(saved, tmp_path / name)) for name in ("zeros", "header", "negative"))
    monkeypatch.setattr("scstream.archive.MAX_BYTES", 1 << 20)
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **options: pytest.fail("an array was unpacked"))
    # 8 bytes for each of them when they are converted.
    with pytest.raises(ModelFileError, match=r"zeros': its arrays would take 1\d{6} bytes, and 1048576 are the most"):
        load(bomb(zeros, "more", (1 << 17,), 1 << 17))
    for path, shape in ((header, (1 << 60, 8)), (negative, (-1, 8))):
        with pytest.raises(ModelFileError, match=r"'more\.npy' does not have the size that it declares"):
            load(bomb(path, "more", shape, 100, "<f8"))


def test_many_arrays_and_other_compressions_are_refused(saved: Path, tmp_path: Path) -> None:
    many, odd = (Path(shutil.copy(saved, tmp_path / name)) for name in ("many", "odd"))
    with zipfile.ZipFile(many, "a") as archive:
        for number in range(1000):
            archive.writestr(f"{number}.npy", b"")
    refuse(many)
    refuse(bomb(odd, "more", (4,), 4, how=zipfile.ZIP_LZMA))
    with pytest.raises(ModelFileError, match="unknown compression"):
        ScStream.load(odd)


def test_a_long_or_nested_description_is_refused(saved: Path, tmp_path: Path) -> None:
    _, arrays = persistence.read(saved)
    for name, text in (("long", b" " * (1 << 24) + b"{}"), ("nested", b"[" * 100_000)):
        np.savez_compressed(tmp_path / f"{name}.npz", meta=np.frombuffer(text, np.uint8), **arrays)
        refuse(tmp_path / f"{name}.npz")
    with pytest.raises(ModelFileError, match="its description has 16777218 bytes"):
        ScStream.load(tmp_path / "long.npz")


def test_absurd_counts_are_refused_before_anything_is_allocated(
    saved: Path, tmp_path: Path, measured: Callable[[], int]
) -> None:
    empty = np.zeros((0, 1, 2, 1 << 40))
    refuse(rewritten(saved, tmp_path / "empty.npz", {"n_features": 1 << 30}, {"records": empty}))
    wide = np.zeros((1, 1, 2, 50_000))
    refuse(rewritten(saved, tmp_path / "wide.npz", {"n_features": 40_000}, {"records": wide}))
    ids = np.zeros((1 << 21) + 1, np.uint8)
    with pytest.raises(ModelFileError, match="the genealogy has more than 2097152 ids"):
        ScStream.load(rewritten(saved, tmp_path / "ids.npz", {}, {"genealogy.id": ids}))
    assert measured() < 1 << 27


def test_a_model_that_could_not_be_loaded_is_not_saved(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta, arrays = persistence.read(saved)
    monkeypatch.setattr("scstream.archive.MAX_BYTES", 1 << 20)
    huge = np.zeros(1 << 18, np.int64)
    for text, more in (({**meta, "long": "x" * (1 << 24)}, {}), (meta, {"labels": huge})):
        with pytest.raises(ValueError, match="the most"):
            persistence.write(tmp_path / "large.npz", text, {**arrays, **more})
    assert list(tmp_path.iterdir()) == []
    # As large, but not as empty: the file shows that there is something in it.
    full = np.random.default_rng(0).integers(0, 1 << 60, 1 << 18)
    persistence.write(tmp_path / "large.npz", meta, {**arrays, "labels": full})
    np.testing.assert_array_equal(persistence.read(tmp_path / "large.npz")[1]["labels"], full)


def test_a_file_without_permission_is_not_called_damaged(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_opening(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(persistence, "open", refuse_opening, raising=False)
    with pytest.raises(PermissionError, match=r"model\.npz"):
        ScStream.load(saved)
