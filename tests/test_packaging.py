"""What the two distributions promise: versions, contents and dependencies."""

from __future__ import annotations

import ast
import errno
import os
import re
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import pytest

import scstream
from helpers.paths import ROOT, SAMPLES
from scstream_app import assets

LIBRARY = tomllib.loads((ROOT / "engine" / "pyproject.toml").read_text(encoding="utf-8"))
STUDIO = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: Imported only if an optional dependency is installed.
OPTIONAL_IN_LIBRARY = {"dask", "threadpoolctl"}
OPTIONAL_IN_STUDIO = {
    *("dask", "distributed"),
    *("fast_slic", "matplotlib", "river", "skimage"),
    *("magicgui", "napari", "pyarrow", "qtpy"),
}


def distribution_name(requirement: str) -> str:
    """Normalised name of the distribution that a requirement asks for."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def imported(folder: Path) -> set[str]:
    """Names of all packages that the sources in a folder import, also inside of functions."""
    names = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names.add(node.module.split(".")[0])
    return names - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("project", "folder", "optional"),
    [(LIBRARY, "engine/scstream", OPTIONAL_IN_LIBRARY), (STUDIO, "scstream_app", OPTIONAL_IN_STUDIO)],
    ids=["library", "studio"],
)
def test_every_import_is_a_declared_dependency_and_the_reverse(
    project: dict[str, Any], folder: str, optional: set[str]
) -> None:
    declared = {distribution_name(requirement) for requirement in project["project"]["dependencies"]}
    owners = packages_distributions()
    own = Path(folder).name
    needed = {
        distribution_name(owner)
        for name in imported(ROOT / folder) - {own} - optional
        for owner in owners.get(name, [f"{name} is not installed"])
        if owner not in ("llvmlite", "shiboken6")
    }
    assert needed == declared


def test_both_distributions_have_one_version() -> None:
    assert scstream.__version__ == version("scstream") == version("scstream-studio")
    [asked] = [line for line in STUDIO["project"]["dependencies"] if distribution_name(line) == "scstream"]
    assert asked == f"scstream~={scstream.__version__}"


def test_the_wheel_of_the_studio_carries_all_clips() -> None:
    included = STUDIO["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    clips = {f"sample_videos/{clip.name}" for clip in SAMPLES.glob("*.mp4")}
    assert clips == {source for source in included if source.endswith(".mp4")}
    assert all(target == f"scstream_app/{source}" for source, target in included.items())


def test_links_of_the_readme_are_absolute_where_the_wheel_is_published() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in STUDIO["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)\s]+)", text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []


def test_a_wheel_is_moved_to_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary folder is often a file system of its own."""
    build = runpy.run_path(str(ROOT / "tools" / "check_wheels.py"))["build"]

    def refuse(*_: Any) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    def pip(command: list[str], check: bool) -> None:
        (Path(command[command.index("--wheel-dir") + 1]) / "new.whl").write_text("new")

    monkeypatch.setattr(os, "rename", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(subprocess, "run", pip)
    (tmp_path / "new.whl").write_text("old")
    assert build(ROOT, tmp_path) == tmp_path / "new.whl"
    assert (tmp_path / "new.whl").read_text() == "new"


def test_the_program_starts_without_the_sample_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "_PLACES", (tmp_path / "package", tmp_path))
    module = runpy.run_path(str(ROOT / "scstream_app" / "samples.py"))
    assert module["SAMPLES"] == tmp_path / "package" / "sample_videos"
    assert module["sample_clips"]() == []
    (tmp_path / "sample_videos").mkdir()
    assert assets.samples() == tmp_path / "sample_videos"


def test_both_distributions_carry_the_same_licence() -> None:
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "engine" / "LICENSE").read_bytes()
