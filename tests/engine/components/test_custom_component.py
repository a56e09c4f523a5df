"""Components that a user writes, saved and loaded without editing the library: the one of docs/new_component.md."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.paths import ROOT
from reference import Array
from scstream import Component, DiagonalGaussian, Gaussian, ModelFileError, ScStream
from scstream.components import BY_NAME

RATES = np.array([[2.0, 30.0, 9.0], [25.0, 3.0, 9.0], [12.0, 12.0, 40.0]])


@pytest.fixture(autouse=True)
def _names_as_before() -> Iterator[None]:
    before = dict(BY_NAME)
    yield
    BY_NAME.clear()
    BY_NAME.update(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder with the module of the documentation's component, photons.py."""
    page = (ROOT / "docs" / "new_component.md").read_text(encoding="utf-8")
    [code] = [block for block in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "class Poisson" in block]
    (tmp_path / "photons.py").write_text(code, encoding="utf-8")
    return tmp_path


@pytest.fixture
def poisson(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module("photons").Poisson
    del sys.modules["photons"]


def batches(n: int) -> list[Array]:
    rng = np.random.default_rng(0)
    return [rng.poisson(RATES[rng.integers(3, size=200)]).astype(float) for _ in range(n)]


def fitted(component: Component, n: int = 2) -> ScStream:
    model = ScStream(component, alpha=5.0, decay=0.5, seed=3, max_init_sweeps=20)
    for X in batches(n):
        model.partial_fit(X)
    return model


def test_a_loaded_model_continues_bit_by_bit_alike(poisson: Any, tmp_path: Path) -> None:
    model = fitted(poisson())
    model.save(tmp_path / "m.npz")
    loaded = ScStream.load(tmp_path / "m.npz")
    assert isinstance(loaded.component, poisson)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    for X in batches(5)[2:]:
        np.testing.assert_array_equal(loaded.partial_fit(X).labels_, model.partial_fit(X).labels_)
        assert loaded.log_posterior_ == model.log_posterior_
        np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))


CONTINUE = """
import sys
import numpy as np
import photons
from scstream import ScStream
model = ScStream.load("m.npz")
with np.load("batches.npz") as batches:
    labels = [model.partial_fit(batches[name]).labels_ for name in batches.files]
np.savez("labels.npz", *labels)
print(repr(model.log_posterior_))
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    paths = f"import sys; sys.path[:0] = [{str(ROOT / 'engine')!r}, {str(folder)!r}]\n"
    command = [sys.executable, "-c", paths + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_another_process_continues_bit_by_bit_alike(poisson: Any, folder: Path) -> None:
    model = fitted(poisson(a=0.5))
    model.save(folder / "m.npz")
    later = batches(4)[2:]
    np.savez(folder / "batches.npz", *later)
    done = run(CONTINUE, folder)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "labels.npz") as labels:
        for X, name in zip(later, labels.files, strict=True):
            np.testing.assert_array_equal(model.partial_fit(X).labels_, labels[name])
    assert done.stdout.strip() == repr(model.log_posterior_)


def test_a_process_that_lacks_the_class_says_what_to_import(poisson: Any, folder: Path) -> None:
    fitted(poisson()).save(folder / "m.npz")
    done = run("from scstream import ScStream\nScStream.load('m.npz')", folder)
    assert "ModelFileError: Cannot load 'm.npz': there is no component named 'poisson'" in done.stderr
    assert "Import the module that defines it" in done.stderr


def test_a_file_of_a_class_that_is_gone_is_refused(poisson: Any, tmp_path: Path) -> None:
    fitted(poisson()).save(tmp_path / "m.npz")
    del BY_NAME["poisson"]
    with pytest.raises(ModelFileError, match=r"m\.npz.*'poisson'.*Import the module"):
        ScStream.load(tmp_path / "m.npz")


def test_defining_a_class_again_replaces_it(poisson: Any, tmp_path: Path) -> None:
    """As when a notebook's cell runs twice: models of the first definition can still be saved."""
    model = fitted(poisson())
    again = importlib.reload(sys.modules["photons"]).Poisson
    assert again is not poisson
    assert BY_NAME["poisson"] is again
    model.save(tmp_path / "m.npz")
    assert type(ScStream.load(tmp_path / "m.npz").component) is again


@pytest.mark.parametrize("name", ["gaussian", "diagonal", "multinomial"])
def test_names_of_the_library_cannot_be_taken(name: str) -> None:
    before = BY_NAME[name]
    owner = re.escape(f"{before.__module__}.{before.__qualname__}")
    with pytest.raises(ValueError, match=f"the name '{name}' of Mine is taken by {owner}: choose another"):
        type("Mine", (Gaussian,), {"name": name})
    assert BY_NAME[name] is before


def test_the_name_of_another_users_class_cannot_be_taken(poisson: Any, tmp_path: Path) -> None:
    """Its files would be loaded as the wrong class."""
    model = fitted(poisson())
    with pytest.raises(ValueError, match=r"the name 'poisson' of Mine is taken by photons\.Poisson: choose another"):
        type("Mine", (Gaussian,), {"name": "poisson"})
    model.save(tmp_path / "m.npz")
    assert type(ScStream.load(tmp_path / "m.npz").component) is poisson


@pytest.mark.parametrize("name", ["", 7, None])
def test_a_name_must_be_a_non_empty_string(name: Any) -> None:
    with pytest.raises(TypeError, match="the name of Mine must be a non-empty string"):
        type("Mine", (Gaussian,), {"name": name})


# --- what cannot be saved


class Inheriting(Gaussian):
    pass


class Textual(Gaussian):
    name = "textual"

    def hyperparameters(self) -> Any:
        return {**super().hyperparameters(), "nu": np.array("four")}


def test_a_subclass_that_inherits_its_name_is_not_saved(tmp_path: Path) -> None:
    """It would be loaded as its base class."""
    model = fitted(Inheriting())
    with pytest.raises(ValueError, match=r"component Inheriting cannot be saved.*Give the class one of its own"):
        model.save(tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())


def test_hyperparameters_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Textual cannot be saved.*must return numbers, got .*four.* for nu"):
        fitted(Textual()).save(tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())


def test_hyperparameters_that_are_not_all_are_not_saved(tmp_path: Path) -> None:
    class Partial(Gaussian):
        name = "partial"

        def hyperparameters(self) -> Any:
            return {"kappa": np.array(1.0)}

    with pytest.raises(ValueError, match=r"must return the arguments of __init__, kappa, m, nu, psi"):
        fitted(Partial()).save(tmp_path / "m.npz")


def test_a_subclass_must_be_bound_to_itself() -> None:
    class Fixed(Gaussian):
        name = "fixed"

        def bind(self, X: Any, weight: Any) -> Any:
            return Gaussian().bind(X, weight)

    with pytest.raises(TypeError, match="bind of Fixed returned a Gaussian"):
        ScStream(Fixed()).fit(np.zeros((3, 2)))


class Weighty(DiagonalGaussian):
    """Chooses the weight of its prior, and nothing else."""

    name = "weighty"

    def candidates(self, X: Any, weight: Any) -> Any:
        return [self.bind(X, weight)]

    def variations(self, bound: Any) -> Any:
        return [bound.changed(nu=nu) for nu in (3.0, 300.0)]


def test_variations_are_tried_without_candidates() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(10, 30))[np.arange(300) % 10] * 2.0 + rng.normal(size=(300, 30))
    assert ScStream(Weighty(nu=1.0, psi=1.0), seed=0).fit(X)._fitted().component.nu == 300.0


def test_a_variation_of_another_class_is_refused() -> None:
    class Stray(Weighty):
        name = "stray"

        def variations(self, bound: Any) -> Any:
            return [DiagonalGaussian().bind(np.zeros((1, 2)), np.ones(1))]

    with pytest.raises(TypeError, match="bind of Stray returned a DiagonalGaussian"):
        ScStream(Stray()).fit(np.random.default_rng(0).normal(size=(30, 2)))


def test_a_class_in_place_of_a_component_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a scstream Component, .*create one: Gaussian\(\)"):
        ScStream(Gaussian).fit(np.zeros((3, 2)))  # type: ignore[arg-type]
