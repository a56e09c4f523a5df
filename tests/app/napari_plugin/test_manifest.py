"""What napari finds: a manifest that npe2 accepts, and the functions that it names."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.paths import ROOT


@pytest.fixture(scope="module")
def plugin(loaded: None) -> Any:
    """The plugin in a manager of its own."""
    from npe2 import PluginManager, PluginManifest

    manager = PluginManager()
    manager.register(PluginManifest.from_file(ROOT / "scstream_app" / "napari_plugin" / "napari.yaml"))
    manager.activate("scstream-studio")
    return manager


def test_the_distribution_names_the_manifest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package, _, file = project["entry-points"]["napari.manifest"][project["name"]].partition(":")
    assert resources.files(package).joinpath(file).is_file()


def test_every_function_of_the_manifest_exists(plugin: Any) -> None:
    manifest = plugin.get_manifest("scstream-studio")
    manifest.validate_imports()
    used = {
        one.command for kind in ("readers", "widgets", "sample_data") for one in getattr(manifest.contributions, kind)
    }
    assert used == {command.id for command in manifest.contributions.commands}


def test_sessions_are_read_and_other_folders_are_left_to_others(plugin: Any, tmp_path: Path) -> None:
    (reader,) = plugin.iter_compatible_readers(str(tmp_path))
    get_reader = plugin.commands.get(reader.command)
    assert get_reader(str(tmp_path)) is None
    assert get_reader(["a.scstream", "b.tif"]) is None
    assert get_reader(["a.scstream", "b.scstream"]) is not None


@pytest.mark.parametrize("name", ["kite_surf", "crossing"])
def test_a_sample_clip_opens_as_an_image(plugin: Any, viewer: Any, name: str) -> None:
    ((data, options, kind),) = plugin.commands.execute(f"scstream-studio.{name}")
    assert kind == "image"
    layer = viewer.add_image(data, **options)
    assert (layer.rgb, layer.data.shape[0], layer.ndim) == (True, 80, 3)
    assert np.ptp(data[79]) > 100
