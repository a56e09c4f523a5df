"""Folders that cannot be written to, for root as well."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_VERSION = 0x20080522
#: Bits of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which root writes and reads whatever the permissions are.
_OVERRIDING = 1 << 1 | 1 << 2


@contextmanager
def obeying_permissions() -> Iterator[None]:
    """Let permissions hold for this thread, and for threads that it starts meanwhile, though the user is root."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux lets root give up the right to write everywhere")
    library = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert library.capget(header, sets) == 0
    effective = sets[0]
    sets[0] = effective & ~_OVERRIDING
    assert library.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = effective
        assert library.capset(header, sets) == 0


@contextmanager
def without_permission(folder: Path) -> Iterator[None]:
    """Take away the permission to write a folder and everything in it; needs `obeying_permissions`."""
    if os.name != "posix":
        pytest.skip("there are no such permissions")
    places = [folder, *folder.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        yield
    finally:
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)


@contextmanager
def read_only_disk(folder: Path) -> Iterator[None]:
    """Mount a folder read-only in its place; skips the test where this user may not mount."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or _mount("--bind", folder, folder):
        pytest.skip("this user may not mount a folder")
    try:
        if _mount("-o", "remount,ro,bind", folder):
            pytest.skip("this user may not mount a folder read-only")
        yield
    finally:
        # Lazily: the window may still read files there.
        subprocess.run(["umount", "-l", folder], check=True)


def _mount(*arguments: str | Path) -> int:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode
