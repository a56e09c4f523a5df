"""Decorators that compile the kernels, with a cache on disk that is renewed when any file of this package changes.

numba stamps a cached function with the content of the file that defines it. After an edit in a callee in another file
it would run stale code. Here the stamp covers every file of the package, so that kernels can live in many files. A
constant that kernels read must be in this package too.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

#: Licences for the compiler that let sums be reordered, so that loops vectorise; nan and inf keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def _digest() -> str:
    """SHA-256 over names and contents of the package's files."""
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for file in sorted(package.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


_PACKAGE = _digest()


class _PackageCache(FunctionCache):
    """numba's cache of one function, stale after an edit in any file of the package."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = (self._cache_file._source_stamp, _PACKAGE)


def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that Python calls, keep its machine code on disk, and release the interpreter's lock in it.

    ``options`` are those of `numba.njit`. Without a folder that can be written to, the function is compiled on every
    start.
    """
    if function is None:
        return partial(kernel, **options)
    dispatcher = numba.njit(**_OPTIONS, **options)(function)
    # numba raises RuntimeError if it finds no folder for the cache.
    with contextlib.suppress(RuntimeError):
        dispatcher._cache = _PackageCache(function)
    return dispatcher


def inlined(function: Any = None, /, **options: Any) -> Any:
    """Compile a function of few operations into each caller, before types are inferred."""
    if function is None:
        return partial(inlined, **options)
    return numba.njit(**_OPTIONS, inline="always", **options)(function)


def leaf(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that only kernels call, at least once per tile, and that allocates no arrays.

    numba counts the references to each array argument unless it can prove that it need not, which it cannot past
    branches and loops (its issues 2345 and 2350). The counts are locked instructions that threads contend for: a sixth
    of the time. Passing the arrays' shapes instead costs as much. So leaves are compiled without reference counts and
    inlined. They have no wrappers for Python, which took a tenth of a cold start to compile.
    """
    if function is None:
        return partial(leaf, **options)
    return numba.njit(
        **_OPTIONS, _nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )(function)
