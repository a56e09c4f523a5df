"""Compiled code on disk: an edit in one file of the kernels recompiles callers in the other files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import CompileResultCacheImpl

from scstream import kernels
from scstream.kernels import _jit

pytestmark = pytest.mark.slow

# The leaf and the inlined function are in other files than the kernel that calls them, one in a folder, as in the
# package itself.
_INNER = "from tiny._jit import inlined\n@inlined\ndef double(x): return 2 * x\n"
_MIDDLE = "from tiny._jit import leaf\nfrom tiny.folder.inner import double\n@leaf\ndef step(x): return double(x) + 1\n"
_OUTER = "from tiny._jit import kernel\nfrom tiny.middle import step\n@kernel\ndef run(x): return step(x)\n"
_RUN = (
    "from tiny.outer import run; result = run(5); "
    "print(result, sum(run.stats.cache_hits.values()), sum(run.stats.cache_misses.values()))"
)


def _run(folder: Path) -> tuple[int, str]:
    """Result of the tiny package's kernel in a process of its own, and whether the cache had it."""
    # Without bytecode on disk: Python would not notice an edit within a second that leaves the file's size as it is.
    settings = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command, environment = [sys.executable, "-c", _RUN], os.environ | settings
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    result, hits, misses = map(int, done.stdout.split())
    assert hits + misses == 1
    return result, "hit" if hits else "miss"


def test_an_edit_in_a_callees_file_recompiles_its_callers(tmp_path: Path) -> None:
    package = tmp_path / "tiny"
    inner = package / "folder" / "inner.py"
    inner.parent.mkdir(parents=True)
    shutil.copy(str(_jit.__file__), package)
    for name, text in {"__init__": "", "folder/inner": _INNER, "middle": _MIDDLE, "outer": _OUTER}.items():
        (package / f"{name}.py").write_text(text)
    assert _run(tmp_path) == (11, "miss")
    assert _run(tmp_path) == (11, "hit")
    inner.write_text(_INNER.replace("2 * x", "7 * x"))
    assert _run(tmp_path) == (36, "miss")
    (package / "middle.py").write_text(_MIDDLE.replace("+ 1", "+ 9"))
    assert _run(tmp_path) == (44, "miss")
    assert _run(tmp_path) == (44, "hit")


def test_every_kernel_that_python_calls_is_cached_with_the_stamp_of_the_package() -> None:
    """By the two private names of numba that the stamp rests on."""
    exported = [getattr(kernels, name) for name in kernels.__all__]
    compiled = [function for function in exported if hasattr(function, "signatures")]
    assert len(compiled) > 30
    for function in compiled:
        own, package = function._cache._cache_file._source_stamp
        assert own
        assert package == _jit._PACKAGE


def test_without_a_folder_to_write_to_nothing_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])

    @_jit.kernel
    def successor(x):  # type: ignore[no-untyped-def]
        return x + 1

    assert successor.stats.cache_path is None
    assert successor(1) == 2
